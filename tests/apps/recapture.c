/* SPDX-License-Identifier: Apache-2.0 */
/* As llama.cpp does: capture again for each token, destroy the old graph before the capture ends, update the
 * exec or, when the update is refused, instantiate again (C012, C013). */
#include "app.h"

int main(int argc, char **argv)
{
    app_begin("recapture", argc, argv, 8, 4096);
    hipFunction_t copy = app_kernel("copy"), mul_add = app_kernel("mul_add");
    uint32_t *in = device_words(app.n), *data = device_words(app.n);
    uint32_t *got = host_words(app.n), *want = host_words(app.n), instantiated = 0;
    hipStream_t stream = new_stream();
    hipGraph_t graph = NULL;
    hipGraphExec_t exec = NULL;

    for (uint32_t round = 0; round < app.rounds; round++) {
        uint32_t kernels = round < 5 ? 3 : 4, factor, term;
        upload_input(in, got, round);
        HIP(hipStreamBeginCapture(stream, hipStreamCaptureModeRelaxed));
        LAUNCH(copy, app.n, stream, &data, &in, &app.n);
        for (uint32_t k = 0; k < kernels; k++) {
            factor = 2 * (round + k) + 1;
            term = round * 10 + k;
            LAUNCH(mul_add, app.n, stream, &data, &factor, &term, &app.n);
        }
        if (graph)
            HIP(hipGraphDestroy(graph));
        graph = end_capture(stream);
        if (!exec) {
            exec = instantiate(graph);
            instantiated++;
        }
        hipGraphNode_t error_node;
        hipGraphExecUpdateResult result;
        hipError_t status = hipGraphExecUpdate(exec, graph, &error_node, &result);
        if (status == hipErrorGraphExecUpdateFailure) {
            EXPECT("last error", hipGetLastError(), hipErrorGraphExecUpdateFailure);
            HIP(hipGraphExecDestroy(exec));
            exec = instantiate(graph);
            instantiated++;
        } else {
            EXPECT("status of hipGraphExecUpdate", status, hipSuccess);
            EXPECT("result of hipGraphExecUpdate", result, hipGraphExecUpdateSuccess);
        }
        HIP(hipGraphLaunch(exec, stream));
        HIP(hipStreamSynchronize(stream));
        download(got, data);
        input_words(want, round);
        for (uint32_t i = 0; i < app.n; i++)
            for (uint32_t k = 0; k < kernels; k++)
                want[i] = want[i] * (2 * (round + k) + 1) + round * 10 + k;
        EXPECT_WORDS(round, got, want);
    }
    EXPECT("instantiations", instantiated, app.rounds > 5 ? 2 : 1);
    HIP(hipGraphExecDestroy(exec));
    HIP(hipGraphDestroy(graph));
    return app_pass();
}
