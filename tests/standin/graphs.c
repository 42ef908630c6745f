/* SPDX-License-Identifier: Apache-2.0 */
/* What HIP answers about graphs and nodes. */
#include "objects.h"

hipError_t model_hipGetLastError(void)
{
    return standin_last_error(true);
}

hipError_t model_hipPeekAtLastError(void)
{
    return standin_last_error(false);
}

hipError_t model_hipGraphCreate(hipGraph_t *pGraph, unsigned int flags)
{
    if (!pGraph || flags)
        return hipErrorInvalidValue;
    model_lock();
    *pGraph = (hipGraph_t)object_make(GRAPH);
    return model_done(hipSuccess);
}

hipError_t model_hipGraphDestroy(hipGraph_t graph)
{
    struct object *object;

    if (!graph)
        return hipErrorInvalidValue;
    model_lock();
    object = object_known(graph, GRAPH);
    if (!object)
        return model_done(hipErrorIllegalState);
    graph_destroy(object);
    return model_done(hipSuccess);
}

hipError_t model_hipGraphClone(hipGraph_t *pGraphClone, hipGraph_t originalGraph)
{
    struct object *object;

    model_lock();
    object = object_known(originalGraph, GRAPH);
    if (!object || !pGraphClone)
        return model_done(hipErrorInvalidValue);
    *pGraphClone = (hipGraph_t)graph_copy(object, GRAPH);
    return model_done(hipSuccess);
}

/* Links the node before it looks at the dependencies, as HIP does. */
static hipError_t add(hipGraphNode_t *made, hipGraph_t handle, const hipGraphNode_t *dependencies,
                      size_t count, struct object prototype)
{
    struct object *graph, *node;

    model_lock();
    graph = object_known(handle, GRAPH);
    if (!made || !graph || (count && !dependencies))
        return model_done(hipErrorInvalidValue);
    node = object_make(NODE);
    node->type = prototype.type;
    node->kernel = prototype.kernel;
    node->fill = prototype.fill;
    node->child = prototype.child ? graph_copy(prototype.child, GRAPH) : NULL;
    graph_add_node(graph, node);
    *made = (hipGraphNode_t)node;
    for (size_t i = 0; i < count; i++) {
        struct object *from = object_known(dependencies[i], NODE);

        if (!from || from->graph != graph || graph_has_edge(graph, from, node))
            return model_done(hipErrorInvalidValue);
        graph_add_edge(graph, from, node);
    }
    return model_done(hipSuccess);
}

hipError_t model_hipGraphAddKernelNode(hipGraphNode_t *pGraphNode, hipGraph_t graph,
                                       const hipGraphNode_t *pDependencies, size_t numDependencies,
                                       const hipKernelNodeParams *pNodeParams)
{
    if (!pNodeParams)
        return hipErrorInvalidValue;
    return add(pGraphNode, graph, pDependencies, numDependencies,
               (struct object){ .type = hipGraphNodeTypeKernel, .kernel = *pNodeParams });
}

hipError_t model_hipGraphAddMemsetNode(hipGraphNode_t *pGraphNode, hipGraph_t graph,
                                       const hipGraphNode_t *pDependencies, size_t numDependencies,
                                       const hipMemsetParams *pMemsetParams)
{
    if (!pMemsetParams)
        return hipErrorInvalidValue;
    return add(pGraphNode, graph, pDependencies, numDependencies,
               (struct object){ .type = hipGraphNodeTypeMemset, .fill = *pMemsetParams });
}

hipError_t model_hipGraphAddEmptyNode(hipGraphNode_t *pGraphNode, hipGraph_t graph,
                                      const hipGraphNode_t *pDependencies, size_t numDependencies)
{
    return add(pGraphNode, graph, pDependencies, numDependencies,
               (struct object){ .type = hipGraphNodeTypeEmpty });
}

hipError_t model_hipGraphAddHostNode(hipGraphNode_t *pGraphNode, hipGraph_t graph,
                                     const hipGraphNode_t *pDependencies, size_t numDependencies,
                                     const hipHostNodeParams *pNodeParams)
{
    if (!pNodeParams)
        return hipErrorInvalidValue;
    return add(pGraphNode, graph, pDependencies, numDependencies,
               (struct object){ .type = hipGraphNodeTypeHost });
}

