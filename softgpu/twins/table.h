/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What links a kernel's host function, its kernarg layout and its needs.
 */
#ifndef SOFTGPU_TWIN_TABLE_H
#define SOFTGPU_TWIN_TABLE_H

#include "twin.h"

#define SG_TWIN_VARIABLES 4

struct sg_twin {
    struct sg_twin_layout layout;
    void (*row)(const void *block, uint32_t count); /* items 0..count-1 in x of the current y, z, group */
    void (*item)(const void *block);                /* the current work-item */
    bool barriers;                                  /* needs all work-items of a group at once */
    bool packet;                                    /* reads the dispatch packet */
    const char *variables[SG_TWIN_VARIABLES + 1];   /* names, NULL behind the last */
};

extern const struct sg_twin sg_twins[] __attribute__((visibility("hidden")));
extern const size_t sg_twin_count __attribute__((visibility("hidden")));

/* HIP's and ROCr's own kernels. */
struct sg_builtin {
    const char *kernel;
    uint32_t kernarg; /* bytes of explicit arguments */
    bool hidden;      /* reads block sizes from the hidden arguments behind them */
    int (*run)(const struct sg_dispatch *dispatch, char *error, size_t error_size);
};

const struct sg_builtin *sg_builtin_find(const char *kernel) __attribute__((visibility("hidden")));

#endif
