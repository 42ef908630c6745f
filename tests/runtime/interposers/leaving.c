/* SPDX-License-Identifier: Apache-2.0 */
/* Ways to leave: launches in exit handlers, in destructors, in a detached thread while the process ends, exit
 * in a launch. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "exported.h"
#include "standin.h"

static hipGraphExec_t exec;

static void launch(void)
{
    printf("launch %d\n", hipGraphLaunch(exec, NULL));
    fflush(stdout);
}

__attribute__((destructor)) static void at_destruction(void)
{
    launch();
}

static void *launch_for_ever(void *unused)
{
    for (;;)
        hipGraphLaunch(exec, NULL);
    return unused;
}

static void leave(void)
{
    exit(3);
}

int main(int argc, char **argv)
{
    hipGraphNode_t node;
    pthread_t thread;
    hipGraph_t graph;

    (void)argc;
    if (hipGraphCreate(&graph, 0) || hipGraphAddEmptyNode(&node, graph, NULL, 0) ||
        hipGraphInstantiate(&exec, graph, NULL, NULL, 0))
        return 1;
    atexit(launch);
    launch();
    if (!strcmp(argv[1], "thread")) {
        if (pthread_create(&thread, NULL, launch_for_ever, NULL))
            return 1;
        pthread_detach(thread);
    }
    if (!strcmp(argv[1], "within")) {
        standin_within("hipGraphLaunch", leave);
        hipGraphLaunch(exec, NULL);
    }
    return 0;
}
