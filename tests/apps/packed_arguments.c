/* SPDX-License-Identifier: Apache-2.0 */
/* Arguments as one packed buffer, as libraries pass them: captured, in a node, and for an exec (C007). */
#include "app.h"

/* mul_add(data, factor, term, n) */
struct packed {
    uint32_t *data;
    uint32_t factor, term, n;
};

#define PACKED(block, size)                                                                                  \
    ((void *[]){ HIP_LAUNCH_PARAM_BUFFER_POINTER, block, HIP_LAUNCH_PARAM_BUFFER_SIZE, size,                 \
                 HIP_LAUNCH_PARAM_END })

int main(int argc, char **argv)
{
    app_begin("packed_arguments", argc, argv, 5, 1024);
    hipFunction_t mul_add = app_kernel("mul_add");
    uint32_t *data = device_words(app.n), *got = host_words(app.n), *want = host_words(app.n);
    struct packed block = { .data = data, .factor = 3, .term = 5, .n = app.n };
    size_t size = sizeof(block);
    hipStream_t stream = new_stream();
    hipGraphNode_t node[2];
    size_t nodes = 2;
    hipKernelNodeParams kernel = { .func = mul_add,
                                   .gridDim = { BLOCKS(app.n), 1, 1 },
                                   .blockDim = { BLOCK, 1, 1 } };

    begin_capture(stream);
    HIP(hipModuleLaunchKernel(mul_add, BLOCKS(app.n), 1, 1, BLOCK, 1, 1, 0, stream, NULL,
                              PACKED(&block, &size)));
    hipGraph_t graph = end_capture(stream);
    HIP(hipGraphGetNodes(graph, node, &nodes));
    EXPECT("captured nodes", nodes, 1);
    block.factor = 7;
    kernel.extra = PACKED(&block, &size);
    HIP(hipGraphAddKernelNode(&node[1], graph, node, 1, &kernel));
    /* Copied when the node was added: this must not reach it. */
    memset(&block, 0xff, sizeof(block));
    hipGraphExec_t exec = instantiate(graph);
    uint32_t factor[2] = { 3, 7 }, term[2] = { 5, 5 };
    for (uint32_t round = 0; round < app.rounds; round++) {
        if (round > 1) {
            uint32_t which = round & 1;
            factor[which] = 2 * round + 1;
            term[which] = round;
            block = (struct packed){ .data = data, .factor = factor[which], .term = round, .n = app.n };
            kernel.extra = PACKED(&block, &size);
            HIP(hipGraphExecKernelNodeSetParams(exec, node[which], &kernel));
            memset(&block, 0xff, sizeof(block));
        }
        upload_input(data, got, round);
        HIP(hipGraphLaunch(exec, stream));
        HIP(hipStreamSynchronize(stream));
        download(got, data);
        for (uint32_t i = 0; i < app.n; i++)
            want[i] = (input_word(round, i) * factor[0] + term[0]) * factor[1] + term[1];
        EXPECT_WORDS(round, got, want);
    }
    HIP(hipGraphExecDestroy(exec));
    HIP(hipGraphDestroy(graph));
    return app_pass();
}
