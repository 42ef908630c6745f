/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Puts a replay into the stream's own HSA queue: one vendor packet with the plan's indirect buffer, in front of
 * the barrier that HIP writes for an event of ours. What is behind us waits for HIP's barrier, which waits for
 * us; what is before us in the queue is done when our packet starts, since it has the barrier bit.
 *
 * A record in a non-blocking stream writes into that stream's queue alone. One slot more is reserved with HIP's
 * and stays INVALID until HIP rings for its own packet. Then that packet is read: our slot gets the replay, or a
 * barrier without dependencies that passes everything through.
 *
 * A record in any other stream first puts markers into the queues of other streams, and takes their locks,
 * between one reservation and the next. No slot may be open then: whoever holds such a lock may wait for
 * something behind it. There the first record tells the stream's queue and leaves all waits there; the replay is
 * written, whole, with the first reservation in that queue by a second one.
 *
 * So from our reservation to our packet HIP runs through straight code, and nobody waits for us.
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
void rl_inject_doorbell(hsa_signal_t signal, hsa_signal_value_t index);
void rl_inject_before_wait(void);

#endif