hipError_t model_hipGraphAddMemAllocNode(hipGraphNode_t *pGraphNode, hipGraph_t graph,
                                         const hipGraphNode_t *pDependencies, size_t numDependencies,
                                         hipMemAllocNodeParams *pNodeParams)
{
    if (!pNodeParams)
        return hipErrorInvalidValue;
    return add(pGraphNode, graph, pDependencies, numDependencies,
               (struct object){ .type = hipGraphNodeTypeMemAlloc });
}

hipError_t model_hipGraphAddChildGraphNode(hipGraphNode_t *pGraphNode, hipGraph_t graph,
                                           const hipGraphNode_t *pDependencies, size_t numDependencies,
                                           hipGraph_t childGraph)
{
    struct object *child = object_known(childGraph, GRAPH);

    if (!child || childGraph == graph)
        return hipErrorInvalidValue;
    return add(pGraphNode, graph, pDependencies, numDependencies,
               (struct object){ .type = hipGraphNodeTypeGraph, .child = child });
}

hipError_t model_hipGraphAddNode(hipGraphNode_t *pGraphNode, hipGraph_t graph,
                                 const hipGraphNode_t *pDependencies, size_t numDependencies,
                                 hipGraphNodeParams *nodeParams)
{
    struct object prototype = { .type = hipGraphNodeTypeEmpty };

    if (!nodeParams)
        return hipErrorInvalidValue;
    prototype.type = nodeParams->type;
    if (nodeParams->type == hipGraphNodeTypeKernel)
        prototype.kernel = nodeParams->kernel;
    if (nodeParams->type == hipGraphNodeTypeMemset)
        prototype.fill = nodeParams->memset;
    if (nodeParams->type == hipGraphNodeTypeGraph &&
        !(prototype.child = object_known(nodeParams->graph.graph, GRAPH)))
        return hipErrorInvalidValue;
    return add(pGraphNode, graph, pDependencies, numDependencies, prototype);
}

hipError_t model_hipGraphDestroyNode(hipGraphNode_t node)
{
    struct object *object, *graph;
    size_t kept = 0;

    model_lock();
    object = object_known(node, NODE);
    if (!object)
        return model_done(hipErrorInvalidValue);
    if (object->type == hipGraphNodeTypeMemAlloc || object->type == hipGraphNodeTypeMemFree)
        return model_done(hipErrorNotSupported);
    graph = object->graph;
    for (size_t i = 0; i < graph->node_count; i++)
        if (graph->nodes[i] != object)
            graph->nodes[kept++] = graph->nodes[i];
    graph->node_count = kept;
    kept = 0;
    for (size_t i = 0; i < graph->edge_count; i++)
        if (graph->edges[i].from != object && graph->edges[i].to != object)
            graph->edges[kept++] = graph->edges[i];
    graph->edge_count = kept;
    node_destroy(object);
    return model_done(hipSuccess);
}

/* Edges that come before the bad one in the list stay. */
hipError_t model_hipGraphAddDependencies(hipGraph_t handle, const hipGraphNode_t *from,
                                         const hipGraphNode_t *to, size_t numDependencies)
{
    struct object *graph;

    if (!handle)
        return hipErrorInvalidValue;
    if (!numDependencies)
        return hipSuccess;
    model_lock();
    graph = object_known(handle, GRAPH);
    if (!graph || !from || !to)
        return model_done(hipErrorInvalidValue);
    for (size_t i = 0; i < numDependencies; i++) {
        struct object *one = object_known(from[i], NODE), *other = object_known(to[i], NODE);

        if (!one || !other || one == other || one->graph != graph || other->graph != graph ||
            graph_has_edge(graph, one, other))
            return model_done(hipErrorInvalidValue);
        graph_add_edge(graph, one, other);
    }
    return model_done(hipSuccess);
}

hipError_t model_hipGraphRemoveDependencies(hipGraph_t handle, const hipGraphNode_t *from,
                                            const hipGraphNode_t *to, size_t numDependencies)
{
    struct object *graph;

    model_lock();
    graph = object_known(handle, GRAPH);
    if (!graph || (numDependencies && (!from || !to)))
        return model_done(hipErrorInvalidValue);
    for (size_t i = 0; i < numDependencies; i++) {
        size_t kept = 0, count = graph->edge_count;

        for (size_t e = 0; e < count; e++)
            if ((hipGraphNode_t)graph->edges[e].from != from[i] ||
                (hipGraphNode_t)graph->edges[e].to != to[i])
                graph->edges[kept++] = graph->edges[e];
        graph->edge_count = kept;
        if (kept == count)
            return model_done(hipErrorInvalidValue);
    }
    return model_done(hipSuccess);
}

