/* SPDX-License-Identifier: Apache-2.0 */
/* Kernels that learn their block and grid size from hidden arguments. */
#include "kernel.h"

__kernel void saxpy(__global const float *x, __global float *y, float a, int n)
{
    int i = get_global_id(0);

    if (i < n)
        y[i] = a * x[i] + y[i];
}

/* Six words a work-group: block size and grid size in x, y, z. */
__kernel void sizes(__global uint *out)
{
    uint groups_x = get_global_size(0) / get_local_size(0), groups_y = get_global_size(1) / get_local_size(1);
    uint group = (get_group_id(2) * groups_y + get_group_id(1)) * groups_x + get_group_id(0);

    if (get_local_id(0) || get_local_id(1) || get_local_id(2))
        return;
    out[6 * group + 0] = get_local_size(0);
    out[6 * group + 1] = get_local_size(1);
    out[6 * group + 2] = get_local_size(2);
    out[6 * group + 3] = get_global_size(0);
    out[6 * group + 4] = get_global_size(1);
    out[6 * group + 5] = get_global_size(2);
}
