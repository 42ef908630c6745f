/* SPDX-License-Identifier: Apache-2.0 */
/* More threads and streams than hardware queues: copy in, launch, copy out, each with its own exec. */
#include <pthread.h>

#include "app.h"

#define THREADS 6

struct worker {
    pthread_t thread;
    uint32_t id, *in, *out, *from, *to;
    hipStream_t stream;
    hipGraphExec_t exec;
};

static void *work(void *argument)
{
    struct worker *w = argument;
    size_t bytes = app.n * sizeof(*w->in);

    for (uint32_t round = 0; round < app.rounds; round++) {
        input_words(w->from, round * THREADS + w->id);
        HIP(hipMemcpyAsync(w->in, w->from, bytes, hipMemcpyHostToDevice, w->stream));
        HIP(hipGraphLaunch(w->exec, w->stream));
        HIP(hipMemcpyAsync(w->to, w->out, bytes, hipMemcpyDeviceToHost, w->stream));
        HIP(hipStreamSynchronize(w->stream));
        for (uint32_t i = 0; i < app.n; i++)
            w->from[i] = w->from[i] * 3 + w->id;
        EXPECT_WORDS(round, w->to, w->from);
    }
    return NULL;
}

int main(int argc, char **argv)
{
    static struct worker worker[THREADS];
    uint32_t three = 3;

    app_begin("threads", argc, argv, 6, 16384);
    hipFunction_t copy = app_kernel("copy"), mul_add = app_kernel("mul_add");
    for (uint32_t t = 0; t < THREADS; t++) {
        struct worker *w = &worker[t];
        *w = (struct worker){ .id = t,
                              .in = device_words(app.n),
                              .out = device_words(app.n),
                              .from = pinned_words(app.n),
                              .to = pinned_words(app.n),
                              .stream = new_stream() };
        begin_capture(w->stream);
        LAUNCH(copy, app.n, w->stream, &w->out, &w->in, &app.n);
        LAUNCH(mul_add, app.n, w->stream, &w->out, &three, &w->id, &app.n);
        w->exec = end_capture_exec(w->stream);
    }
    for (uint32_t t = 0; t < THREADS; t++)
        if (pthread_create(&worker[t].thread, NULL, work, &worker[t]))
            FAIL("got no thread %u, want %u of them", t, THREADS);
    for (uint32_t t = 0; t < THREADS; t++)
        pthread_join(worker[t].thread, NULL);
    return app_pass();
}
