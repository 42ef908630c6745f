/* SPDX-License-Identifier: Apache-2.0 */
/* A launch on a stream that captures does what HIP does with it, and the exec goes on working afterwards. */
#include "app.h"

int main(int argc, char **argv)
{
    app_begin("capturing_stream", argc, argv, 4, 1024);
    hipFunction_t mul_add = app_kernel("mul_add");
    uint32_t *data = device_words(app.n), *got = host_words(app.n), *want = host_words(app.n);
    uint32_t three = 3, five = 5;
    hipStream_t stream = new_stream();

    begin_capture(stream);
    LAUNCH(mul_add, app.n, stream, &data, &three, &five, &app.n);
    hipGraphExec_t exec = end_capture_exec(stream);
    upload_input(data, want, 0);
    input_words(want, 0);
    for (uint32_t round = 0; round < app.rounds; round++)
        HIP(hipGraphLaunch(exec, stream));
    HIP(hipStreamSynchronize(stream));

    /* HIP 7.2.4 neither refuses the launch nor records it: it runs at once, and the capture stays empty. */
    begin_capture(stream);
    HIP(hipGraphLaunch(exec, stream));
    hipGraph_t graph = end_capture(stream);
    size_t nodes = 99;
    HIP(hipGraphGetNodes(graph, NULL, &nodes));
    EXPECT("nodes of the capture", nodes, 0);
    HIP(hipGraphDestroy(graph));
    HIP(hipDeviceSynchronize());
    download(got, data);
    for (uint32_t i = 0; i < app.n; i++)
        for (uint32_t round = 0; round <= app.rounds; round++)
            want[i] = want[i] * 3 + 5;
    EXPECT_WORDS(0, got, want);
    HIP(hipGraphLaunch(exec, stream));
    HIP(hipStreamSynchronize(stream));
    download(got, data);
    for (uint32_t i = 0; i < app.n; i++)
        want[i] = want[i] * 3 + 5;
    EXPECT_WORDS(1, got, want);
    HIP(hipGraphExecDestroy(exec));
    return app_pass();
}
