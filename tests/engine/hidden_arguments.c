/* SPDX-License-Identifier: Apache-2.0 */
/* A kernel whose hidden arguments tell it the size of its block, launched three times by an exec. */
#include "../apps/app.h"

int main(int argc, char **argv)
{
    app_begin("hidden_arguments", argc, argv, 3, 256);
    float *x = (float *)pinned_words(app.n), *y = (float *)pinned_words(app.n), two = 2;
    int count = (int)app.n;
    hipStream_t stream = new_stream();

    for (int i = 0; i < count; i++)
        x[i] = (float)i;
    begin_capture(stream);
    LAUNCH_IN(app_kernel("saxpy"), 4, 64, 0, stream, &x, &y, &two, &count);
    hipGraphExec_t exec = end_capture_exec(stream);
    for (uint32_t round = 0; round < app.rounds; round++)
        HIP(hipGraphLaunch(exec, stream));
    HIP(hipStreamSynchronize(stream));
    for (int i = 0; i < count; i++)
        EXPECT("sum", y[i], 2 * i * (int)app.rounds);
    return app_pass();
}
