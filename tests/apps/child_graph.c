/* SPDX-License-Identifier: Apache-2.0 */
/* A child graph with two roots, twice in a parent, between kernels of the parent (C027). */
#include "app.h"

int main(int argc, char **argv)
{
    app_begin("child_graph", argc, argv, 5, 4096);
    hipFunction_t copy = app_kernel("copy"), mul_add = app_kernel("mul_add"), scale = app_kernel("scale");
    hipFunction_t add = app_kernel("add");
    uint32_t *in = device_words(app.n), *data = device_words(app.n), *side = device_words(app.n);
    uint32_t *out = device_words(app.n);
    uint32_t *got = host_words(app.n), *want = host_words(app.n), three = 3, five = 5, seven = 7;
    hipStream_t stream = new_stream();
    hipGraph_t parent, child;
    hipGraphNode_t node, root[2], first, second, between;

    HIP(hipGraphCreate(&child, 0));
    root[0] = kernel_node(child, NULL, 0, mul_add, ARGUMENTS(&data, &three, &five, &app.n));
    root[1] = kernel_node(child, NULL, 0, mul_add, ARGUMENTS(&side, &five, &seven, &app.n));
    kernel_node(child, root, 2, add, ARGUMENTS(&data, &data, &side, &app.n));
    HIP(hipGraphCreate(&parent, 0));
    node = kernel_node(parent, NULL, 0, copy, ARGUMENTS(&data, &in, &app.n));
    node = kernel_node(parent, &node, 1, copy, ARGUMENTS(&side, &in, &app.n));
    HIP(hipGraphAddChildGraphNode(&first, parent, &node, 1, child));
    between = kernel_node(parent, &first, 1, scale, ARGUMENTS(&data, &seven, &app.n));
    HIP(hipGraphAddChildGraphNode(&second, parent, &between, 1, child));
    kernel_node(parent, &second, 1, copy, ARGUMENTS(&out, &data, &app.n));
    HIP(hipGraphDestroy(child));
    hipGraphExec_t exec = instantiate(parent);

    for (uint32_t round = 0; round < app.rounds; round++) {
        upload_input(in, got, round);
        HIP(hipGraphLaunch(exec, stream));
        HIP(hipStreamSynchronize(stream));
        download(got, out);
        for (uint32_t i = 0; i < app.n; i++) {
            uint32_t x = input_word(round, i), y = x * 5 + 7;
            x = (x * 3 + 5 + y) * 7;
            want[i] = x * 3 + 5 + y * 5 + 7;
        }
        EXPECT_WORDS(round, got, want);
    }
    HIP(hipGraphExecDestroy(exec));
    HIP(hipGraphDestroy(parent));
    return app_pass();
}
