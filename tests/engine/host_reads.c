/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Launches whose result the host waits for by reading memory alone: nothing but the launch itself rings.
 *
 *     host_reads [LAUNCHES]
 */
#include <sched.h>

#include "../apps/app.h"

int main(int argc, char **argv)
{
    app_begin("host_reads", argc, argv, 20, 64);
    hipFunction_t mul_add = app_kernel("mul_add");
    uint32_t *data = pinned_words(app.n), *want = host_words(app.n), three = 3, five = 5;
    hipStream_t stream = new_stream();

    begin_capture(stream);
    LAUNCH(mul_add, app.n, stream, &data, &three, &five, &app.n);
    hipGraphExec_t exec = end_capture_exec(stream);
    for (uint32_t i = 0; i < app.n; i++)
        want[i] = data[i] = i;
    for (uint32_t round = 0; round < app.rounds; round++) {
        HIP(hipGraphLaunch(exec, stream));
        for (uint32_t i = 0; i < app.n; i++) {
            want[i] = want[i] * 3 + 5;
            while (__atomic_load_n(&data[i], __ATOMIC_ACQUIRE) != want[i])
                sched_yield();
        }
    }
    HIP(hipGraphExecDestroy(exec));
    HIP(hipStreamSynchronize(stream));
    EXPECT_WORDS(0, data, want);
    return app_pass();
}
