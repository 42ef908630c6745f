/* SPDX-License-Identifier: Apache-2.0 */
/* One root, more branches than HIP has streams for them, one join (C034). */
#include "app.h"

#define BRANCHES 24

int main(int argc, char **argv)
{
    app_begin("fan_out", argc, argv, 4, 1024);
    hipFunction_t copy = app_kernel("copy"), slow_copy = app_kernel("slow_copy");
    hipFunction_t mul_add = app_kernel("mul_add"), add = app_kernel("add");
    uint32_t *in = device_words(app.n), *root = device_words(app.n), *branch[BRANCHES], *sum;
    uint32_t *got = host_words(app.n), *want = host_words(app.n), three = 3, zero = 0;
    hipStream_t stream = new_stream();
    hipGraph_t graph;
    hipGraphNode_t first, end[BRANCHES], node;

    HIP(hipGraphCreate(&graph, 0));
    sum = device_words(app.n);
    first = kernel_node(graph, NULL, 0, slow_copy, ARGUMENTS(&root, &in, &app.n));
    for (uint32_t b = 0; b < BRANCHES; b++) {
        branch[b] = device_words(app.n);
        end[b] = kernel_node(graph, &first, 1, b % 5 ? copy : slow_copy,
                             ARGUMENTS(&branch[b], &root, &app.n));
        end[b] = kernel_node(graph, &end[b], 1, mul_add, ARGUMENTS(&branch[b], &three, &b, &app.n));
    }
    node = kernel_node(graph, end, BRANCHES, mul_add, ARGUMENTS(&sum, &zero, &zero, &app.n));
    for (uint32_t b = 0; b < BRANCHES; b++)
        node = kernel_node(graph, &node, 1, add, ARGUMENTS(&sum, &sum, &branch[b], &app.n));
    hipGraphExec_t exec = instantiate(graph);

    for (uint32_t round = 0; round < app.rounds; round++) {
        upload_input(in, got, round);
        HIP(hipGraphLaunch(exec, stream));
        HIP(hipStreamSynchronize(stream));
        download(got, sum);
        for (uint32_t i = 0; i < app.n; i++)
            want[i] = BRANCHES * 3 * input_word(round, i) + BRANCHES * (BRANCHES - 1) / 2;
        EXPECT_WORDS(round, got, want);
    }
    HIP(hipGraphExecDestroy(exec));
    HIP(hipGraphDestroy(graph));
    return app_pass();
}
