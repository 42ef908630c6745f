/*
 * Graphs, nodes, execs, streams and captures as HIP answers about them, kept in one pool that hands out the address that
 * was freed last, whatever it was. One lock; nothing foreign is called with it held.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "within.h"

#define EXPORT __attribute__((visibility("default")))

enum { POOL_OBJECTS = 1 << 17 };
enum kind { FREE, GRAPH, NODE, EXEC, STREAM, USER_OBJECT };

struct edge {
    struct object *from, *to;
};

struct object {
    enum kind kind;
    struct object *next; /* in the free list; of a node: its graph's next one */
    /* graph, exec: the nodes in order of addition */
    struct object **nodes;
    size_t node_count, node_room;
    struct edge *edges;
    size_t edge_count, edge_room;
    bool captured_into; /* by some stream */
    /* node */
    struct object *graph, *source;
    hipGraphNodeType type;
    hipKernelNodeParams kernel;
    hipMemsetParams fill;
    struct object *child;
    unsigned enabled;
    /* stream */
    struct object *capturing; /* graph */
    struct object *origin;
    bool origin_here, invalidated;
    hipStreamCaptureMode mode;
    pthread_t thread;
    struct object *last[4]; /* what the next captured node depends on */
    size_t last_count;
};

static struct object *pool, *free_list;
static size_t pool_used, alive;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static unsigned global_captures;
static _Thread_local hipStreamCaptureMode thread_mode;
static _Thread_local struct object *threads_stream;

static struct object *make(enum kind kind)
{
    struct object *object = free_list;

    if (!pool)
        pool = calloc(POOL_OBJECTS, sizeof(*pool));
    if (object)
        free_list = object->next;
    else if (pool_used < POOL_OBJECTS)
        object = &pool[pool_used++];
    else
        abort();
    memset(object, 0, sizeof(*object));
    object->kind = kind;
    alive++;
    return object;
}

static void unmake(struct object *object)
{
    free(object->nodes);
    free(object->edges);
    object->kind = FREE;
    object->next = free_list;
    free_list = object;
    alive--;
}

static struct object *known(const void *handle, enum kind kind)
{
    struct object *object = (struct object *)handle;

    if (object < pool || object >= pool + pool_used || ((char *)object - (char *)pool) % sizeof(*pool))
        return NULL;
    return object->kind == kind ? object : NULL;
}

static void add_node(struct object *graph, struct object *node)
{
    if (graph->node_count == graph->node_room) {
        graph->node_room = graph->node_room ? 2 * graph->node_room : 4;
        graph->nodes = realloc(graph->nodes, graph->node_room * sizeof(*graph->nodes));
    }
    graph->nodes[graph->node_count++] = node;
    node->graph = graph;
}

static bool has_edge(const struct object *graph, const struct object *from, const struct object *to)
{
    for (size_t i = 0; i < graph->edge_count; i++)
        if (graph->edges[i].from == from && graph->edges[i].to == to)
            return true;
    return false;
}

static void add_edge(struct object *graph, struct object *from, struct object *to)
{
    if (graph->edge_count == graph->edge_room) {
        graph->edge_room = graph->edge_room ? 2 * graph->edge_room : 4;
        graph->edges = realloc(graph->edges, graph->edge_room * sizeof(*graph->edges));
    }
    graph->edges[graph->edge_count++] = (struct edge){from, to};
}

static void destroy_graph(struct object *graph);

static void destroy_node(struct object *node)
{
    if (node->child)
        destroy_graph(node->child);
    unmake(node);
}

static void destroy_graph(struct object *graph)
{
    for (size_t i = 0; i < graph->node_count; i++)
        destroy_node(graph->nodes[i]);
    unmake(graph);
}

/* A copy of all nodes and edges; each node's `source` is the original. */
static struct object *copy(const struct object *graph, enum kind kind)
{
    struct object *made = make(kind);

