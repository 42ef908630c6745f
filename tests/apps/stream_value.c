/* SPDX-License-Identifier: Apache-2.0 */
/* A launch behind hipStreamWaitValue32, released by a second stream that writes the value when its slow work
 * is done. */
#include "app.h"

int main(int argc, char **argv)
{
    app_begin("stream_value", argc, argv, 5, 1024);
    hipFunction_t copy = app_kernel("copy"), slow_set = app_kernel("slow_set"),
                  mul_add = app_kernel("mul_add");
    uint32_t *data = device_words(app.n), *out = device_words(app.n), three = 3, five = 5;
    uint32_t *got = host_words(app.n), *want = host_words(app.n);
    hipStream_t stream = new_stream(), writer = new_stream();
    void *flag;

    HIP(hipExtMallocWithFlags(&flag, 8, hipMallocSignalMemory));
    HIP(hipMemset(flag, 0, 8));
    HIP(hipDeviceSynchronize());
    begin_capture(stream);
    LAUNCH(copy, app.n, stream, &out, &data, &app.n);
    LAUNCH(mul_add, app.n, stream, &out, &three, &five, &app.n);
    hipGraphExec_t exec = end_capture_exec(stream);
    for (uint32_t round = 1; round <= app.rounds; round++) {
        HIP(hipStreamWaitValue32(stream, flag, round, hipStreamWaitValueGte, 0xffffffff));
        HIP(hipGraphLaunch(exec, stream));
        LAUNCH(slow_set, app.n, writer, &data, &round, &app.n);
        HIP(hipStreamWriteValue32(writer, flag, round, 0));
        HIP(hipStreamSynchronize(stream));
        HIP(hipStreamSynchronize(writer));
        download(got, out);
        for (uint32_t i = 0; i < app.n; i++)
            want[i] = round * 3 + 5;
        EXPECT_WORDS(round, got, want);
    }
    HIP(hipGraphExecDestroy(exec));
    return app_pass();
}
