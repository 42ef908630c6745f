/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A graph whose kernel reads memory that was freed after launches that were right: what HIP says of it, call
 * by call, one line each. The verdict is only that the end was reached.
 *
 *     gpu_error ROUNDS ELEMENTS destroy    destroys the exec before anything else is asked
 *     gpu_error ROUNDS ELEMENTS unload     unloads the kernels before that
 */
#include "../apps/app.h"

/* HIP prints what it knows of the failed packet, on its own thread and without an end of the line. */
#define SAY(call) printf("\n%s: %s\n", #call, hipGetErrorName(call))

int main(int argc, char **argv)
{
    app_begin("gpu_error", argc, argv, 2, 1024);
    hipFunction_t copy = app_kernel("copy"), mul_add = app_kernel("mul_add");
    uint32_t *in = device_words(app.n), *out = device_words(app.n), *spare = device_words(app.n);
    uint32_t *got = host_words(app.n), *want = host_words(app.n), three = 3, five = 5;
    hipStream_t stream = new_stream(), other = new_stream();

    begin_capture(stream);
    LAUNCH(copy, app.n, stream, &out, &in, &app.n);
    LAUNCH(mul_add, app.n, stream, &out, &three, &five, &app.n);
    hipGraphExec_t exec = end_capture_exec(stream);
    begin_capture(stream);
    LAUNCH(mul_add, app.n, stream, &spare, &three, &five, &app.n);
    hipGraphExec_t sound = end_capture_exec(stream);
    for (uint32_t round = 0; round < app.rounds; round++) {
        upload_input(in, got, round);
        HIP(hipGraphLaunch(sound, stream));
        HIP(hipGraphLaunch(exec, stream));
        HIP(hipStreamSynchronize(stream));
        download(got, out);
        input_words(want, round);
        for (uint32_t i = 0; i < app.n; i++)
            want[i] = want[i] * 3 + 5;
        EXPECT_WORDS(round, got, want);
    }
    HIP(hipFree(in));
    (void)hipGraphLaunch(exec, stream); /* the error may or may not be there before the call returns */
    SAY(hipStreamSynchronize(stream));
    if (argc > 3 && !strcmp(argv[3], "destroy"))
        SAY(hipGraphExecDestroy(exec));
    if (argc > 3 && !strcmp(argv[3], "unload"))
        SAY(hipModuleUnload(app.module));
    SAY(hipGetLastError());
    SAY(hipGetLastError());
    for (uint32_t again = 0; again < 3; again++) {
        SAY(hipGraphLaunch(exec, stream));
        SAY(hipPeekAtLastError());
        SAY(hipGraphLaunch(sound, stream));
        SAY(hipGraphLaunch(sound, other));
        SAY(hipStreamSynchronize(stream));
        SAY(hipStreamQuery(other));
        SAY(hipGetLastError());
    }
    SAY(hipMemcpy(got, out, sizeof(*got), hipMemcpyDeviceToHost));
    SAY(hipGraphExecDestroy(exec));
    SAY(hipGraphExecDestroy(sound));
    SAY(hipDeviceSynchronize());
    printf("\nPASS %s\n", app.name);
    return 0;
}
