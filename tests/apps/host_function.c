/* SPDX-License-Identifier: Apache-2.0 */
/* A host function that takes its time, then writes what the launch behind it reads. */
#include <time.h>

#include "app.h"

struct job {
    uint32_t *words;
    uint32_t round;
};

static void write_late(void *data)
{
    const struct job *job = data;
    struct timespec late = { .tv_nsec = 20000000 };

    nanosleep(&late, NULL);
    input_words(job->words, job->round);
}

int main(int argc, char **argv)
{
    app_begin("host_function", argc, argv, 5, 4096);
    hipFunction_t copy = app_kernel("copy"), mul_add = app_kernel("mul_add");
    uint32_t *mapped = pinned_words(app.n), *data = device_words(app.n), three = 3, five = 5;
    uint32_t *got = host_words(app.n), *want = host_words(app.n);
    hipStream_t stream = new_stream();

    begin_capture(stream);
    LAUNCH(copy, app.n, stream, &data, &mapped, &app.n);
    LAUNCH(mul_add, app.n, stream, &data, &three, &five, &app.n);
    hipGraphExec_t exec = end_capture_exec(stream);

    for (uint32_t round = 0; round < app.rounds; round++) {
        struct job job = { .words = mapped, .round = round };
        HIP(hipLaunchHostFunc(stream, write_late, &job));
        HIP(hipGraphLaunch(exec, stream));
        HIP(hipStreamSynchronize(stream));
        download(got, data);
        for (uint32_t i = 0; i < app.n; i++)
            want[i] = input_word(round, i) * 3 + 5;
        EXPECT_WORDS(round, got, want);
    }
    HIP(hipGraphExecDestroy(exec));
    return app_pass();
}
