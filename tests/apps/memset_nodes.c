/* SPDX-License-Identifier: Apache-2.0 */
/* Memset nodes of every width, replayed after other work used HIP's argument and pattern memory (C031). */
#include "app.h"

int main(int argc, char **argv)
{
    app_begin("memset_nodes", argc, argv, 5, 4096);
    hipFunction_t add = app_kernel("add"), mul_add = app_kernel("mul_add");
    uint32_t *words = device_words(app.n), *bytes = device_words(app.n), *other = device_words(app.n);
    uint32_t *out = device_words(app.n), *got = host_words(app.n), *want = host_words(app.n);
    uint32_t three = 3, five = 5;
    size_t size = app.n * sizeof(*words);
    hipStream_t stream = new_stream();

    begin_capture(stream);
    HIP(hipMemsetD32Async(words, 0x01020304, app.n, stream));
    HIP(hipMemsetD8Async(bytes, 0x5a, size, stream));
    HIP(hipMemsetD16Async(bytes, 0x1234, size / 4, stream));
    LAUNCH(add, app.n, stream, &out, &words, &bytes, &app.n);
    HIP(hipMemset2DAsync(out, 16, 0, 4, app.n / 4, stream));
    hipGraphExec_t exec = end_capture_exec(stream);
    for (uint32_t round = 0; round < app.rounds; round++) {
        HIP(hipGraphLaunch(exec, stream));
        HIP(hipStreamSynchronize(stream));
        download(got, out);
        for (uint32_t i = 0; i < app.n; i++)
            want[i] = i % 4 == 0 ? 0 : 0x01020304 + (i < app.n / 2 ? 0x12341234 : 0x5a5a5a5a);
        EXPECT_WORDS(round, got, want);
        /* Takes the place of whatever an earlier launch left in memory that HIP hands out anew. */
        for (uint32_t k = 0; k < 8; k++) {
            HIP(hipMemsetD32Async(other, (int)(0xa0 + k), app.n, stream));
            LAUNCH(mul_add, app.n, stream, &other, &three, &five, &app.n);
        }
        HIP(hipStreamSynchronize(stream));
        HIP(hipMemset(out, 0xff, size));
        HIP(hipDeviceSynchronize());
    }
    HIP(hipGraphExecDestroy(exec));
    return app_pass();
}
