/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Captures: from the begin until the end, what is known stands in a record of the stream on which the capture
 * was begun; streams that fork and join have none. It names the captured graph as soon as anybody has seen
 * it. The nodes of a capture are HIP's business: they are read back when the graph is instantiated.
 *
 * A capture that ended leaves no stream record; 903 and 908 are answers to the wrong stream or thread, and
 * the capture goes on. After 901 and 904 HIP has deleted the graph, the application's own one included.
 */
#include "handlers.h"

#include <pthread.h>

#include "native/native.h"
#include "native/process.h"
#include "records/records.h"
#include "replay/stream_state.h"

/* hipStreamPerThread and, in `_spt` calls, NULL mean another stream in each thread: the thread's own address,
 * which no stream can have, stands for it. */
static const void *key_of(hipStream_t stream, bool per_thread)
{
    static const char legacy;

    if (stream == (hipStream_t)2 || (!stream && per_thread))
        return (const void *)pthread_self();
    return stream && stream != (hipStream_t)1 ? (const void *)stream : &legacy;
}

static bool watched(const void *caller)
{
    return rl_active() && !rl_called_by_hip(caller);
}

static struct rl_ref find(const void *key)
{
    return rl_side_table_find(RL_CAPTURE, key);
}

/* The graph of the capture on a stream, NULL: none was seen. */
static hipGraph_t graph_captured(struct rl_ref stream)
{
    hipGraph_t graph = NULL;

    if (rl_ref_hold(stream)) {
        rl_records_lock();
        graph = ((struct rl_capture *)stream.record)->graph;
        rl_records_unlock();
        rl_record_drop(stream.record);
    }
    return graph;
}

static void set_in_capture(struct rl_ref graph, bool in_capture)
{
    if (rl_ref_hold(graph)) {
        atomic_store(&((struct rl_graph *)graph.record)->in_capture, in_capture);
        rl_record_drop(graph.record);
    }
}

static bool is_in_capture(struct rl_ref graph)
{
    bool in_capture = false;

    if (rl_ref_hold(graph)) {
        in_capture = atomic_load(&((struct rl_graph *)graph.record)->in_capture);
        rl_record_drop(graph.record);
    }
    return in_capture;
}

static void begin(const void *key, hipGraph_t graph, uint32_t marks)
{
    struct rl_capture *stream = (struct rl_capture *)rl_side_table_take(RL_CAPTURE);

    if (!find(key).record)
        atomic_fetch_add(&rl_captures_open, 1);
    if (stream) {
        stream->graph = graph;
        atomic_fetch_or(&stream->base.marks, marks);
    }
    rl_side_table_insert(RL_CAPTURE, key, stream ? &stream->base : NULL);
}

static hipError_t begun(hipError_t status, const void *caller, const void *key)
{
    if (!watched(caller))
        return status;
    if (status == hipSuccess)
        begin(key, NULL, 0);
    else
        rl_invalidate_stream(status, (hipStream_t)key);
    return status;
}

hipError_t rl_stream_begin_capture(rl_hipStreamBeginCapture_fn *native, const void *caller,
                                   hipStream_t stream, hipStreamCaptureMode mode)
{
    return begun(native(stream, mode), caller, key_of(stream, false));
}

hipError_t rl_stream_begin_capture_spt(rl_hipStreamBeginCapture_spt_fn *native, const void *caller,
                                       hipStream_t stream, hipStreamCaptureMode mode)
{
    return begun(native(stream, mode), caller, key_of(stream, true));
}

/* A call that fails over its dependencies has begun the capture all the same; one that fails because a
 * capture is open leaves that one open. */
hipError_t rl_stream_begin_capture_to_graph(rl_hipStreamBeginCaptureToGraph_fn *native, const void *caller,
                                            hipStream_t stream, hipGraph_t graph,
                                            const hipGraphNode_t *dependencies,
                                            const hipGraphEdgeData *dependencyData, size_t numDependencies,
                                            hipStreamCaptureMode mode)
{
    hipError_t status = native(stream, graph, dependencies, dependencyData, numDependencies, mode);
    const void *key = key_of(stream, false);

    rl_invalidate_graph(status, graph);
    if (status != hipSuccess)
        rl_graph_mark(graph, RL_FAILED);
    if (!watched(caller))
        return status;
    rl_graph_shape_unknown(graph);
    rl_invalidate_stream(status, (hipStream_t)key);
    if (status == hipSuccess || !find(key).record) {
        set_in_capture(rl_side_table_find(RL_GRAPH, graph), true);
        begin(key, graph, status == hipSuccess ? 0 : RL_CAPTURE_UNKNOWN);
    }
    return status;
}

static void publish(hipGraph_t graph, struct rl_ref stream)
{
    struct rl_ref ref = rl_side_table_find(RL_GRAPH, graph);

    if (!is_in_capture(ref)) {
        rl_graph_forget(graph); /* of a graph that was destroyed where no shim saw it */
        ref = rl_graph_find_or_make(graph, 0);
    }
    set_in_capture(ref, false);
    if (!stream.record)
        rl_ref_mark(ref, RL_UNSEEN);
    else
        rl_ref_mark(ref, atomic_load_explicit(&stream.record->marks, memory_order_acquire));
    rl_count(RL_COUNT_captures_ended);
}

static bool doubt_captured(const struct rl_record *record, void *context)
{
    (void)context;
    if (atomic_load(&((const struct rl_graph *)record)->in_capture))
        atomic_fetch_or(&((struct rl_record *)record)->marks, RL_CAPTURE_UNKNOWN);
    return false;
}

