/* SPDX-License-Identifier: Apache-2.0 */
/* Copy in, launch, copy out on one stream, nothing waits between them; pinned and pageable memory. */
#include "app.h"

static void run(hipGraphExec_t exec, hipStream_t stream, uint32_t *in, uint32_t *out, uint32_t *from,
                uint32_t *to)
{
    size_t bytes = app.n * sizeof(*in);

    for (uint32_t round = 0; round < app.rounds; round++) {
        input_words(from, round);
        memset(to, 0, bytes);
        HIP(hipMemcpyAsync(in, from, bytes, hipMemcpyHostToDevice, stream));
        HIP(hipGraphLaunch(exec, stream));
        HIP(hipMemcpyAsync(to, out, bytes, hipMemcpyDeviceToHost, stream));
        HIP(hipStreamSynchronize(stream));
        for (uint32_t i = 0; i < app.n; i++)
            from[i] = from[i] * 15 + 47;
        EXPECT_WORDS(round, to, from);
    }
}

int main(int argc, char **argv)
{
    app_begin("copy_launch_copy", argc, argv, 5, 16384);
    hipFunction_t copy = app_kernel("copy"), mul_add = app_kernel("mul_add");
    uint32_t *in = device_words(app.n), *out = device_words(app.n), three = 3, five = 5, nine = 9, two = 2;
    hipStream_t stream = new_stream();

    begin_capture(stream);
    LAUNCH(copy, app.n, stream, &out, &in, &app.n);
    LAUNCH(mul_add, app.n, stream, &out, &three, &nine, &app.n);
    LAUNCH(mul_add, app.n, stream, &out, &five, &two, &app.n);
    hipGraphExec_t exec = end_capture_exec(stream);
    run(exec, stream, in, out, pinned_words(app.n), pinned_words(app.n));
    run(exec, stream, in, out, host_words(app.n), host_words(app.n));
    HIP(hipGraphExecDestroy(exec));
    return app_pass();
}
