/* SPDX-License-Identifier: Apache-2.0 */
/* Reads its own AQL packet through the dispatch pointer. */
#include "kernel.h"

struct aql_packet {
    ushort header, setup, workgroup[3], reserved;
    uint grid[3], private_size, group_size;
    ulong kernel_object, kernarg;
};

__kernel void read_packet(__global uint *out)
{
    if (get_group_id(0) || get_local_id(0))
        return;
    out[0] = DISPATCH_POINTER(struct aql_packet)->workgroup[0];
    out[1] = DISPATCH_POINTER(struct aql_packet)->grid[0];
    out[2] = DISPATCH_POINTER(struct aql_packet)->group_size;
    out[3] = DISPATCH_POINTER(struct aql_packet)->kernarg != 0;
}
