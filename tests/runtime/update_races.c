/* SPDX-License-Identifier: Apache-2.0 */
/*
 * update_races ROUNDS: an exec that is updated while it is launched or changed by others. HIP forbids that to
 * applications; a launch must not see its description go away, and an update with nobody else about makes it
 * right again.
 */
#include "check.h"

#include <pthread.h>

static hipGraphExec_t exec;
static hipGraph_t graphs[2];
static hipGraphNode_t nodes[2][3];
static unsigned rounds;

static hipError_t update_from(int side)
{
    hipGraphExecUpdateResult result;
    hipGraphNode_t error;

    return hipGraphExecUpdate(exec, graphs[side], &error, &result);
}

static void check_right(int side)
{
    GOOD(update_from(side));
    CHECK(reason_of(exec) == RL_REASON_NONE);
    CHECK(exec_record(exec)->topology->nodes[1].kernel.function == (void *)(side ? (uintptr_t)7 : 2));
}

static struct rl_topology *in_launch;

static void update_in_launch(void)
{
    GOOD(update_from(1));
    CHECK(exec_record(exec)->topology == in_launch && in_launch->nodes[1].kernel.function == (void *)2);
    CHECK(reason_of(exec) == RL_REASON_NATIVE_FAILED && stale(exec));
}

/* In the middle of a launch the description stays, and the exec is native from then on. */
static void check_update_in_launch(void)
{
    in_launch = exec_record(exec)->topology;
    standin_within("hipGraphLaunch", update_in_launch);
    GOOD(hipGraphLaunch(exec, NULL));
    standin_within("hipGraphLaunch", NULL);
    CHECK(standin_calls("hipGraphLaunch") == 1);
    GOOD(hipGraphLaunch(exec, NULL));
    CHECK(reason_of(exec) == RL_REASON_NATIVE_FAILED);
    check_right(1);
    check_right(0);
}

static void update_in_update(void)
{
    standin_within("hipGraphGetNodes", NULL);
    GOOD(update_from(0));
}

/* One that came while another was being noted has changed the exec after what that one read. */
static void check_update_in_update(void)
{
    standin_within("hipGraphGetNodes", update_in_update);
    GOOD(update_from(1));
    CHECK(reason_of(exec) == RL_REASON_NATIVE_FAILED && stale(exec));
    check_right(1);
    check_right(0);
}

static void *launch(void *unused)
{
    for (unsigned round = 0; round < rounds; round++)
        GOOD(hipGraphLaunch(exec, NULL));
    return unused;
}

static void *update(void *unused)
{
    for (unsigned round = 0; round < rounds; round++)
        GOOD(update_from(round & 1));
    return unused;
}

static void *change(void *unused)
{
    hipKernelNodeParams params = { .func = (void *)9, .gridDim = { 1, 1, 1 }, .blockDim = { 64, 1, 1 } };

    for (unsigned round = 0; round < rounds; round++)
        GOOD(hipGraphExecKernelNodeSetParams(exec, nodes[0][1], &params));
    return unused;
}

static void check_threads(void)
{
    void *(*const work[])(void *) = { launch, update, launch, update, change };
    pthread_t threads[5];

    for (int i = 0; i < 5; i++)
        CHECK(!pthread_create(&threads[i], NULL, work[i], NULL));
    for (int i = 0; i < 5; i++)
        pthread_join(threads[i], NULL);
    check_right(1);
    check_right(0);
}

int main(int argc, char **argv)
{
    rounds = argc > 1 ? (unsigned)atoi(argv[1]) : 300;
    for (int side = 0; side < 2; side++)
        graphs[side] = chain(nodes[side]);
    GOOD(hipGraphKernelNodeSetParams(
        nodes[1][1],
        &(hipKernelNodeParams){ .func = (void *)7, .gridDim = { 1, 1, 1 }, .blockDim = { 64, 1, 1 } }));
    exec = instantiate(graphs[0]);
    check_update_in_launch();
    check_update_in_update();
    check_threads();
    GOOD(hipGraphExecDestroy(exec));
    for (int side = 0; side < 2; side++)
        GOOD(hipGraphDestroy(graphs[side]));
    CHECK(tables_empty() && !standin_objects());
    return 0;
}