    for (size_t i = 0; i < graph->node_count; i++) {
        const struct object *from = graph->nodes[i];
        struct object *node = make(NODE);

        node->type = from->type;
        node->kernel = from->kernel;
        node->fill = from->fill;
        node->enabled = 1;
        node->source = (struct object *)from;
        node->child = from->child ? copy(from->child, GRAPH) : NULL;
        add_node(made, node);
    }
    for (size_t i = 0; i < graph->edge_count; i++) {
        struct object *ends[2] = {NULL, NULL};

        for (size_t n = 0; n < made->node_count; n++) {
            if (made->nodes[n]->source == graph->edges[i].from)
                ends[0] = made->nodes[n];
            if (made->nodes[n]->source == graph->edges[i].to)
                ends[1] = made->nodes[n];
        }
        add_edge(made, ends[0], ends[1]);
    }
    return made;
}

/* The child of a fork has one thread, whoever held the lock. */
static void unlock_in_child(void)
{
    pthread_mutex_init(&lock, NULL);
}

__attribute__((constructor)) static void watch_forks(void)
{
    pthread_atfork(NULL, NULL, unlock_in_child);
}

static void lock_model(void)
{
    pthread_mutex_lock(&lock);
}

static hipError_t done(hipError_t status)
{
    pthread_mutex_unlock(&lock);
    return status;
}

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
    lock_model();
    *pGraph = (hipGraph_t)make(GRAPH);
    return done(hipSuccess);
}

hipError_t model_hipGraphDestroy(hipGraph_t graph)
{
    struct object *object;

    if (!graph)
        return hipErrorInvalidValue;
    lock_model();
    object = known(graph, GRAPH);
    if (!object)
        return done(hipErrorIllegalState);
    destroy_graph(object);
    return done(hipSuccess);
}

hipError_t model_hipGraphClone(hipGraph_t *pGraphClone, hipGraph_t originalGraph)
{
    struct object *object;

    lock_model();
    object = known(originalGraph, GRAPH);
    if (!object || !pGraphClone)
        return done(hipErrorInvalidValue);
    *pGraphClone = (hipGraph_t)copy(object, GRAPH);
    return done(hipSuccess);
}

/* Links the node before it looks at the dependencies, as HIP does. */
static hipError_t add(hipGraphNode_t *made, hipGraph_t handle, const hipGraphNode_t *dependencies, size_t count,
                      struct object prototype)
{
    struct object *graph, *node;

    lock_model();
    graph = known(handle, GRAPH);
    if (!made || !graph || (count && !dependencies))
        return done(hipErrorInvalidValue);
    node = make(NODE);
    node->type = prototype.type;
    node->kernel = prototype.kernel;
    node->fill = prototype.fill;
    node->child = prototype.child ? copy(prototype.child, GRAPH) : NULL;
    add_node(graph, node);
    *made = (hipGraphNode_t)node;
    for (size_t i = 0; i < count; i++) {
        struct object *from = known(dependencies[i], NODE);

        if (!from || from->graph != graph || has_edge(graph, from, node))
            return done(hipErrorInvalidValue);
        add_edge(graph, from, node);
    }
    return done(hipSuccess);
}

hipError_t model_hipGraphAddKernelNode(hipGraphNode_t *pGraphNode, hipGraph_t graph,
                                       const hipGraphNode_t *pDependencies, size_t numDependencies,
                                       const hipKernelNodeParams *pNodeParams)
{
    if (!pNodeParams)
        return hipErrorInvalidValue;
    return add(pGraphNode, graph, pDependencies, numDependencies,
               (struct object){.type = hipGraphNodeTypeKernel, .kernel = *pNodeParams});
}

hipError_t model_hipGraphAddMemsetNode(hipGraphNode_t *pGraphNode, hipGraph_t graph,
                                       const hipGraphNode_t *pDependencies, size_t numDependencies,
                                       const hipMemsetParams *pMemsetParams)
{
    if (!pMemsetParams)
        return hipErrorInvalidValue;
    return add(pGraphNode, graph, pDependencies, numDependencies,
               (struct object){.type = hipGraphNodeTypeMemset, .fill = *pMemsetParams});
}

hipError_t model_hipGraphAddEmptyNode(hipGraphNode_t *pGraphNode, hipGraph_t graph,
                                      const hipGraphNode_t *pDependencies, size_t numDependencies)
{
    return add(pGraphNode, graph, pDependencies, numDependencies, (struct object){.type = hipGraphNodeTypeEmpty});
}

