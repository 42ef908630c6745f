/* SPDX-License-Identifier: Apache-2.0 */
/* Local memory: static, dynamic as HIP's extern __shared__, and through an argument; all need a barrier. */
#include "kernel.h"

__kernel void reverse_static(__global uint *data)
{
    STATIC_LDS(uint, tile, BLOCK);
    uint base = get_group_id(0) * BLOCK, lane = get_local_id(0);

    tile[lane] = data[base + lane];
    BARRIER();
    data[base + lane] = tile[BLOCK - 1 - lane];
}

__kernel void reverse_dynamic(__global uint *data)
{
    uint size = get_local_size(0), base = get_group_id(0) * size, lane = get_local_id(0);
    DYNAMIC_LDS(uint, tile, size);

    tile[lane] = data[base + lane];
    BARRIER();
    data[base + lane] = tile[size - 1 - lane];
}

/* Sum of each block by a tree of as many barriers as the block has levels; the block is a power of two. */
__kernel void block_sum(__global uint *out, __global const uint *in, LDS_ARGUMENT(uint, partial), uint n)
{
    uint size = get_local_size(0), lane = get_local_id(0), i = get_group_id(0) * size + lane;
    USE_LDS_ARGUMENT(uint, partial, size);

    partial[lane] = i < n ? in[i] : 0;
    for (uint half_size = size / 2; half_size; half_size /= 2) {
        BARRIER();
        if (lane < half_size)
            partial[lane] += partial[lane + half_size];
    }
    if (lane == 0)
        out[get_group_id(0)] = partial[0];
}
