/* SPDX-License-Identifier: Apache-2.0 */
/* Graphs, nodes and execs: what their records say, and that none of them outlives its object. See check.h. */
#include "check.h"
#include "kernels/functions.h"

#include <sys/wait.h>
#include <unistd.h>

#include "mutators.h"

typedef hipError_t create_graph(hipGraph_t *, unsigned int);
typedef hipError_t set_kernel(hipGraphNode_t, const hipKernelNodeParams *);

static hipGraph_t unseen_graph(void)
{
    hipGraph_t graph;

    GOOD(((create_graph *)standin_function("hipGraphCreate"))(&graph, 0));
    return graph;
}

static void check_explicit_graph(void)
{
    hipGraphNode_t nodes[3];
    hipGraph_t graph = chain(nodes);
    hipGraphExec_t exec = instantiate(graph);
    const struct rl_topology *topology = exec_record(exec)->topology;

    CHECK(live(RL_GRAPH) == 1 && live(RL_NODE) == 3 && live(RL_EXEC) == 1);
    CHECK(reason_of(exec) == RL_REASON_NONE);
    CHECK(topology->node_count == 3 && topology->edge_count == 2);
    CHECK(topology->nodes[1].type == hipGraphNodeTypeKernel &&
          topology->nodes[1].kernel.function == (void *)2);
    GOOD(hipGraphLaunch(exec, NULL));
    GOOD(hipGraphDestroy(graph));
    CHECK(live(RL_GRAPH) == 0 && live(RL_NODE) == 0);
    GOOD(hipGraphLaunch(exec, NULL));
    GOOD(hipGraphExecDestroy(exec));
    CHECK(tables_empty());
}

/* Edges that come and go, nodes that go: what is left is what HIP says. */
static void check_edits(void)
{
    hipGraphNode_t nodes[3], more;
    hipGraph_t graph = chain(nodes);

    GOOD(hipGraphAddDependencies(graph, &nodes[0], &nodes[2], 1));
    CHECK(reason_from(graph) == RL_REASON_NONE);
    GOOD(hipGraphRemoveDependencies(graph, &nodes[1], &nodes[2], 1));
    CHECK(reason_from(graph) == RL_REASON_NONE);
    GOOD(hipGraphDestroyNode(nodes[1]));
    CHECK(live(RL_NODE) == 2 && reason_from(graph) == RL_REASON_NONE);
    more = kernel_node(graph, 7, nodes[2]);
    CHECK(live(RL_NODE) == 3 && reason_from(graph) == RL_REASON_NONE);
    GOOD(hipGraphKernelNodeSetParams(more, &(hipKernelNodeParams){ .func = (void *)8 }));
    CHECK(reason_from(graph) == RL_REASON_NONE);
    GOOD(hipGraphDestroy(graph));
    CHECK(tables_empty());
}

/* C044: the address of one object comes back for another, of any kind. */
static void check_address_reuse(void)
{
    for (int round = 0; round < 3; round++) {
        hipGraphNode_t nodes[3];
        hipGraph_t graph = chain(nodes), other;
        hipGraphExec_t exec = instantiate(graph), again;
        hipStream_t stream = standin_stream();

        GOOD(hipGraphExecDestroy(exec));
        CHECK(!exec_record(exec));
        other = new_graph();
        again = instantiate(other); /* from addresses of the exec and its nodes */
        CHECK(reason_of(again) == RL_REASON_EMPTY);
        CHECK(exec_record(again)->topology->node_count == 0);
        GOOD(hipGraphExecDestroy(again));
        again = instantiate(graph);
        CHECK(exec_record(again)->topology->node_count == 3);
        GOOD(hipGraphDestroy(graph));
        GOOD(hipGraphDestroy(other));
        GOOD(hipStreamBeginCapture(stream, hipStreamCaptureModeRelaxed));
        GOOD(hipStreamDestroy(stream));
        graph = new_graph();
        CHECK(reason_from(graph) == RL_REASON_EMPTY);
        GOOD(hipGraphDestroy(graph));
        GOOD(hipGraphExecDestroy(again));
        CHECK(tables_empty() && !standin_objects());
    }
}

/* C044: a destroy that no shim sees, then the same address for a new exec. */
static void check_unseen_destroy(void)
{
    hipGraphNode_t nodes[3];
    hipGraph_t graph = chain(nodes), other = new_graph();
    hipGraphExec_t exec = instantiate(graph), again = NULL;

    kernel_node(other, 9, NULL);
    standin_secret_exec_destroy(exec);
    for (int i = 0; i < 8 && again != exec; i++)
        again = instantiate(other);
    CHECK(again == exec && exec_record(exec)->topology->node_count == 1);
}

