/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Executables that HIP destroys. HIP knows nothing of replays, so code that one in flight still runs is given back when
 * that is done, and HIP is told that it is. Nobody waits.
 *
 * Threads: any. Out of memory, or after a fork: destroyed at once, as HIP wants it.
 */
#ifndef REDLINE_RETIRED_CODE_H
#define REDLINE_RETIRED_CODE_H

#include "native_table.h"

hsa_status_t rl_unload(rl_hsa_executable_destroy_fn *native, const struct rl_hsa_table *hsa,
                       hsa_executable_t executable);

/* Destroys what no replay runs any more. Not in a launch that replays. */
void rl_unloads_reclaim(const struct rl_hsa_table *hsa);

#endif
