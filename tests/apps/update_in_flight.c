/* SPDX-License-Identifier: Apache-2.0 */
/* New parameters for an exec whose last launch is still queued: that launch keeps its own. */
#include "app.h"

int main(int argc, char **argv)
{
    app_begin("update_in_flight", argc, argv, 6, 1024);
    hipFunction_t slow_set = app_kernel("slow_set"), mul_add = app_kernel("mul_add");
    uint32_t *data[2] = { device_words(app.n), device_words(app.n) }, factor = 3, term = 5;
    uint32_t *got = host_words(app.n), *want = host_words(app.n);
    hipStream_t stream = new_stream();
    hipGraph_t graph;
    hipKernelNodeParams change = { .func = mul_add,
                                   .gridDim = { BLOCKS(app.n), 1, 1 },
                                   .blockDim = { BLOCK, 1, 1 } };

    HIP(hipGraphCreate(&graph, 0));
    hipGraphNode_t node = kernel_node(graph, NULL, 0, mul_add, ARGUMENTS(&data[0], &factor, &term, &app.n));
    hipGraphExec_t exec = instantiate(graph);
    for (uint32_t round = 0; round < app.rounds; round++) {
        uint32_t start = 10 + round;
        for (uint32_t side = 0; side < 2; side++)
            LAUNCH(slow_set, app.n, stream, &data[side], &start, &app.n);
        for (uint32_t side = 0; side < 2; side++) {
            factor = 2 * round + 3 + 10 * side;
            term = round + side;
            change.kernelParams = ARGUMENTS(&data[side], &factor, &term, &app.n);
            HIP(hipGraphExecKernelNodeSetParams(exec, node, &change));
            HIP(hipGraphLaunch(exec, stream));
        }
        HIP(hipStreamSynchronize(stream));
        for (uint32_t side = 0; side < 2; side++) {
            download(got, data[side]);
            for (uint32_t i = 0; i < app.n; i++)
                want[i] = start * (2 * round + 3 + 10 * side) + round + side;
            EXPECT_WORDS(round, got, want);
        }
    }
    HIP(hipGraphExecDestroy(exec));
    HIP(hipGraphDestroy(graph));
    return app_pass();
}
