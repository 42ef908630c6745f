/* SPDX-License-Identifier: Apache-2.0 */
/* An exec destroyed while its launch is queued behind a slow kernel; the next exec gets its memory and often
 * its handle (C029, C044). */
#include "app.h"

static hipGraphExec_t make(hipStream_t stream, hipFunction_t mul_add, uint32_t *data, uint32_t factor)
{
    uint32_t five = 5;

    begin_capture(stream);
    LAUNCH(mul_add, app.n, stream, &data, &factor, &five, &app.n);
    LAUNCH(mul_add, app.n, stream, &data, &five, &factor, &app.n);
    return end_capture_exec(stream);
}

int main(int argc, char **argv)
{
    app_begin("exec_destroy", argc, argv, 6, 4096);
    hipFunction_t slow_set = app_kernel("slow_set"), mul_add = app_kernel("mul_add");
    uint32_t *first = device_words(app.n), *second = device_words(app.n);
    uint32_t *got = host_words(app.n), *want = host_words(app.n);
    hipStream_t stream = new_stream(), capture = new_stream();

    for (uint32_t round = 0; round < app.rounds; round++) {
        uint32_t factor = 2 * round + 3, start = 100 + round, other = 1000 + round;
        hipGraphExec_t exec = make(capture, mul_add, first, factor);
        HIP(hipGraphLaunch(exec, stream));
        HIP(hipStreamSynchronize(stream));
        LAUNCH(slow_set, app.n, stream, &first, &start, &app.n);
        HIP(hipGraphLaunch(exec, stream));
        HIP(hipGraphExecDestroy(exec));

        hipGraphExec_t next = make(capture, mul_add, second, factor + 2);
        LAUNCH(slow_set, app.n, stream, &second, &other, &app.n);
        HIP(hipGraphLaunch(next, stream));
        HIP(hipStreamSynchronize(stream));
        download(got, first);
        for (uint32_t i = 0; i < app.n; i++)
            want[i] = (start * factor + 5) * 5 + factor;
        EXPECT_WORDS(round, got, want);
        download(got, second);
        for (uint32_t i = 0; i < app.n; i++)
            want[i] = (other * (factor + 2) + 5) * 5 + factor + 2;
        EXPECT_WORDS(round, got, want);
        HIP(hipGraphExecDestroy(next));
    }
    return app_pass();
}
