/* SPDX-License-Identifier: Apache-2.0 */
/* The application has not asked yet for an error of an earlier call when it makes an exec, or updates one. The error is
 * still there afterwards, and the exec is one like any other. */
#include "identity.h"

static hipStream_t stream;
static uint32_t *data;

static void leave_an_error(void)
{
    void *pointer;

    (void)hipMalloc(&pointer, (size_t)1 << 60);
}

static void ask(void)
{
    printf(" [%s]", hipGetErrorName(hipGetLastError()));
}

static hipGraph_t graph_of(uint32_t value)
{
    hipGraph_t graph = new_graph();
    hipGraphNode_t node = node_of(graph, NULL, 0, app_kernel("set"), BLOCKS(app.n),
                                  ARGUMENTS(&data, &value, &app.n));

    node_of(graph, &node, 1, app_kernel("mul_add"), BLOCKS(app.n), ARGUMENTS(&data, &value, &value, &app.n));
    return graph;
}

static void run(hipGraphExec_t exec, uint32_t times)
{
    launch(exec, stream, times);
    printf(" %u", word_at(data, 1));
}

static void made(bool destroyed)
{
    hipGraph_t graph = graph_of(5);

    printf(destroyed ? "made, graph destroyed:" : "made:");
    leave_an_error();
    hipGraphExec_t exec = instantiate(graph);
    run(exec, 1);
    ask();
    if (destroyed)
        HIP(hipGraphDestroy(graph));
    run(exec, 4);
    printf("\n");
}

/* The graph changes between: what it says then is not what the exec was made of. */
static void changed(void)
{
    hipGraph_t graph = graph_of(5);
    hipGraphNode_t node, more;
    size_t one = 1;

    printf("changed:");
    leave_an_error();
    hipGraphExec_t exec = instantiate(graph);
    ask();
    HIP(hipGraphGetRootNodes(graph, &node, &one));
    uint32_t value = 9;
    more = node_of(graph, NULL, 0, app_kernel("set"), BLOCKS(app.n), ARGUMENTS(&data, &value, &app.n));
    (void)more;
    run(exec, 3);
    printf("\n");
}

static void updated(void)
{
    hipGraph_t graph = graph_of(5), other = graph_of(7);
    hipGraphExec_t exec = instantiate(graph);
    hipGraphExecUpdateResult result;
    hipGraphNode_t error;

    printf("updated:");
    run(exec, 2);
    leave_an_error();
    HIP(hipGraphExecUpdate(exec, other, &error, &result));
    run(exec, 1);
    ask();
    run(exec, 3);
    printf("\n");
}

static void set(void)
{
    hipGraph_t graph = new_graph();
    uint32_t value = 5;
    hipGraphNode_t node = node_of(graph, NULL, 0, app_kernel("set"), BLOCKS(app.n),
                                  ARGUMENTS(&data, &value, &app.n));
    hipGraphExec_t exec = instantiate(graph);

    printf("set:");
    run(exec, 2);
    leave_an_error();
    value = 8;
    set_arguments(exec, node, app_kernel("set"), BLOCKS(app.n), ARGUMENTS(&data, &value, &app.n));
    run(exec, 1);
    ask();
    run(exec, 3);
    printf("\n");
}

int main(int argc, char **argv)
{
    app_begin("pending_error", argc, argv, 1, 1024);
    stream = new_stream();
    data = device_words(app.n);
    made(false);
    made(true);
    changed();
    updated();
    set();
    return app_pass();
}
