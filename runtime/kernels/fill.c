/* SPDX-License-Identifier: Apache-2.0 */
/*
 * HIP's fill kernels. Their layouts are what the kernel source inside libamdhip64 7.2.4 declares, and what
 * KernelBlitManager::fillBuffer1D and fillBuffer2D of ROCm/clr (rocclr/device/rocm/rocblit.cpp) put there.
 */
#include "kernels/fill.h"

#include <stddef.h>
#include <string.h>

/* fillBufferAligned(buf, pattern, pattern_size, alignment, end_ptr, next_chunk, workgroup_size) */
struct linear {
    uint64_t buffer, pattern;
    uint32_t pattern_units, unit; /* pattern_units of `unit` bytes */
    uint64_t end;
    uint32_t stride; /* units from a work-item's element to its next */
    uint32_t workgroup;
};

/* fillBufferAligned2D(four typed views of the buffer, pattern, patternSize, offset, width, height, pitch) */
struct rectangle {
    uint64_t buffer[4]; /* for units of 1, 2, 4, 8 bytes; one is not NULL */
    uint64_t pattern;
    uint32_t pattern_units, padding;
    uint64_t offset; /* units */
    uint64_t width;  /* bytes */
    uint64_t height;
    uint64_t pitch; /* units */
};

_Static_assert(sizeof(struct linear) == 40, "the argument block of 7.2.4");
_Static_assert(sizeof(struct rectangle) == 80, "the argument block of 5.2 to 7.2.4");

static bool read_linear(struct rl_fill *fill, const void *kernarg, const uint32_t grid[3],
                        const uint16_t workgroup[3])
{
    struct linear block;

    memcpy(&block, kernarg, sizeof(block));
    uint64_t pattern_bytes = (uint64_t)block.pattern_units * block.unit;
    bool known_unit = block.unit && !(block.unit & (block.unit - 1)) && block.unit <= RL_FILL_PATTERN_BYTES;

    /* The last two say again what the packet says: with another layout they would not. */
    if (!known_unit || !pattern_bytes || pattern_bytes > RL_FILL_PATTERN_BYTES || block.end <= block.buffer ||
        (block.end - block.buffer) % pattern_bytes || block.workgroup != workgroup[0] ||
        block.stride != grid[0] * block.pattern_units || grid[1] != 1 || grid[2] != 1)
        return false;
    *fill = (struct rl_fill){
        .destination = block.buffer,
        .row_bytes = block.end - block.buffer,
        .rows = 1,
        .pattern = block.pattern,
        .pattern_bytes = (uint32_t)pattern_bytes,
        .pattern_at = offsetof(struct linear, pattern),
    };
    return true;
}

static bool read_rectangle(struct rl_fill *fill, const void *kernarg, const uint32_t grid[3])
{
    struct rectangle block;
    uint64_t buffer = 0, unit = 0;

    memcpy(&block, kernarg, sizeof(block));
    for (int i = 0; i < 4; i++) {
        if (block.buffer[i] && buffer)
            return false;
        if (block.buffer[i]) {
            buffer = block.buffer[i];
            unit = (uint64_t)1 << i;
        }
    }
    uint64_t pattern_bytes = block.pattern_units * unit;

    if (!pattern_bytes || pattern_bytes > RL_FILL_PATTERN_BYTES || !block.width || !block.height ||
        grid[1] < block.height || grid[2] != 1)
        return false;
    *fill = (struct rl_fill){
        .destination = buffer + block.offset * unit,
        .row_bytes = block.width,
        .rows = block.height,
        .pitch = block.pitch * unit,
        .pattern = block.pattern,
        .pattern_bytes = (uint32_t)pattern_bytes,
        .pattern_at = offsetof(struct rectangle, pattern),
    };
    return true;
}

bool rl_fill_read(struct rl_fill *fill, const char *kernel, uint32_t kernarg_bytes, const void *kernarg,
                  const uint32_t grid[3], const uint16_t workgroup[3])
{
    if (!strcmp(kernel, "__amd_rocclr_fillBufferAligned") && kernarg_bytes >= sizeof(struct linear))
        return read_linear(fill, kernarg, grid, workgroup);
    if (!strcmp(kernel, "__amd_rocclr_fillBufferAligned2D") && kernarg_bytes >= sizeof(struct rectangle))
        return read_rectangle(fill, kernarg, grid);
    return false;
}

bool rl_fill_is_memset(const struct rl_fill *fills, const uint8_t (*patterns)[RL_FILL_PATTERN_BYTES],
                       uint32_t count, const struct rl_memset *node)
{
    uint64_t row_bytes = node->width * node->element_bytes, filled = 0;
    uint8_t value[sizeof(node->value)];

    memcpy(value, &node->value, sizeof(value));
    if (!node->element_bytes || node->element_bytes > sizeof(value) || !count)
        return false;
    for (uint32_t i = 0; i < count; i++) {
        const struct rl_fill *fill = &fills[i];

        /* HIP splits one row at 16-byte boundaries, and never a rectangle. */
        if (fill->rows != node->height || (fill->rows != 1 && (fill->pitch != node->pitch || count != 1)) ||
            fill->destination != node->destination + filled)
            return false;
        for (uint32_t j = 0; j < fill->pattern_bytes; j++)
            if (patterns[i][j] != value[(filled + j) % node->element_bytes])
                return false;
        if (fill->pattern_bytes % node->element_bytes && fill->row_bytes != fill->pattern_bytes)
            return false;
        filled += fill->row_bytes;
    }
    return filled == row_bytes;
}

void rl_fill_set_pattern(void *kernarg, const struct rl_fill *fill, uint64_t pattern)
{
    memcpy((uint8_t *)kernarg + fill->pattern_at, &pattern, sizeof(pattern));
}
