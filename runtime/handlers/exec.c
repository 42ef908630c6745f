/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Execs: instantiate, update, launch, destroy.
 *
 * Reading the graph back makes calls of HIP. That happens only after a native success, only for an
 * application's call and never for one that HIP makes to itself, which may hold locks of its own.
 */
#include "handlers/exec.h"

#include <stdio.h>

#include "handlers.h"
#include "native/native.h"
#include "native/process.h"
#include "native/quiet.h"
#include "records/records.h"
#include "replay/launch.h"

/* hipGraphInstantiateFlags of hip_runtime_api.h, which no signature names. The first frees what allocation
 * nodes left, and those make an exec native anyway; the second prepares memory. Both leave what a launch does
 * as it is. */
enum { AUTO_FREE_ON_LAUNCH = 1, UPLOAD = 2 };
static const unsigned long long harmless_flags = AUTO_FREE_ON_LAUNCH | UPLOAD;

static struct rl_report_exec *report_of(const struct rl_record *record)
{
    return (struct rl_report_exec *)atomic_load_explicit(&record->note, memory_order_relaxed);
}

/* An exec's reason to be native; RL_REASON_NONE: nothing speaks against a replay so far. The first one found
 * stands. */
struct finding {
    enum rl_reason reason;
    char detail[RL_TEXT_SIZE];
};

static enum rl_reason reason_of_marks(uint32_t marks)
{
    if (marks & RL_USER_OBJECT)
        return RL_REASON_USER_OBJECT;
    if (marks & RL_FAILED)
        return RL_REASON_NATIVE_FAILED;
    if (marks & RL_CAPTURE_UNKNOWN)
        return RL_REASON_CAPTURE_UNKNOWN;
    return marks & RL_UNSEEN ? RL_REASON_UNSEEN : RL_REASON_NONE;
}

static void check_flags(struct finding *finding, unsigned long long flags)
{
    if (finding->reason != RL_REASON_NONE || !(flags & ~harmless_flags))
        return;
    finding->reason = RL_REASON_FLAGS;
    snprintf(finding->detail, sizeof(finding->detail), "flags 0x%llx", flags);
}

static void check_nodes(struct finding *finding, const struct rl_topology *topology)
{
    const struct rl_topology_node *node = topology ? rl_topology_native_node(topology) : NULL;

    if (finding->reason != RL_REASON_NONE || !topology)
        return;
    if (node) {
        finding->reason = RL_REASON_NODE_TYPE;
        snprintf(finding->detail, sizeof(finding->detail), "%s (type %u)", rl_topology_type_name(node->type),
                 node->type);
    } else if (!topology->node_count) {
        finding->reason = RL_REASON_EMPTY;
    }
}

/* Asks HIP about `graph`, from which `exec` was just made or, when NULL, updated, and compares the answer. */
static struct rl_topology *read_back(hipGraph_t graph, hipGraphExec_t exec, struct finding *finding)
{
    struct rl_ref ref = rl_side_table_find(RL_GRAPH, graph);
    bool failed = rl_graph_doubts(graph) & (RL_FAILED | RL_REFUSED);
    struct rl_topology *topology = NULL;
    enum rl_reason differs;
    char detail[RL_TEXT_SIZE];
    struct rl_quiet quiet;

    finding->detail[0] = 0;
    if (!rl_quiet_begin(&quiet)) {
        finding->reason = RL_REASON_PENDING_ERROR;
        return NULL;
    }
    topology = rl_topology_read(quiet.hip, graph, exec, failed, &finding->reason, finding->detail);
    rl_quiet_end(&quiet);
    if (!topology)
        return NULL;
    finding->reason = reason_of_marks(rl_graph_doubts(graph));
    if (finding->reason == RL_REASON_NONE) {
        differs = rl_graph_compare(ref, topology, detail);
        finding->reason = differs;
        if (differs != RL_REASON_NONE)
            snprintf(finding->detail, sizeof(finding->detail), "%s", detail);
    }
    check_nodes(finding, topology);
    return topology;
}

static _Atomic unsigned unread; /* at least the execs whose graph could not be asked about for an error */

static void set_reason(struct rl_exec *exec, const struct finding *finding)
{
    if (finding->reason == RL_REASON_PENDING_ERROR)
        atomic_fetch_add_explicit(&unread, 1, memory_order_relaxed);
    atomic_store_explicit(&exec->reason, finding->reason, memory_order_release);
    rl_report_exec_reason(report_of(&exec->base), finding->reason, "%s", finding->detail);
}

