/* SPDX-License-Identifier: Apache-2.0 */
/* Threads that never stop using graphs, and forks in between: each child must end, with and without using
 * HIP. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "exported.h"

static _Atomic bool stop;

static void use(void)
{
    hipGraphNode_t node;
    hipGraph_t graph;
    hipGraphExec_t exec;

    if (hipGraphCreate(&graph, 0) || hipGraphAddEmptyNode(&node, graph, NULL, 0) ||
        hipGraphInstantiate(&exec, graph, NULL, NULL, 0) || hipGraphLaunch(exec, NULL) ||
        hipGraphExecDestroy(exec) || hipGraphDestroy(graph))
        abort();
}

static void *work(void *unused)
{
    while (!atomic_load(&stop))
        use();
    return unused;
}

int main(void)
{
    pthread_t threads[4];
    int status;

    for (int i = 0; i < 4; i++)
        if (pthread_create(&threads[i], NULL, work, NULL))
            return 1;
    for (int i = 0; i < 60; i++) {
        pid_t child = fork();

        if (!child) {
            alarm(20);
            if (i % 3 == 0)
                execl("/bin/true", "true", (char *)NULL);
            if (i % 3 == 1)
                use();
            _exit(0);
        }
        if (waitpid(child, &status, 0) != child || status)
            return 2;
    }
    atomic_store(&stop, true);
    for (int i = 0; i < 4; i++)
        pthread_join(threads[i], NULL);
    use();
    puts("done");
    return 0;
}
