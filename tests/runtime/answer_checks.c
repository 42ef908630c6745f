/* SPDX-License-Identifier: Apache-2.0 */
/* C020: what HIP answers about a graph contradicts itself: always native, never a crash or an endless
 * loop. */
#include "check.h"

#include <stdatomic.h>

static hipGraphNode_t true_nodes[3];
static int calls;

static hipGraphNode_t node_at(uintptr_t number)
{
    return (hipGraphNode_t)number;
}

/* Each answer gives its arguments a wrong value once the size was asked for. */
static hipError_t nodes_shrink(hipGraph_t graph, hipGraphNode_t *nodes, size_t *count)
{
    (void)graph;
    *count = nodes ? 2 : 3;
    for (int i = 0; nodes && i < 3; i++)
        nodes[i] = i < 2 ? true_nodes[i] : NULL;
    return hipSuccess;
}

static hipError_t nodes_grow(hipGraph_t graph, hipGraphNode_t *nodes, size_t *count)
{
    (void)graph;
    for (size_t i = 0; nodes && i < *count; i++)
        nodes[i] = true_nodes[i];
    *count = nodes ? 5 : 3;
    return hipSuccess;
}

static hipError_t nodes_null(hipGraph_t graph, hipGraphNode_t *nodes, size_t *count)
{
    (void)graph;
    for (size_t i = 0; nodes && i < *count; i++)
        nodes[i] = i ? true_nodes[i] : NULL;
    *count = 3;
    return hipSuccess;
}

static hipError_t nodes_twice(hipGraph_t graph, hipGraphNode_t *nodes, size_t *count)
{
    (void)graph;
    for (size_t i = 0; nodes && i < *count; i++)
        nodes[i] = true_nodes[0];
    *count = 3;
    return hipSuccess;
}

static hipError_t nodes_many(hipGraph_t graph, hipGraphNode_t *nodes, size_t *count)
{
    (void)graph, (void)nodes;
    *count = SIZE_MAX / 2;
    return hipSuccess;
}

static hipError_t nodes_fail(hipGraph_t graph, hipGraphNode_t *nodes, size_t *count)
{
    (void)graph, (void)nodes, (void)count;
    return hipErrorInvalidValue;
}

static hipError_t nodes_fail_later(hipGraph_t graph, hipGraphNode_t *nodes, size_t *count)
{
    (void)graph;
    *count = 3;
    return nodes ? hipErrorUnknown : hipSuccess;
}

static hipError_t edges_foreign(hipGraph_t graph, hipGraphNode_t *from, hipGraphNode_t *to, size_t *count)
{
    (void)graph;
    if (from) {
        from[0] = true_nodes[0];
        to[0] = node_at(0x1234);
    }
    *count = 1;
    return hipSuccess;
}

static hipError_t edges_cycle(hipGraph_t graph, hipGraphNode_t *from, hipGraphNode_t *to, size_t *count)
{
    (void)graph;
    for (int i = 0; from && i < 3; i++) {
        from[i] = true_nodes[i];
        to[i] = true_nodes[(i + 1) % 3];
    }
    *count = 3;
    return hipSuccess;
}

static hipError_t edges_self(hipGraph_t graph, hipGraphNode_t *from, hipGraphNode_t *to, size_t *count)
{
    (void)graph;
    if (from)
        from[0] = to[0] = true_nodes[1];
    *count = 1;
    return hipSuccess;
}

static hipError_t edges_grow(hipGraph_t graph, hipGraphNode_t *from, hipGraphNode_t *to, size_t *count)
{
    (void)graph, (void)to;
    *count = from ? 9 : 0;
    if (!from && calls++)
        *count = 2;
    return hipSuccess;
}

static hipError_t edges_more(hipGraph_t graph, hipGraphNode_t *from, hipGraphNode_t *to, size_t *count)
{
    (void)graph;
    for (size_t i = 0; from && i < *count; i++) {
        from[i] = true_nodes[0];
        to[i] = true_nodes[1];
    }
    *count = from ? 4 : 3;
    return hipSuccess;
}

static hipError_t edges_many(hipGraph_t graph, hipGraphNode_t *from, hipGraphNode_t *to, size_t *count)
{
    (void)graph, (void)from, (void)to;
    *count = SIZE_MAX;
    return hipSuccess;
}

static hipError_t type_beyond(hipGraphNode_t node, hipGraphNodeType *type)
{
    (void)node;
    *type = (hipGraphNodeType)4711;
    return hipSuccess;
}

static hipError_t type_negative(hipGraphNode_t node, hipGraphNodeType *type)
{
    (void)node;
    *type = (hipGraphNodeType)-3;
    return hipSuccess;
}

static hipError_t type_child(hipGraphNode_t node, hipGraphNodeType *type)
{
    (void)node;
    *type = hipGraphNodeTypeGraph;
    return hipSuccess;
}

static hipError_t type_fails(hipGraphNode_t node, hipGraphNodeType *type)
{
    (void)node, (void)type;
    return hipErrorUnknown;
}

static hipGraph_t the_graph;

/* A graph that is inside itself, three times. */
static hipError_t child_is_parent(hipGraphNode_t node, hipGraph_t *graph)
{
    (void)node;
    *graph = the_graph;
    return hipSuccess;
}

static hipError_t child_null(hipGraphNode_t node, hipGraph_t *graph)
{
    (void)node;
    *graph = NULL;
    return hipSuccess;
}

