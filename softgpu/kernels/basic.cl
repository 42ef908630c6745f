/* SPDX-License-Identifier: Apache-2.0 */
/* Element-wise kernels without hidden arguments, launched in blocks of BLOCK work-items. `slow_` kernels mean
 * the same; tests have the software GPU delay them by name. Unsigned arithmetic wraps, so every order of
 * updates shows. */
#include "kernel.h"

#define INDEX() (get_group_id(0) * BLOCK + get_local_id(0))

__kernel void vadd(__global const float *a, __global const float *b, __global float *out, int n)
{
    int i = INDEX();

    if (i < n)
        out[i] = a[i] + b[i];
}

__kernel void iota(__global uint *out, uint start, uint n)
{
    uint i = INDEX();

    if (i < n)
        out[i] = start + i;
}

__kernel void set(__global uint *out, uint value, uint n)
{
    uint i = INDEX();

    if (i < n)
        out[i] = value;
}

__kernel void slow_set(__global uint *out, uint value, uint n)
{
    uint i = INDEX();

    if (i < n)
        out[i] = value;
}

__kernel void copy(__global uint *out, __global const uint *in, uint n)
{
    uint i = INDEX();

    if (i < n)
        out[i] = in[i];
}

__kernel void slow_copy(__global uint *out, __global const uint *in, uint n)
{
    uint i = INDEX();

    if (i < n)
        out[i] = in[i];
}

__kernel void add(__global uint *out, __global const uint *a, __global const uint *b, uint n)
{
    uint i = INDEX();

    if (i < n)
        out[i] = a[i] + b[i];
}

__kernel void scale(__global uint *data, uint factor, uint n)
{
    uint i = INDEX();

    if (i < n)
        data[i] *= factor;
}

__kernel void mul_add(__global uint *data, uint factor, uint term, uint n)
{
    uint i = INDEX();

    if (i < n)
        data[i] = data[i] * factor + term;
}
