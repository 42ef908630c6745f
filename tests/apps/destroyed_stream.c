/* SPDX-License-Identifier: Apache-2.0 */
/* A launch on a destroyed stream is an error, not a crash; the exec goes on working elsewhere. */
#include "app.h"

int main(int argc, char **argv)
{
    app_begin("destroyed_stream", argc, argv, 4, 1024);
    hipFunction_t mul_add = app_kernel("mul_add");
    uint32_t *data = device_words(app.n), *got = host_words(app.n), *want = host_words(app.n);
    uint32_t three = 3, five = 5;
    hipStream_t stream = new_stream(), other = new_stream();

    begin_capture(stream);
    LAUNCH(mul_add, app.n, stream, &data, &three, &five, &app.n);
    hipGraphExec_t exec = end_capture_exec(stream);
    upload_input(data, want, 0);
    input_words(want, 0);
    for (uint32_t round = 0; round < app.rounds; round++)
        HIP(hipGraphLaunch(exec, stream));
    HIP(hipStreamSynchronize(stream));
    HIP(hipStreamDestroy(stream));
    EXPECT("status of a launch on a destroyed stream", hipGraphLaunch(exec, stream),
           hipErrorContextIsDestroyed);
    EXPECT("last error", hipGetLastError(), hipErrorContextIsDestroyed);
    HIP(hipGraphLaunch(exec, other));
    HIP(hipStreamSynchronize(other));
    download(got, data);
    for (uint32_t i = 0; i < app.n; i++)
        for (uint32_t round = 0; round <= app.rounds; round++)
            want[i] = want[i] * 3 + 5;
    EXPECT_WORDS(0, got, want);
    HIP(hipGraphExecDestroy(exec));
    return app_pass();
}
