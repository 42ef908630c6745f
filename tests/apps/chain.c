/* SPDX-License-Identifier: Apache-2.0 */
/* A chain of sixteen kernels captured on one stream, launched with another input each time. */
#include "app.h"

#define NODES 16

int main(int argc, char **argv)
{
    app_begin("chain", argc, argv, 6, 4096);
    hipFunction_t copy = app_kernel("copy"), mul_add = app_kernel("mul_add");
    uint32_t *in = device_words(app.n), *out = device_words(app.n);
    uint32_t *got = host_words(app.n), *want = host_words(app.n);
    hipStream_t stream = new_stream();

    begin_capture(stream);
    LAUNCH(copy, app.n, stream, &out, &in, &app.n);
    for (uint32_t k = 1; k < NODES; k++) {
        uint32_t factor = 2 * k + 1;
        LAUNCH(mul_add, app.n, stream, &out, &factor, &k, &app.n);
    }
    hipGraph_t graph = end_capture(stream);
    size_t nodes = 0;
    HIP(hipGraphGetNodes(graph, NULL, &nodes));
    EXPECT("nodes", nodes, NODES);
    hipGraphExec_t exec = instantiate(graph);

    for (uint32_t round = 0; round < app.rounds; round++) {
        upload_input(in, got, round);
        HIP(hipGraphLaunch(exec, stream));
        HIP(hipStreamSynchronize(stream));
        download(got, out);
        input_words(want, round);
        for (uint32_t i = 0; i < app.n; i++)
            for (uint32_t k = 1; k < NODES; k++)
                want[i] = want[i] * (2 * k + 1) + k;
        EXPECT_WORDS(round, got, want);
    }
    HIP(hipGraphExecDestroy(exec));
    HIP(hipGraphDestroy(graph));
    HIP(hipStreamDestroy(stream));
    return app_pass();
}
