/* SPDX-License-Identifier: Apache-2.0 */
/* A slow cooperative kernel, which HIP runs in a queue of its own, before a launch on the same stream. */
#include "app.h"

int main(int argc, char **argv)
{
    app_begin("cooperative", argc, argv, 5, 1024);
    hipFunction_t slow_set = app_kernel("slow_set"), mul_add = app_kernel("mul_add");
    uint32_t *data = device_words(app.n), *got = host_words(app.n), *want = host_words(app.n);
    uint32_t three = 3, five = 5;
    hipStream_t stream = new_stream();
    int supported = 0;

    HIP(hipDeviceGetAttribute(&supported, hipDeviceAttributeCooperativeLaunch, 0));
    EXPECT("support of cooperative launches", supported, 1);
    begin_capture(stream);
    LAUNCH(mul_add, app.n, stream, &data, &three, &five, &app.n);
    LAUNCH(mul_add, app.n, stream, &data, &five, &three, &app.n);
    hipGraphExec_t exec = end_capture_exec(stream);

    for (uint32_t round = 0; round < app.rounds; round++) {
        HIP(hipModuleLaunchCooperativeKernel(slow_set, BLOCKS(app.n), 1, 1, BLOCK, 1, 1, 0, stream,
                                             ARGUMENTS(&data, &round, &app.n)));
        HIP(hipGraphLaunch(exec, stream));
        HIP(hipStreamSynchronize(stream));
        download(got, data);
        for (uint32_t i = 0; i < app.n; i++)
            want[i] = (round * 3 + 5) * 5 + 3;
        EXPECT_WORDS(round, got, want);
    }
    HIP(hipGraphExecDestroy(exec));
    return app_pass();
}