static void deleted(hipGraph_t graph)
{
    if (graph)
        rl_graph_forget(graph);
    else /* a fork of the capture may have shown its graph: any that is being captured may be the dead one */
        rl_side_table_erase_if(RL_GRAPH, doubt_captured, NULL);
}

static void close_capture(const void *key)
{
    if (rl_side_table_erase(RL_CAPTURE, key))
        atomic_fetch_sub(&rl_captures_open, 1);
}

static hipError_t ended(hipError_t status, const void *caller, const void *key, hipGraph_t *made)
{
    struct rl_ref stream = find(key);
    hipGraph_t graph;

    if (!watched(caller) || status == hipErrorStreamCaptureUnmatched ||
        status == hipErrorStreamCaptureWrongThread)
        return status;
    graph = graph_captured(stream);
    if (status == hipSuccess && made && *made) {
        publish(*made, stream);
    } else if (status == hipErrorStreamCaptureInvalidated || status == hipErrorStreamCaptureUnjoined) {
        deleted(graph);
    } else if (graph) {
        set_in_capture(rl_side_table_find(RL_GRAPH, graph), false);
        rl_graph_mark(graph, RL_CAPTURE_UNKNOWN);
    }
    close_capture(key);
    return status;
}

hipError_t rl_stream_end_capture(rl_hipStreamEndCapture_fn *native, const void *caller, hipStream_t stream,
                                 hipGraph_t *pGraph)
{
    return ended(native(stream, pGraph), caller, key_of(stream, false), pGraph);
}

hipError_t rl_stream_end_capture_spt(rl_hipStreamEndCapture_spt_fn *native, const void *caller,
                                     hipStream_t stream, hipGraph_t *pGraph)
{
    return ended(native(stream, pGraph), caller, key_of(stream, true), pGraph);
}

/* The application has the graph in its hands before the capture ends. */
static void shown(hipGraph_t graph, const void *key)
{
    struct rl_ref stream = find(key), ref = rl_side_table_find(RL_GRAPH, graph);

    if (!is_in_capture(ref)) {
        rl_graph_forget(graph);
        ref = rl_graph_find_or_make(graph, 0);
        set_in_capture(ref, true);
    }
    if (rl_ref_hold(stream)) {
        struct rl_capture *record = (struct rl_capture *)stream.record;

        rl_records_lock();
        if (!record->graph)
            record->graph = graph;
        else if (record->graph != graph)
            rl_ref_mark(stream, RL_CAPTURE_UNKNOWN);
        rl_records_unlock();
        rl_record_drop(stream.record);
    }
}

static hipError_t informed(hipError_t status, const void *caller, const void *key,
                           const hipStreamCaptureStatus *capture_status, const hipGraph_t *graph)
{
    if (status == hipSuccess && watched(caller) && capture_status &&
        *capture_status == hipStreamCaptureStatusActive && graph && *graph)
        shown(*graph, key);
    return status;
}

hipError_t rl_stream_get_capture_info_v2(rl_hipStreamGetCaptureInfo_v2_fn *native, const void *caller,
                                         hipStream_t stream, hipStreamCaptureStatus *captureStatus_out,
                                         unsigned long long *id_out, hipGraph_t *graph_out,
                                         const hipGraphNode_t **dependencies_out, size_t *numDependencies_out)
{
    return informed(
        native(stream, captureStatus_out, id_out, graph_out, dependencies_out, numDependencies_out), caller,
        key_of(stream, false), captureStatus_out, graph_out);
}

hipError_t rl_stream_get_capture_info_v2_spt(rl_hipStreamGetCaptureInfo_v2_spt_fn *native, const void *caller,
                                             hipStream_t stream, hipStreamCaptureStatus *captureStatus_out,
                                             unsigned long long *id_out, hipGraph_t *graph_out,
                                             const hipGraphNode_t **dependencies_out,
                                             size_t *numDependencies_out)
{
    return informed(
        native(stream, captureStatus_out, id_out, graph_out, dependencies_out, numDependencies_out), caller,
        key_of(stream, true), captureStatus_out, graph_out);
}

/* Changes which edges the next captured node gets; HIP is asked for them when the graph is instantiated. */
hipError_t rl_stream_update_capture_dependencies(rl_hipStreamUpdateCaptureDependencies_fn *native,
                                                 const void *caller, hipStream_t stream,
                                                 hipGraphNode_t *dependencies, size_t numDependencies,
                                                 unsigned int flags)
{
    hipError_t status = native(stream, dependencies, numDependencies, flags);
    const void *key = key_of(stream, false);
    hipGraph_t graph;

    (void)caller;
    rl_invalidate_stream(status, (hipStream_t)key);
    graph = rl_active() ? graph_captured(find(key)) : NULL;
    if (graph) {
        rl_invalidate_graph(status, graph);
        rl_graph_mark(graph, status == hipSuccess ? 0 : RL_FAILED);
    }
    return status;
}

/* A capture on the stream ends with it. */
hipError_t rl_stream_destroy(rl_hipStreamDestroy_fn *native, const void *caller, hipStream_t stream)
{
    const void *key = key_of(stream, false);
    hipGraph_t graph;

    (void)caller;
    if (rl_active()) {
        graph = graph_captured(find(key));
        set_in_capture(rl_side_table_find(RL_GRAPH, graph), false);
        rl_graph_mark(graph, RL_CAPTURE_UNKNOWN);
        close_capture(key);
        rl_stream_state_close(stream);
    }
    return native(stream);
}
