/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Code goes away while launches of it wait in a stream. HIP keeps code that its own launches run, but
 * where a graph's packets were made beforehand, as 7.2.4 does, it does not, and the GPU faults: only under the library,
 * where these launches are replays, does this program end well.
 */
#include "compiled.h"

#include <stdatomic.h>

static _Atomic bool returned;
static uint32_t *data;
static hipStream_t stream;

static void hold(void *unused)
{
    (void)unused;
    while (!atomic_load(&returned))
        usleep(200);
}

static hipGraphExec_t exec_of(void *function, uint32_t value)
{
    hipGraph_t graph = new_graph();

    node_of(graph, NULL, 0, function, BLOCKS(app.n), ARGUMENTS(&data, &value, &app.n));
    return instantiate(graph);
}

/* A launch by HIP, two that are replayed, and two behind a host function that waits for end_holding(). */
static void begin_holding(hipGraphExec_t exec)
{
    launch(exec, stream, 3);
    atomic_store(&returned, false);
    HIP(hipLaunchHostFunc(stream, hold, NULL));
    for (int i = 0; i < 2; i++)
        HIP(hipGraphLaunch(exec, stream));
}

static void end_holding(const char *what)
{
    atomic_store(&returned, true);
    HIP(hipStreamSynchronize(stream));
    printf("%s: %u\n", what, sum_of(data, app.n));
}

static void of_a_module(void)
{
    hipModule_t module = app_module("other.co");
    hipGraphExec_t exec = exec_of(function_of(module, "iota"), 3);

    fill_bytes(data, 1);
    begin_holding(exec);
    HIP(hipModuleUnload(module));
    end_holding("module");
    HIP(hipGraphExecDestroy(exec));
}

/* The next module gets the addresses of the first as soon as that is gone, and no sooner. */
static void of_the_next_module(void)
{
    hipModule_t module = app_module("other.co"), next;
    hipGraphExec_t exec = exec_of(function_of(module, "iota"), 3), next_exec;

    fill_bytes(data, 1);
    begin_holding(exec);
    HIP(hipModuleUnload(module));
    next = app_module("kernels.co");
    next_exec = exec_of(function_of(next, "iota"), 100);
    for (int i = 0; i < 3; i++)
        HIP(hipGraphLaunch(next_exec, stream));
    HIP(hipGraphExecDestroy(exec));
    end_holding("next module");
    HIP(hipGraphExecDestroy(next_exec));
    HIP(hipModuleUnload(next));
}

static void of_a_library(void)
{
    hipLibrary_t library;
    hipKernel_t kernel;
    char path[4096];

    snprintf(path, sizeof(path), "%s/%s/other.co", getenv("APP_FIXTURES"), app.gfx);
    HIP(hipLibraryLoadFromFile(&library, path, NULL, NULL, 0, NULL, NULL, 0));
    HIP(hipLibraryGetKernel(&kernel, library, "iota"));
    hipGraphExec_t exec = exec_of((void *)kernel, 3);
    fill_bytes(data, 1);
    begin_holding(exec);
    HIP(hipLibraryUnload(library));
    end_holding("library");
    HIP(hipGraphExecDestroy(exec));
}

/* HIP waits for host functions here, so nothing is held. */
static void compiled_in(void)
{
    static const char *const names[] = { "iota" };
    static struct compiled compiled;

    compile_in(&compiled, "other.co", names, 1);
    hipGraphExec_t exec = exec_of(&compiled.hosts[0], 3);
    fill_bytes(data, 1);
    launch(exec, stream, 2);
    for (int i = 0; i < 4; i++)
        HIP(hipGraphLaunch(exec, stream));
    take_out(&compiled);
    printf("compiled in: %u\n", sum_of(data, app.n));
    HIP(hipGraphExecDestroy(exec));
}

int main(int argc, char **argv)
{
    app_begin("in_flight", argc, argv, 1, 1024);
    stream = new_stream();
    data = device_words(app.n);
    of_a_module();
    of_the_next_module();
    of_a_library();
    compiled_in();
    return app_pass();
}
