/*
 * A lane: a stream in which replays can ride, with the two events of ours that are recorded there in turn.
 *
 * A stream has a lane from the first launch that HIP did in it with success until it is destroyed; the legacy
 * stream has one for each device, the per-thread stream one for each thread and device. Without a lane a
 * stream is not known to be alive, and HIP must judge it.
 *
 * Threads: any. Lanes are never freed, so that one found is safe to use; events go to the next stream of the
 * device.
 */
#ifndef REDLINE_LANE_H
#define REDLINE_LANE_H

#include <stdatomic.h>

#include "native_table.h"

struct rl_lane {
    int ordinal; /* HIP's number of the device */
    _Atomic uint32_t turn, launches; /* whose event is next; launches that could ride */
    hipEvent_t events[2];
    struct rl_lane *next; /* among those without a stream */
};

/* NULL: none. No lock, no allocation. `per_thread`: NULL means the per-thread stream. */
struct rl_lane *rl_lane_find(const struct rl_hip_table *hip, hipStream_t stream, bool per_thread);

/* Makes one after a native launch that succeeded. NULL: not now. */
struct rl_lane *rl_lane_make(const struct rl_hip_table *hip, hipStream_t stream, bool per_thread);

void rl_lane_close(hipStream_t stream); /* before the native destroy */
void rl_lanes_close(void);
bool rl_lanes_define(void);

#endif
