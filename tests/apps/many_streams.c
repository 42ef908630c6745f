/* SPDX-License-Identifier: Apache-2.0 */
/* Twelve streams share the hardware queues; on each a slow kernel feeds its own exec. */
#include "app.h"

#define STREAMS 12

int main(int argc, char **argv)
{
    app_begin("many_streams", argc, argv, 4, 1024);
    hipFunction_t set = app_kernel("set"), slow_set = app_kernel("slow_set"), mul_add = app_kernel("mul_add");
    uint32_t *data[STREAMS], *got = host_words(app.n), *want = host_words(app.n), three = 3, five = 5;
    hipStream_t stream[STREAMS];
    hipGraphExec_t exec[STREAMS];

    for (uint32_t s = 0; s < STREAMS; s++) {
        data[s] = device_words(app.n);
        stream[s] = new_stream();
        begin_capture(stream[s]);
        LAUNCH(mul_add, app.n, stream[s], &data[s], &three, &s, &app.n);
        LAUNCH(mul_add, app.n, stream[s], &data[s], &five, &s, &app.n);
        exec[s] = end_capture_exec(stream[s]);
    }
    for (uint32_t round = 0; round < app.rounds; round++) {
        for (uint32_t s = 0; s < STREAMS; s++) {
            uint32_t start = round * STREAMS + s;
            LAUNCH(s & 3 ? set : slow_set, app.n, stream[s], &data[s], &start, &app.n);
            HIP(hipGraphLaunch(exec[s], stream[s]));
        }
        for (uint32_t s = 0; s < STREAMS; s++) {
            HIP(hipStreamSynchronize(stream[s]));
            download(got, data[s]);
            for (uint32_t i = 0; i < app.n; i++)
                want[i] = ((round * STREAMS + s) * 3 + s) * 5 + s;
            EXPECT_WORDS(round, got, want);
        }
    }
    for (uint32_t s = 0; s < STREAMS; s++)
        HIP(hipGraphExecDestroy(exec[s]));
    return app_pass();
}
