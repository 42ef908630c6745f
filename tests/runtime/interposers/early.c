/* SPDX-License-Identifier: Apache-2.0 */
/* A preloaded library whose constructor runs before ours, uses HIP, starts a thread that does, and whose
 * malloc enters HIP. */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

#include "exported.h"

extern void *__libc_malloc(size_t);

static _Atomic bool enter;
static __thread bool inside;
static pthread_barrier_t barrier;
static pthread_t thread;

__attribute__((visibility("default"))) void *malloc(size_t size)
{
    if (atomic_load(&enter) && !inside) {
        inside = true;
        hipGraphNodeSetEnabled(NULL, NULL, 0);
        (void)hipGetLastError();
        inside = false;
    }
    return __libc_malloc(size);
}

static void use(const char *who)
{
    hipGraphNode_t node;
    hipGraph_t graph;
    hipGraphExec_t exec;

    if (hipGraphCreate(&graph, 0) || hipGraphAddEmptyNode(&node, graph, NULL, 0) ||
        hipGraphInstantiate(&exec, graph, NULL, NULL, 0) || hipGraphLaunch(exec, NULL) ||
        hipGraphExecDestroy(exec) || hipGraphDestroy(graph))
        abort();
    printf("%s\n", who);
}

static void *work(void *unused)
{
    pthread_barrier_wait(&barrier); /* until main runs */
    use("thread");
    pthread_barrier_wait(&barrier);
    return unused;
}

__attribute__((constructor)) static void start(void)
{
    atomic_store(&enter, true);
    use("constructor");
    pthread_barrier_init(&barrier, NULL, 2);
    if (pthread_create(&thread, NULL, work, NULL))
        abort();
}

__attribute__((destructor)) static void stop(void)
{
    pthread_barrier_wait(&barrier);
    pthread_barrier_wait(&barrier);
    pthread_join(thread, NULL);
    use("destructor");
    fflush(stdout);
}
