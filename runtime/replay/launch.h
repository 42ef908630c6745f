/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What happens to a launch.
 *
 *     fresh      no plan: HIP launches, we observe, prove and lower; on success the exec has a plan
 *     replaying  the plan is injected into the stream; HIP launches when that fails
 *     native     a reason stands against replays: HIP launches until something about the exec changes
 *
 * A change (RL_STALE in the exec's marks) of nothing but arguments that are known gives a new plan, made from
 * what the last observed launch showed, if it is known what HIP makes of it (renewal.h); any other makes the exec
 * fresh again, and so does code of the plan that was unloaded. Whatever speaks against one
 * single launch, such as a capture that is open or a stream that has not been seen, makes that launch native
 * and is counted.
 *
 * Threads: any. Of two launches of one exec at once the second is native.
 */
#ifndef REDLINE_LAUNCH_H
#define REDLINE_LAUNCH_H

#include <stdbool.h>

#include "native_table.h"

hipError_t rl_launch(rl_hipGraphLaunch_fn *native, hipGraphExec_t exec, hipStream_t stream, bool per_thread);

/* Answers at once; the native destroy follows the exec's last replay. */
hipError_t rl_launch_destroy(rl_hipGraphExecDestroy_fn *native, hipGraphExec_t exec);

bool rl_launches_define(void); /* before the first record of an exec is made; any number of times */

#endif
