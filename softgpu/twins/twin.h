/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Native twins: for each kernel a host function with the same meaning, found by the kernel's name.
 *
 * The packet processor (AQL packets and PM4 DISPATCH_DIRECT alike) describes one dispatch and asks for it to
 * be run. sg_twin_run() executes every work-group on the calling thread and returns when the last work-item
 * has ended; it may be called from several threads at once for different dispatches. It never dereferences
 * what is outside the kernarg bytes and what the kernel itself dereferences.
 *
 * Names that no code object holds: ROCr's own copy and fill shaders carry no symbol. A caller that meets a
 * kernel object which the loader does not know asks sg_twin_rocr_shader() what the argument block looks like
 * and runs that name.
 */
#ifndef SOFTGPU_TWIN_H
#define SOFTGPU_TWIN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct sg_dispatch {
    const char *kernel;  /* name in the code object, without ".kd" */
    const void *kernarg; /* kernarg segment, `kernarg_size` bytes readable */
    size_t kernarg_size;
    uint32_t grid[3];            /* work-items; a partial last work-group is legal (AQL) */
    uint32_t workgroup[3];       /* work-items of a full work-group */
    uint32_t lds_bytes;          /* group segment, static and dynamic */
    uint32_t scratch_bytes;      /* private segment per work-item */
    uint32_t wave_size;          /* 32 or 64 */
    const void *dispatch_packet; /* AQL packet the kernel may read through its dispatch pointer, or NULL */
    uint64_t dispatch_id;

    /* Address of a variable of the kernel's code object as loaded on the kernel's device, 0 if it has none of
     * that name. Called only for kernels that use variables, from the thread that runs the twin; may be NULL
     * otherwise. */
    uint64_t (*global)(void *context, const char *name);
    void *global_context;

    /* Asked now and then by kernels that wait for memory to change: true ends the kernel early, as a
     * destroyed queue does. May be NULL: such a kernel then waits for ever. */
    bool (*cancelled)(void *context);
    void *cancelled_context;
};

bool sg_twin_known(const char *kernel);

/* 0, or -1 with one sentence in `error` (unknown kernel, kernarg too short, LDS or scratch too small, a
 * variable or the dispatch packet missing, cancelled). Nothing ran unless the sentence says otherwise. */
int sg_twin_run(const struct sg_dispatch *dispatch, char *error, size_t error_size);

/* Name of the twin of ROCr's own shader with this argument block and grid, NULL if it is none of them. */
const char *sg_twin_rocr_shader(const void *kernarg, size_t kernarg_size, const uint32_t grid[3]);

/* What the twin believes about the kernel's code object; tests compare it with the metadata. */
enum sg_twin_argument_kind { SG_TWIN_VALUE, SG_TWIN_POINTER, SG_TWIN_LDS_POINTER };

struct sg_twin_argument {
    uint16_t offset;
    uint16_t size;
    uint16_t kind; /* enum sg_twin_argument_kind */
};

struct sg_twin_layout {
    const char *kernel;
    const struct sg_twin_argument *arguments;
    uint32_t argument_count;
    uint32_t explicit_size; /* end of the last explicit argument */
    uint32_t hidden_offset; /* where the hidden arguments start, 0 if the kernel reads none */
    uint32_t lds_static;
    uint32_t scratch; /* least private segment the kernel can do with */
};

/* The twins of the test kernels, NULL past the last; HIP's and ROCr's own kernels have no layout. */
const struct sg_twin_layout *sg_twin_layout(size_t index);

#endif
