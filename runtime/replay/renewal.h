/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Whether it is known what this build of HIP makes of new arguments.
 *
 * A plan is made anew without a launch by HIP only for the ways to change arguments of which that is known: for a build
 * that this project's tests have run on, or once a launch of HIP's in this process has shown what was foretold. One that
 * shows something else ends it for good.
 *
 * Threads: any. Nothing is kept but these two answers.
 */
#ifndef REDLINE_RENEWAL_H
#define REDLINE_RENEWAL_H

#include <stdbool.h>
#include <stdint.h>

#include "native_table.h"

/* `ways`: RL_NODE_SET, RL_UPDATED or both, as in the marks of an exec. */
bool rl_renewal_known(const struct rl_hip_table *hip, uint32_t ways);
bool rl_renewal_refuted(uint32_t ways);
void rl_renewal_shown(uint32_t ways, bool right);

#endif
