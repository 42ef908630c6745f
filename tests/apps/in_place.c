/* SPDX-License-Identifier: Apache-2.0 */
/* Launch, copy out, launch again in place, nothing between: the next launch must not overtake the copy. */
#include "app.h"

#define LAUNCHES 5

int main(int argc, char **argv)
{
    app_begin("in_place", argc, argv, 3, 16384);
    hipFunction_t mul_add = app_kernel("mul_add");
    uint32_t *data = device_words(app.n), *result[LAUNCHES], three = 3, five = 5;
    uint32_t *want = host_words(app.n);
    size_t bytes = app.n * sizeof(*data);
    hipStream_t stream = new_stream();

    for (uint32_t k = 0; k < LAUNCHES; k++)
        result[k] = pinned_words(app.n);
    begin_capture(stream);
    LAUNCH(mul_add, app.n, stream, &data, &three, &five, &app.n);
    LAUNCH(mul_add, app.n, stream, &data, &five, &three, &app.n);
    hipGraphExec_t exec = end_capture_exec(stream);

    for (uint32_t round = 0; round < app.rounds; round++) {
        upload_input(data, want, round);
        for (uint32_t k = 0; k < LAUNCHES; k++) {
            HIP(hipGraphLaunch(exec, stream));
            HIP(hipMemcpyAsync(result[k], data, bytes, hipMemcpyDeviceToHost, stream));
        }
        HIP(hipStreamSynchronize(stream));
        for (uint32_t k = 0; k < LAUNCHES; k++) {
            for (uint32_t i = 0; i < app.n; i++)
                want[i] = (want[i] * 3 + 5) * 5 + 3;
            EXPECT_WORDS(round * LAUNCHES + k, result[k], want);
        }
    }
    HIP(hipGraphExecDestroy(exec));
    return app_pass();
}