/* C045: whatever fails on a graph, node or exec, the exec that comes from it is native. */
static void check_failed_mutators(void)
{
    for (size_t i = 0; i < sizeof(mutators) / sizeof(mutators[0]); i++) {
        const struct mutator *mutator = &mutators[i];
        hipGraphNode_t nodes[3];
        hipGraph_t graph = chain(nodes);
        hipGraphExec_t exec = instantiate(graph);
        uintptr_t a[8] = { 0 };
        void *subjects[] = { graph, nodes[1], exec };

        a[mutator->argument] = (uintptr_t)subjects[mutator->kind];
        CHECK(reason_of(exec) == RL_REASON_NONE && !stale(exec));
        standin_fail(mutator->name, 1, 1, hipErrorUnknown, false);
        CHECK(mutator->function(a[0], a[1], a[2], a[3], a[4], a[5], a[6], a[7]) == hipErrorUnknown);
        CHECK(hipGetLastError() == hipErrorUnknown);
        if (mutator->kind == RL_EXEC) {
            CHECK(reason_of(exec) == RL_REASON_NATIVE_FAILED && stale(exec));
        } else {
            CHECK(reason_of(exec) == RL_REASON_NONE && !stale(exec)); /* an exec owns a clone */
            CHECK(reason_from(graph) == RL_REASON_NATIVE_FAILED);
        }
        GOOD(hipGraphExecDestroy(exec));
        GOOD(hipGraphDestroy(graph));
        standin_reset();
    }
    CHECK(live(RL_GRAPH) == 0 && live(RL_NODE) == 0 && live(RL_EXEC) == 0);
}

/* HIP looks for the node, and whether there are parameters, before it changes anything. */
static void check_refused_calls(void)
{
    hipKernelNodeParams params = { .func = (void *)5 }, without = { .func = NULL };
    hipGraphNode_t nodes[3], others[3], made;
    hipGraph_t graph = chain(nodes);
    hipGraphExec_t exec = instantiate(graph);

    chain(others);
    standin_fail("hipGraphExecKernelNodeSetParams", 1, 4, hipErrorInvalidValue, false);
    CHECK(hipGraphExecKernelNodeSetParams(exec, others[0], &params) == hipErrorInvalidValue);
    CHECK(hipGraphExecKernelNodeSetParams(exec, nodes[0], NULL) == hipErrorInvalidValue);
    CHECK(hipGraphExecKernelNodeSetParams(exec, nodes[0], &without) == hipErrorInvalidValue);
    standin_fail("hipGraphNodeSetEnabled", 1, 1, hipErrorInvalidValue, false);
    CHECK(hipGraphNodeSetEnabled(exec, others[1], 0) == hipErrorInvalidValue);
    CHECK(reason_of(exec) == RL_REASON_NONE && !stale(exec));
    CHECK(hipGraphExecKernelNodeSetParams(exec, nodes[0], &params) == hipErrorInvalidValue);
    CHECK(reason_of(exec) == RL_REASON_NATIVE_FAILED && stale(exec));

    /* a graph is compared with what it was before */
    standin_fail("hipGraphAddKernelNode", 1, 1, hipErrorInvalidValue, false);
    CHECK(hipGraphAddKernelNode(&made, graph, NULL, 0, &without) == hipErrorInvalidValue);
    CHECK(hipGetLastError() == hipErrorInvalidValue && reason_from(graph) == RL_REASON_NONE);
}

/* C045: a failing call that left a node in the graph. */
static void check_half_done(void)
{
    hipGraphNode_t nodes[3], made, foreign = (hipGraphNode_t)nodes;
    hipGraph_t graph = chain(nodes);

    CHECK(hipGraphAddEmptyNode(&made, graph, &foreign, 1) == hipErrorInvalidValue);
    CHECK(hipGetLastError() == hipErrorInvalidValue);
    CHECK(reason_from(graph) == RL_REASON_NATIVE_FAILED);
}

