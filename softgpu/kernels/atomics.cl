/* SPDX-License-Identifier: Apache-2.0 */
/* Atomics on global memory. */
#include "kernel.h"

__kernel void count(__global uint *counter)
{
    ATOMIC_ADD(counter, 1u);
}

__kernel void histogram(__global uint *bins, __global uint *largest, __global const uint *data, uint n)
{
    uint i = get_group_id(0) * BLOCK + get_local_id(0);

    if (i >= n)
        return;
    ATOMIC_ADD(&bins[data[i] & 15], 1u);
    ATOMIC_MAX(largest, data[i]);
}