hipError_t model_hipGraphAddHostNode(hipGraphNode_t *pGraphNode, hipGraph_t graph,
                                     const hipGraphNode_t *pDependencies, size_t numDependencies,
                                     const hipHostNodeParams *pNodeParams)
{
    if (!pNodeParams)
        return hipErrorInvalidValue;
    return add(pGraphNode, graph, pDependencies, numDependencies, (struct object){.type = hipGraphNodeTypeHost});
}

hipError_t model_hipGraphAddMemAllocNode(hipGraphNode_t *pGraphNode, hipGraph_t graph,
                                         const hipGraphNode_t *pDependencies, size_t numDependencies,
                                         hipMemAllocNodeParams *pNodeParams)
{
    if (!pNodeParams)
        return hipErrorInvalidValue;
    return add(pGraphNode, graph, pDependencies, numDependencies, (struct object){.type = hipGraphNodeTypeMemAlloc});
}

hipError_t model_hipGraphAddChildGraphNode(hipGraphNode_t *pGraphNode, hipGraph_t graph,
                                           const hipGraphNode_t *pDependencies, size_t numDependencies,
                                           hipGraph_t childGraph)
{
    struct object *child = known(childGraph, GRAPH);

    if (!child || childGraph == graph)
        return hipErrorInvalidValue;
    return add(pGraphNode, graph, pDependencies, numDependencies,
               (struct object){.type = hipGraphNodeTypeGraph, .child = child});
}

hipError_t model_hipGraphAddNode(hipGraphNode_t *pGraphNode, hipGraph_t graph, const hipGraphNode_t *pDependencies,
                                 size_t numDependencies, hipGraphNodeParams *nodeParams)
{
    struct object prototype = {.type = hipGraphNodeTypeEmpty};

    if (!nodeParams)
        return hipErrorInvalidValue;
    prototype.type = nodeParams->type;
    if (nodeParams->type == hipGraphNodeTypeKernel)
        prototype.kernel = nodeParams->kernel;
    if (nodeParams->type == hipGraphNodeTypeMemset)
        prototype.fill = nodeParams->memset;
    if (nodeParams->type == hipGraphNodeTypeGraph && !(prototype.child = known(nodeParams->graph.graph, GRAPH)))
        return hipErrorInvalidValue;
    return add(pGraphNode, graph, pDependencies, numDependencies, prototype);
}

hipError_t model_hipGraphDestroyNode(hipGraphNode_t node)
{
    struct object *object, *graph;
    size_t kept = 0;

    lock_model();
    object = known(node, NODE);
    if (!object)
        return done(hipErrorInvalidValue);
    if (object->type == hipGraphNodeTypeMemAlloc || object->type == hipGraphNodeTypeMemFree)
        return done(hipErrorNotSupported);
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
    destroy_node(object);
    return done(hipSuccess);
}

/* Edges that come before the bad one in the list stay. */
hipError_t model_hipGraphAddDependencies(hipGraph_t handle, const hipGraphNode_t *from, const hipGraphNode_t *to,
                                         size_t numDependencies)
{
    struct object *graph;

    if (!handle)
        return hipErrorInvalidValue;
    if (!numDependencies)
        return hipSuccess;
    lock_model();
    graph = known(handle, GRAPH);
    if (!graph || !from || !to)
        return done(hipErrorInvalidValue);
    for (size_t i = 0; i < numDependencies; i++) {
        struct object *one = known(from[i], NODE), *other = known(to[i], NODE);

        if (!one || !other || one == other || one->graph != graph || other->graph != graph ||
            has_edge(graph, one, other))
            return done(hipErrorInvalidValue);
        add_edge(graph, one, other);
    }
    return done(hipSuccess);
}

hipError_t model_hipGraphRemoveDependencies(hipGraph_t handle, const hipGraphNode_t *from, const hipGraphNode_t *to,
                                            size_t numDependencies)
{
    struct object *graph;

    lock_model();
    graph = known(handle, GRAPH);
    if (!graph || (numDependencies && (!from || !to)))
        return done(hipErrorInvalidValue);
    for (size_t i = 0; i < numDependencies; i++) {
        size_t kept = 0, count = graph->edge_count;

        for (size_t e = 0; e < count; e++)
            if ((hipGraphNode_t)graph->edges[e].from != from[i] || (hipGraphNode_t)graph->edges[e].to != to[i])
                graph->edges[kept++] = graph->edges[e];
        graph->edge_count = kept;
        if (kept == count)
            return done(hipErrorInvalidValue);
    }
    return done(hipSuccess);
}

