/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Code that goes away while replays of other code wait in a stream: the call returns as soon as HIP alone would let it.
 * A host function in the stream holds everything behind it until the call has returned; if the call waits for what is
 * behind it, the function gives up after a while and says so.
 */
#include "identity.h"

#include <pthread.h>
#include <stdatomic.h>

enum { SECONDS = 10 };

static _Atomic bool returned;
static _Atomic uint32_t gave_up;
static uint32_t *data;
static hipStream_t stream;
static hipGraphExec_t exec;

static double now(void)
{
    struct timespec time;

    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

static void hold(void *unused)
{
    double start = now();

    (void)unused;
    while (!atomic_load(&returned) && now() - start < SECONDS)
        usleep(200);
    if (!atomic_load(&returned))
        atomic_fetch_add(&gave_up, 1);
}

static void begin_holding(void)
{
    atomic_store(&returned, false);
    HIP(hipLaunchHostFunc(stream, hold, NULL));
    for (int i = 0; i < 2; i++)
        HIP(hipGraphLaunch(exec, stream));
}

static void end_holding(const char *what)
{
    atomic_store(&returned, true);
    HIP(hipStreamSynchronize(stream));
    printf("%s: %s, %u\n", what, atomic_exchange(&gave_up, 0) ? "waited" : "at once", word_at(data, 0));
}

static void unrelated_module(void)
{
    hipModule_t other = app_module("v4.co");

    begin_holding();
    HIP(hipModuleUnload(other));
    end_holding("unrelated module");
}

/* Of another graph, which has been replayed and is done. */
static void module_that_ran(void)
{
    hipModule_t other = app_module("other.co");
    uint32_t *own = device_words(app.n), value = 3;
    hipGraph_t graph = new_graph();

    node_of(graph, NULL, 0, function_of(other, "iota"), BLOCKS(app.n), ARGUMENTS(&own, &value, &app.n));
    hipGraphExec_t ran = instantiate(graph);
    launch(ran, new_stream(), 3);
    begin_holding();
    HIP(hipModuleUnload(other));
    end_holding("module that ran");
    HIP(hipGraphExecDestroy(ran));
}

static void library(void)
{
    hipLibrary_t other;
    hipKernel_t kernel;
    char path[4096];

    snprintf(path, sizeof(path), "%s/%s/other.co", getenv("APP_FIXTURES"), app.gfx);
    HIP(hipLibraryLoadFromFile(&other, path, NULL, NULL, 0, NULL, NULL, 0));
    HIP(hipLibraryGetKernel(&kernel, other, "iota"));
    begin_holding();
    HIP(hipLibraryUnload(other));
    end_holding("library");
}

/* Not the code of the replays, but one with all of its names. */
static void same_names(void)
{
    hipModule_t other = app_module("kernels.co");
    uint32_t *own = device_words(app.n), factor = 3, term = 1;
    hipGraph_t graph = new_graph();

    node_of(graph, NULL, 0, function_of(other, "mul_add"), BLOCKS(app.n),
            ARGUMENTS(&own, &factor, &term, &app.n));
    hipGraphExec_t ran = instantiate(graph);
    launch(ran, new_stream(), 3);
    HIP(hipGraphExecDestroy(ran));
    begin_holding();
    HIP(hipModuleUnload(other));
    end_holding("same names");
}

static void *unload_in_thread(void *module)
{
    HIP(hipModuleUnload(module));
    return NULL;
}

static void in_other_threads(void)
{
    pthread_t threads[3];
    hipModule_t modules[3];

    for (int i = 0; i < 3; i++)
        modules[i] = app_module(i ? "other.co" : "v4.co");
    begin_holding();
    for (int i = 0; i < 3; i++)
        if (pthread_create(&threads[i], NULL, unload_in_thread, modules[i]))
            FAIL("got no thread");
    for (int i = 0; i < 3; i++)
        pthread_join(threads[i], NULL);
    end_holding("in other threads");
}

static void an_exec(void)
{
    uint32_t factor = 3, term = 1;
    hipGraph_t graph = new_graph();
    hipGraphExec_t kept = exec;

    node_of(graph, NULL, 0, app_kernel("mul_add"), BLOCKS(app.n), ARGUMENTS(&data, &factor, &term, &app.n));
    exec = instantiate(graph);
    launch(exec, stream, 2);
    begin_holding();
    HIP(hipGraphExecDestroy(exec));
    end_holding("an exec");
    exec = kept;
}

/* The module of the replays itself, when they are done. */
static void own_module(void)
{
    hipModule_t own = app_module("other.co");
    uint32_t value = 3;
    hipGraph_t graph = new_graph();

    node_of(graph, NULL, 0, function_of(own, "iota"), BLOCKS(app.n), ARGUMENTS(&data, &value, &app.n));
    exec = instantiate(graph);
    launch(exec, stream, 4);
    HIP(hipModuleUnload(own));
    HIP(hipGraphExecDestroy(exec));
    printf("own module: %u\n", word_at(data, 0));
}

int main(int argc, char **argv)
{
    app_begin("unload", argc, argv, 1, 1024);
    stream = new_stream();
    data = device_words(app.n);
    uint32_t factor = 3, term = 1;
    hipGraph_t graph = new_graph();

    fill_bytes(data, 0);
    node_of(graph, NULL, 0, app_kernel("mul_add"), BLOCKS(app.n), ARGUMENTS(&data, &factor, &term, &app.n));
    exec = instantiate(graph);
    launch(exec, stream, 4);
    unrelated_module();
    module_that_ran();
    library();
    same_names();
    in_other_threads();
    an_exec();
    own_module();
    return app_pass();
}
