/* SPDX-License-Identifier: Apache-2.0 */
/* Captures: the provisional record of a stream, graphs that are seen and edited before the end, failures. */
#include "check.h"

#include <pthread.h>

static hipGraph_t end(hipStream_t stream)
{
    hipGraph_t graph;

    GOOD(hipStreamEndCapture(stream, &graph));
    return graph;
}

static hipGraph_t graph_shown(hipStream_t stream)
{
    hipStreamCaptureStatus status;
    hipGraph_t graph = NULL;

    GOOD(hipStreamGetCaptureInfo_v2(stream, &status, NULL, &graph, NULL, NULL));
    CHECK(status == hipStreamCaptureStatusActive && graph);
    return graph;
}

static const struct rl_graph *graph_record(hipGraph_t graph)
{
    return (const struct rl_graph *)rl_side_table_find(RL_GRAPH, graph).record;
}

/* C023: the nodes are those that HIP lists, whatever calls were seen. */
static void check_capture(void)
{
    hipStream_t stream = standin_stream();
    hipGraph_t graph;
    hipGraphExec_t exec;

    GOOD(hipStreamBeginCapture(stream, hipStreamCaptureModeGlobal));
    CHECK(live(RL_CAPTURE) == 1 && live(RL_GRAPH) == 0);
    standin_capture_node(stream, hipGraphNodeTypeKernel);
    standin_capture_node(stream, hipGraphNodeTypeMemcpy);
    graph = end(stream);
    CHECK(live(RL_CAPTURE) == 0 && live(RL_GRAPH) == 1 && live(RL_NODE) == 0);
    exec = instantiate(graph);
    CHECK(reason_of(exec) == RL_REASON_NONE && live(RL_NODE) == 2);
    CHECK(exec_record(exec)->topology->node_count == 2 && exec_record(exec)->topology->edge_count == 1);
    /* from here on its nodes are known like those of any graph */
    standin_secret_node(graph);
    CHECK(reason_from(graph) == RL_REASON_TOPOLOGY_DIFFERS);
    GOOD(hipGraphExecDestroy(exec));
    GOOD(hipGraphDestroy(graph));
    GOOD(hipStreamDestroy(stream));
    CHECK(tables_empty() && !standin_objects());
}

/* C026 */
static void check_empty_capture(void)
{
    hipStream_t stream = standin_stream();

    GOOD(hipStreamBeginCapture(stream, hipStreamCaptureModeGlobal));
    CHECK(reason_from(end(stream)) == RL_REASON_EMPTY);
}

/* C021: nodes added by hand and dependencies replaced while the capture runs. */
static void check_edited_by_hand(void)
{
    for (int host = 0; host < 2; host++) {
        hipStream_t stream = standin_stream();
        hipGraphNode_t first, kernel, added;
        hipHostNodeParams params = { 0 };
        hipGraph_t graph;

        GOOD(hipStreamBeginCapture(stream, hipStreamCaptureModeThreadLocal));
        first = standin_capture_node(stream, hipGraphNodeTypeKernel);
        graph = graph_shown(stream);
        CHECK(graph_record(graph) && graph_shown(stream) == graph);
        kernel = kernel_node(graph, 4, first);
        if (host)
            GOOD(hipGraphAddHostNode(&added, graph, &kernel, 1, &params));
        GOOD(hipStreamUpdateCaptureDependencies(stream, host ? &added : &kernel, 1, 1));
        standin_capture_node(stream, hipGraphNodeTypeKernel);
        CHECK(end(stream) == graph);
        CHECK(reason_from(graph) == (host ? RL_REASON_NODE_TYPE : RL_REASON_NONE));
        CHECK(live(RL_NODE) == 3u + host);
        GOOD(hipGraphDestroy(graph));
        GOOD(hipStreamDestroy(stream));
        CHECK(tables_empty());
    }
}

