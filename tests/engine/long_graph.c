/* SPDX-License-Identifier: Apache-2.0 */
/* A chain with more kernels than a hardware queue has slots, launched three times. */
#include "../apps/app.h"

int main(int argc, char **argv)
{
    app_begin("long_graph", argc, argv, 17000, 4);
    hipFunction_t mul_add = app_kernel("mul_add");
    uint32_t *data = device_words(app.n), *got = host_words(app.n), *want = host_words(app.n), factor = 3;
    hipStream_t stream = new_stream();

    begin_capture(stream);
    for (uint32_t node = 0; node < app.rounds; node++)
        LAUNCH(mul_add, app.n, stream, &data, &factor, &node, &app.n);
    hipGraphExec_t exec = end_capture_exec(stream);
    /* hipMemset() may return before it is done, and this stream does not wait for it. */
    HIP(hipMemsetAsync(data, 0, app.n * sizeof(*data), stream));
    for (uint32_t launch = 0; launch < 3; launch++) {
        HIP(hipGraphLaunch(exec, stream));
        HIP(hipStreamSynchronize(stream));
        for (uint32_t i = 0; i < app.n; i++)
            for (uint32_t node = 0; node < app.rounds; node++)
                want[i] = want[i] * factor + node;
        download(got, data);
        EXPECT_WORDS(launch, got, want);
    }
    return app_pass();
}
