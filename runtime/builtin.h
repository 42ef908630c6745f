/*
 * HIP's built-in fill and copy kernels (rocclr's blit kernels), as HIP 7.2 passes their arguments: where they read and
 * write, and the one pointer inside the arguments that leads to memory which HIP recycles, the pattern of a fill.
 *
 * Nothing is believed of a block that does not fit the layout and the grid: false.
 */
#ifndef REDLINE_BUILTIN_H
#define REDLINE_BUILTIN_H

#include "aql.h"
#include "code.h"

enum { RL_BUILTIN_MOST_PATTERN = 256 };

struct rl_builtin_use {
    uint64_t to, from;    /* from: copies only */
    uint64_t bytes;       /* contiguous; of a 2-D fill: of one row */
    uint64_t rows, pitch; /* 1 and 0 unless it is a 2-D fill */
    uint32_t pattern_at, pattern_bytes; /* offset of the pointer in the arguments; bytes 0: none */
};

bool rl_builtin_read(enum rl_builtin builtin, const void *arguments, uint32_t argument_bytes,
                     struct rl_builtin_use *use);

#endif
