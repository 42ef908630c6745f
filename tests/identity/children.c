/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Updates of what is inside of child graphs. HIP says success to most of them and does what it likes: an update of an
 * exec keeps the arguments that a child's kernels had (7.2.4, C122). What counts is that every launch does what HIP's does.
 */
#include "identity.h"

static hipStream_t stream;
static uint32_t *data, *side, *more;

static void say(const char *what)
{
    printf("%s:", what);
    fill_bytes(data, 0);
    fill_bytes(side, 0);
}

/* What a launch leaves, twice in the usual stream, once in another one. */
static void run(hipGraphExec_t exec)
{
    hipStream_t other = new_stream();

    for (int i = 0; i < 3; i++) {
        HIP(hipGraphLaunch(exec, i == 2 ? other : stream));
        HIP(hipStreamSynchronize(i == 2 ? other : stream));
        printf(" %u/%u", word_at(data, 1), word_at(side, 1));
    }
    HIP(hipStreamDestroy(other));
}

static void update(hipGraphExec_t exec, hipGraph_t graph)
{
    hipGraphExecUpdateResult result = hipGraphExecUpdateSuccess;
    hipGraphNode_t error = NULL;
    hipError_t status = hipGraphExecUpdate(exec, graph, &error, &result);

    printf(" [%s %d]", hipGetErrorName(status), result);
    (void)hipGetLastError();
}

static hipGraphNode_t set_node(hipGraph_t graph, uint32_t *to, uint32_t value)
{
    return node_of(graph, NULL, 0, app_kernel("set"), BLOCKS(app.n), ARGUMENTS(&to, &value, &app.n));
}

/* `outer` at the top, `inner` in a child graph that is `depth` levels down; 0: at the top as well. */
static hipGraph_t nested(uint32_t outer, uint32_t inner, int depth)
{
    hipGraph_t graph = new_graph();
    hipGraphNode_t node;

    if (!depth) {
        set_node(graph, data, inner);
        return graph;
    }
    hipGraph_t child = nested(0, inner, depth - 1);

    if (outer)
        set_node(graph, side, outer);
    HIP(hipGraphAddChildGraphNode(&node, graph, NULL, 0, child));
    HIP(hipGraphDestroy(child));
    return graph;
}

static void kernel_of_a_child(int depth)
{
    hipGraphExec_t exec = instantiate(nested(0, 5, depth));

    say(depth == 1 ? "kernel of a child" : "kernel of a grandchild");
    run(exec);
    update(exec, nested(0, 7, depth));
    run(exec);
    update(exec, nested(0, 7, depth));
    run(exec);
    update(exec, nested(0, 5, depth));
    run(exec);
    printf("\n");
}

static void kernel_of_both(int depth)
{
    hipGraphExec_t exec = instantiate(nested(3, 5, depth));

    say("kernels of both");
    run(exec);
    update(exec, nested(4, 5, depth));
    run(exec);
    update(exec, nested(5, 7, depth));
    run(exec);
    update(exec, nested(6, 7, depth));
    run(exec);
    printf("\n");
}

/* A child of another kernel, with another grid, of a fill, of a copy. */
static void other_nodes_of_a_child(void)
{
    static const char *const what[] = { "other kernel", "other grid", "other fill", "other copy" };

    for (int kind = 0; kind < 4; kind++) {
        hipGraphExec_t exec = NULL;

        say(what[kind]);
        fill_bytes(data, 2);
        for (uint32_t turn = 0; turn < 3; turn++) {
            hipGraph_t graph = new_graph(), child = new_graph();
            hipGraphNode_t node, inner;
            uint32_t value = 5 + turn;
            hipMemsetParams fill = {
                .dst = data, .elementSize = 4, .value = value, .width = app.n, .height = 1
            };

            if (kind == 0)
                node_of(child, NULL, 0, app_kernel(turn & 1 ? "iota" : "set"), BLOCKS(app.n),
                        ARGUMENTS(&data, &value, &app.n));
            else if (kind == 1)
                node_of(child, NULL, 0, app_kernel("set"), turn & 1 ? 2 : 3,
                        ARGUMENTS(&data, &value, &app.n));
            else if (kind == 2)
                HIP(hipGraphAddMemsetNode(&inner, child, NULL, 0, &fill));
            else
                HIP(hipGraphAddMemcpyNode1D(&inner, child, NULL, 0, side, turn & 1 ? data : more, 256,
                                            hipMemcpyDeviceToDevice));
            HIP(hipGraphAddChildGraphNode(&node, graph, NULL, 0, child));
            if (!exec)
                exec = instantiate(graph);
            else
                update(exec, graph);
            run(exec);
        }
        printf(" %u\n", sum_of(data, app.n));
    }
}

