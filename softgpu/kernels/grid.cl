/* SPDX-License-Identifier: Apache-2.0 */
/* Every id of a three-dimensional grid, at the place that the ids themselves give. */
#include "kernel.h"

__kernel void ids(__global uint *out)
{
    uint x = get_global_id(0), y = get_global_id(1), z = get_global_id(2);

    out[(z * get_global_size(1) + y) * get_global_size(0) + x] =
        get_local_id(0) | get_local_id(1) << 5 | get_local_id(2) << 10 |
        get_group_id(0) << 15 | get_group_id(1) << 20 | get_group_id(2) << 25;
}
