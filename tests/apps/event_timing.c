/* SPDX-License-Identifier: Apache-2.0 */
/* Events around launches: the time between them is positive and the result is there when the second has
 * happened. */
#include "app.h"

int main(int argc, char **argv)
{
    app_begin("event_timing", argc, argv, 5, 4096);
    hipFunction_t slow_copy = app_kernel("slow_copy"), mul_add = app_kernel("mul_add");
    uint32_t *in = device_words(app.n), *out = device_words(app.n), three = 3, nine = 9;
    uint32_t *got = host_words(app.n), *want = host_words(app.n);
    hipStream_t stream = new_stream();
    hipEvent_t start, stop;

    HIP(hipEventCreate(&start));
    HIP(hipEventCreate(&stop));
    begin_capture(stream);
    LAUNCH(slow_copy, app.n, stream, &out, &in, &app.n);
    LAUNCH(mul_add, app.n, stream, &out, &three, &nine, &app.n);
    hipGraphExec_t exec = end_capture_exec(stream);

    for (uint32_t round = 0; round < app.rounds; round++) {
        float milliseconds = -1;
        upload_input(in, got, round);
        HIP(hipEventRecord(start, stream));
        HIP(hipGraphLaunch(exec, stream));
        HIP(hipEventRecord(stop, stream));
        HIP(hipEventSynchronize(stop));
        HIP(hipEventElapsedTime(&milliseconds, start, stop));
        if (!(milliseconds > 0))
            FAIL("got %g ms between the events of round %u, want more than 0", milliseconds, round);
        EXPECT("state of the stream", hipStreamQuery(stream), hipSuccess);
        download(got, out);
        for (uint32_t i = 0; i < app.n; i++)
            want[i] = input_word(round, i) * 3 + 9;
        EXPECT_WORDS(round, got, want);
    }
    HIP(hipGraphExecDestroy(exec));
    return app_pass();
}
