/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Puts a replay into the stream's own HSA queue: one vendor packet with the plan's indirect buffer, right in front
 * of the barrier that HIP writes for an event of ours. What is behind us waits for HIP's barrier, which
 * waits for us; what is before us in the queue is done when our packet starts, since it has the barrier bit.
 *
 * The packet is placed last. Until then its slot stays INVALID, or becomes a barrier without dependencies
 * that passes everything through, and the launch can still be HIP's.
 *
 * Threads: any; what is below the line is called by the HSA handlers on the thread that injects. No lock, no
 * allocation, no wait but for a slot of a full queue, for which HIP waits too.
 */
#ifndef REDLINE_INJECT_H
#define REDLINE_INJECT_H

#include "replay/plan.h"
#include "replay/stream_state.h"

enum rl_injection {
    RL_INJECT_DONE,
    RL_INJECT_NO_RECORD, /* HIP did not record the event in the way that this needs */
    RL_INJECT_WAITS,     /* HIP's barriers kept waiting for something that we stand before */
    RL_INJECT_FULL,      /* as many replays are running as can be followed */
    RL_INJECT_QUEUE,     /* the plan's kernels belong to another queue */
    RL_INJECT_FAILED     /* the native call failed */
};

/* hipEventRecord() of our event, in the place of a launch of the exec that the plan is of. RL_INJECT_DONE:
 * the launch is done; otherwise nothing of it is in any queue. */
enum rl_injection rl_inject(const struct rl_hip_table *hip, const struct rl_hsa_table *hsa,
                            struct rl_plan *plan, struct rl_stream_state *state, hipStream_t stream);

/* ---- */
uint64_t rl_inject_reserve(rl_hsa_queue_add_write_index_screlease_fn *native, const hsa_queue_t *queue,
                           uint64_t count);
void rl_inject_before_wait(void);

#endif
