/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What is kept for a stream into which replays can be injected: the two events of ours that are recorded there in
 * turn.
 *
 * A stream has a state from the first launch that HIP did in it with success until it is destroyed; the legacy
 * stream has one for each device, the per-thread stream one for each thread and device. Without a state a
 * stream is not known to be alive, and only HIP can tell.
 *
 * Threads: any. States are never freed, so that one found is safe to use; events go to the next stream of the
 * device.
 */
#ifndef REDLINE_STREAM_STATE_H
#define REDLINE_STREAM_STATE_H

#include <stdatomic.h>
#include <stdbool.h>

#include "native_table.h"

struct rl_stream_state {
    int ordinal;                     /* HIP's number of the device */
    _Atomic uint32_t turn, launches; /* whose event is next; launches that could be replays */
    bool blocking;                   /* records write into other streams' queues, too */
    hipEvent_t events[2];
    hipEvent_t fenced; /* REDLINE_VERIFY: what is before it is in memory when it is done; else NULL */
    struct rl_stream_state *next; /* among those without a stream */
};

/* NULL: none. No lock, no allocation. `per_thread`: NULL means the per-thread stream. */
struct rl_stream_state *rl_stream_state_find(const struct rl_hip_table *hip, hipStream_t stream,
                                             bool per_thread);

/* Makes one after a native launch that succeeded. NULL: not now. */
struct rl_stream_state *rl_stream_state_make(const struct rl_hip_table *hip, hipStream_t stream,
                                             bool per_thread);

void rl_stream_state_close(hipStream_t stream); /* before the native destroy */
void rl_stream_states_close(void);
bool rl_stream_states_define(void);

#endif
