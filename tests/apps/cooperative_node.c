/* SPDX-License-Identifier: Apache-2.0 */
/* A cooperative kernel inside a graph, between two others: made so by an attribute of its node, and captured.
 * HIP runs such a kernel in a queue of its own. */
#include "app.h"

static void check(hipGraphExec_t exec, hipStream_t stream, uint32_t *in, const uint32_t *out)
{
    uint32_t *got = host_words(app.n), *want = host_words(app.n);

    for (uint32_t round = 0; round < app.rounds; round++) {
        upload_input(in, got, round);
        HIP(hipGraphLaunch(exec, stream));
        HIP(hipStreamSynchronize(stream));
        download(got, out);
        input_words(want, round);
        for (uint32_t i = 0; i < app.n; i++)
            want[i] = want[i] * 3 + 5;
        EXPECT_WORDS(round, got, want);
    }
    free(got);
    free(want);
}

int main(int argc, char **argv)
{
    app_begin("cooperative_node", argc, argv, 4, 1024);
    hipFunction_t slow_copy = app_kernel("slow_copy"), copy = app_kernel("copy");
    hipFunction_t mul_add = app_kernel("mul_add");
    uint32_t *in = device_words(app.n), *middle = device_words(app.n), *out = device_words(app.n);
    uint32_t three = 3, five = 5;
    hipKernelNodeAttrValue cooperative = { .cooperative = 1 };
    hipStream_t stream = new_stream();
    hipGraphNode_t nodes[3];
    hipGraph_t graph;

    HIP(hipGraphCreate(&graph, 0));
    nodes[0] = kernel_node(graph, NULL, 0, copy, ARGUMENTS(&middle, &in, &app.n));
    nodes[1] = kernel_node(graph, &nodes[0], 1, slow_copy, ARGUMENTS(&out, &middle, &app.n));
    nodes[2] = kernel_node(graph, &nodes[1], 1, mul_add, ARGUMENTS(&out, &three, &five, &app.n));
    HIP(hipGraphKernelNodeSetAttribute(nodes[1], hipKernelNodeAttributeCooperative, &cooperative));
    hipGraphExec_t exec = instantiate(graph);
    check(exec, stream, in, out);
    HIP(hipGraphExecDestroy(exec));
    HIP(hipGraphDestroy(graph));

    begin_capture(stream);
    LAUNCH(copy, app.n, stream, &middle, &in, &app.n);
    HIP(hipModuleLaunchCooperativeKernel(slow_copy, BLOCKS(app.n), 1, 1, BLOCK, 1, 1, 0, stream,
                                         ARGUMENTS(&out, &middle, &app.n)));
    LAUNCH(mul_add, app.n, stream, &out, &three, &five, &app.n);
    exec = end_capture_exec(stream);
    check(exec, stream, in, out);
    HIP(hipGraphExecDestroy(exec));
    return app_pass();
}
