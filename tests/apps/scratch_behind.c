/* SPDX-License-Identifier: Apache-2.0 */
/* A kernel with scratch, outside a graph, before and behind launches of an exec that has one too. */
#include "app.h"

static uint32_t chase(uint32_t seed, uint32_t start)
{
    uint32_t next[64], at = start % 64, sum = 0;

    for (uint32_t k = 0; k < 64; k++)
        next[k] = k;
    for (uint32_t k = 0; k < 64; k++) {
        uint32_t other = (seed + 7 * k) % 64, kept = next[k];
        next[k] = next[other];
        next[other] = kept;
    }
    for (uint32_t k = 0; k < 64; k++) {
        at = next[at];
        sum = sum * 31 + at;
    }
    return sum;
}

int main(int argc, char **argv)
{
    app_begin("scratch_behind", argc, argv, 4, 1024);
    hipFunction_t chase_kernel = app_kernel("chase"), mul_add = app_kernel("mul_add");
    uint32_t *a = device_words(app.n), *b = device_words(app.n), *c = device_words(app.n),
             *e = device_words(app.n);
    uint32_t *got = host_words(app.n), *want = host_words(app.n), three = 3, five = 5;
    hipStream_t stream = new_stream();

    begin_capture(stream);
    LAUNCH(mul_add, app.n, stream, &b, &three, &five, &app.n);
    LAUNCH(chase_kernel, app.n, stream, &c, &b, &app.n);
    LAUNCH(mul_add, app.n, stream, &c, &five, &three, &app.n);
    hipGraphExec_t exec = end_capture_exec(stream);
    for (uint32_t round = 0; round < app.rounds; round++) {
        upload_input(a, got, round);
        LAUNCH(chase_kernel, app.n, stream, &b, &a, &app.n);
        HIP(hipGraphLaunch(exec, stream));
        LAUNCH(chase_kernel, app.n, stream, &e, &c, &app.n);
        HIP(hipStreamSynchronize(stream));
        download(got, e);
        for (uint32_t i = 0; i < app.n; i++) {
            uint32_t x = chase(input_word(round, i), i) * 3 + 5;
            want[i] = chase(chase(x, i) * 5 + 3, i);
        }
        EXPECT_WORDS(round, got, want);
    }
    HIP(hipGraphExecDestroy(exec));
    return app_pass();
}
