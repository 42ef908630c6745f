/* SPDX-License-Identifier: Apache-2.0 */
/* See records.h: graphs and nodes. Execs are in exec.c. */
#include "records/records.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "base/fork.h"
#include "native/native.h"
#include "native/process.h"

enum { MOST_LEVELS = 64 }; /* of graphs inside graphs; HIP's answers may claim that one is inside itself */

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
_Atomic unsigned rl_captures_open;
static _Atomic uint64_t edits_somewhere; /* calls that changed a graph nobody can name */

void rl_records_lock(void)
{
    pthread_mutex_lock(&lock);
}

void rl_records_unlock(void)
{
    pthread_mutex_unlock(&lock);
}

static struct rl_graph *graph_of(struct rl_ref ref)
{
    return (struct rl_graph *)ref.record;
}

static bool seen(hipError_t status, const void *caller, const void *made)
{
    return rl_active() && status == hipSuccess && made && !rl_called_by_hip(caller);
}

static void node_unlink(struct rl_node *node)
{
    struct rl_graph *graph = graph_of(node->graph);

    if (!node->link)
        return;
    *node->link = node->next;
    if (node->next)
        node->next->link = node->link;
    node->link = NULL;
    graph->shape.nodes--;
    graph->shape.node_sum -= rl_topology_node_sum((hipGraphNode_t)node->base.native);
}

/* The list's head is gone with its graph's record only after the list was emptied: see drop_nodes(). */
static void node_link(struct rl_node *node, struct rl_ref graph)
{
    struct rl_node **head = &graph_of(graph)->nodes;

    node->graph = graph;
    node->next = *head;
    node->link = head;
    if (node->next)
        node->next->link = &node->next;
    *head = node;
    graph_of(graph)->shape.nodes++;
    graph_of(graph)->shape.node_sum += rl_topology_node_sum((hipGraphNode_t)node->base.native);
}

static void node_retire(struct rl_record *record)
{
    rl_records_lock();
    node_unlink((struct rl_node *)record);
    rl_records_unlock();
}

/* Takes the nodes of a graph that goes away out of the table; the graph is held, or has no reader any
 * more. */
static void drop_nodes(struct rl_graph *graph)
{
    for (;;) {
        struct rl_node *node;
        hipGraphNode_t handle = NULL;
        hipGraph_t inner = NULL;

        rl_records_lock();
        node = graph->nodes;
        if (node) {
            handle = (hipGraphNode_t)node->base.native;
            inner = node->inner;
            node->inner = NULL;
            node_unlink(node);
        }
        rl_records_unlock();
        if (!node)
            return;
        if (rl_side_table_find(RL_NODE, handle).record == &node->base)
            rl_side_table_erase(RL_NODE, handle);
        if (inner)
            rl_graph_forget(inner);
    }
}

static void graph_retire(struct rl_record *record)
{
    drop_nodes((struct rl_graph *)record);
}

/* A new record of the graph in place of any that an earlier object left at this address. */
static struct rl_ref graph_make(hipGraph_t handle, bool empty, uint32_t marks)
{
    struct rl_graph *graph = (struct rl_graph *)rl_side_table_take(RL_GRAPH);

    if (graph) {
        graph->nodes_known = graph->edges_known = empty;
        atomic_fetch_or(&graph->base.marks, marks);
    }
    return rl_side_table_insert(RL_GRAPH, handle, graph ? &graph->base : NULL);
}

struct rl_ref rl_graph_find_or_make(hipGraph_t handle, uint32_t marks_if_made)
{
    struct rl_ref ref = rl_side_table_find(RL_GRAPH, handle);

    return ref.record ? ref : graph_make(handle, false, marks_if_made);
}

void rl_record_graph(hipError_t status, const void *caller, hipGraph_t *made)
{
    if (!seen(status, caller, made))
        return;
    graph_make(*made, true, 0);
    rl_count(RL_COUNT_graphs_created);
}

/* An edit of a graph inside a child node is one of every graph around it; where the outermost one is not
 * known, it may be one of any graph. */
