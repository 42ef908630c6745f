/* SPDX-License-Identifier: Apache-2.0 */
/* Built twice, for waves of 32 and of 64 lanes. */
#include "kernel.h"

__kernel void lanes(__global uint *out)
{
    out[get_group_id(0) * BLOCK + get_local_id(0)] = WAVE_SIZE() << 8 | LANE_ID();
}
