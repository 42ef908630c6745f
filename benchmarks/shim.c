/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How long calls of HIP take, in nanoseconds, over a libamdhip64 whose functions return at once. Prints "name, time".
 * shim.py runs it with and without the preload and shows the differences.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "hip_api.h"

enum { CALLS = 100000, RUNS = 500 };

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

static void show(const char *what, call *function, void *first)
{
    printf("%s\t%.2f\n", what, best(function, first));
}

int main(void)
{
    void *hip = dlopen("libamdhip64.so.7", RTLD_LAZY | RTLD_NOLOAD);
    hipGraph_t graph = NULL;
    hipGraphExec_t exec = NULL;
    double start = now();

    if (hipGraphCreate(&graph, 0))
        return 1;
    printf("first call of all\t%.2f\n", now() - start);
    if (hipGraphInstantiate(&exec, graph, NULL, NULL, 0) || !exec)
        return 1;
    show("launch of a native exec", (call *)(void *)hipGraphLaunch, exec);
    show("the same by dlsym() on HIP's handle", (call *)dlsym(hip, "hipGraphLaunch"), exec);
    show("launch of an exec without a record", (call *)(void *)hipGraphLaunch, &graph);
    show("change of an exec that is stale already", (call *)(void *)hipGraphExecEventRecordNodeSetEvent,
         exec);
    return 0;
}
