/* SPDX-License-Identifier: Apache-2.0 */
/* main() returns while launches wait behind a slow kernel, without a synchronisation. */
#include "../apps/app.h"

int main(int argc, char **argv)
{
    app_begin("exit_in_flight", argc, argv, 8, 1024);
    hipFunction_t slow_set = app_kernel("slow_set"), mul_add = app_kernel("mul_add");
    uint32_t *data = device_words(app.n), three = 3, five = 5;
    hipStream_t stream = new_stream();

    begin_capture(stream);
    LAUNCH(mul_add, app.n, stream, &data, &three, &five, &app.n);
    LAUNCH(mul_add, app.n, stream, &data, &five, &three, &app.n);
    hipGraphExec_t exec = end_capture_exec(stream);
    HIP(hipGraphLaunch(exec, stream));
    HIP(hipStreamSynchronize(stream));
    LAUNCH(slow_set, app.n, stream, &data, &three, &app.n);
    for (uint32_t launch = 0; launch < app.rounds; launch++)
        HIP(hipGraphLaunch(exec, stream));
    printf("PASS %s\n", app.name);
    return 0;
}
