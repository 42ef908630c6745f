/* SPDX-License-Identifier: Apache-2.0 */
/*
 * CPU time that one launch costs the calling thread, in ns: replayed through this library, native (HIP's own
 * function, past the preload), and a bare record of an event like the one that carries replays. One graph of
 * a chain of kernels for each number of nodes; what was launched is waited for outside of the measurement.
 * Prints nodes, native, replayed, record.
 *
 * The smallest of many: other work on the machine, and a queue that is full, do not show.
 */
#define _GNU_SOURCE
#include "../tests/apps/app.h"

#include <dlfcn.h>
#include <time.h>

static double now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

typedef hipError_t launch_function(hipGraphExec_t, hipStream_t);

static hipEvent_t event[2];

static hipError_t record(hipGraphExec_t exec, hipStream_t stream)
{
    static unsigned turn;

    (void)exec;
    return hipEventRecord(event[turn++ & 1], stream);
}

enum { BURST = 3 /* more of the largest graph do not fit the queue */ };

/* The launches compared take turns; of a few one behind the other the first finds caches that the GPU's work
 * has emptied. */
static void measure(launch_function *const launches[3], double best[3], hipGraphExec_t exec,
                    hipStream_t stream, uint32_t passes)
{
    best[0] = best[1] = best[2] = 1e18;
    for (uint32_t i = 0; i < 3 * passes; i++) {
        for (int k = 0; k < BURST; k++) {
            double start = now(), taken;

            if (launches[i % 3](exec, stream) != hipSuccess)
                FAIL("a launch failed");
            taken = now() - start;
            best[i % 3] = taken < best[i % 3] ? taken : best[i % 3];
        }
        HIP(hipStreamSynchronize(stream));
    }
}

int main(int argc, char **argv)
{
    static const uint32_t sizes[] = { 1, 16, 64, 256, 1024, 4096 };

    app_begin("launch", argc, argv, 60, 64);
    hipFunction_t mul_add = app_kernel("mul_add");
    uint32_t *data = device_words(app.n), three = 3;
    hipStream_t stream = new_stream();
    launch_function *native = (launch_function *)dlsym(dlopen("libamdhip64.so.7", RTLD_NOW | RTLD_NOLOAD),
                                                       "hipGraphLaunch");

    if (!native || native == hipGraphLaunch)
        FAIL("got no native hipGraphLaunch beside the preloaded one");
    for (int i = 0; i < 2; i++)
        HIP(hipEventCreateWithFlags(&event[i], hipEventDisableTiming | hipEventDisableSystemFence));
    for (size_t s = 0; s < sizeof(sizes) / sizeof(sizes[0]); s++) {
        uint32_t passes = app.rounds * 64 / (sizes[s] + 63) + 2;

        begin_capture(stream);
        for (uint32_t k = 0; k < sizes[s]; k++)
            LAUNCH(mul_add, app.n, stream, &data, &three, &k, &app.n);
        hipGraphExec_t exec = end_capture_exec(stream);
        HIP(hipGraphLaunch(exec, stream));
        HIP(hipStreamSynchronize(stream));
        double best[3];
        measure((launch_function *const[]){ native, hipGraphLaunch, record }, best, exec, stream, passes);
        printf("%u\t%.0f\t%.0f\t%.0f\n", sizes[s], best[0], best[1], best[2]);
        fflush(stdout);
        HIP(hipGraphExecDestroy(exec));
    }
    return app_pass();
}