/* C022: a node that could not be added in mid-capture. */
static void check_failure_by_hand(void)
{
    hipStream_t stream = standin_stream();
    hipGraphNode_t node;
    hipGraph_t graph;

    GOOD(hipStreamBeginCapture(stream, hipStreamCaptureModeRelaxed));
    graph = graph_shown(stream);
    standin_fail("hipGraphAddMemFreeNode", 1, 1, hipErrorInvalidValue, false);
    CHECK(hipGraphAddMemFreeNode(&node, graph, NULL, 0, NULL) == hipErrorInvalidValue);
    CHECK(hipGetLastError() == hipErrorInvalidValue);
    CHECK(end(stream) == graph && reason_from(graph) == RL_REASON_NATIVE_FAILED);
}

/* A user object retained in mid-capture stays with the graph. */
static void check_user_object_by_hand(void)
{
    hipStream_t stream = standin_stream();
    hipGraph_t graph;

    GOOD(hipStreamBeginCapture(stream, hipStreamCaptureModeRelaxed));
    standin_capture_node(stream, hipGraphNodeTypeKernel);
    graph = graph_shown(stream);
    GOOD(hipGraphRetainUserObject(graph, (hipUserObject_t)1, 1, 0));
    CHECK(end(stream) == graph && reason_from(graph) == RL_REASON_USER_OBJECT);
}

/* C016: a fork asks for the graph, and joins back; the origin ends the capture. */
static void check_forks(void)
{
    hipStream_t a = standin_stream(), b = standin_stream(), c = standin_stream();
    hipGraphNode_t by_hand;
    hipGraphExec_t exec;
    hipGraph_t graph;

    GOOD(hipStreamBeginCapture(a, hipStreamCaptureModeGlobal));
    standin_capture_node(a, hipGraphNodeTypeKernel);
    standin_fork(a, b);
    standin_capture_node(b, hipGraphNodeTypeKernel);
    standin_fork(b, c);
    graph = graph_shown(c);
    by_hand = kernel_node(graph, 3, standin_capture_node(c, hipGraphNodeTypeKernel));
    GOOD(hipStreamUpdateCaptureDependencies(c, &by_hand, 1, 1));
    standin_fork(c, b);
    standin_fork(b, a);
    standin_capture_node(a, hipGraphNodeTypeKernel);
    CHECK(hipStreamEndCapture(b, &graph) == hipErrorStreamCaptureUnmatched); /* not the origin */
    CHECK(hipGetLastError() == hipErrorStreamCaptureUnmatched && live(RL_CAPTURE) == 1);
    graph = end(a);
    CHECK(live(RL_CAPTURE) == 0);
    exec = instantiate(graph);
    CHECK(reason_of(exec) == RL_REASON_NONE);
    CHECK(exec_record(exec)->topology->node_count == 5 && exec_record(exec)->topology->edge_count == 4);
}

/* C015: whatever an end answers, no capture is left behind, and the next one starts clean. */
static void check_failed_ends(void)
{
    for (int shows = 0; shows < 2; shows++)
        for (int status = 900; status <= 908; status++) {
            hipStream_t stream = standin_stream();
            hipGraph_t graph = NULL, shown = NULL;
            bool goes_on = status == 903 || status == 908;

            GOOD(hipStreamBeginCapture(stream, hipStreamCaptureModeRelaxed));
            if (shows)
                shown = graph_shown(stream);
            standin_fail("hipStreamEndCapture", 1, 1, status, !goes_on);
            CHECK((int)hipStreamEndCapture(stream, &graph) == status);
            CHECK((int)hipGetLastError() == status);
            CHECK(live(RL_CAPTURE) == (goes_on ? 1 : 0));
            if (status == 901 || status == 904)
                CHECK(!graph_record(shown));
            if (goes_on) {
                graph = end(stream);
                CHECK(reason_from(graph) == RL_REASON_EMPTY);
                GOOD(hipGraphDestroy(graph));
            }
            GOOD(hipStreamBeginCapture(stream, hipStreamCaptureModeRelaxed));
            standin_capture_node(stream, hipGraphNodeTypeKernel);
            graph = end(stream);
            CHECK(reason_from(graph) == RL_REASON_NONE);
            GOOD(hipGraphDestroy(graph));
            GOOD(hipStreamDestroy(stream));
            if (shown)
                rl_graph_forget(shown);
            CHECK(tables_empty());
        }
}

