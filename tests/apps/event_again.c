/* SPDX-License-Identifier: Apache-2.0 */
/* One event without timing, recorded before and after each launch; once it happened the launch is done. */
#include "app.h"

int main(int argc, char **argv)
{
    app_begin("event_again", argc, argv, 6, 1024);
    hipFunction_t slow_set = app_kernel("slow_set"), copy = app_kernel("copy"),
                  mul_add = app_kernel("mul_add");
    uint32_t *data = device_words(app.n), *seen = pinned_words(app.n), *want = host_words(app.n);
    uint32_t three = 3, five = 5;
    hipStream_t stream = new_stream();
    hipEvent_t event;

    HIP(hipEventCreateWithFlags(&event, hipEventDisableTiming));
    begin_capture(stream);
    LAUNCH(mul_add, app.n, stream, &data, &three, &five, &app.n);
    LAUNCH(copy, app.n, stream, &seen, &data, &app.n);
    hipGraphExec_t exec = end_capture_exec(stream);
    for (uint32_t round = 0; round < app.rounds; round++) {
        LAUNCH(slow_set, app.n, stream, &data, &round, &app.n);
        HIP(hipEventRecord(event, stream));
        HIP(hipGraphLaunch(exec, stream));
        HIP(hipEventRecord(event, stream));
        HIP(hipEventSynchronize(event));
        for (uint32_t i = 0; i < app.n; i++)
            want[i] = round * 3 + 5;
        EXPECT_WORDS(round, seen, want);
    }
    HIP(hipGraphExecDestroy(exec));
    return app_pass();
}
