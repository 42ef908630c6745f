/* SPDX-License-Identifier: Apache-2.0 */
/* Variables of the code object: two that the host sets, one that the kernel counts up. */
#include "kernel.h"

VARIABLE(uint, gain, 3);
VARIABLE(uint, offsets[4], { 10, 20, 30, 40 });
VARIABLE(uint, calls, 0);

__kernel void apply_variables(__global uint *out, uint n)
{
    uint i = get_group_id(0) * BLOCK + get_local_id(0);

    if (i < n)
        out[i] = *POINTER_TO(uint, gain) * i + POINTER_TO(uint, offsets)[i & 3];
    if (i == 0)
        ATOMIC_ADD(POINTER_TO(uint, calls), 1u);
}