/* A node or an edge that no shim saw coming. */
static void check_secret_changes(void)
{
    hipGraphNode_t nodes[3];
    hipGraph_t graph = chain(nodes), other = chain(nodes);

    standin_secret_node(graph);
    CHECK(reason_from(graph) == RL_REASON_TOPOLOGY_DIFFERS);
    standin_secret_edge(other, nodes[0], nodes[2]);
    CHECK(reason_from(other) == RL_REASON_TOPOLOGY_DIFFERS);
}

/* Parameters changed where no shim sees it: nothing was edited since HIP's last answer, and yet it is
 * another. */
static void check_secret_parameters(void)
{
    set_kernel *set = (set_kernel *)standin_function("hipGraphKernelNodeSetParams");
    hipGraphNode_t nodes[3];
    hipGraph_t graph = chain(nodes);

    CHECK(reason_from(graph) == RL_REASON_NONE);
    GOOD(set(nodes[1], &(hipKernelNodeParams){ .func = (void *)99 }));
    CHECK(reason_from(graph) == RL_REASON_TOPOLOGY_DIFFERS);
}

/* C042: whoever holds a user object, copies of the graph included, is never replayed. */
static void check_user_objects(void)
{
    hipGraphNode_t nodes[3], node;
    hipGraph_t graph = chain(nodes), clone, parent = new_graph(), grandparent = new_graph(), unseen, inner;
    hipGraphExec_t before = instantiate(graph);
    hipGraphExecUpdateResult result;

    GOOD(hipGraphRetainUserObject(graph, (hipUserObject_t)1, 1, 0));
    CHECK(reason_of(before) == RL_REASON_NONE);
    CHECK(reason_from(graph) == RL_REASON_USER_OBJECT);
    GOOD(hipGraphClone(&clone, graph));
    CHECK(reason_from(clone) == RL_REASON_USER_OBJECT);
    GOOD(hipGraphAddChildGraphNode(&node, parent, NULL, 0, graph));
    CHECK(reason_from(parent) == RL_REASON_USER_OBJECT);
    GOOD(hipGraphAddNode(&node, grandparent, NULL, 0,
                         &(hipGraphNodeParams){ .type = hipGraphNodeTypeGraph, .graph = { parent } }));
    CHECK(reason_from(grandparent) == RL_REASON_USER_OBJECT);
    GOOD(hipGraphExecUpdate(before, graph, &node, &result));
    CHECK(reason_of(before) == RL_REASON_USER_OBJECT);

    /* through the graph inside a child node, whose parent is retained with it */
    parent = new_graph();
    GOOD(hipGraphAddChildGraphNode(&node, parent, NULL, 0, chain(nodes)));
    CHECK(reason_from(parent) == RL_REASON_NONE);
    GOOD(hipGraphChildGraphNodeGetGraph(node, &inner));
    GOOD(hipGraphRetainUserObject(inner, (hipUserObject_t)1, 1, 0));
    CHECK(reason_from(parent) == RL_REASON_USER_OBJECT);

    unseen = unseen_graph();
    GOOD(hipGraphRetainUserObject(unseen, (hipUserObject_t)1, 1, 0));
    CHECK(reason_from(unseen) == RL_REASON_USER_OBJECT);
}

/* C027, C028: graphs inside graphs count, with all that is in them. */
static void check_child_graphs(void)
{
    hipGraphNode_t nodes[3], node, alloc;
    hipGraph_t graphs[4], inner, child, in_child = chain(nodes);
    hipMemAllocNodeParams params = { 0 };

    graphs[0] = chain(nodes);
    for (int depth = 1; depth < 4; depth++) {
        graphs[depth] = new_graph();
        GOOD(hipGraphAddChildGraphNode(&node, graphs[depth], NULL, 0, graphs[depth - 1]));
        CHECK(reason_from(graphs[depth]) == RL_REASON_NONE);
    }
    GOOD(hipGraphAddMemAllocNode(&alloc, graphs[0], NULL, 0, &params));
    CHECK(reason_from(graphs[0]) == RL_REASON_NODE_TYPE);
    CHECK(reason_from(graphs[1]) == RL_REASON_NONE); /* it has a copy of the earlier graph */
    GOOD(hipGraphAddChildGraphNode(&node, graphs[1], NULL, 0, graphs[0]));
    CHECK(reason_from(graphs[1]) == RL_REASON_NODE_TYPE);

    /* The graph inside is handed out, and editing it edits the parent. */
    child = new_graph();
    GOOD(hipGraphAddChildGraphNode(&node, child, NULL, 0, in_child));
    CHECK(reason_from(child) == RL_REASON_NONE);
    GOOD(hipGraphChildGraphNodeGetGraph(node, &inner));
    kernel_node(inner, 5, NULL);
    CHECK(reason_from(child) == RL_REASON_NONE);
    GOOD(hipGraphChildGraphNodeGetGraph(node, &inner));
    GOOD(hipGraphDestroy(child));
    for (int i = 0; i < 4; i++)
        GOOD(hipGraphDestroy(graphs[i]));
    GOOD(hipGraphDestroy(in_child));
    CHECK(tables_empty() && !standin_objects());
}

