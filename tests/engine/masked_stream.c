/* SPDX-License-Identifier: Apache-2.0 */
/* Launches in a stream with a mask of compute units and in one with a priority, behind slow kernels. */
#include "../apps/app.h"

int main(int argc, char **argv)
{
    app_begin("masked_stream", argc, argv, 4, 256);
    hipFunction_t mul_add = app_kernel("mul_add"), slow_set = app_kernel("slow_set");
    uint32_t *data[2] = { device_words(app.n), device_words(app.n) }, n[2] = { app.n, app.n / 2 };
    uint32_t three = 3, five = 5, start, mask = 0xf;
    uint32_t *got = host_words(app.n), *want = host_words(app.n);
    hipStream_t stream[2];
    hipGraphExec_t exec[2];
    int least, greatest;

    HIP(hipDeviceGetStreamPriorityRange(&least, &greatest));
    HIP(hipExtStreamCreateWithCUMask(&stream[0], 1, &mask));
    HIP(hipStreamCreateWithPriority(&stream[1], hipStreamNonBlocking, greatest));
    for (int k = 0; k < 2; k++) {
        begin_capture(stream[k]);
        LAUNCH(mul_add, n[k], stream[k], &data[k], &three, &five, &n[k]);
        exec[k] = end_capture_exec(stream[k]);
    }
    for (uint32_t round = 0; round < app.rounds; round++) {
        for (int k = 0; k < 2; k++) {
            start = round + (uint32_t)k;
            LAUNCH(slow_set, app.n, stream[k], &data[k], &start, &app.n);
            HIP(hipGraphLaunch(exec[k], stream[k]));
        }
        for (int k = 0; k < 2; k++) {
            HIP(hipStreamSynchronize(stream[k]));
            for (uint32_t i = 0; i < app.n; i++)
                want[i] = i < n[k] ? (round + (uint32_t)k) * 3 + 5 : round + (uint32_t)k;
            download(got, data[k]);
            EXPECT_WORDS(round, got, want);
        }
    }
    return app_pass();
}
