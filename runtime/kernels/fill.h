/* SPDX-License-Identifier: Apache-2.0 */
/*
 * HIP's fill kernels, which memset nodes become: what one of their argument blocks says, whether a run of
 * them is a given memset node, and where the pointer is that a copy of the block must not keep.
 *
 *     rl_fill_read(&fill, name, kernel.kernarg_bytes, kernarg, packet->grid, packet->workgroup)
 *     memcpy(pattern, (void *)fill.pattern, fill.pattern_bytes);           still inside the launch shim
 *     rl_fill_is_memset(fills, patterns, count, &node)
 *     memcpy(block, kernarg, ...); rl_fill_set_pattern(block, &fill, address of our copy of the pattern);
 *
 * The pattern lies in a pool that HIP recycles (hazard H9), so block and pattern are both copied. Kernel and
 * arguments stay HIP's own: where HIP's 2-D kernel writes other bytes than the node's parameters say, a fill
 * made from these alone would not leave what native leaves. A layout that is not known is no fill: native.
 * Nothing here allocates or keeps state.
 */
#ifndef RL_FILL_H
#define RL_FILL_H

#include <stdbool.h>
#include <stdint.h>

#define RL_FILL_PATTERN_BYTES 16

/* Rows of `row_bytes`, `pitch` bytes apart; the pattern starts anew at the first byte of each. */
struct rl_fill {
    uint64_t destination;
    uint64_t row_bytes, rows, pitch; /* one row: pitch is 0 */
    uint64_t pattern;                /* its address in HIP's pool */
    uint32_t pattern_bytes;          /* 1 to RL_FILL_PATTERN_BYTES */
    uint32_t pattern_at;             /* byte offset of that address in the argument block */
};

/* hipGraphMemsetNodeGetParams(): width in elements, pitch in bytes, value in its low element_bytes. */
struct rl_memset {
    uint64_t destination, width, height, pitch;
    uint32_t element_bytes, value;
};

/* False: no fill kernel of HIP's, or not laid out as a known one. `kernarg` must be readable by the host. */
bool rl_fill_read(struct rl_fill *fill, const char *kernel, uint32_t kernarg_bytes, const void *kernarg,
                  const uint32_t grid[3], const uint16_t workgroup[3]);

/* The fills, in the order in which they were seen, are together just this node. patterns[i]: of fills[i]. */
bool rl_fill_is_memset(const struct rl_fill *fills, const uint8_t (*patterns)[RL_FILL_PATTERN_BYTES],
                       uint32_t count, const struct rl_memset *node);

void rl_fill_set_pattern(void *kernarg, const struct rl_fill *fill, uint64_t pattern);

#endif