/* A fork showed the graph, the origin did not: it is in doubt when the origin's end deletes it. */
static void check_deleted_unnamed(void)
{
    hipStream_t a = standin_stream(), b = standin_stream();
    hipGraph_t graph, shown;

    GOOD(hipStreamBeginCapture(a, hipStreamCaptureModeRelaxed));
    standin_fork(a, b);
    shown = graph_shown(b);
    standin_fail("hipStreamEndCapture", 1, 1, 901, false);
    CHECK(hipStreamEndCapture(a, &graph) == hipErrorStreamCaptureInvalidated);
    CHECK(rl_graph_doubts(shown) & RL_CAPTURE_UNKNOWN);
}

/* C017: a destroyed stream's address, and its capture, come back. */
static void check_stream_reuse(void)
{
    hipStream_t stream = standin_stream(), again;
    hipGraph_t graph;

    GOOD(hipStreamBeginCapture(stream, hipStreamCaptureModeRelaxed));
    graph = graph_shown(stream);
    GOOD(hipStreamDestroy(stream));
    CHECK(live(RL_CAPTURE) == 0 && rl_graph_doubts(graph) & RL_CAPTURE_UNKNOWN);
    again = standin_stream();
    CHECK(again == stream);
    GOOD(hipStreamBeginCapture(again, hipStreamCaptureModeRelaxed));
    standin_capture_node(again, hipGraphNodeTypeKernel);
    CHECK(graph_shown(again) == graph); /* HIP's new graph, at the old one's address */
    graph = end(again);
    CHECK(reason_from(graph) == RL_REASON_NONE);
}

static void check_capture_to_graph(void)
{
    hipStream_t stream = standin_stream();
    hipGraphNode_t nodes[3], foreign = (hipGraphNode_t)nodes;
    hipGraph_t graph = chain(nodes), ended;

    CHECK(reason_from(graph) == RL_REASON_NONE);
    GOOD(hipStreamBeginCaptureToGraph(stream, graph, nodes, NULL, 1, hipStreamCaptureModeRelaxed));
    standin_capture_node(stream, hipGraphNodeTypeKernel);
    kernel_node(graph, 9, nodes[2]);
    CHECK(end(stream) == graph && reason_from(graph) == RL_REASON_NONE && live(RL_NODE) == 5);

    /* 901: HIP has deleted the application's own graph */
    GOOD(hipStreamBeginCaptureToGraph(stream, graph, NULL, NULL, 0, hipStreamCaptureModeRelaxed));
    standin_fail("hipStreamEndCapture", 1, 1, 901, true);
    CHECK(hipStreamEndCapture(stream, &ended) == hipErrorStreamCaptureInvalidated);
    CHECK(!graph_record(graph) && live(RL_NODE) == 0);
    GOOD(hipGraphDestroy(graph)); /* the stand-in's is alive */

    /* it fails over its dependencies and has begun all the same */
    graph = chain(nodes);
    CHECK(hipStreamBeginCaptureToGraph(stream, graph, &foreign, NULL, 1, hipStreamCaptureModeRelaxed) ==
          hipErrorInvalidValue);
    CHECK(hipGetLastError() == hipErrorInvalidValue && live(RL_CAPTURE) == 1);
    CHECK(end(stream) == graph && live(RL_CAPTURE) == 0 && reason_from(graph) == RL_REASON_NATIVE_FAILED);
    GOOD(hipGraphDestroy(graph));
    CHECK(tables_empty());
}

