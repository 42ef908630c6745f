/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Launches until the hardware queue is full, all behind one slow kernel, and the exec destroyed before any of
 * them has run.
 *
 *     deep_queue [LAUNCHES]
 */
#include "../apps/app.h"

int main(int argc, char **argv)
{
    app_begin("deep_queue", argc, argv, 9000, 64);
    hipFunction_t mul_add = app_kernel("mul_add"), slow_set = app_kernel("slow_set");
    uint32_t *data = device_words(app.n), *got = host_words(app.n), *want = host_words(app.n);
    uint32_t three = 3, five = 5, one = 1;
    hipStream_t stream = new_stream();

    begin_capture(stream);
    LAUNCH(mul_add, app.n, stream, &data, &three, &five, &app.n);
    LAUNCH(mul_add, app.n, stream, &data, &five, &three, &app.n);
    hipGraphExec_t exec = end_capture_exec(stream);
    HIP(hipGraphLaunch(exec, stream));
    HIP(hipStreamSynchronize(stream));
    LAUNCH(slow_set, app.n, stream, &data, &one, &app.n);
    for (uint32_t i = 0; i < app.n; i++)
        want[i] = 1;
    for (uint32_t round = 0; round < app.rounds; round++) {
        HIP(hipGraphLaunch(exec, stream));
        for (uint32_t i = 0; i < app.n; i++)
            want[i] = (want[i] * 3 + 5) * 5 + 3;
    }
    HIP(hipGraphExecDestroy(exec));
    HIP(hipStreamSynchronize(stream));
    download(got, data);
    EXPECT_WORDS(0, got, want);
    return app_pass();
}
