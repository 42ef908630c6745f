/* SPDX-License-Identifier: Apache-2.0 */
/* A thousand launches and more with an event behind each and nothing else, so that HIP's batch of commands
 * overflows (C040). */
#include "app.h"

int main(int argc, char **argv)
{
    app_begin("many_launches", argc, argv, 1100, 64);
    hipFunction_t mul_add = app_kernel("mul_add");
    uint32_t *data = device_words(app.n), *got = host_words(app.n), *want = host_words(app.n);
    uint32_t three = 3, five = 5;
    hipStream_t stream = new_stream();
    hipEvent_t event;

    HIP(hipEventCreateWithFlags(&event, hipEventDisableTiming));
    begin_capture(stream);
    LAUNCH(mul_add, app.n, stream, &data, &three, &five, &app.n);
    hipGraphExec_t exec = end_capture_exec(stream);
    upload_input(data, want, 0);
    input_words(want, 0);
    for (uint32_t round = 0; round < app.rounds; round++) {
        HIP(hipGraphLaunch(exec, stream));
        HIP(hipEventRecord(event, stream));
        if (round % 16 == 0)
            HIP(hipEventSynchronize(event));
        for (uint32_t i = 0; i < app.n; i++)
            want[i] = want[i] * 3 + 5;
    }
    HIP(hipEventSynchronize(event));
    download(got, data);
    EXPECT_WORDS(app.rounds, got, want);
    HIP(hipGraphExecDestroy(exec));
    return app_pass();
}
