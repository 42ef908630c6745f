/* A launch on a stream that captures becomes a node of the capture; it runs only when that graph does. */
#include "app.h"

int main(int argc, char **argv)
{
    app_begin("capturing_stream", argc, argv, 4, 1024);
    hipFunction_t mul_add = app_kernel("mul_add");
    uint32_t *data = device_words(app.n), *got = host_words(app.n), *want = host_words(app.n), three = 3, five = 5;
    hipStream_t stream = new_stream();

    begin_capture(stream);
    LAUNCH(mul_add, app.n, stream, &data, &three, &five, &app.n);
    hipGraphExec_t exec = end_capture_exec(stream);
    upload_input(data, want, 0);
    input_words(want, 0);
    for (uint32_t round = 0; round < app.rounds; round++)
        HIP(hipGraphLaunch(exec, stream));
    HIP(hipStreamSynchronize(stream));

    begin_capture(stream);
    hipError_t launched = hipGraphLaunch(exec, stream);
    hipGraph_t graph = NULL;
    hipError_t ended = hipStreamEndCapture(stream, &graph);
    printf("launch into a capture: %s, end of the capture: %s\n", hipGetErrorName(launched), hipGetErrorName(ended));
    (void)hipGetLastError();
    download(got, data);
    for (uint32_t i = 0; i < app.n; i++)
        for (uint32_t round = 0; round < app.rounds; round++)
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
