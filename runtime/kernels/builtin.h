/* SPDX-License-Identifier: Apache-2.0 */
/*
 * HIP's built-in kernels that take the place of nodes: fills (fill.h) and copies, with what they read and
 * write.
 *
 * Nothing is believed of an argument block that does not fit the layout: false.
 */
#ifndef REDLINE_BUILTIN_H
#define REDLINE_BUILTIN_H

#include "kernels/aql.h"
#include "kernels/code.h"

struct rl_builtin_use {
    uint64_t to, from;                  /* from: copies only */
    uint64_t bytes;                     /* contiguous; of a rectangle: of one row */
    uint64_t rows, pitch;               /* 1 and 0 unless it is a rectangle */
    uint64_t pattern;                   /* fills: where HIP keeps it */
    uint32_t pattern_at, pattern_bytes; /* offset of that pointer in the arguments; bytes 0: no fill */
};

bool rl_builtin_read(enum rl_builtin builtin, const void *arguments, uint32_t argument_bytes,
                     const struct rl_aql_dispatch *dispatch, struct rl_builtin_use *use);

#endif