static void count_edit(struct rl_ref ref)
{
    bool known = false;

    for (int level = 0; level < MOST_LEVELS && rl_ref_hold(ref); level++) {
        struct rl_ref parent;
        uint32_t marks = atomic_load_explicit(&ref.record->marks, memory_order_acquire);

        rl_records_lock();
        graph_of(ref)->edits++;
        parent = graph_of(ref)->parent;
        rl_records_unlock();
        known = !parent.record && !(marks & RL_UNSEEN);
        rl_record_drop(ref.record);
        ref = parent;
    }
    if (!known)
        atomic_fetch_add_explicit(&edits_somewhere, 1, memory_order_relaxed);
}

static uint64_t edits_of(const struct rl_graph *graph)
{
    return graph->edits + atomic_load_explicit(&edits_somewhere, memory_order_relaxed);
}

uint64_t rl_graph_edits(struct rl_ref ref)
{
    uint64_t edits = 0;

    if (rl_ref_hold(ref)) {
        rl_records_lock();
        edits = edits_of(graph_of(ref));
        rl_records_unlock();
        rl_record_drop(ref.record);
    }
    return edits;
}

static void mark_around(struct rl_ref ref, uint32_t marks)
{
    for (int level = 0; level < MOST_LEVELS && rl_ref_hold(ref); level++) {
        struct rl_ref parent;

        rl_ref_mark(ref, marks);
        rl_records_lock();
        parent = graph_of(ref)->parent;
        rl_records_unlock();
        rl_record_drop(ref.record);
        ref = parent;
    }
}

void rl_graph_mark(hipGraph_t graph, uint32_t marks)
{
    if (rl_active() && marks)
        mark_around(rl_side_table_find(RL_GRAPH, graph), marks);
}

uint32_t rl_graph_doubts(hipGraph_t graph)
{
    struct rl_ref ref = rl_side_table_find(RL_GRAPH, graph);

    return ref.record ? atomic_load_explicit(&ref.record->marks, memory_order_acquire) : RL_UNSEEN;
}

void rl_graph_forget(hipGraph_t handle)
{
    struct rl_ref ref = rl_side_table_find(RL_GRAPH, handle);

    if (!rl_ref_hold(ref))
        return;
    drop_nodes(graph_of(ref));
    rl_side_table_erase(RL_GRAPH, handle);
    rl_record_drop(ref.record);
}

void rl_graph_shape_unknown(hipGraph_t handle)
{
    struct rl_ref ref = rl_side_table_find(RL_GRAPH, handle);

    if (!rl_ref_hold(ref))
        return;
    rl_records_lock();
    graph_of(ref)->nodes_known = graph_of(ref)->edges_known = false;
    rl_records_unlock();
    rl_record_drop(ref.record);
}

void rl_graph_edges(hipGraph_t handle, const hipGraphNode_t *from, const hipGraphNode_t *to, size_t count,
                    bool added)
{
    struct rl_ref ref = rl_side_table_find(RL_GRAPH, handle);
    uint64_t sum = 0;

    if (!count || !rl_ref_hold(ref))
        return;
    for (size_t i = 0; i < count; i++)
        sum += rl_topology_edge_sum(from[i], to[i]);
    rl_records_lock();
    graph_of(ref)->shape.edges += added ? count : -count;
    graph_of(ref)->shape.edge_sum += added ? sum : -sum;
    rl_records_unlock();
    rl_record_drop(ref.record);
}

static bool shape_is_known(struct rl_ref ref)
{
    bool known = false;

    if (rl_ref_hold(ref)) {
        rl_records_lock();
        known = graph_of(ref)->nodes_known && graph_of(ref)->edges_known;
        rl_records_unlock();
        rl_record_drop(ref.record);
    }
    return known;
}

/* HIP refuses most wrong calls before it has touched anything, and some behind a node or an edge more. Nodes
 * and edges are all that the calls make which come this way: where it is known what was there before, HIP's next
 * answer tells. */
void rl_invalidate_graph(hipError_t status, hipGraph_t graph)
{
    struct rl_ref ref;

    if (!rl_active())
        return;
    ref = rl_side_table_find(RL_GRAPH, graph);
    if (status == hipErrorInvalidValue && shape_is_known(ref))
        mark_around(ref, RL_REFUSED);
    else if (status != hipSuccess)
        mark_around(ref, RL_FAILED);
    count_edit(ref);
}