/* What a graph came from was never seen: no record vouches for it. */
static void check_unseen_graph(void)
{
    hipGraph_t unseen = unseen_graph(), parent = new_graph(), clone;
    hipGraphNode_t node;

    kernel_node(unseen, 1, NULL);
    CHECK(reason_from(unseen) == RL_REASON_UNSEEN);
    GOOD(hipGraphClone(&clone, unseen));
    CHECK(reason_from(clone) == RL_REASON_UNSEEN);
    GOOD(hipGraphAddChildGraphNode(&node, parent, NULL, 0, unseen));
    CHECK(reason_from(parent) == RL_REASON_UNSEEN);
}

static void check_flags(void)
{
    hipGraphInstantiateParams params = { .flags = 2 };
    hipGraphNode_t nodes[3];
    hipGraph_t graph = chain(nodes);
    hipGraphExec_t exec;

    GOOD(hipGraphInstantiateWithFlags(&exec, graph, 1));
    CHECK(reason_of(exec) == RL_REASON_NONE);
    GOOD(hipGraphInstantiateWithFlags(&exec, graph, 8));
    CHECK(reason_of(exec) == RL_REASON_FLAGS);
    GOOD(hipGraphInstantiateWithParams(&exec, graph, &params));
    CHECK(reason_of(exec) == RL_REASON_NONE);
    params.flags = 4;
    GOOD(hipGraphInstantiateWithParams(&exec, graph, &params));
    CHECK(reason_of(exec) == RL_REASON_FLAGS);
    exec = NULL;
    CHECK(hipGraphInstantiateWithFlags(&exec, graph, 3) == hipErrorInvalidValue);
    CHECK(exec && !exec_record(exec)); /* HIP left garbage there */
}

/* C011: parameters of one exec are nobody else's. */
static void check_exec_parameters(void)
{
    hipKernelNodeParams params = { .func = (void *)5 };
    hipGraphNode_t nodes[3];
    hipGraph_t graph = chain(nodes);
    hipGraphExec_t one = instantiate(graph), other = instantiate(graph);

    GOOD(hipGraphExecKernelNodeSetParams(one, nodes[0], &params));
    CHECK(stale(one) && !stale(other) && reason_from(graph) == RL_REASON_NONE);
    GOOD(hipGraphNodeSetEnabled(other, nodes[0], 0));
    CHECK(stale(other));
    /* C012: the node is dead, HIP's error passes through */
    GOOD(hipGraphDestroy(graph));
    CHECK(hipGraphExecKernelNodeSetParams(one, nodes[0], &params) == hipErrorInvalidValue);
    CHECK(hipGetLastError() == hipErrorInvalidValue);
    CHECK(reason_of(one) == RL_REASON_NATIVE_FAILED);
}

