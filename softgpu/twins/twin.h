/*
 * Native twins: for each kernel a host function with the same meaning, found by the kernel's name.
 *
 * The packet processor (AQL packets and PM4 DISPATCH_DIRECT alike) describes one dispatch and asks for it to be run.
 * sg_twin_run() executes every work-group on the calling thread and returns when the last work-item has ended; it may be
 * called from several threads at once for different dispatches. It never dereferences what is outside the kernarg bytes
 * and what the kernel itself dereferences.
 */
#ifndef SOFTGPU_TWIN_H
#define SOFTGPU_TWIN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct sg_dispatch {
    const char *kernel;          /* name in the code object, without ".kd" */
    const void *kernarg;         /* kernarg segment, `kernarg_size` bytes readable */
    size_t kernarg_size;
    uint32_t grid[3];            /* work-items; a partial last work-group is legal (AQL) */
    uint32_t workgroup[3];       /* work-items of a full work-group */
    uint32_t lds_bytes;          /* group segment, static and dynamic */
    uint32_t scratch_bytes;      /* private segment per work-item */
    uint32_t wave_size;          /* 32 or 64 */
    const void *dispatch_packet; /* AQL packet the kernel may read through its dispatch pointer, or NULL */
    uint64_t dispatch_id;
};

bool sg_twin_known(const char *kernel);

/* 0, or -1 with one sentence in `error` (unknown kernel, kernarg too short, LDS too small). */
int sg_twin_run(const struct sg_dispatch *dispatch, char *error, size_t error_size);

#endif
