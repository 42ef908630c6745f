/* SPDX-License-Identifier: Apache-2.0 */
/* One capture over two streams: the second does a device-to-device copy, both meet again. */
#include "app.h"

int main(int argc, char **argv)
{
    app_begin("fork_join", argc, argv, 6, 16384);
    hipFunction_t copy = app_kernel("copy"), add = app_kernel("add"), mul_add = app_kernel("mul_add");
    uint32_t *in = device_words(app.n), *left = device_words(app.n), *right = device_words(app.n);
    uint32_t *out = device_words(app.n), *got = host_words(app.n), *want = host_words(app.n);
    uint32_t three = 3, five = 5, seven = 7;
    hipStream_t stream = new_stream(), side = new_stream();
    hipEvent_t fork, join;

    HIP(hipEventCreateWithFlags(&fork, hipEventDisableTiming));
    HIP(hipEventCreateWithFlags(&join, hipEventDisableTiming));
    begin_capture(stream);
    LAUNCH(copy, app.n, stream, &left, &in, &app.n);
    HIP(hipEventRecord(fork, stream));
    HIP(hipStreamWaitEvent(side, fork, 0));
    LAUNCH(mul_add, app.n, stream, &left, &three, &five, &app.n);
    HIP(hipMemcpyAsync(right, in, app.n * sizeof(*in), hipMemcpyDeviceToDevice, side));
    LAUNCH(mul_add, app.n, side, &right, &five, &seven, &app.n);
    HIP(hipEventRecord(join, side));
    HIP(hipStreamWaitEvent(stream, join, 0));
    LAUNCH(add, app.n, stream, &out, &left, &right, &app.n);
    hipGraphExec_t exec = end_capture_exec(stream);

    for (uint32_t round = 0; round < app.rounds; round++) {
        upload_input(in, got, round);
        HIP(hipGraphLaunch(exec, stream));
        HIP(hipStreamSynchronize(stream));
        download(got, out);
        for (uint32_t i = 0; i < app.n; i++)
            want[i] = input_word(round, i) * 8 + 12;
        EXPECT_WORDS(round, got, want);
    }
    HIP(hipGraphExecDestroy(exec));
    return app_pass();
}
