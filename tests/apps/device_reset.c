/* SPDX-License-Identifier: Apache-2.0 */
/* The device is reset while launches wait behind a slow kernel: their stream is gone, and the same work made
 * anew is right. */
#include "app.h"

int main(int argc, char **argv)
{
    app_begin("device_reset", argc, argv, 3, 4096);
    for (uint32_t life = 0; life < 3; life++) {
        hipFunction_t slow_set = app_kernel("slow_set"), mul_add = app_kernel("mul_add");
        uint32_t *data = device_words(app.n), *got = host_words(app.n), *want = host_words(app.n);
        uint32_t three = 3, five = 5;
        hipStream_t stream = new_stream();

        begin_capture(stream);
        LAUNCH(mul_add, app.n, stream, &data, &three, &five, &app.n);
        LAUNCH(mul_add, app.n, stream, &data, &five, &three, &app.n);
        hipGraphExec_t exec = end_capture_exec(stream);
        for (uint32_t round = 0; round < app.rounds; round++) {
            LAUNCH(slow_set, app.n, stream, &data, &round, &app.n);
            HIP(hipGraphLaunch(exec, stream));
            HIP(hipStreamSynchronize(stream));
            download(got, data);
            for (uint32_t i = 0; i < app.n; i++)
                want[i] = (round * 3 + 5) * 5 + 3;
            EXPECT_WORDS(round, got, want);
        }
        LAUNCH(slow_set, app.n, stream, &data, &three, &app.n);
        for (uint32_t launch = 0; launch < 8; launch++)
            HIP(hipGraphLaunch(exec, stream));
        HIP(hipDeviceReset());
        EXPECT("launch in a stream that is gone", hipGraphLaunch(exec, stream), hipErrorContextIsDestroyed);
        EXPECT("last error", hipGetLastError(), hipErrorContextIsDestroyed);
        HIP(hipGraphExecDestroy(exec));
        free(got);
        free(want);
    }
    return app_pass();
}
