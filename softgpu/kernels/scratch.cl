/* SPDX-License-Identifier: Apache-2.0 */
/* A private array whose index only the data know, so that it cannot live in registers. */
#include "kernel.h"

#define SLOTS 64u

__kernel void chase(__global uint *out, __global const uint *in, uint n)
{
    uint next[SLOTS], i = get_group_id(0) * BLOCK + get_local_id(0);

    if (i >= n)
        return;
    for (uint k = 0; k < SLOTS; k++)
        next[k] = k;
    for (uint k = 0; k < SLOTS; k++) {
        uint other = (in[i] + 7 * k) % SLOTS, kept = next[k];
        next[k] = next[other];
        next[other] = kept;
    }
    uint at = i % SLOTS, sum = 0;
    for (uint k = 0; k < SLOTS; k++) {
        at = next[at];
        sum = sum * 31 + at;
    }
    out[i] = sum;
}