static void record_exec(hipGraphExec_t handle, hipGraph_t source, unsigned long long flags)
{
    struct rl_exec *exec;
    struct finding finding;
    struct rl_topology *topology = read_back(source, handle, &finding);
    struct rl_report_exec *report = rl_report_exec(topology ? topology->node_count : 0);

    check_flags(&finding, flags);
    rl_count(RL_COUNT_execs_created);
    exec = (struct rl_exec *)rl_side_table_take(RL_EXEC);
    if (!exec) {
        rl_side_table_erase(RL_EXEC, handle); /* of an exec whose destroy nobody told us of */
        rl_topology_free(topology);
        rl_report_exec_reason(report, RL_REASON_OUT_OF_MEMORY, NULL);
        return;
    }
    atomic_store_explicit(&exec->base.note, (uintptr_t)report, memory_order_relaxed);
    exec->topology = topology;
    exec->source = rl_side_table_find(RL_GRAPH, source);
    exec->source_edits = rl_graph_edits(exec->source);
    exec->flags = flags;
    set_reason(exec, &finding);
    rl_side_table_insert(RL_EXEC, handle, &exec->base);
}

static bool made(hipError_t status, const void *caller, hipGraphExec_t *out)
{
    return rl_active() && status == hipSuccess && out && *out && !rl_called_by_hip(caller);
}

hipError_t rl_graph_instantiate(rl_hipGraphInstantiate_fn *native, const void *caller,
                                hipGraphExec_t *pGraphExec, hipGraph_t graph, hipGraphNode_t *pErrorNode,
                                char *pLogBuffer, size_t bufferSize)
{
    hipError_t status = native(pGraphExec, graph, pErrorNode, pLogBuffer, bufferSize);

    if (made(status, caller, pGraphExec))
        record_exec(*pGraphExec, graph, 0);
    return status;
}

hipError_t rl_graph_instantiate_with_flags(rl_hipGraphInstantiateWithFlags_fn *native, const void *caller,
                                           hipGraphExec_t *pGraphExec, hipGraph_t graph,
                                           unsigned long long flags)
{
    hipError_t status = native(pGraphExec, graph, flags);

    if (made(status, caller, pGraphExec))
        record_exec(*pGraphExec, graph, flags);
    return status;
}

hipError_t rl_graph_instantiate_with_params(rl_hipGraphInstantiateWithParams_fn *native, const void *caller,
                                            hipGraphExec_t *pGraphExec, hipGraph_t graph,
                                            hipGraphInstantiateParams *instantiateParams)
{
    hipError_t status = native(pGraphExec, graph, instantiateParams);

    if (made(status, caller, pGraphExec))
        record_exec(*pGraphExec, graph, instantiateParams->flags);
    return status;
}

void rl_invalidate_exec(hipError_t status, hipGraphExec_t handle)
{
    struct rl_ref ref;

    if (!rl_active())
        return;
    ref = rl_side_table_find(RL_EXEC, handle);
    rl_ref_mark(ref, status == hipSuccess ? RL_STALE : RL_STALE | RL_FAILED);
    if (status != hipSuccess && rl_ref_hold(ref)) {
        struct finding finding = { RL_REASON_NATIVE_FAILED, "" };

        set_reason((struct rl_exec *)ref.record, &finding);
        rl_record_drop(ref.record);
    }
}

/* Nothing was changed by an update from the very graph of which the exec was made, with no call on either
 * since. */
static bool nothing_changed(const struct rl_exec *exec, struct rl_ref graph)
{
    return exec->source.record == graph.record && exec->source.generation == graph.generation &&
           !(atomic_load_explicit(&exec->base.marks, memory_order_acquire) & (RL_STALE | RL_CHANGED)) &&
           exec->source_edits == rl_graph_edits(graph);
}

/* HIP compares counts and types by position and never edges. Ours stay those that the exec was made with, so
 * only a graph that has the same ones can take the place of its description. What HIP does with arguments in
 * child graphs it does not say. */