static void check_update(void)
{
    hipGraphExecUpdateResult result = 77;
    hipGraphNode_t nodes[3], other_nodes[3], error = (hipGraphNode_t)88;
    hipGraph_t graph = chain(nodes), crossed = new_graph(), same, longer = chain(other_nodes), other_type;
    hipGraphExec_t exec = instantiate(graph);

    /* C013: the very same graph, at once */
    GOOD(hipGraphExecUpdate(exec, graph, &error, &result));
    CHECK(!stale(exec) && reason_of(exec) == RL_REASON_NONE);
    CHECK(result == hipGraphExecUpdateSuccess && error == (hipGraphNode_t)88);

    /* C004: each pointer NULL in turn: HIP is called with just that, and nothing is written */
    result = 77;
    CHECK(hipGraphExecUpdate(exec, graph, NULL, &result) == hipErrorInvalidValue);
    CHECK(standin_arguments("hipGraphExecUpdate")[2] == 0);
    CHECK(hipGraphExecUpdate(exec, graph, &error, NULL) == hipErrorInvalidValue);
    CHECK(hipGraphExecUpdate(exec, NULL, &error, &result) == hipErrorInvalidValue);
    CHECK(hipGraphExecUpdate(NULL, graph, &error, &result) == hipErrorInvalidValue);
    CHECK(result == 77 && error == (hipGraphNode_t)88 && hipGetLastError() == hipErrorInvalidValue);
    CHECK(reason_of(exec) == RL_REASON_NONE && !stale(exec)); /* refused before anything was looked at */

    /* new parameters from a graph of the same form */
    same = chain(other_nodes);
    GOOD(hipGraphKernelNodeSetParams(other_nodes[1], &(hipKernelNodeParams){ .func = (void *)42 }));
    GOOD(hipGraphExecUpdate(exec, same, &error, &result));
    CHECK(stale(exec) && reason_of(exec) == RL_REASON_NONE);
    CHECK(exec_record(exec)->topology->nodes[1].kernel.function == (void *)42);

    /* C005: as many edges, but others: HIP accepts, ours stay */
    other_nodes[0] = kernel_node(crossed, 1, NULL);
    other_nodes[1] = kernel_node(crossed, 2, NULL);
    other_nodes[2] = kernel_node(crossed, 3, other_nodes[0]);
    GOOD(hipGraphAddDependencies(crossed, &other_nodes[1], &other_nodes[2], 1));
    GOOD(hipGraphExecUpdate(exec, crossed, &error, &result));
    CHECK(reason_of(exec) == RL_REASON_TOPOLOGY_DIFFERS);
    CHECK(exec_record(exec)->topology->edges[0].to == 1);

    /* 910, from a graph with more nodes: HIP has counted and done nothing */
    GOOD(hipGraphExecUpdate(exec, same, &error, &result));
    CHECK(reason_of(exec) == RL_REASON_NONE && stale(exec));
    kernel_node(longer, 4, NULL);
    CHECK(hipGraphExecUpdate(exec, longer, &error, &result) == hipErrorGraphExecUpdateFailure);
    CHECK(error == NULL && result == hipGraphExecUpdateErrorTopologyChanged);
    CHECK(hipGetLastError() == hipErrorGraphExecUpdateFailure);
    CHECK(reason_of(exec) == RL_REASON_NONE);

    /* 910, with an exec that is half updated; a good update makes it whole again */
    other_type = new_graph();
    other_nodes[0] = kernel_node(other_type, 1, NULL);
    other_nodes[1] = kernel_node(other_type, 2, other_nodes[0]);
    GOOD(hipGraphAddEmptyNode(&other_nodes[0], other_type, &other_nodes[1], 1));
    CHECK(hipGraphExecUpdate(exec, other_type, &error, &result) == hipErrorGraphExecUpdateFailure);
    CHECK(error == other_nodes[0] && result == hipGraphExecUpdateErrorNodeTypeChanged);
    CHECK(hipGetLastError() == hipErrorGraphExecUpdateFailure);
    CHECK(reason_of(exec) == RL_REASON_NATIVE_FAILED);
    GOOD(hipGraphExecUpdate(exec, same, &error, &result));
    CHECK(reason_of(exec) == RL_REASON_NONE && stale(exec));
}

/* C002: updates cost no memory. */
static void check_many_updates(void)
{
    hipGraphExecUpdateResult result;
    hipGraphNode_t nodes[3], error;
    hipGraph_t graph = chain(nodes), other = chain(nodes);
    hipGraphExec_t exec = instantiate(graph);
    size_t bytes = 0;

    for (int i = 0; i < 20000; i++) {
        if (i == 100)
            bytes = rl_side_table_stats(RL_NODE).bytes + rl_side_table_stats(RL_EXEC).bytes;
        GOOD(hipGraphExecUpdate(exec, i % 2 ? graph : other, &error, &result));
    }
    CHECK(reason_of(exec) == RL_REASON_NONE && live(RL_EXEC) == 1 && live(RL_NODE) == 6);
    CHECK(bytes == rl_side_table_stats(RL_NODE).bytes + rl_side_table_stats(RL_EXEC).bytes);
}