static struct rl_ref graph_of_node(hipGraphNode_t handle)
{
    struct rl_ref ref = rl_side_table_find(RL_NODE, handle), graph = { 0 };

    if (!rl_ref_hold(ref))
        return graph;
    rl_records_lock();
    graph = ((struct rl_node *)ref.record)->graph;
    rl_records_unlock();
    rl_record_drop(ref.record);
    return graph;
}

static bool node_make(hipGraphNode_t handle, struct rl_ref graph)
{
    struct rl_node *node = (struct rl_node *)rl_side_table_take(RL_NODE);
    struct rl_ref ref = rl_side_table_insert(RL_NODE, handle, node ? &node->base : NULL);

    if (!rl_ref_hold(ref))
        return false;
    rl_records_lock();
    node_link(node, graph);
    rl_records_unlock();
    rl_record_drop(ref.record);
    return true;
}

void rl_record_node(hipError_t status, const void *caller, hipGraphNode_t *made, hipGraph_t owner,
                    const hipGraphNode_t *dependencies, size_t count)
{
    struct rl_ref graph;
    uint64_t sum = 0;
    bool recorded;

    if (!seen(status, caller, made) || !*made)
        return;
    graph = rl_side_table_find(RL_GRAPH, owner);
    if (!rl_ref_hold(graph)) {
        rl_side_table_erase(RL_NODE, *made);
        return;
    }
    for (size_t i = 0; dependencies && i < count; i++)
        sum += rl_topology_edge_sum(dependencies[i], *made);
    recorded = node_make(*made, graph);
    rl_records_lock();
    if (!recorded)
        graph_of(graph)->nodes_known = false;
    graph_of(graph)->shape.edges += dependencies ? count : 0;
    graph_of(graph)->shape.edge_sum += sum;
    rl_records_unlock();
    rl_record_drop(graph.record);
}

void rl_invalidate_node(hipError_t status, hipGraphNode_t node)
{
    struct rl_ref graph;

    if (!rl_active())
        return;
    graph = graph_of_node(node);
    if (status != hipSuccess)
        mark_around(graph, RL_FAILED);
    count_edit(graph);
}

/* Before the native destroy. Which edges go with the node is for HIP to say when it is asked next. */
struct rl_ref rl_node_forget(hipGraphNode_t handle)
{
    struct rl_ref ref = rl_side_table_find(RL_NODE, handle), graph = { 0 };
    hipGraph_t inner;

    if (!rl_ref_hold(ref))
        return graph;
    rl_records_lock();
    graph = ((struct rl_node *)ref.record)->graph;
    inner = ((struct rl_node *)ref.record)->inner;
    node_unlink((struct rl_node *)ref.record);
    rl_records_unlock();
    rl_side_table_erase(RL_NODE, handle);
    rl_record_drop(ref.record);
    if (rl_ref_hold(graph)) {
        rl_records_lock();
        graph_of(graph)->edges_known = false;
        rl_records_unlock();
        rl_record_drop(graph.record);
    }
    if (inner)
        rl_graph_forget(inner);
    count_edit(graph);
    return graph;
}

void rl_graph_failed(struct rl_ref graph)
{
    mark_around(graph, RL_FAILED);
}

void rl_node_inner(hipGraphNode_t node, hipGraph_t inner)
{
    struct rl_ref parent = graph_of_node(node);
    struct rl_ref ref = rl_graph_find_or_make(inner, parent.record ? 0 : RL_UNSEEN);

    if (parent.record)
        rl_ref_mark(ref, atomic_load_explicit(&parent.record->marks, memory_order_acquire));
    if (rl_ref_hold(ref)) {
        rl_records_lock();
        graph_of(ref)->parent = parent;
        rl_records_unlock();
        rl_record_drop(ref.record);
    }
    ref = rl_side_table_find(RL_NODE, node);
    if (rl_ref_hold(ref)) {
        rl_records_lock();
        ((struct rl_node *)ref.record)->inner = inner;
        rl_records_unlock();
        rl_record_drop(ref.record);
    }
}

