/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the runner tells the model library, read once from SOFTGPU_* variables when the library is loaded.
 * Delays are microseconds, uniform in a range; the defaults have a long tail, as uneven as hardware can be.
 */
#ifndef SOFTGPU_MODEL_OPTIONS_H
#define SOFTGPU_MODEL_OPTIONS_H

#include <stdint.h>

struct sg_range {
    uint32_t low, high;
    uint32_t tail; /* above `high`: one in SG_TAIL_EVERY is drawn from low..tail instead; 0: never */
};

enum { SG_TAIL_EVERY = 8 };

enum { SG_KERNEL_DELAYS = 32, SG_KERNEL_NAME = 128 };

struct sg_options {
    const char *trace;            /* SOFTGPU_TRACE: file, NULL = none */
    uint64_t seed;                /* SOFTGPU_SEED */
    struct sg_range kernel_delay; /* SOFTGPU_DELAY_KERNEL_US=A:B, from launch to the first work-group */
    struct sg_range copy_delay;   /* SOFTGPU_DELAY_COPY_US=A:B, from the engine's turn to the first byte */
    struct sg_range wave_delay;   /* SOFTGPU_DELAY_WAVE_US=A:B, a dispatch inside a PM4 buffer */
    int kernel_count;             /* SOFTGPU_DELAY_NAMED=NAME=A:B,NAME=A:B */
    struct {
        char name[SG_KERNEL_NAME];
        struct sg_range delay;
    } kernel[SG_KERNEL_DELAYS];
};

const struct sg_options *sg_options(void);

/* Delay range of a kernel: the one asked for by name, else `otherwise`. */
struct sg_range sg_options_delay(const char *kernel, struct sg_range otherwise);

#endif
