/* SPDX-License-Identifier: Apache-2.0 */
/* Graphs: destroy, clone, child graphs, edges, user objects. What HIP does with each call stands in
 * policies.yaml. */
#include "handlers.h"
#include "handlers/exec.h"
#include "native/native.h"
#include "native/process.h"
#include "records/records.h"

/* What a copy of a graph takes over from the original. */
static const uint32_t inherited = RL_FAILED | RL_REFUSED | RL_USER_OBJECT | RL_UNSEEN | RL_CAPTURE_UNKNOWN;

hipError_t rl_graph_destroy(rl_hipGraphDestroy_fn *native, const void *caller, hipGraph_t graph)
{
    if (rl_active()) {
        if (!rl_called_by_hip(caller))
            rl_execs_read(graph);
        rl_graph_forget(graph);
    }
    return native(graph);
}

hipError_t rl_graph_destroy_node(rl_hipGraphDestroyNode_fn *native, const void *caller, hipGraphNode_t node)
{
    struct rl_ref graph = { 0 };
    hipError_t status;

    (void)caller;
    if (rl_active())
        graph = rl_node_forget(node);
    status = native(node);
    if (status != hipSuccess)
        rl_graph_failed(graph);
    return status;
}

hipError_t rl_graph_clone(rl_hipGraphClone_fn *native, const void *caller, hipGraph_t *pGraphClone,
                          hipGraph_t originalGraph)
{
    hipError_t status = native(pGraphClone, originalGraph);

    if (status != hipSuccess || !rl_active() || rl_called_by_hip(caller) || !pGraphClone)
        return status;
    rl_record_graph(status, caller, pGraphClone);
    rl_graph_shape_unknown(*pGraphClone);
    rl_graph_mark(*pGraphClone, rl_graph_doubts(originalGraph) & inherited);
    return status;
}

/* The new node holds a clone of `child`, user objects included. */
static hipError_t child_added(hipError_t status, const void *caller, hipGraphNode_t *made, hipGraph_t graph,
                              const hipGraphNode_t *dependencies, size_t count, hipGraph_t child)
{
    rl_record_node(status, caller, made, graph, dependencies, count);
    rl_invalidate_graph(status, graph);
    rl_graph_mark(graph, rl_graph_doubts(child) & inherited);
    return status;
}

hipError_t rl_graph_add_child_graph_node(rl_hipGraphAddChildGraphNode_fn *native, const void *caller,
                                         hipGraphNode_t *pGraphNode, hipGraph_t graph,
                                         const hipGraphNode_t *pDependencies, size_t numDependencies,
                                         hipGraph_t childGraph)
{
    hipError_t status = native(pGraphNode, graph, pDependencies, numDependencies, childGraph);

    return rl_active()
               ? child_added(status, caller, pGraphNode, graph, pDependencies, numDependencies, childGraph)
               : status;
}

hipError_t rl_graph_add_node(rl_hipGraphAddNode_fn *native, const void *caller, hipGraphNode_t *pGraphNode,
                             hipGraph_t graph, const hipGraphNode_t *pDependencies, size_t numDependencies,
                             hipGraphNodeParams *nodeParams)
{
    hipError_t status = native(pGraphNode, graph, pDependencies, numDependencies, nodeParams);

    if (!rl_active())
        return status;
    if (nodeParams && nodeParams->type == hipGraphNodeTypeGraph)
        return child_added(status, caller, pGraphNode, graph, pDependencies, numDependencies,
                           nodeParams->graph.graph);
    rl_record_node(status, caller, pGraphNode, graph, pDependencies, numDependencies);
    rl_invalidate_graph(status, graph);
    return status;
}

hipError_t rl_graph_child_graph_node_get_graph(rl_hipGraphChildGraphNodeGetGraph_fn *native,
                                               const void *caller, hipGraphNode_t node, hipGraph_t *pGraph)
{
    hipError_t status = native(node, pGraph);

    if (status == hipSuccess && rl_active() && !rl_called_by_hip(caller) && pGraph && *pGraph)
        rl_node_inner(node, *pGraph);
    return status;
}

hipError_t rl_graph_add_dependencies(rl_hipGraphAddDependencies_fn *native, const void *caller,
                                     hipGraph_t graph, const hipGraphNode_t *from, const hipGraphNode_t *to,
                                     size_t numDependencies)
{
    hipError_t status = native(graph, from, to, numDependencies);

    if (status == hipSuccess && rl_active() && !rl_called_by_hip(caller))
        rl_graph_edges(graph, from, to, numDependencies, true);
    rl_invalidate_graph(status, graph);
    return status;
}

hipError_t rl_graph_remove_dependencies(rl_hipGraphRemoveDependencies_fn *native, const void *caller,
                                        hipGraph_t graph, const hipGraphNode_t *from,
                                        const hipGraphNode_t *to, size_t numDependencies)
{
    hipError_t status = native(graph, from, to, numDependencies);

    if (status == hipSuccess && rl_active() && !rl_called_by_hip(caller))
        rl_graph_edges(graph, from, to, numDependencies, false);
    rl_invalidate_graph(status, graph);
    return status;
}

hipError_t rl_graph_retain_user_object(rl_hipGraphRetainUserObject_fn *native, const void *caller,
                                       hipGraph_t graph, hipUserObject_t object, unsigned int count,
                                       unsigned int flags)
{
    hipError_t status = native(graph, object, count, flags);

    (void)caller;
    if (!rl_active())
        return status;
    if (status == hipSuccess) {
        rl_graph_find_or_make(graph, RL_UNSEEN);
        rl_graph_mark(graph, RL_USER_OBJECT);
    } else {
        rl_graph_mark(graph, RL_FAILED); /* no answer of HIP's tells of user objects */
    }
    rl_invalidate_graph(status, graph);
    return status;
}
