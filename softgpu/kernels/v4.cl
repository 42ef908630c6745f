/* SPDX-License-Identifier: Apache-2.0 */
/* Code object version 4: block and grid size are read from the dispatch packet. */
#include "kernel.h"

__kernel void saxpy_v4(__global const float *x, __global float *y, float a, int n)
{
    int i = get_global_id(0);

    if (i < n)
        y[i] = a * x[i] + y[i];
}

__kernel void sizes_v4(__global uint *out)
{
    if (get_global_id(0) != 0)
        return;
    out[0] = get_local_size(0);
    out[1] = get_global_size(0);
}
