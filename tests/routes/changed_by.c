/* SPDX-License-Identifier: Apache-2.0 */
/*
 * changed_by ROUTE: launches an exec, has it changed by a function that is looked up only then, and launches it again; three
 * times. ROUTE is where the function comes from: handle, proc, entry, default, next, or FLAGS:PLUGIN for the function
 * `change` of a library that is opened with these flags (l: lazy, d: RTLD_DEEPBIND).
 */
#define _GNU_SOURCE
#include "app.h"

#include <dlfcn.h>

typedef hipError_t set_params(hipGraphExec_t, hipGraphNode_t, const hipKernelNodeParams *);

static set_params *from_plugin(const char *route)
{
    size_t flags = strcspn(route, ":");
    int mode = (memchr(route, 'l', flags) ? RTLD_LAZY : RTLD_NOW) |
               (memchr(route, 'd', flags) ? RTLD_DEEPBIND : 0) | RTLD_LOCAL;
    void *plugin = dlopen(route + flags + 1, mode);

    return plugin ? (set_params *)dlsym(plugin, "change") : NULL;
}

static set_params *look_up(const char *route)
{
    static const char name[] = "hipGraphExecKernelNodeSetParams";
    hipDriverProcAddressQueryResult status;
    hipDriverEntryPointQueryResult other;
    void *found = NULL;

    if (!strcmp(route, "handle"))
        found = dlsym(dlopen("libamdhip64.so.7", RTLD_NOW | RTLD_NOLOAD), name);
    else if (!strcmp(route, "proc"))
        HIP(hipGetProcAddress(name, &found, 70200000, 0, &status));
    else if (!strcmp(route, "entry"))
        HIP(hipGetDriverEntryPoint(name, &found, 0, &other));
    else if (!strcmp(route, "default"))
        found = dlsym(RTLD_DEFAULT, name);
    else if (!strcmp(route, "next"))
        found = dlsym(RTLD_NEXT, name);
    else
        return from_plugin(route);
    return (set_params *)found;
}

int main(int argc, char **argv)
{
    const char *route = argc > 1 ? argv[1] : "handle";
    app_begin("changed_by", 1, argv, 3, 1024);
    hipFunction_t mul_add = app_kernel("mul_add");
    uint32_t *data = device_words(app.n), *got = host_words(app.n), *want = host_words(app.n), factor = 3,
             term = 1;
    hipStream_t stream = new_stream();
    hipGraph_t graph;

    HIP(hipGraphCreate(&graph, 0));
    hipGraphNode_t node = kernel_node(graph, NULL, 0, mul_add, ARGUMENTS(&data, &factor, &term, &app.n));
    hipGraphExec_t exec = instantiate(graph);
    hipKernelNodeParams params = { .func = mul_add,
                                   .gridDim = { BLOCKS(app.n), 1, 1 },
                                   .blockDim = { BLOCK, 1, 1 },
                                   .kernelParams = ARGUMENTS(&data, &factor, &term, &app.n) };
    for (uint32_t launch = 0; launch < 3 * app.rounds; launch++) {
        if (launch % 3 == 2) {
            set_params *change = look_up(route);
            if (!change)
                FAIL("got no function by %s: %s", route, dlerror());
            factor += 2;
            term += 10;
            HIP(change(exec, node, &params));
        }
        upload_input(data, got, launch);
        HIP(hipGraphLaunch(exec, stream));
        HIP(hipStreamSynchronize(stream));
        download(got, data);
        for (uint32_t i = 0; i < app.n; i++)
            want[i] = input_word(launch, i) * factor + term;
        EXPECT_WORDS(launch, got, want);
    }
    return app_pass();
}