static size_t packed_size;

static hipError_t packed(hipGraphNode_t node, hipKernelNodeParams *params)
{
    static char block[64];
    static void *extra[] = { (void *)1, block, (void *)2, &packed_size, (void *)3 };

    (void)node;
    *params = (hipKernelNodeParams){ .func = (void *)1, .extra = extra };
    return hipSuccess;
}

static hipError_t packed_endless(hipGraphNode_t node, hipKernelNodeParams *params)
{
    static void *extra[64];

    (void)node;
    *params = (hipKernelNodeParams){ .func = (void *)1, .extra = extra };
    return hipSuccess;
}

static void with_answer(const char *name, void *answer, enum rl_reason expected)
{
    hipGraphExec_t exec;

    the_graph = chain(true_nodes);
    standin_replace(name, answer);
    exec = instantiate(the_graph);
    CHECK(reason_of(exec) == expected);
    CHECK(hipGetLastError() == hipSuccess && standin_thread_mode() == hipStreamCaptureModeGlobal);
    GOOD(hipGraphLaunch(exec, NULL));
    GOOD(hipGraphExecDestroy(exec));
    standin_reset();
    if (expected == RL_REASON_TOPOLOGY_CONTRADICTORY)
        CHECK(reason_from(the_graph) == RL_REASON_NONE);
    GOOD(hipGraphDestroy(the_graph));
    CHECK(tables_empty());
}

static void check_nodes(void)
{
    void *const answers[] = { nodes_shrink, nodes_grow, nodes_null,      nodes_twice,
                              nodes_many,   nodes_fail, nodes_fail_later };

    for (size_t i = 0; i < sizeof(answers) / sizeof(answers[0]); i++)
        with_answer("hipGraphGetNodes", answers[i], RL_REASON_TOPOLOGY_CONTRADICTORY);
}

static void check_edges(void)
{
    void *const answers[] = { edges_foreign, edges_cycle, edges_self, edges_more, edges_many };

    for (size_t i = 0; i < sizeof(answers) / sizeof(answers[0]); i++)
        with_answer("hipGraphGetEdges", answers[i], RL_REASON_TOPOLOGY_CONTRADICTORY);
    with_answer("hipGraphGetEdges", edges_grow, RL_REASON_TOPOLOGY_DIFFERS); /* none of the chain's two */
}

static void check_types(void)
{
    with_answer("hipGraphNodeGetType", type_beyond, RL_REASON_NODE_TYPE);
    with_answer("hipGraphNodeGetType", type_negative, RL_REASON_NODE_TYPE);
    with_answer("hipGraphNodeGetType", type_fails, RL_REASON_TOPOLOGY_CONTRADICTORY);
    /* the nodes are kernels */
    with_answer("hipGraphNodeGetType", type_child, RL_REASON_TOPOLOGY_CONTRADICTORY);
    with_answer("hipGraphKernelNodeGetParams", nodes_fail, RL_REASON_TOPOLOGY_CONTRADICTORY);
}

static void check_endless_children(void)
{
    standin_replace("hipGraphNodeGetType", type_child);
    with_answer("hipGraphChildGraphNodeGetGraph", child_is_parent, RL_REASON_TOPOLOGY_CONTRADICTORY);
    standin_replace("hipGraphNodeGetType", type_child);
    with_answer("hipGraphChildGraphNodeGetGraph", child_null, RL_REASON_TOPOLOGY_CONTRADICTORY);
}

/* C007: arguments that come back as one block. */
static void check_packed_arguments(void)
{
    hipGraphExec_t exec;

    packed_size = 40;
    standin_replace("hipGraphKernelNodeGetParams", packed);
    the_graph = chain(true_nodes);
    exec = instantiate(the_graph);
    CHECK(reason_of(exec) == RL_REASON_NONE);
    CHECK(exec_record(exec)->topology->nodes[0].packed);
    CHECK(exec_record(exec)->topology->nodes[0].kernel.argument_bytes == 40);
    GOOD(hipGraphExecDestroy(exec));
    GOOD(hipGraphDestroy(the_graph));
    packed_size = SIZE_MAX;
    with_answer("hipGraphKernelNodeGetParams", packed, RL_REASON_TOPOLOGY_CONTRADICTORY);
    with_answer("hipGraphKernelNodeGetParams", packed_endless, RL_REASON_NONE);
}

/* The graph is read again at every update. */
static void check_answers_at_update(void)
{
    hipGraphExecUpdateResult result;
    hipGraphNode_t nodes[3], error;
    hipGraph_t graph = chain(nodes);
    hipGraphExec_t exec = instantiate(graph);

    memcpy(true_nodes, nodes, sizeof(nodes));
    standin_replace("hipGraphGetEdges", edges_cycle);
    GOOD(hipGraphExecUpdate(exec, graph, &error, &result));
    CHECK(reason_of(exec) == RL_REASON_TOPOLOGY_CONTRADICTORY);
    CHECK(exec_record(exec)->topology->edge_count == 2);
    standin_reset();
    GOOD(hipGraphExecUpdate(exec, graph, &error, &result));
    CHECK(reason_of(exec) == RL_REASON_NONE);
}

RUN_CHECKS({ "nodes", check_nodes }, { "edges", check_edges }, { "types", check_types },
           { "endless_children", check_endless_children }, { "packed_arguments", check_packed_arguments },
           { "answers_at_update", check_answers_at_update })
