/* SPDX-License-Identifier: Apache-2.0 */
/* A struct passed by value between two other arguments. */
#include "arguments.h"
#include "kernel.h"

__kernel void evaluate(__global ulong *out, struct polynomial p, uint n)
{
    uint i = get_global_id(0);

    if (i >= n)
        return;
    /* By hand: a loop would index the struct and have the compiler move it to local memory. */
    ulong x = (ulong)i * p.step, sum = p.coefficient[0];
    if (p.degree > 0)
        sum = sum * x + p.coefficient[1];
    if (p.degree > 1)
        sum = sum * x + p.coefficient[2];
    if (p.degree > 2)
        sum = sum * x + p.coefficient[3];
    out[i] = sum + p.bias;
}