hipError_t model_hipGraphGetNodes(hipGraph_t handle, hipGraphNode_t *nodes, size_t *numNodes)
{
    struct object *graph;

    lock_model();
    graph = known(handle, GRAPH);
    if (!graph || !numNodes)
        return done(hipErrorInvalidValue);
    if (nodes) {
        for (size_t i = 0; i < *numNodes; i++)
            nodes[i] = i < graph->node_count ? (hipGraphNode_t)graph->nodes[i] : NULL;
        if (*numNodes < graph->node_count)
            return done(hipSuccess);
    }
    *numNodes = graph->node_count;
    return done(hipSuccess);
}

hipError_t model_hipGraphGetEdges(hipGraph_t handle, hipGraphNode_t *from, hipGraphNode_t *to, size_t *numEdges)
{
    struct object *graph;

    lock_model();
    graph = known(handle, GRAPH);
    if (!graph || !numEdges || !from != !to)
        return done(hipErrorInvalidValue);
    if (from) {
        for (size_t i = 0; i < *numEdges; i++) {
            from[i] = i < graph->edge_count ? (hipGraphNode_t)graph->edges[i].from : NULL;
            to[i] = i < graph->edge_count ? (hipGraphNode_t)graph->edges[i].to : NULL;
        }
        if (*numEdges < graph->edge_count)
            return done(hipSuccess);
    }
    *numEdges = graph->edge_count;
    return done(hipSuccess);
}

hipError_t model_hipGraphNodeGetType(hipGraphNode_t node, hipGraphNodeType *pType)
{
    struct object *object;

    lock_model();
    object = known(node, NODE);
    if (!object || !pType)
        return done(hipErrorInvalidValue);
    *pType = object->type;
    return done(hipSuccess);
}

/* The node, if it is of the type. The lock is held then, and not otherwise. */
static struct object *typed(hipGraphNode_t node, hipGraphNodeType type)
{
    struct object *object;

    lock_model();
    object = known(node, NODE);
    if (object && object->type == type)
        return object;
    done(hipSuccess);
    return NULL;
}

hipError_t model_hipGraphKernelNodeGetParams(hipGraphNode_t node, hipKernelNodeParams *pNodeParams)
{
    struct object *object = pNodeParams ? typed(node, hipGraphNodeTypeKernel) : NULL;

    if (!object)
        return hipErrorInvalidValue;
    *pNodeParams = object->kernel;
    return done(hipSuccess);
}

hipError_t model_hipGraphKernelNodeSetParams(hipGraphNode_t node, const hipKernelNodeParams *pNodeParams)
{
    struct object *object = pNodeParams ? typed(node, hipGraphNodeTypeKernel) : NULL;

    if (!object)
        return hipErrorInvalidValue;
    object->kernel = *pNodeParams;
    return done(hipSuccess);
}

hipError_t model_hipGraphMemsetNodeGetParams(hipGraphNode_t node, hipMemsetParams *pNodeParams)
{
    struct object *object = pNodeParams ? typed(node, hipGraphNodeTypeMemset) : NULL;

    if (!object)
        return hipErrorInvalidValue;
    *pNodeParams = object->fill;
    return done(hipSuccess);
}

hipError_t model_hipGraphMemsetNodeSetParams(hipGraphNode_t node, const hipMemsetParams *pNodeParams)
{
    struct object *object = pNodeParams ? typed(node, hipGraphNodeTypeMemset) : NULL;

    if (!object)
        return hipErrorInvalidValue;
    object->fill = *pNodeParams;
    return done(hipSuccess);
}

hipError_t model_hipGraphChildGraphNodeGetGraph(hipGraphNode_t node, hipGraph_t *pGraph)
{
    struct object *object = pGraph ? typed(node, hipGraphNodeTypeGraph) : NULL;

    if (!object)
        return hipErrorInvalidValue;
    *pGraph = (hipGraph_t)object->child;
    return done(hipSuccess);
}

static struct object *clone_in(const struct object *exec, const void *source)
{
    for (size_t i = 0; exec && i < exec->node_count; i++)
        if (exec->nodes[i]->source == source && known(source, NODE))
            return exec->nodes[i];
    return NULL;
}