static void adopt_update(struct rl_exec *exec, hipGraph_t graph)
{
    struct finding finding;
    struct rl_topology *topology = read_back(graph, NULL, &finding), *before = exec->topology;

    if (finding.reason == RL_REASON_NONE && (!before || !rl_topology_alike(before, topology))) {
        finding.reason = RL_REASON_TOPOLOGY_DIFFERS;
        snprintf(finding.detail, sizeof(finding.detail),
                 "graph %p has other edges than the exec that it updated", (void *)graph);
    }
    check_flags(&finding, exec->flags);
    if (before && topology && finding.reason == RL_REASON_NONE) {
        for (size_t i = 0; i < topology->node_count; i++) {
            topology->nodes[i].disabled = before->nodes[i].disabled;
            /* HIP names an exec's nodes by its first source */
            topology->nodes[i].handle = before->nodes[i].handle;
        }
        topology->children_doubtful = topology->has_children;
        exec->topology = topology;
        topology = before;
    }
    rl_topology_free(topology);
    set_reason(exec, &finding);
}

static bool same_contents(const struct rl_exec *exec, uint64_t digest, bool complete)
{
    return complete && exec->topology && exec->topology->complete && exec->topology->digest == digest &&
           !exec->topology->has_children;
}

/* An application may update an exec right after making it, from the same graph: what was examined then still
 * holds. So does what a launch has shown, if the arguments that HIP holds for the graph are what they were. */
static void updated(struct rl_exec *exec, hipGraph_t graph)
{
    struct rl_ref source = rl_side_table_find(RL_GRAPH, graph);
    bool same = nothing_changed(exec, source), complete = exec->topology && exec->topology->complete;
    uint64_t before = complete ? exec->topology->digest : 0;

    atomic_fetch_and(&exec->base.marks, ~(uint32_t)(RL_FAILED | RL_CHANGED));
    if (!same)
        atomic_fetch_or(&exec->base.marks, RL_STALE);
    exec->source = source;
    exec->source_edits = rl_graph_edits(source);
    exec->updated = true;
    adopt_update(exec, graph);
    /* rule: arguments-in-memory-are-compared */
    if (!same_contents(exec, before, complete) && (!same || atomic_load(&exec->base.marks) & RL_LAUNCHED))
        atomic_fetch_or(&exec->base.marks, RL_STALE);
    atomic_fetch_or(&exec->base.marks, RL_UPDATED);
    /* A call on the exec that failed, or found it busy, meanwhile. */
    if (atomic_load(&exec->base.marks) & RL_FAILED)
        set_reason(exec, &(struct finding){ RL_REASON_NATIVE_FAILED, "" });
}

/* What a launch reads is changed only between launches. In the middle of one the description cannot follow:
 * the exec is native until an update that finds it free. */
static void updated_when_free(struct rl_exec *exec, hipGraph_t graph)
{
    if (atomic_exchange_explicit(&exec->busy, true, memory_order_acquire)) {
        rl_invalidate_exec(hipErrorUnknown, (hipGraphExec_t)exec->base.native);
        return;
    }
    updated(exec, graph);
    atomic_store_explicit(&exec->busy, false, memory_order_release);
}

/* HIP counts nodes before it looks at any, and says then that no node in particular is to blame. */
static bool untouched(hipError_t status, hipGraph_t graph, const hipGraphNode_t *error,
                      const hipGraphExecUpdateResult *result)
{
    if (!graph || !error || !result)
        return status == hipErrorInvalidValue;
    return status == hipErrorGraphExecUpdateFailure && *result == hipGraphExecUpdateErrorTopologyChanged &&
           !*error;
}

hipError_t rl_graph_exec_update(rl_hipGraphExecUpdate_fn *native, const void *caller,
                                hipGraphExec_t hGraphExec, hipGraph_t hGraph, hipGraphNode_t *hErrorNode_out,
                                hipGraphExecUpdateResult *updateResult_out)
{
    struct rl_ref ref = rl_side_table_find(RL_EXEC, hGraphExec);
    hipError_t status = native(hGraphExec, hGraph, hErrorNode_out, updateResult_out);

    if (status != hipSuccess && untouched(status, hGraph, hErrorNode_out, updateResult_out))
        return status;
    if (status != hipSuccess || !rl_active() || rl_called_by_hip(caller)) {
        rl_invalidate_exec(status, hGraphExec);
        return status;
    }
    rl_count(RL_COUNT_execs_updated);
    if (!rl_ref_hold(ref))
        return status;
    updated_when_free((struct rl_exec *)ref.record, hGraph);
    rl_record_drop(ref.record);
    return status;
}

/* ---- an error was pending ---- */

static bool is_pending(const struct rl_exec *exec)
{
    return atomic_load_explicit(&exec->reason, memory_order_acquire) == RL_REASON_PENDING_ERROR;
}

