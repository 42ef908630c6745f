/* SPDX-License-Identifier: Apache-2.0 */
/*
 * REDLINE_VERIFY: a launch that is made by HIP and by a replay on the same inputs, and the memory that both leave is
 * compared. What HIP has left is there at the end.
 *
 *     verification = rl_verify_begin(&launch, &timeouts);     NULL: a launch like any other; why is counted
 *     status = HIP's launch
 *     different = rl_verify_end(verification, status, detail);
 *
 * Both wait for the stream, with limits: for what is in it before the launch, the copies, and the launches themselves.
 * Where they run out, HIP's launch is the launch and nothing was compared. Memory counts as far as reach.h finds it.
 *
 * A difference is one where HIP, launched once more on the same inputs, leaves the same bytes again; otherwise the
 * graph's own result changes from launch to launch, or somebody else changes the memory meanwhile.
 *
 * Threads: any; the second of two at once waits for the first, with a limit too.
 */
#ifndef REDLINE_VERIFY_H
#define REDLINE_VERIFY_H

#include "replay/inject.h"

struct rl_verify {
    rl_hipGraphLaunch_fn *native;
    hipGraphExec_t exec;
    hipStream_t given, stream; /* as the application names it, and as HIP's own functions do */
    const struct rl_hip_table *hip;
    const struct rl_hsa_table *hsa;
    struct rl_plan *plan;
    const struct rl_observation *seen; /* what the plan was made from */
    const struct rl_proof *proof;
    struct rl_stream_state *state;
};

struct rl_verification;

/* *timeouts: how often waits for this exec have run out; after the second time it is not tried again. */
struct rl_verification *rl_verify_begin(const struct rl_verify *launch, unsigned *timeouts);

/* True with a detail: the replay left something else. */
bool rl_verify_end(struct rl_verification *verification, hipError_t status, char detail[RL_SEEN_DETAIL]);

#endif
