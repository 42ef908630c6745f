/* SPDX-License-Identifier: Apache-2.0 */
/* A diamond of explicit nodes: a memset, two branches of different length, a join. */
#include "app.h"

#define FILL 0x01020304u

int main(int argc, char **argv)
{
    app_begin("diamond", argc, argv, 6, 4096);
    hipFunction_t copy = app_kernel("copy"), add = app_kernel("add"), scale = app_kernel("scale");
    uint32_t *in = device_words(app.n), *left = device_words(app.n), *right = device_words(app.n);
    uint32_t *out = device_words(app.n), *got = host_words(app.n), *want = host_words(app.n);
    uint32_t factor = 3;
    hipStream_t stream = new_stream();
    hipGraph_t graph;
    hipGraphNode_t fill, end[2], right_copy;
    hipMemsetParams memset_parameters = {
        .dst = left, .elementSize = 4, .value = FILL, .width = app.n, .height = 1, .pitch = app.n * 4
    };

    HIP(hipGraphCreate(&graph, 0));
    HIP(hipGraphAddMemsetNode(&fill, graph, NULL, 0, &memset_parameters));
    end[0] = kernel_node(graph, &fill, 1, add, ARGUMENTS(&left, &left, &in, &app.n));
    right_copy = kernel_node(graph, &fill, 1, copy, ARGUMENTS(&right, &in, &app.n));
    end[1] = kernel_node(graph, &right_copy, 1, scale, ARGUMENTS(&right, &factor, &app.n));
    kernel_node(graph, end, 2, add, ARGUMENTS(&out, &left, &right, &app.n));
    hipGraphExec_t exec = instantiate(graph);

    for (uint32_t round = 0; round < app.rounds; round++) {
        upload_input(in, got, round);
        HIP(hipMemset(out, 0, app.n * sizeof(*out)));
        HIP(hipDeviceSynchronize());
        HIP(hipGraphLaunch(exec, stream));
        HIP(hipStreamSynchronize(stream));
        download(got, out);
        for (uint32_t i = 0; i < app.n; i++)
            want[i] = FILL + 4 * input_word(round, i);
        EXPECT_WORDS(round, got, want);
    }
    HIP(hipGraphExecDestroy(exec));
    HIP(hipGraphDestroy(graph));
    return app_pass();
}