static void check_unloads(void)
{
    hipGraphNode_t nodes[3];
    hipGraphExec_t exec = instantiate(chain(nodes));
    hipStream_t stream = standin_stream();
    unsigned functions = rl_function_generation();

    GOOD(hipStreamBeginCapture(stream, hipStreamCaptureModeRelaxed));
    GOOD(hipModuleUnload(NULL));
    CHECK(rl_function_generation() == functions + 1 && live(RL_CAPTURE) == 1);
    GOOD(hipLibraryUnload(NULL));
    CHECK(rl_function_generation() == functions + 2);
    __hipUnregisterFatBinary(NULL);
    CHECK(rl_function_generation() == functions + 3 && !stale(exec)); /* its code is there as long as it is */
    GOOD(hipDeviceReset());
    CHECK(stale(exec) && live(RL_CAPTURE) == 0);
}

/* C068: the child of a fork has no records and works by itself. */
static void check_fork(void)
{
    hipGraphNode_t nodes[3];
    hipGraph_t graph = chain(nodes);
    hipGraphExec_t exec = instantiate(graph);
    int status;
    pid_t child = fork();

    if (!child) {
        CHECK(!exec_record(exec) && tables_empty());
        GOOD(hipGraphLaunch(exec, NULL));
        GOOD(hipGraphExecDestroy(exec));
        graph = chain(nodes);
        exec = instantiate(graph);
        CHECK(reason_of(exec) == RL_REASON_NONE);
        GOOD(hipGraphExecDestroy(exec));
        GOOD(hipGraphDestroy(graph));
        CHECK(tables_empty());
        _exit(0);
    }
    CHECK(waitpid(child, &status, 0) == child && status == 0);
    CHECK(reason_of(exec) == RL_REASON_NONE);
}

/* Nodes of a graph inside a child node have no records; HIP does not tell their arguments. */
static void check_edit_of_unknown_node(void)
{
    hipKernelNodeParams params = { .func = (void *)1, .gridDim = { 1, 1, 1 }, .blockDim = { 64, 1, 1 } };
    hipGraphExecUpdateResult result;
    hipGraphNode_t nodes[3], inside[3], node, error;
    hipGraph_t parent = new_graph(), child = chain(nodes), inner;
    hipGraphExec_t exec;
    size_t count = 3;

    GOOD(hipGraphAddChildGraphNode(&node, parent, NULL, 0, child));
    GOOD(hipGraphChildGraphNodeGetGraph(node, &inner));
    GOOD(hipGraphGetNodes(inner, inside, &count));
    exec = instantiate(parent);
    GOOD(hipGraphExecUpdate(exec, parent, &error, &result));
    CHECK(!stale(exec) && reason_of(exec) == RL_REASON_NONE);
    GOOD(hipGraphKernelNodeSetParams(inside[0], &params));
    GOOD(hipGraphExecUpdate(exec, parent, &error, &result));
    CHECK(stale(exec) && reason_of(exec) == RL_REASON_NONE);
}

static hipGraph_t inside_itself;

static hipError_t child_is_parent(hipGraphNode_t node, hipGraph_t *graph)
{
    (void)node;
    *graph = inside_itself;
    return hipSuccess;
}

/* C020: HIP's answer, which the application asked for, says that a graph is inside itself. */
static void check_graph_inside_itself(void)
{
    hipGraphNode_t nodes[3], node;
    hipGraph_t answer;

    inside_itself = new_graph();
    GOOD(hipGraphAddChildGraphNode(&node, inside_itself, NULL, 0, chain(nodes)));
    standin_replace("hipGraphChildGraphNodeGetGraph", child_is_parent);
    GOOD(hipGraphChildGraphNodeGetGraph(node, &answer));
    standin_reset();
    kernel_node(inside_itself, 1, NULL);
    CHECK(hipGraphAddDependencies(inside_itself, &node, &node, 1) != hipSuccess);
    GOOD(hipGraphDestroy(inside_itself));
}

RUN_CHECKS({ "explicit_graph", check_explicit_graph }, { "edits", check_edits },
           { "address_reuse", check_address_reuse }, { "unseen_destroy", check_unseen_destroy },
           { "failed_mutators", check_failed_mutators }, { "refused_calls", check_refused_calls },
           { "half_done", check_half_done }, { "secret_changes", check_secret_changes },
           { "secret_parameters", check_secret_parameters }, { "user_objects", check_user_objects },
           { "child_graphs", check_child_graphs }, { "unseen_graph", check_unseen_graph },
           { "flags", check_flags }, { "exec_parameters", check_exec_parameters }, { "update", check_update },
           { "many_updates", check_many_updates }, { "unloads", check_unloads }, { "fork", check_fork },
           { "edit_of_unknown_node", check_edit_of_unknown_node },
           { "graph_inside_itself", check_graph_inside_itself })