hipError_t model_hipGraphExecKernelNodeSetParams(hipGraphExec_t hGraphExec, hipGraphNode_t node,
                                                 const hipKernelNodeParams *pNodeParams)
{
    struct object *clone;

    lock_model();
    clone = clone_in(known(hGraphExec, EXEC), node);
    if (!clone || !pNodeParams || clone->type != hipGraphNodeTypeKernel)
        return done(hipErrorInvalidValue);
    clone->kernel = *pNodeParams;
    return done(hipSuccess);
}

hipError_t model_hipGraphNodeSetEnabled(hipGraphExec_t hGraphExec, hipGraphNode_t hNode, unsigned int isEnabled)
{
    struct object *clone;

    lock_model();
    clone = clone_in(known(hGraphExec, EXEC), hNode);
    if (!clone || clone->type > hipGraphNodeTypeMemset)
        return done(hipErrorInvalidValue);
    clone->enabled = isEnabled;
    return done(hipSuccess);
}

hipError_t model_hipGraphNodeGetEnabled(hipGraphExec_t hGraphExec, hipGraphNode_t hNode, unsigned int *isEnabled)
{
    struct object *clone;

    lock_model();
    clone = clone_in(known(hGraphExec, EXEC), hNode);
    if (!clone || !isEnabled || clone->type > hipGraphNodeTypeMemset)
        return done(hipErrorInvalidValue);
    *isEnabled = clone->enabled;
    return done(hipSuccess);
}

hipError_t model_hipGraphInstantiateWithFlags(hipGraphExec_t *pGraphExec, hipGraph_t graph, unsigned long long flags)
{
    struct object *source;

    lock_model();
    source = known(graph, GRAPH);
    if (!pGraphExec || !source || (flags != 0 && flags != 1 && flags != 8)) {
        if (pGraphExec)
            *pGraphExec = (hipGraphExec_t)0x5a5a5a5a5a5a; /* HIP overwrites it with garbage */
        return done(hipErrorInvalidValue);
    }
    *pGraphExec = (hipGraphExec_t)copy(source, EXEC);
    return done(hipSuccess);
}

hipError_t model_hipGraphInstantiate(hipGraphExec_t *pGraphExec, hipGraph_t graph, hipGraphNode_t *pErrorNode,
                                     char *pLogBuffer, size_t bufferSize)
{
    (void)pErrorNode, (void)pLogBuffer, (void)bufferSize;
    return model_hipGraphInstantiateWithFlags(pGraphExec, graph, 0);
}

hipError_t model_hipGraphInstantiateWithParams(hipGraphExec_t *pGraphExec, hipGraph_t graph,
                                               hipGraphInstantiateParams *instantiateParams)
{
    hipError_t status;

    if (!instantiateParams)
        return hipErrorInvalidValue;
    status = model_hipGraphInstantiateWithFlags(pGraphExec, graph, instantiateParams->flags & ~6ull);
    instantiateParams->result_out = status ? hipGraphInstantiateError : hipGraphInstantiateSuccess;
    instantiateParams->errNode_out = NULL;
    return status;
}

hipError_t model_hipGraphExecDestroy(hipGraphExec_t graphExec)
{
    struct object *exec;

    lock_model();
    exec = known(graphExec, EXEC);
    if (!exec)
        return done(hipErrorInvalidValue);
    destroy_graph(exec);
    return done(hipSuccess);
}

static struct object *stream_of(hipStream_t stream, bool per_thread)
{
    if (stream == (hipStream_t)2 || (!stream && per_thread)) {
        if (!threads_stream)
            threads_stream = make(STREAM);
        return threads_stream;
    }
    return known(stream, STREAM);
}

hipError_t model_hipGraphLaunch(hipGraphExec_t graphExec, hipStream_t stream)
{
    bool good;

    lock_model();
    good = known(graphExec, EXEC);
    if (!good)
        return done(hipErrorInvalidValue);
    good = (uintptr_t)stream < 3 || known(stream, STREAM);
    return done(good ? hipSuccess : hipErrorContextIsDestroyed);
}

hipError_t model_hipGraphLaunch_spt(hipGraphExec_t graphExec, hipStream_t stream)
{
    return model_hipGraphLaunch(graphExec, stream);
}

