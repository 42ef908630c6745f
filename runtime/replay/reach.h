/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which memory the kernels of a launch can reach, as far as that can be known: the variables of their code objects,
 * whatever an address in their arguments points into, and from there on whatever an aligned address in such memory
 * points into. Only memory that HIP calls the application's counts; HIP's and ROCr's own is left alone.
 *
 * Threads: as keep.h. Functions of HIP are called, within rl_quiet_begin().
 */
#ifndef REDLINE_REACH_H
#define REDLINE_REACH_H

#include "proof/prove.h"
#include "replay/keep.h"

enum rl_reach { RL_REACH_ALL, RL_REACH_NOT_KEPT, RL_REACH_UNKNOWN_MEMORY, RL_REACH_TOO_MANY };

/* Adds the memory to `keep`, with what stands there now. RL_REACH_NOT_KEPT: keep->why says why. */
enum rl_reach rl_reach(struct rl_keep *keep, const struct rl_hip_table *hip,
                       const struct rl_observation *seen, const struct rl_proof *proof);

/* Whether the arguments of the dispatch hold an address inside of the region. */
bool rl_reach_names(const struct rl_observation *seen, const struct rl_proof *proof, uint32_t dispatch,
                    const struct rl_place *place);

#endif
