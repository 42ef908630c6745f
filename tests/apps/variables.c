/* SPDX-License-Identifier: Apache-2.0 */
/* Variables of the module that an exec reads, changed by host and kernel between its launches. */
#include "app.h"

static void *variable(const char *name, size_t want)
{
    hipDeviceptr_t address;
    size_t size = 0;

    HIP(hipModuleGetGlobal(&address, &size, app.module, name));
    EXPECT("size of a variable", size, want);
    return address;
}

int main(int argc, char **argv)
{
    app_begin("variables", argc, argv, 6, 4096);
    hipFunction_t apply = app_kernel("apply_variables"), mul_add = app_kernel("mul_add");
    uint32_t *out = device_words(app.n), *got = host_words(app.n), *want = host_words(app.n);
    uint32_t three = 3, five = 5;
    uint32_t gain = 3, offsets[4] = { 10, 20, 30, 40 }, calls;
    void *gain_at = variable("gain", sizeof(gain)), *offsets_at = variable("offsets", sizeof(offsets));
    void *calls_at = variable("calls", sizeof(calls));
    hipStream_t stream = new_stream();

    begin_capture(stream);
    LAUNCH(apply, app.n, stream, &out, &app.n);
    LAUNCH(mul_add, app.n, stream, &out, &three, &five, &app.n);
    hipGraphExec_t exec = end_capture_exec(stream);
    for (uint32_t round = 0; round < app.rounds; round++) {
        if (round) {
            gain = 7 * round;
            for (uint32_t k = 0; k < 4; k++)
                offsets[k] = round * 10 + k;
            HIP(hipMemcpyAsync(gain_at, &gain, sizeof(gain), hipMemcpyHostToDevice, stream));
            HIP(hipMemcpy(offsets_at, offsets, sizeof(offsets), hipMemcpyHostToDevice));
        }
        HIP(hipGraphLaunch(exec, stream));
        HIP(hipStreamSynchronize(stream));
        download(got, out);
        for (uint32_t i = 0; i < app.n; i++)
            want[i] = (gain * i + offsets[i & 3]) * 3 + 5;
        EXPECT_WORDS(round, got, want);
        HIP(hipMemcpy(&calls, calls_at, sizeof(calls), hipMemcpyDeviceToHost));
        EXPECT("calls that the kernel counted", calls, round + 1);
    }
    HIP(hipGraphExecDestroy(exec));
    return app_pass();
}
