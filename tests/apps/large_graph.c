/* SPDX-License-Identifier: Apache-2.0 */
/* Hundreds of kernels of one function in an exec, all arguments changed between launches (C006, C035). */
#include "app.h"

#define NODES 300

int main(int argc, char **argv)
{
    app_begin("large_graph", argc, argv, 4, 256);
    hipFunction_t mul_add = app_kernel("mul_add");
    uint32_t *data[2] = { device_words(app.n), device_words(app.n) };
    uint32_t *got = host_words(app.n), *want = host_words(app.n), factor, term;
    hipStream_t stream = new_stream();
    hipGraph_t graph;
    hipGraphNode_t node[NODES];
    hipKernelNodeParams change = { .func = mul_add,
                                   .gridDim = { BLOCKS(app.n), 1, 1 },
                                   .blockDim = { BLOCK, 1, 1 } };

    HIP(hipGraphCreate(&graph, 0));
    for (uint32_t k = 0; k < NODES; k++) {
        factor = 2 * k + 1;
        term = k;
        node[k] = kernel_node(graph, k ? &node[k - 1] : NULL, k ? 1 : 0, mul_add,
                              ARGUMENTS(&data[0], &factor, &term, &app.n));
    }
    hipGraphExec_t exec = instantiate(graph);
    for (uint32_t round = 0; round < app.rounds; round++) {
        uint32_t *at = data[round / 2 & 1], shift = round / 2;
        if (round == 2)
            for (uint32_t k = 0; k < NODES; k++) {
                factor = 2 * k + 1;
                term = k + shift;
                change.kernelParams = ARGUMENTS(&at, &factor, &term, &app.n);
                HIP(hipGraphExecKernelNodeSetParams(exec, node[k], &change));
            }
        upload_input(at, got, round);
        HIP(hipGraphLaunch(exec, stream));
        HIP(hipStreamSynchronize(stream));
        download(got, at);
        input_words(want, round);
        for (uint32_t i = 0; i < app.n; i++)
            for (uint32_t k = 0; k < NODES; k++)
                want[i] = want[i] * (2 * k + 1) + k + shift;
        EXPECT_WORDS(round, got, want);
    }
    HIP(hipGraphExecDestroy(exec));
    HIP(hipGraphDestroy(graph));
    return app_pass();
}
