/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a shim adds to a call of HIP, in nanoseconds: over a libamdhip64 whose functions return at once, called directly and
 * through the preloaded library. Prints "name, added, allowed, limit of their ratio". See bench.py.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "hip_api.h"

enum { CALLS = 2000000, RUNS = 25, ALLOWED = 5 };

hipError_t hipGraphInstantiate(hipGraphExec_t *, hipGraph_t, hipGraphNode_t *, char *, size_t);
hipError_t hipGraphCreate(hipGraph_t *, unsigned int);
hipError_t hipGraphLaunch(hipGraphExec_t, hipStream_t);
hipError_t hipGraphExecEventRecordNodeSetEvent(hipGraphExec_t, hipGraphNode_t, hipEvent_t);

static double now(void)
{
    struct timespec time;

    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec * 1e9 + (double)time.tv_nsec;
}

/* Both have the same registers for two pointers and a third that nobody reads. */
typedef hipError_t call(void *, void *, void *);

static double best(call *function, void *first)
{
    double least = 1e9;

    for (int run = 0; run < RUNS; run++) {
        double start = now();

        for (int i = 0; i < CALLS; i++)
            function(first, NULL, NULL);
        start = (now() - start) / CALLS;
        least = start < least ? start : least;
    }
    return least;
}

static void compare(const char *what, const char *name, call *shim, void *first, int limit)
{
    void *hip = dlopen("libamdhip64.so.7", RTLD_LAZY | RTLD_NOLOAD);
    call *direct = (call *)dlsym(hip, name);

    if (!direct || direct == shim) {
        fprintf(stderr, "%s is not bound to the preloaded library\n", name);
        exit(1);
    }
    printf("%s\t%.2f\t%d\t%d\n", what, best(shim, first) - best(direct, first), ALLOWED, limit);
}

int main(void)
{
    hipGraph_t graph = NULL;
    hipGraphExec_t exec = NULL;

    if (hipGraphCreate(&graph, 0) || hipGraphInstantiate(&exec, graph, NULL, NULL, 0) || !exec)
        return 1;
    compare("launch of a native exec, ns over the direct call", "hipGraphLaunch",
            (call *)(void *)hipGraphLaunch, exec, 1);
    compare("launch of an exec without a record", "hipGraphLaunch", (call *)(void *)hipGraphLaunch, &graph,
            0);
    compare("change of an exec that is stale already", "hipGraphExecEventRecordNodeSetEvent",
            (call *)(void *)hipGraphExecEventRecordNodeSetEvent, exec, 1);
    return 0;
}