/* By position: counts, types, numbers of dependencies; what comes before the first difference is updated. */
hipError_t model_hipGraphExecUpdate(hipGraphExec_t hGraphExec, hipGraph_t hGraph, hipGraphNode_t *hErrorNode_out,
                                    hipGraphExecUpdateResult *updateResult_out)
{
    struct object *exec, *graph;

    if (!hGraphExec || !hGraph || !hErrorNode_out || !updateResult_out)
        return hipErrorInvalidValue;
    lock_model();
    exec = known(hGraphExec, EXEC);
    graph = known(hGraph, GRAPH);
    if (!exec || !graph)
        return done(hipErrorInvalidValue);
    if (exec->node_count != graph->node_count || exec->edge_count != graph->edge_count) {
        *updateResult_out = hipGraphExecUpdateErrorTopologyChanged;
        *hErrorNode_out = NULL;
        return done(hipErrorGraphExecUpdateFailure);
    }
    for (size_t i = 0; i < graph->node_count; i++) {
        if (exec->nodes[i]->type != graph->nodes[i]->type) {
            *updateResult_out = hipGraphExecUpdateErrorNodeTypeChanged;
            *hErrorNode_out = (hipGraphNode_t)graph->nodes[i];
            return done(hipErrorGraphExecUpdateFailure);
        }
        exec->nodes[i]->kernel = graph->nodes[i]->kernel;
        exec->nodes[i]->fill = graph->nodes[i]->fill;
    }
    *updateResult_out = hipGraphExecUpdateSuccess;
    return done(hipSuccess);
}

hipError_t model_hipThreadExchangeStreamCaptureMode(hipStreamCaptureMode *mode)
{
    hipStreamCaptureMode before = thread_mode;

    if (!mode || *mode > hipStreamCaptureModeRelaxed)
        return hipErrorInvalidValue;
    thread_mode = *mode;
    *mode = before;
    return hipSuccess;
}

static hipError_t begin(hipStream_t handle, bool per_thread, struct object *graph, hipStreamCaptureMode mode)
{
    struct object *stream;

    if (!per_thread && (!handle || handle == (hipStream_t)1))
        return hipErrorStreamCaptureUnsupported;
    lock_model();
    stream = stream_of(handle, per_thread);
    if (!stream)
        return done(hipErrorContextIsDestroyed);
    if (mode > hipStreamCaptureModeRelaxed)
        return done(hipErrorInvalidValue);
    if (stream->capturing)
        return done(hipErrorIllegalState);
    stream->capturing = graph ? graph : make(GRAPH);
    stream->origin_here = true;
    stream->origin = stream;
    stream->mode = mode;
    stream->thread = pthread_self();
    stream->last_count = 0;
    stream->invalidated = false;
    global_captures += mode == hipStreamCaptureModeGlobal;
    return done(hipSuccess);
}

hipError_t model_hipStreamBeginCapture(hipStream_t stream, hipStreamCaptureMode mode)
{
    return begin(stream, stream == (hipStream_t)2, NULL, mode);
}

hipError_t model_hipStreamBeginCapture_spt(hipStream_t stream, hipStreamCaptureMode mode)
{
    return begin(stream, true, NULL, mode);
}

/* Starts the capture and then looks at the dependencies. */
hipError_t model_hipStreamBeginCaptureToGraph(hipStream_t stream, hipGraph_t graph,
                                              const hipGraphNode_t *dependencies,
                                              const hipGraphEdgeData *dependencyData, size_t numDependencies,
                                              hipStreamCaptureMode mode)
{
    struct object *into = known(graph, GRAPH);
    hipError_t status = into ? begin(stream, false, into, mode) : hipErrorInvalidValue;

    (void)dependencyData;
    if (status)
        return status;
    lock_model();
    for (size_t i = 0; i < numDependencies; i++) {
        struct object *node = dependencies ? known(dependencies[i], NODE) : NULL;

        if (!node || node->graph != into)
            return done(hipErrorInvalidValue);
        if (i < 4)
            known(stream, STREAM)->last[known(stream, STREAM)->last_count++] = node;
    }
    return done(hipSuccess);
}