/* A second begin fails and leaves the first capture open. */
static void check_second_begin(void)
{
    hipStream_t stream = standin_stream();

    GOOD(hipStreamBeginCapture(stream, hipStreamCaptureModeRelaxed));
    CHECK(hipStreamBeginCapture(stream, hipStreamCaptureModeRelaxed) == hipErrorIllegalState);
    CHECK(hipGetLastError() == hipErrorIllegalState && live(RL_CAPTURE) == 1);
    standin_capture_node(stream, hipGraphNodeTypeKernel);
    CHECK(reason_from(end(stream)) == RL_REASON_CAPTURE_UNKNOWN);
}

static void *capture_per_thread(void *argument)
{
    bool per_thread = argument;
    hipGraph_t graph;

    for (int i = 0; i < 100; i++) {
        if (per_thread)
            GOOD(hipStreamBeginCapture_spt(NULL, hipStreamCaptureModeThreadLocal));
        else
            GOOD(hipStreamBeginCapture((hipStream_t)2, hipStreamCaptureModeThreadLocal));
        standin_capture_node((hipStream_t)2, hipGraphNodeTypeKernel);
        GOOD(hipStreamEndCapture_spt(per_thread ? NULL : (hipStream_t)2, &graph));
        CHECK(reason_from(graph) == RL_REASON_NONE);
        GOOD(hipGraphDestroy(graph));
    }
    return NULL;
}

/* C024: what stands for a stream is passed on as it is, and each thread's own stream is another one. */
static void check_stream_names(void)
{
    uintptr_t names[] = { 0, 1, 2 };
    pthread_t threads[4];
    hipGraph_t graph;

    for (int i = 0; i < 3; i++) {
        hipStreamBeginCapture((hipStream_t)names[i], hipStreamCaptureModeRelaxed);
        CHECK(standin_arguments("hipStreamBeginCapture")[0] == names[i]);
        hipStreamEndCapture((hipStream_t)names[i], &graph);
        CHECK(standin_arguments("hipStreamEndCapture")[0] == names[i]);
        hipStreamUpdateCaptureDependencies((hipStream_t)names[i], NULL, 0, 0);
        CHECK(standin_arguments("hipStreamUpdateCaptureDependencies")[0] == names[i]);
        hipStreamDestroy((hipStream_t)names[i]);
        CHECK(standin_arguments("hipStreamDestroy")[0] == names[i]);
    }
    CHECK(live(RL_CAPTURE) == 0);
    for (uintptr_t i = 0; i < 4; i++)
        CHECK(!pthread_create(&threads[i], NULL, capture_per_thread, (void *)(i % 2)));
    for (int i = 0; i < 4; i++)
        pthread_join(threads[i], NULL);
    CHECK(live(RL_CAPTURE) == 0 && live(RL_NODE) == 0);
}

/* An end without a begin that was seen: nothing vouches for the graph. */
static void check_unseen_begin(void)
{
    typedef hipError_t begin(hipStream_t, hipStreamCaptureMode);
    hipStream_t stream = standin_stream();

    GOOD(((begin *)standin_function("hipStreamBeginCapture"))(stream, hipStreamCaptureModeRelaxed));
    standin_capture_node(stream, hipGraphNodeTypeKernel);
    CHECK(reason_from(end(stream)) == RL_REASON_UNSEEN);
}

RUN_CHECKS({ "capture", check_capture }, { "empty_capture", check_empty_capture },
           { "edited_by_hand", check_edited_by_hand }, { "failure_by_hand", check_failure_by_hand },
           { "user_object_by_hand", check_user_object_by_hand }, { "forks", check_forks },
           { "failed_ends", check_failed_ends }, { "deleted_unnamed", check_deleted_unnamed },
           { "stream_reuse", check_stream_reuse }, { "capture_to_graph", check_capture_to_graph },
           { "second_begin", check_second_begin }, { "stream_names", check_stream_names },
           { "unseen_begin", check_unseen_begin })
