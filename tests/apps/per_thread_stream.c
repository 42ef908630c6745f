/* SPDX-License-Identifier: Apache-2.0 */
/* Two threads replay on hipStreamPerThread, which is another stream in each. */
#include <pthread.h>

#include "app.h"

#define THREADS 2

static void *work(void *argument)
{
    uint32_t id = *(uint32_t *)argument, start, factor = 3, term = id + 1;
    hipFunction_t slow_set = app_kernel("slow_set"), mul_add = app_kernel("mul_add");
    uint32_t *data = device_words(app.n), *got = pinned_words(app.n), *want = host_words(app.n);
    hipStream_t capture = new_stream(), stream = hipStreamPerThread;

    begin_capture(capture);
    LAUNCH(mul_add, app.n, capture, &data, &factor, &term, &app.n);
    LAUNCH(mul_add, app.n, capture, &data, &factor, &term, &app.n);
    hipGraphExec_t exec = end_capture_exec(capture);
    for (uint32_t round = 0; round < app.rounds; round++) {
        start = id * 1000 + round;
        LAUNCH(slow_set, app.n, stream, &data, &start, &app.n);
        HIP(hipGraphLaunch(exec, stream));
        HIP(hipMemcpyAsync(got, data, app.n * sizeof(*data), hipMemcpyDeviceToHost, stream));
        HIP(hipStreamSynchronize(stream));
        for (uint32_t i = 0; i < app.n; i++)
            want[i] = (start * 3 + term) * 3 + term;
        EXPECT_WORDS(round, got, want);
    }
    HIP(hipGraphExecDestroy(exec));
    return NULL;
}

int main(int argc, char **argv)
{
    pthread_t thread[THREADS];
    uint32_t id[THREADS];

    app_begin("per_thread_stream", argc, argv, 5, 16384);
    for (uint32_t t = 0; t < THREADS; t++) {
        id[t] = t;
        if (pthread_create(&thread[t], NULL, work, &id[t]))
            FAIL("got no thread %u, want %u of them", t, THREADS);
    }
    for (uint32_t t = 0; t < THREADS; t++)
        pthread_join(thread[t], NULL);
    return app_pass();
}