static void leave_capture(struct object *origin)
{
    struct object *graph = origin->capturing;

    global_captures -= origin->mode == hipStreamCaptureModeGlobal;
    for (size_t i = 0; i < pool_used; i++)
        if (pool[i].kind == STREAM && pool[i].capturing == graph)
            pool[i].capturing = NULL;
}

static hipError_t end(hipStream_t handle, bool per_thread, hipGraph_t *pGraph)
{
    struct object *stream, *graph;

    if (!pGraph)
        return hipErrorInvalidValue;
    lock_model();
    stream = stream_of(handle, per_thread);
    if (!stream || !stream->capturing)
        return done(hipErrorIllegalState);
    if (!stream->origin_here)
        return done(hipErrorStreamCaptureUnmatched);
    if (!pthread_equal(stream->thread, pthread_self()) && stream->mode != hipStreamCaptureModeRelaxed)
        return done(hipErrorStreamCaptureWrongThread);
    graph = stream->capturing;
    leave_capture(stream);
    if (stream->invalidated) {
        *pGraph = NULL;
        destroy_graph(graph);
        return done(hipErrorStreamCaptureInvalidated);
    }
    *pGraph = (hipGraph_t)graph;
    return done(hipSuccess);
}

hipError_t model_hipStreamEndCapture(hipStream_t stream, hipGraph_t *pGraph)
{
    return end(stream, false, pGraph);
}

hipError_t model_hipStreamEndCapture_spt(hipStream_t stream, hipGraph_t *pGraph)
{
    return end(stream, true, pGraph);
}

static hipError_t info(hipStream_t handle, bool per_thread, hipStreamCaptureStatus *status, unsigned long long *id,
                       hipGraph_t *graph, size_t *count)
{
    struct object *stream;

    if (!status)
        return hipErrorInvalidValue;
    lock_model();
    stream = stream_of(handle, per_thread);
    if (!stream || !stream->capturing) {
        *status = hipStreamCaptureStatusNone;
        return done(stream || (uintptr_t)handle < 3 ? hipSuccess : hipErrorContextIsDestroyed);
    }
    *status = stream->invalidated ? hipStreamCaptureStatusInvalidated : hipStreamCaptureStatusActive;
    if (id)
        *id = 1;
    if (graph)
        *graph = (hipGraph_t)stream->capturing;
    if (count)
        *count = 0;
    return done(hipSuccess);
}

hipError_t model_hipStreamGetCaptureInfo_v2(hipStream_t stream, hipStreamCaptureStatus *captureStatus_out,
                                            unsigned long long *id_out, hipGraph_t *graph_out,
                                            const hipGraphNode_t **dependencies_out, size_t *numDependencies_out)
{
    (void)dependencies_out;
    return info(stream, false, captureStatus_out, id_out, graph_out, numDependencies_out);
}

hipError_t model_hipStreamGetCaptureInfo_v2_spt(hipStream_t stream, hipStreamCaptureStatus *captureStatus_out,
                                                unsigned long long *id_out, hipGraph_t *graph_out,
                                                const hipGraphNode_t **dependencies_out,
                                                size_t *numDependencies_out)
{
    (void)dependencies_out;
    return info(stream, true, captureStatus_out, id_out, graph_out, numDependencies_out);
}

hipError_t model_hipStreamUpdateCaptureDependencies(hipStream_t handle, hipGraphNode_t *dependencies,
                                                    size_t numDependencies, unsigned int flags)
{
    struct object *stream;

    if (flags > 1 || (numDependencies && !dependencies))
        return hipErrorInvalidValue;
    lock_model();
    stream = stream_of(handle, false);
    if (!stream || !stream->capturing)
        return done(hipErrorIllegalState);
    if (flags == 1)
        stream->last_count = 0;
    for (size_t i = 0; i < numDependencies; i++) {
        struct object *node = known(dependencies[i], NODE);

        if (!node || node->graph != stream->capturing)
            return done(hipErrorInvalidValue);
        if (stream->last_count < 4)
            stream->last[stream->last_count++] = node;
    }
    return done(hipSuccess);
}

hipError_t model_hipGraphRetainUserObject(hipGraph_t graph, hipUserObject_t object, unsigned int count,
                                          unsigned int flags)
{
    bool good;

    (void)flags;
    lock_model();
    good = known(graph, GRAPH) && object && count;
    return done(good ? hipSuccess : hipErrorInvalidValue);
}

