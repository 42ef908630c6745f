/* SPDX-License-Identifier: Apache-2.0 */
/* Two devices, each with its module and exec, at work together; an exec of one launched on a stream of the
 * other. */
#include "app.h"

static struct {
    hipStream_t stream;
    hipGraphExec_t exec;
    uint32_t *data;
} on[2];

int main(int argc, char **argv)
{
    int devices = 0;

    app_begin("two_devices", argc, argv, 4, 16384);
    HIP(hipGetDeviceCount(&devices));
    if (devices < 2)
        FAIL("got %d device, want two (softgpu/run --gpus 2)", devices);
    uint32_t *got = host_words(app.n), *want = host_words(app.n), three = 3, five = 5;
    for (int d = 0; d < 2; d++) {
        HIP(hipSetDevice(d));
        app.module = app_module("kernels.co");
        hipFunction_t mul_add = app_kernel("mul_add");
        uint32_t term = (uint32_t)d + 10;
        on[d].stream = new_stream();
        on[d].data = device_words(app.n);
        begin_capture(on[d].stream);
        LAUNCH(mul_add, app.n, on[d].stream, &on[d].data, &three, &term, &app.n);
        LAUNCH(mul_add, app.n, on[d].stream, &on[d].data, &five, &term, &app.n);
        on[d].exec = end_capture_exec(on[d].stream);
    }
    for (uint32_t round = 0; round < app.rounds; round++) {
        for (int d = 0; d < 2; d++) {
            HIP(hipSetDevice(d));
            upload_input(on[d].data, got, 2 * round + (uint32_t)d);
        }
        for (int d = 0; d < 2; d++) {
            HIP(hipSetDevice(d));
            HIP(hipGraphLaunch(on[d].exec, on[d].stream));
        }
        for (int d = 0; d < 2; d++) {
            HIP(hipSetDevice(d));
            HIP(hipStreamSynchronize(on[d].stream));
            download(got, on[d].data);
            for (uint32_t i = 0; i < app.n; i++)
                want[i] = (input_word(2 * round + (uint32_t)d, i) * 3 + (uint32_t)d + 10) * 5 + (uint32_t)d +
                          10;
            EXPECT_WORDS(round, got, want);
        }
    }
    /* The other way round, device 1 gets what device 0 computed. */
    HIP(hipMemcpyPeer(on[1].data, 1, on[0].data, 0, app.n * sizeof(*got)));
    HIP(hipDeviceSynchronize());
    download(want, on[0].data);
    download(got, on[1].data);
    EXPECT_WORDS(app.rounds, got, want);
    return app_pass();
}
