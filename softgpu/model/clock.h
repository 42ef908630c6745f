/* SPDX-License-Identifier: Apache-2.0 */
/* Time of the software GPU: CLOCK_MONOTONIC in nanoseconds; the GPU's own counter runs at 100 MHz. */
#ifndef SOFTGPU_MODEL_CLOCK_H
#define SOFTGPU_MODEL_CLOCK_H

#include <stdint.h>
#include <time.h>

enum { SG_NS_PER_TICK = 10 };

static inline uint64_t sg_now_ns(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static inline uint64_t sg_now_ticks(void)
{
    return sg_now_ns() / SG_NS_PER_TICK;
}

#endif
