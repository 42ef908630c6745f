/* SPDX-License-Identifier: Apache-2.0 */
/* A launch waits for an event of a slow stream, and the slow stream for the launch. */
#include "app.h"

int main(int argc, char **argv)
{
    app_begin("wait_event", argc, argv, 6, 4096);
    hipFunction_t copy = app_kernel("copy"), slow_set = app_kernel("slow_set"),
                  mul_add = app_kernel("mul_add");
    uint32_t *data = device_words(app.n), *out = device_words(app.n), three = 3, five = 5, zero = 0;
    uint32_t *got = host_words(app.n), *want = host_words(app.n);
    hipStream_t stream = new_stream(), slow = new_stream();
    hipEvent_t ready, used;

    HIP(hipEventCreateWithFlags(&ready, hipEventDisableTiming));
    HIP(hipEventCreateWithFlags(&used, hipEventDisableTiming));
    begin_capture(stream);
    LAUNCH(copy, app.n, stream, &out, &data, &app.n);
    LAUNCH(mul_add, app.n, stream, &out, &three, &five, &app.n);
    hipGraphExec_t exec = end_capture_exec(stream);

    for (uint32_t round = 0; round < app.rounds; round++) {
        uint32_t value = 100 + round;
        LAUNCH(slow_set, app.n, slow, &data, &value, &app.n);
        HIP(hipEventRecord(ready, slow));
        HIP(hipStreamWaitEvent(stream, ready, 0));
        HIP(hipGraphLaunch(exec, stream));
        HIP(hipEventRecord(used, stream));
        HIP(hipStreamWaitEvent(slow, used, 0));
        LAUNCH(slow_set, app.n, slow, &data, &zero, &app.n);
        HIP(hipStreamSynchronize(stream));
        download(got, out);
        for (uint32_t i = 0; i < app.n; i++)
            want[i] = value * 3 + 5;
        EXPECT_WORDS(round, got, want);
        HIP(hipStreamSynchronize(slow));
        download(got, data);
        memset(want, 0, app.n * sizeof(*want));
        EXPECT_WORDS(round, got, want);
    }
    HIP(hipGraphExecDestroy(exec));
    return app_pass();
}