hipError_t model_hipStreamDestroy(hipStream_t handle)
{
    struct object *stream;

    if (!handle || (uintptr_t)handle < 3)
        return hipErrorInvalidHandle;
    lock_model();
    stream = known(handle, STREAM);
    if (!stream)
        return done(hipErrorContextIsDestroyed);
    if (stream->capturing && stream->origin_here) {
        struct object *graph = stream->capturing;

        leave_capture(stream);
        destroy_graph(graph);
    }
    unmake(stream);
    return done(hipSuccess);
}

static void *function_named(const char *name)
{
    for (int i = 0; i < standin_name_count; i++)
        if (!strcmp(standin_names[i], name))
            return standin_functions[i];
    return NULL;
}

hipError_t model_hipGetProcAddress(const char *symbol, void **pfn, int hipVersion, uint64_t flags,
                                   hipDriverProcAddressQueryResult *symbolStatus)
{
    char twin[128];

    (void)hipVersion;
    if (!symbol || !pfn)
        return hipErrorInvalidValue;
    *pfn = NULL;
    if (flags == hipEnablePerThreadDefaultStream && strlen(symbol) < sizeof(twin) - 4) {
        strcpy(twin, symbol);
        *pfn = function_named(strcat(twin, "_spt"));
    }
    if (!*pfn)
        *pfn = function_named(symbol);
    if (symbolStatus)
        *symbolStatus = *pfn ? HIP_GET_PROC_ADDRESS_SUCCESS : HIP_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND;
    return *pfn ? hipSuccess : hipErrorNotFound;
}

hipError_t model_hipGetDriverEntryPoint(const char *symbol, void **funcPtr, unsigned long long flags,
                                        hipDriverEntryPointQueryResult *driverStatus)
{
    hipError_t status = model_hipGetProcAddress(symbol, funcPtr, 0, flags, NULL);

    if (driverStatus)
        *driverStatus = status ? hipDriverEntryPointSymbolNotFound : hipDriverEntryPointSuccess;
    return status;
}

bool model_global_capture_elsewhere(void)
{
    bool open;

    lock_model();
    open = global_captures;
    done(hipSuccess);
    return open;
}

EXPORT hipStreamCaptureMode standin_thread_mode(void)
{
    return thread_mode;
}

EXPORT size_t standin_objects(void)
{
    size_t count;

    lock_model();
    count = alive;
    done(hipSuccess);
    return count;
}

EXPORT hipStream_t standin_stream(void)
{
    struct object *stream;

    lock_model();
    stream = make(STREAM);
    done(hipSuccess);
    return (hipStream_t)stream;
}

EXPORT hipGraphNode_t standin_capture_node(hipStream_t handle, hipGraphNodeType type)
{
    struct object *stream, *node;

    lock_model();
    stream = stream_of(handle, handle == (hipStream_t)2);
    node = make(NODE);
    node->type = type;
    add_node(stream->capturing, node);
    for (size_t i = 0; i < stream->last_count; i++)
        add_edge(stream->capturing, stream->last[i], node);
    stream->last[0] = node;
    stream->last_count = 1;
    done(hipSuccess);
    return (hipGraphNode_t)node;
}

EXPORT void standin_fork(hipStream_t from, hipStream_t to)
{
    struct object *origin, *joins;

    lock_model();
    origin = known(from, STREAM);
    joins = known(to, STREAM);
    joins->capturing = origin->capturing;
    joins->origin = origin->origin;
    joins->origin_here = joins->origin == joins;
    memcpy(joins->last, origin->last, sizeof(joins->last));
    joins->last_count = origin->last_count;
    done(hipSuccess);
}

EXPORT hipGraphNode_t standin_secret_node(hipGraph_t graph)
{
    hipGraphNode_t node;

    add(&node, graph, NULL, 0, (struct object){.type = hipGraphNodeTypeEmpty});
    return node;
}

EXPORT void standin_secret_edge(hipGraph_t graph, hipGraphNode_t from, hipGraphNode_t to)
{
    lock_model();
    add_edge((struct object *)graph, (struct object *)from, (struct object *)to);
    done(hipSuccess);
}

EXPORT void standin_secret_exec_destroy(hipGraphExec_t exec)
{
    model_hipGraphExecDestroy(exec);
}
