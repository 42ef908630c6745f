/* SPDX-License-Identifier: Apache-2.0 */
/* As PyTorch does: several captures on a side stream, AutoFreeOnLaunch, the graph destroyed at once, replays
 * on other streams, inputs copied into place on the replaying stream (C012). */
#include "app.h"

#define GRAPHS 3

int main(int argc, char **argv)
{
    app_begin("torch_replay", argc, argv, 4, 16384);
    hipFunction_t copy = app_kernel("copy"), mul_add = app_kernel("mul_add");
    uint32_t *in = device_words(app.n), *data = device_words(app.n), *fresh = pinned_words(app.n);
    uint32_t *got = host_words(app.n), *want = host_words(app.n);
    hipStream_t side = new_stream(), other = new_stream();
    hipGraphExec_t exec[GRAPHS];
    hipGraph_t graph;

    for (uint32_t g = 0; g < GRAPHS; g++) {
        uint32_t factor = 2 * g + 3;
        HIP(hipStreamBeginCapture(side, hipStreamCaptureModeGlobal));
        if (g == 0)
            LAUNCH(copy, app.n, side, &data, &in, &app.n);
        for (uint32_t k = 0; k < 3; k++)
            LAUNCH(mul_add, app.n, side, &data, &factor, &k, &app.n);
        graph = end_capture(side);
        HIP(hipGraphInstantiateWithFlags(&exec[g], graph, hipGraphInstantiateFlagAutoFreeOnLaunch));
        HIP(hipGraphDestroy(graph));
    }
    for (uint32_t round = 0; round < app.rounds; round++) {
        hipStream_t stream = round & 1 ? NULL : other;
        input_words(fresh, round);
        HIP(hipMemcpyAsync(in, fresh, app.n * sizeof(*in), hipMemcpyHostToDevice, stream));
        for (uint32_t g = 0; g < GRAPHS; g++)
            HIP(hipGraphLaunch(exec[g], stream));
        HIP(hipStreamSynchronize(stream));
        download(got, data);
        input_words(want, round);
        for (uint32_t i = 0; i < app.n; i++)
            for (uint32_t g = 0; g < GRAPHS; g++)
                for (uint32_t k = 0; k < 3; k++)
                    want[i] = want[i] * (2 * g + 3) + k;
        EXPECT_WORDS(round, got, want);
    }
    for (uint32_t g = 0; g < GRAPHS; g++)
        HIP(hipGraphExecDestroy(exec[g]));
    HIP(hipDeviceSynchronize());
    return app_pass();
}
