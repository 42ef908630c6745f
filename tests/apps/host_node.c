/* SPDX-License-Identifier: Apache-2.0 */
/* Kernel, copy to the host, host function, copy back, kernel: explicit nodes on pinned memory. */
#include "app.h"

struct reverse {
    uint32_t *words;
    uint32_t n;
    uint32_t calls;
};

static void reverse_words(void *data)
{
    struct reverse *job = data;

    for (uint32_t i = 0; i < job->n / 2; i++) {
        uint32_t kept = job->words[i];
        job->words[i] = job->words[job->n - 1 - i];
        job->words[job->n - 1 - i] = kept;
    }
    job->calls++;
}

int main(int argc, char **argv)
{
    app_begin("host_node", argc, argv, 5, 16384);
    hipFunction_t copy = app_kernel("copy"), mul_add = app_kernel("mul_add");
    uint32_t *in = device_words(app.n), *data = device_words(app.n), *pinned = pinned_words(app.n);
    uint32_t *got = host_words(app.n), *want = host_words(app.n), three = 3, seven = 7;
    size_t bytes = app.n * sizeof(*in);
    struct reverse job = { .words = pinned, .n = app.n };
    hipHostNodeParams host_parameters = { .fn = reverse_words, .userData = &job };
    hipStream_t stream = new_stream();
    hipGraph_t graph;
    hipGraphNode_t first, down, host, up;

    HIP(hipGraphCreate(&graph, 0));
    first = kernel_node(graph, NULL, 0, copy, ARGUMENTS(&data, &in, &app.n));
    HIP(hipGraphAddMemcpyNode1D(&down, graph, &first, 1, pinned, data, bytes, hipMemcpyDeviceToHost));
    HIP(hipGraphAddHostNode(&host, graph, &down, 1, &host_parameters));
    HIP(hipGraphAddMemcpyNode1D(&up, graph, &host, 1, data, pinned, bytes, hipMemcpyHostToDevice));
    kernel_node(graph, &up, 1, mul_add, ARGUMENTS(&data, &three, &seven, &app.n));
    hipGraphExec_t exec = instantiate(graph);

    for (uint32_t round = 0; round < app.rounds; round++) {
        upload_input(in, got, round);
        HIP(hipGraphLaunch(exec, stream));
        HIP(hipStreamSynchronize(stream));
        download(got, data);
        EXPECT("calls of the host function", job.calls, round + 1);
        for (uint32_t i = 0; i < app.n; i++)
            want[i] = input_word(round, app.n - 1 - i) * 3 + 7;
        EXPECT_WORDS(round, got, want);
    }
    HIP(hipGraphExecDestroy(exec));
    HIP(hipGraphDestroy(graph));
    return app_pass();
}
