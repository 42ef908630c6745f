/* SPDX-License-Identifier: Apache-2.0 */
/* The NULL stream waits for two busy blocking streams, whichever is later, and they wait for it. */
#include "app.h"

int main(int argc, char **argv)
{
    app_begin("null_stream", argc, argv, 6, 4096);
    hipFunction_t slow_set = app_kernel("slow_set"), add = app_kernel("add"), scale = app_kernel("scale");
    uint32_t *a = device_words(app.n), *b = device_words(app.n), *out = device_words(app.n), two = 2;
    uint32_t *got = host_words(app.n), *want = host_words(app.n);
    hipStream_t capture = new_stream(), first = new_blocking_stream(), second = new_blocking_stream();

    begin_capture(capture);
    LAUNCH(add, app.n, capture, &out, &a, &b, &app.n);
    LAUNCH(scale, app.n, capture, &out, &two, &app.n);
    hipGraphExec_t exec = end_capture_exec(capture);

    for (uint32_t round = 0; round < app.rounds; round++) {
        uint32_t long_work = 6, short_work = 1, value;
        for (uint32_t k = 0; k < (round & 1 ? long_work : short_work); k++) {
            value = round * 100 + k + 1;
            LAUNCH(slow_set, app.n, first, &a, &value, &app.n);
        }
        uint32_t sum = value;
        for (uint32_t k = 0; k < (round & 1 ? short_work : long_work); k++) {
            value = round * 1000 + k + 7;
            LAUNCH(slow_set, app.n, second, &b, &value, &app.n);
        }
        sum += value;
        HIP(hipGraphLaunch(exec, NULL));
        /* Behind the NULL stream: must not reach `a` before the graph has read it. */
        LAUNCH(slow_set, app.n, first, &a, &two, &app.n);
        HIP(hipDeviceSynchronize());
        download(got, out);
        for (uint32_t i = 0; i < app.n; i++)
            want[i] = 2 * sum;
        EXPECT_WORDS(round, got, want);
    }
    /* The mirror: NULL is busy, the graph goes to a blocking stream that is busy too. */
    for (uint32_t round = 0; round < app.rounds; round++) {
        uint32_t x = 3 * round + 1, y = 5 * round + 2;
        LAUNCH(slow_set, app.n, NULL, &a, &x, &app.n);
        if (round & 1)
            LAUNCH(slow_set, app.n, first, &b, &y, &app.n);
        else
            LAUNCH(slow_set, app.n, NULL, &b, &y, &app.n);
        HIP(hipGraphLaunch(exec, first));
        HIP(hipStreamSynchronize(first));
        HIP(hipDeviceSynchronize());
        download(got, out);
        for (uint32_t i = 0; i < app.n; i++)
            want[i] = 2 * (x + y);
        EXPECT_WORDS(round, got, want);
    }
    HIP(hipGraphExecDestroy(exec));
    return app_pass();
}