/* Nodes that HIP has and nobody was told of, as in a captured graph, are recorded as the graph's. */
static void adopt_nodes(struct rl_ref graph, const struct rl_topology *topology)
{
    for (size_t i = 0; i < topology->node_count; i++) {
        hipGraphNode_t handle = topology->nodes[i].handle;
        struct rl_ref owner = graph_of_node(handle);

        if (owner.record != graph.record || owner.generation != graph.generation)
            node_make(handle, graph);
    }
}

static enum rl_reason differs(const struct rl_graph *graph, const struct rl_topology *topology,
                              char detail[RL_TEXT_SIZE])
{
    const struct rl_shape *ours = &graph->shape, *read = &topology->shape;
    const void *handle = (const void *)graph->base.native;

    detail[0] = 0;
    if (graph->nodes_known && ours->nodes != read->nodes)
        snprintf(detail, RL_TEXT_SIZE, "graph %p has %zu nodes instead of %zu", handle, (size_t)read->nodes,
                 (size_t)ours->nodes);
    else if (graph->nodes_known && ours->node_sum != read->node_sum)
        snprintf(detail, RL_TEXT_SIZE, "graph %p has other nodes than were added to it", handle);
    else if (graph->edges_known && ours->edges != read->edges)
        snprintf(detail, RL_TEXT_SIZE, "graph %p has %zu edges instead of %zu", handle, (size_t)read->edges,
                 (size_t)ours->edges);
    else if (graph->edges_known && ours->edge_sum != read->edge_sum)
        snprintf(detail, RL_TEXT_SIZE, "graph %p has other edges than were added to it", handle);
    else if (graph->was_read && graph->read_edits == edits_of(graph) &&
             graph->read_outline != topology->outline)
        snprintf(detail, RL_TEXT_SIZE, "nodes of graph %p have changed since it was read last", handle);
    if (!detail[0])
        return RL_REASON_NONE;
    return atomic_load_explicit(&graph->base.marks, memory_order_acquire) & RL_REFUSED
               ? RL_REASON_NATIVE_FAILED
               : RL_REASON_TOPOLOGY_DIFFERS;
}

enum rl_reason rl_graph_compare(struct rl_ref ref, const struct rl_topology *topology,
                                char detail[RL_TEXT_SIZE])
{
    struct rl_graph *graph = graph_of(ref);
    enum rl_reason reason;

    if (!rl_ref_hold(ref))
        return RL_REASON_UNSEEN;
    rl_records_lock();
    reason = differs(graph, topology, detail);
    rl_records_unlock();
    if (reason == RL_REASON_NONE)
        adopt_nodes(ref, topology);
    rl_records_lock();
    if (reason == RL_REASON_NONE) {
        graph->nodes_known = graph->shape.nodes == topology->shape.nodes &&
                             graph->shape.node_sum == topology->shape.node_sum;
        graph->edges_known = true;
        graph->shape.edges = topology->shape.edges;
        graph->shape.edge_sum = topology->shape.edge_sum;
    }
    graph->was_read = true;
    graph->read_edits = edits_of(graph);
    graph->read_outline = topology->outline;
    rl_records_unlock();
    rl_record_drop(ref.record);
    return reason;
}

void rl_invalidate_stream(hipError_t status, hipStream_t stream)
{
    if (rl_active() && status != hipSuccess)
        rl_ref_mark(rl_side_table_find(RL_CAPTURE, stream), RL_CAPTURE_UNKNOWN);
}

void rl_records_forget(void)
{
    for (int kind = 0; kind < RL_KIND_COUNT; kind++)
        rl_side_table_erase_if((enum rl_kind)kind, NULL, NULL);
    atomic_store(&rl_captures_open, 0);
}

bool rl_records_define(void)
{
    return rl_side_table_define(RL_GRAPH, sizeof(struct rl_graph), graph_retire) &&
           rl_side_table_define(RL_NODE, sizeof(struct rl_node), node_retire) &&
           rl_side_table_define(RL_CAPTURE, sizeof(struct rl_capture), NULL);
}

static void in_child(void)
{
    pthread_mutex_init(&lock, NULL);
}

RL_AT_FORK(NULL, NULL, in_child);