hipError_t model_hipGraphGetNodes(hipGraph_t handle, hipGraphNode_t *nodes, size_t *numNodes)
{
    struct object *graph;

    model_lock();
    graph = object_known(handle, GRAPH);
    if (!graph || !numNodes)
        return model_done(hipErrorInvalidValue);
    if (nodes) {
        for (size_t i = 0; i < *numNodes; i++)
            nodes[i] = i < graph->node_count ? (hipGraphNode_t)graph->nodes[i] : NULL;
        if (*numNodes < graph->node_count)
            return model_done(hipSuccess);
    }
    *numNodes = graph->node_count;
    return model_done(hipSuccess);
}

hipError_t model_hipGraphGetEdges(hipGraph_t handle, hipGraphNode_t *from, hipGraphNode_t *to,
                                  size_t *numEdges)
{
    struct object *graph;

    model_lock();
    graph = object_known(handle, GRAPH);
    if (!graph || !numEdges || !from != !to)
        return model_done(hipErrorInvalidValue);
    if (from) {
        for (size_t i = 0; i < *numEdges; i++) {
            from[i] = i < graph->edge_count ? (hipGraphNode_t)graph->edges[i].from : NULL;
            to[i] = i < graph->edge_count ? (hipGraphNode_t)graph->edges[i].to : NULL;
        }
        if (*numEdges < graph->edge_count)
            return model_done(hipSuccess);
    }
    *numEdges = graph->edge_count;
    return model_done(hipSuccess);
}

hipError_t model_hipGraphNodeGetType(hipGraphNode_t node, hipGraphNodeType *pType)
{
    struct object *object;

    model_lock();
    object = object_known(node, NODE);
    if (!object || !pType)
        return model_done(hipErrorInvalidValue);
    *pType = object->type;
    return model_done(hipSuccess);
}

/* The node, if it is of the type. The lock is held then, and not otherwise. */
static struct object *typed(hipGraphNode_t node, hipGraphNodeType type)
{
    struct object *object;

    model_lock();
    object = object_known(node, NODE);
    if (object && object->type == type)
        return object;
    model_done(hipSuccess);
    return NULL;
}

hipError_t model_hipGraphKernelNodeGetParams(hipGraphNode_t node, hipKernelNodeParams *pNodeParams)
{
    struct object *object = pNodeParams ? typed(node, hipGraphNodeTypeKernel) : NULL;

    if (!object)
        return hipErrorInvalidValue;
    *pNodeParams = object->kernel;
    return model_done(hipSuccess);
}

hipError_t model_hipGraphKernelNodeSetParams(hipGraphNode_t node, const hipKernelNodeParams *pNodeParams)
{
    struct object *object = pNodeParams ? typed(node, hipGraphNodeTypeKernel) : NULL;

    if (!object)
        return hipErrorInvalidValue;
    object->kernel = *pNodeParams;
    return model_done(hipSuccess);
}

hipError_t model_hipGraphMemsetNodeGetParams(hipGraphNode_t node, hipMemsetParams *pNodeParams)
{
    struct object *object = pNodeParams ? typed(node, hipGraphNodeTypeMemset) : NULL;

    if (!object)
        return hipErrorInvalidValue;
    *pNodeParams = object->fill;
    return model_done(hipSuccess);
}

hipError_t model_hipGraphMemsetNodeSetParams(hipGraphNode_t node, const hipMemsetParams *pNodeParams)
{
    struct object *object = pNodeParams ? typed(node, hipGraphNodeTypeMemset) : NULL;

    if (!object)
        return hipErrorInvalidValue;
    object->fill = *pNodeParams;
    return model_done(hipSuccess);
}

hipError_t model_hipGraphChildGraphNodeGetGraph(hipGraphNode_t node, hipGraph_t *pGraph)
{
    struct object *object = pGraph ? typed(node, hipGraphNodeTypeGraph) : NULL;

    if (!object)
        return hipErrorInvalidValue;
    *pGraph = (hipGraph_t)object->child;
    return model_done(hipSuccess);
}

EXPORT hipGraphNode_t standin_secret_node(hipGraph_t graph)
{
    hipGraphNode_t node;

    add(&node, graph, NULL, 0, (struct object){ .type = hipGraphNodeTypeEmpty });
    return node;
}

EXPORT void standin_secret_edge(hipGraph_t graph, hipGraphNode_t from, hipGraphNode_t to)
{
    model_lock();
    graph_add_edge((struct object *)graph, (struct object *)from, (struct object *)to);
    model_done(hipSuccess);
}
