/* SPDX-License-Identifier: Apache-2.0 */
/* What HIP answers about streams and their captures. */
#include "objects.h"

#include <string.h>

static unsigned global_captures;
static _Thread_local hipStreamCaptureMode thread_mode;

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
    model_lock();
    stream = stream_of(handle, per_thread);
    if (!stream)
        return model_done(hipErrorContextIsDestroyed);
    if (mode > hipStreamCaptureModeRelaxed)
        return model_done(hipErrorInvalidValue);
    if (stream->capturing)
        return model_done(hipErrorIllegalState);
    stream->capturing = graph ? graph : object_make(GRAPH);
    stream->origin_here = true;
    stream->origin = stream;
    stream->mode = mode;
    stream->thread = pthread_self();
    stream->last_count = 0;
    stream->invalidated = false;
    global_captures += mode == hipStreamCaptureModeGlobal;
    return model_done(hipSuccess);
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
    struct object *into = object_known(graph, GRAPH);
    hipError_t status = into ? begin(stream, false, into, mode) : hipErrorInvalidValue;

    (void)dependencyData;
    if (status)
        return status;
    model_lock();
    for (size_t i = 0; i < numDependencies; i++) {
        struct object *node = dependencies ? object_known(dependencies[i], NODE) : NULL;

        if (!node || node->graph != into)
            return model_done(hipErrorInvalidValue);
        if (i < 4)
            object_known(stream, STREAM)->last[object_known(stream, STREAM)->last_count++] = node;
    }
    return model_done(hipSuccess);
}

static void leave_capture(struct object *origin)
{
    struct object *graph = origin->capturing;

    global_captures -= origin->mode == hipStreamCaptureModeGlobal;
    for (size_t i = 0; object_at(i); i++)
        if (object_at(i)->kind == STREAM && object_at(i)->capturing == graph)
            object_at(i)->capturing = NULL;
}

static hipError_t end(hipStream_t handle, bool per_thread, hipGraph_t *pGraph)
{
    struct object *stream, *graph;

    if (!pGraph)
        return hipErrorInvalidValue;
    model_lock();
    stream = stream_of(handle, per_thread);
    if (!stream || !stream->capturing)
        return model_done(hipErrorIllegalState);
    if (!stream->origin_here)
        return model_done(hipErrorStreamCaptureUnmatched);
    if (!pthread_equal(stream->thread, pthread_self()) && stream->mode != hipStreamCaptureModeRelaxed)
        return model_done(hipErrorStreamCaptureWrongThread);
    graph = stream->capturing;
    leave_capture(stream);
    if (stream->invalidated) {
        *pGraph = NULL;
        graph_destroy(graph);
        return model_done(hipErrorStreamCaptureInvalidated);
    }
    *pGraph = (hipGraph_t)graph;
    return model_done(hipSuccess);
}

hipError_t model_hipStreamEndCapture(hipStream_t stream, hipGraph_t *pGraph)
{
    return end(stream, false, pGraph);
}

hipError_t model_hipStreamEndCapture_spt(hipStream_t stream, hipGraph_t *pGraph)
{
    return end(stream, true, pGraph);
}

static hipError_t info(hipStream_t handle, bool per_thread, hipStreamCaptureStatus *status,
                       unsigned long long *id, hipGraph_t *graph, size_t *count)
{
    struct object *stream;

    if (!status)
        return hipErrorInvalidValue;
    model_lock();
    stream = stream_of(handle, per_thread);
    if (!stream || !stream->capturing) {
        *status = hipStreamCaptureStatusNone;
        return model_done(stream || (uintptr_t)handle < 3 ? hipSuccess : hipErrorContextIsDestroyed);
    }
    *status = stream->invalidated ? hipStreamCaptureStatusInvalidated : hipStreamCaptureStatusActive;
    if (id)
        *id = 1;
    if (graph)
        *graph = (hipGraph_t)stream->capturing;
    if (count)
        *count = 0;
    return model_done(hipSuccess);
}

hipError_t model_hipStreamGetCaptureInfo_v2(hipStream_t stream, hipStreamCaptureStatus *captureStatus_out,
                                            unsigned long long *id_out, hipGraph_t *graph_out,
                                            const hipGraphNode_t **dependencies_out,
                                            size_t *numDependencies_out)
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
    model_lock();
    stream = stream_of(handle, false);
    if (!stream || !stream->capturing)
        return model_done(hipErrorIllegalState);
    if (flags == 1)
        stream->last_count = 0;
    for (size_t i = 0; i < numDependencies; i++) {
        struct object *node = object_known(dependencies[i], NODE);

        if (!node || node->graph != stream->capturing)
            return model_done(hipErrorInvalidValue);
        if (stream->last_count < 4)
            stream->last[stream->last_count++] = node;
    }
    return model_done(hipSuccess);
}

hipError_t model_hipGraphRetainUserObject(hipGraph_t graph, hipUserObject_t object, unsigned int count,
                                          unsigned int flags)
{
    bool good;

    (void)flags;
    model_lock();
    good = object_known(graph, GRAPH) && object && count;
    return model_done(good ? hipSuccess : hipErrorInvalidValue);
}

hipError_t model_hipStreamDestroy(hipStream_t handle)
{
    struct object *stream;

    if (!handle || (uintptr_t)handle < 3)
        return hipErrorInvalidHandle;
    model_lock();
    stream = object_known(handle, STREAM);
    if (!stream)
        return model_done(hipErrorContextIsDestroyed);
    if (stream->capturing && stream->origin_here) {
        struct object *graph = stream->capturing;

        leave_capture(stream);
        graph_destroy(graph);
    }
    object_unmake(stream);
    return model_done(hipSuccess);
}

bool model_global_capture_elsewhere(void)
{
    bool open;

    model_lock();
    open = global_captures;
    model_done(hipSuccess);
    return open;
}

EXPORT hipStreamCaptureMode standin_thread_mode(void)
{
    return thread_mode;
}

EXPORT hipStream_t standin_stream(void)
{
    struct object *stream;

    model_lock();
    stream = object_make(STREAM);
    model_done(hipSuccess);
    return (hipStream_t)stream;
}

EXPORT hipGraphNode_t standin_capture_node(hipStream_t handle, hipGraphNodeType type)
{
    struct object *stream, *node;

    model_lock();
    stream = stream_of(handle, handle == (hipStream_t)2);
    node = object_make(NODE);
    node->type = type;
    graph_add_node(stream->capturing, node);
    for (size_t i = 0; i < stream->last_count; i++)
        graph_add_edge(stream->capturing, stream->last[i], node);
    stream->last[0] = node;
    stream->last_count = 1;
    model_done(hipSuccess);
    return (hipGraphNode_t)node;
}

EXPORT void standin_fork(hipStream_t from, hipStream_t to)
{
    struct object *origin, *joins;

    model_lock();
    origin = object_known(from, STREAM);
    joins = object_known(to, STREAM);
    joins->capturing = origin->capturing;
    joins->origin = origin->origin;
    joins->origin_here = joins->origin == joins;
    memcpy(joins->last, origin->last, sizeof(joins->last));
    joins->last_count = origin->last_count;
    model_done(hipSuccess);
}
