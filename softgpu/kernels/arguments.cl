/* A struct passed by value between two other arguments. */
#include "arguments.h"
#include "kernel.h"

__kernel void evaluate(__global ulong *out, struct polynomial p, uint n)
{
    uint i = get_global_id(0);

    if (i >= n)
        return;
    ulong x = (ulong)i * p.step, sum = 0;
    for (uint k = 0; k <= p.degree && k < 4; k++)
        sum = sum * x + p.coefficient[k];
    out[i] = sum + p.bias;
}