/* The graph still says what the exec was made or updated from, and nobody has changed the exec since. */
static bool source_is_there(const struct rl_exec *exec)
{
    return rl_ref_valid(exec->source) && exec->source_edits == rl_graph_edits(exec->source) &&
           !(atomic_load(&exec->base.marks) & (RL_NODE_SET | RL_FAILED));
}

/* Busy with it. */
static void read_now(struct rl_exec *exec)
{
    hipGraph_t graph = (hipGraph_t)exec->source.record->native;
    struct finding finding;

    if (exec->updated) {
        adopt_update(exec, graph);
        return;
    }
    exec->topology = read_back(graph, (hipGraphExec_t)exec->base.native, &finding);
    check_flags(&finding, exec->flags);
    set_reason(exec, &finding);
}

/* HIP could not be asked when the exec was made or updated, because the application had an error of another call to
 * ask for; perhaps it has by now. `source`: only if it was that graph. */
static void read_later(struct rl_ref ref, const struct rl_ref *source)
{
    struct rl_exec *exec = (struct rl_exec *)ref.record;

    if (!rl_ref_hold(ref))
        return;
    if (is_pending(exec) && !atomic_exchange_explicit(&exec->busy, true, memory_order_acquire)) {
        if (is_pending(exec) && source_is_there(exec) &&
            (!source ||
             (exec->source.record == source->record && exec->source.generation == source->generation))) {
            atomic_fetch_sub_explicit(&unread, 1, memory_order_relaxed);
            read_now(exec);
        }
        atomic_store_explicit(&exec->busy, false, memory_order_release);
    }
    rl_record_drop(ref.record);
}

enum { MOST_PENDING = 32 };

struct pending {
    struct rl_ref execs[MOST_PENDING];
    size_t count;
};

static bool collect(const struct rl_record *record, void *context)
{
    struct pending *pending = context;

    if (is_pending((const struct rl_exec *)record) && pending->count < MOST_PENDING)
        pending->execs[pending->count++] = (struct rl_ref){
            (struct rl_record *)record,
            (uint32_t)(atomic_load_explicit(&record->life, memory_order_relaxed) >> RL_HOLD_BITS)
        };
    return false;
}

void rl_execs_read(hipGraph_t graph)
{
    struct rl_ref source = rl_side_table_find(RL_GRAPH, graph);
    struct pending pending = { .count = 0 };

    if (!atomic_load_explicit(&unread, memory_order_relaxed))
        return;
    rl_side_table_erase_if(RL_EXEC, collect, &pending);
    for (size_t i = 0; i < pending.count; i++)
        read_later(pending.execs[i], &source);
}

hipError_t rl_graph_exec_destroy(rl_hipGraphExecDestroy_fn *native, const void *caller,
                                 hipGraphExec_t graphExec)
{
    (void)caller;
    return rl_active() ? rl_launch_destroy(native, graphExec) : native(graphExec);
}

static __attribute__((noinline, cold)) hipError_t read_and_launch(rl_hipGraphLaunch_fn *native,
                                                                  hipGraphExec_t graphExec,
                                                                  hipStream_t stream, bool per_thread)
{
    read_later(rl_side_table_find(RL_EXEC, graphExec), NULL);
    return rl_launch(native, graphExec, stream, per_thread);
}

hipError_t rl_graph_launch(rl_hipGraphLaunch_fn *native, const void *caller, hipGraphExec_t graphExec,
                           hipStream_t stream)
{
    if (!rl_active() || rl_called_by_hip(caller))
        return native(graphExec, stream);
    if (atomic_load_explicit(&unread, memory_order_relaxed))
        return read_and_launch(native, graphExec, stream, false);
    return rl_launch(native, graphExec, stream, false);
}

hipError_t rl_graph_launch_spt(rl_hipGraphLaunch_spt_fn *native, const void *caller, hipGraphExec_t graphExec,
                               hipStream_t stream)
{
    if (!rl_active() || rl_called_by_hip(caller))
        return native(graphExec, stream);
    if (atomic_load_explicit(&unread, memory_order_relaxed))
        return read_and_launch(native, graphExec, stream, true);
    return rl_launch(native, graphExec, stream, true);
}

static bool mark_one(const struct rl_record *record, void *marks)
{
    atomic_fetch_or(&((struct rl_record *)record)->marks, *(uint32_t *)marks);
    return false;
}

void rl_execs_mark(uint32_t marks)
{
    rl_side_table_erase_if(RL_EXEC, mark_one, &marks);
}