/* The exec's child node gets another child graph. */
static void child_set(int depth)
{
    hipGraph_t graph = new_graph(), first = nested(3, 5, depth), second = nested(4, 7, depth);
    hipGraphNode_t node, top = set_node(graph, more, 1);

    HIP(hipGraphAddChildGraphNode(&node, graph, NULL, 0, first));
    hipGraphExec_t exec = instantiate(graph);
    say("child set");
    run(exec);
    for (int i = 0; i < 3; i++) {
        hipError_t status = hipGraphExecChildGraphNodeSetParams(exec, node, i & 1 ? first : second);
        uint32_t value = 40 + (uint32_t)i;

        printf(" [%s]", hipGetErrorName(status));
        (void)hipGetLastError();
        run(exec);
        set_arguments(exec, top, app_kernel("set"), BLOCKS(app.n), ARGUMENTS(&more, &value, &app.n));
        run(exec);
        printf(" %u", word_at(more, 1));
    }
    printf("\n");
}

/* A node inside of the child, by the handle that HIP gives for it. */
static void inner_node_set(void)
{
    hipGraph_t graph = new_graph(), child = nested(0, 5, 0), inner;
    hipGraphNode_t node, kernel;
    size_t one = 1;
    uint32_t value = 9;

    HIP(hipGraphAddChildGraphNode(&node, graph, NULL, 0, child));
    hipGraphExec_t exec = instantiate(graph);
    HIP(hipGraphChildGraphNodeGetGraph(node, &inner));
    HIP(hipGraphGetNodes(inner, &kernel, &one));
    say("inner node set");
    run(exec);
    for (int i = 0; i < 2; i++) {
        hipKernelNodeParams parameters = { .func = app_kernel("set"),
                                           .gridDim = { BLOCKS(app.n), 1, 1 },
                                           .blockDim = { BLOCK, 1, 1 },
                                           .kernelParams = ARGUMENTS(&data, &value, &app.n) };

        printf(" [%s]", hipGetErrorName(i ? hipGraphExecKernelNodeSetParams(exec, kernel, &parameters)
                                          : hipGraphKernelNodeSetParams(kernel, &parameters)));
        (void)hipGetLastError();
        run(exec);
        update(exec, graph);
        run(exec);
        value += 2;
    }
    printf("\n");
}

/* A node inside of the child, switched off. */
static void inner_node_disabled(void)
{
    hipGraph_t graph = new_graph(), child = nested(0, 5, 0), inner;
    hipGraphNode_t node, kernel;
    size_t one = 1;

    HIP(hipGraphAddChildGraphNode(&node, graph, NULL, 0, child));
    set_node(graph, side, 3);
    hipGraphExec_t exec = instantiate(graph);
    HIP(hipGraphChildGraphNodeGetGraph(node, &inner));
    HIP(hipGraphGetNodes(inner, &kernel, &one));
    say("inner node disabled");
    run(exec);
    for (unsigned on = 0; on < 2; on++) {
        printf(" [%s]", hipGetErrorName(hipGraphNodeSetEnabled(exec, kernel, on)));
        (void)hipGetLastError();
        fill_bytes(data, 0);
        run(exec);
    }
    printf("\n");
}

int main(int argc, char **argv)
{
    app_begin("children", argc, argv, 1, 1024);
    stream = new_stream();
    data = device_words(app.n);
    side = device_words(app.n);
    more = device_words(app.n);
    for (int depth = 1; depth < 4; depth++)
        kernel_of_a_child(depth);
    for (int depth = 1; depth < 3; depth++)
        kernel_of_both(depth);
    other_nodes_of_a_child();
    child_set(0);
    child_set(1);
    inner_node_set();
    inner_node_disabled();
    return app_pass();
}
