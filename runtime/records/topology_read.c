/* SPDX-License-Identifier: Apache-2.0 */
/* See topology.h: reading. */
#include "records/topology.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/fault.h"
#include "base/memory.h"
#include "kernels/arguments.h"
#include "records/places.h"

enum {
    MOST_NODES = 1 << 20, /* of one graph with all graphs inside it */
    MOST_EDGES = 1 << 22,
    MOST_LEVELS = 16,
    MOST_ARGUMENT_BYTES = 64 << 10,
    MOST_EXTRA_WORDS = 16,
};

/* The markers of hipKernelNodeParams.extra, which HIP defines as casts of these numbers. */
enum { PARAM_END = 3, PARAM_BUFFER = 1, PARAM_BUFFER_SIZE = 2 };

enum { FUNCTIONS = 64 };

struct reader {
    const struct rl_hip_table *hip;
    hipGraphExec_t exec; /* NULL: cannot be asked about the graph being read */
    bool fresh;          /* an exec was just made from the graph, and has not been changed since */
    bool failed;
    size_t nodes_left, edges_left;
    bool branches; /* in the graph being read, or around it: arguments tell its nodes apart */
    enum rl_reason reason;
    char *detail;
    struct {
        void *handle;
        struct rl_function is;
    } functions[FUNCTIONS]; /* those met last */
};

__attribute__((format(printf, 3, 4))) static bool refuse(struct reader *reader, enum rl_reason reason,
                                                         const char *detail, ...)
{
    va_list arguments;

    if (reader->reason == RL_REASON_NONE) {
        reader->reason = reason;
        va_start(arguments, detail);
        vsnprintf(reader->detail, RL_TOPOLOGY_DETAIL, detail, arguments);
        va_end(arguments);
    }
    return false;
}

/* Whether a call of ours succeeded; the call is not made where tests let it fail. */
#define ASKED(reader, name, ...)                                                                             \
    ((reader)->hip->name && !rl_fault(RL_FAULT_NATIVE) && (reader)->hip->name(__VA_ARGS__) == hipSuccess     \
         ? true                                                                                              \
         : refuse(reader, RL_REASON_TOPOLOGY_CONTRADICTORY, #name " gave no answer"))

static void *allocate(struct reader *reader, size_t count, size_t size)
{
    void *memory = rl_allocate(count, size);

    if (!memory)
        refuse(reader, RL_REASON_OUT_OF_MEMORY, "%zu bytes for the description of a graph", count * size);
    return memory;
}

static bool position_of(const struct rl_place *places, size_t count, hipGraphNode_t handle,
                        uint32_t *position)
{
    size_t low = 0, high = count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (places[middle].key < (uintptr_t)handle)
            low = middle + 1;
        else
            high = middle;
    }
    if (low == count || places[low].key != (uintptr_t)handle)
        return false;
    *position = places[low].position;
    return true;
}

static bool read_nodes(struct reader *reader, hipGraph_t graph, struct rl_topology *topology,
                       hipGraphNode_t *handles, struct rl_place *places)
{
    size_t count = topology->node_count;

    if (count && !ASKED(reader, hipGraphGetNodes, graph, handles, &count))
        return false;
    if (count != topology->node_count)
        return refuse(reader, RL_REASON_TOPOLOGY_CONTRADICTORY, "graph %p has %zu nodes, then %zu",
                      (void *)graph, topology->node_count, count);
    for (size_t i = 0; i < count; i++) {
        topology->nodes[i].handle = handles[i];
        places[i] = (struct rl_place){ (uintptr_t)handles[i], (uint32_t)i };
        topology->shape.node_sum += rl_topology_node_sum(handles[i]);
    }
    topology->shape.nodes = count;
    rl_places_sort(places, count);
    for (size_t i = 0; i < count; i++)
        if (!places[i].key || (i && places[i].key == places[i - 1].key))
            return refuse(reader, RL_REASON_TOPOLOGY_CONTRADICTORY, "graph %p has node %p twice",
                          (void *)graph, (void *)(uintptr_t)places[i].key);
    return true;
}

/* Takes nodes without unfinished predecessors away until none is left; a cycle leaves some. */
static bool without_cycle(struct reader *reader, const struct rl_topology *topology)
{
    size_t nodes = topology->node_count, edges = topology->edge_count, done = 0, ready = 0;
    uint32_t *waits = allocate(reader, nodes, sizeof(*waits)),
             *order = allocate(reader, nodes, sizeof(*order));
    uint32_t *first = allocate(reader, nodes + 1, sizeof(*first)),
             *target = allocate(reader, edges, sizeof(*target));
    bool enough = waits && order && first && target;

    if (enough) {
        for (size_t i = 0; i < edges; i++) {
            waits[topology->edges[i].to]++;
            first[topology->edges[i].from + 1]++;
        }
        for (size_t i = 0; i < nodes; i++)
            first[i + 1] += first[i];
        for (size_t i = edges; i-- > 0;)
            target[--first[topology->edges[i].from + 1]] = topology->edges[i].to;
        /* first[n + 1] now is where n's targets begin; they end where those of n + 1 begin. */
        for (size_t i = 0; i < nodes; i++)
            if (!waits[i])
                order[ready++] = (uint32_t)i;
        for (; done < ready; done++) {
            size_t node = order[done], end = node + 1 < nodes ? first[node + 2] : edges;

            for (size_t i = first[node + 1]; i < end; i++)
                if (!--waits[target[i]])
                    order[ready++] = target[i];
        }
    }
    rl_release(waits);
    rl_release(order);
    rl_release(first);
    rl_release(target);
    return enough && done == nodes;
}

static bool read_edges(struct reader *reader, hipGraph_t graph, struct rl_topology *topology,
                       const struct rl_place *places)
{
    size_t count = 0, again;
    hipGraphNode_t *from, *to;
    bool good = false;

    if (!ASKED(reader, hipGraphGetEdges, graph, NULL, NULL, &count))
        return false;
    if (count > reader->edges_left)
        return refuse(reader, RL_REASON_TOPOLOGY_CONTRADICTORY, "graph %p has %zu edges", (void *)graph,
                      count);
    reader->edges_left -= count;
    topology->edges = allocate(reader, count, sizeof(*topology->edges));
    from = allocate(reader, count, sizeof(hipGraphNode_t));
    to = allocate(reader, count, sizeof(hipGraphNode_t));
    again = topology->edge_count = count;
    if (topology->edges && from && to)
        good = !count || ASKED(reader, hipGraphGetEdges, graph, from, to, &again);
    if (good && again != count)
        good = refuse(reader, RL_REASON_TOPOLOGY_CONTRADICTORY, "graph %p has %zu edges, then %zu",
                      (void *)graph, count, again);
    for (size_t i = 0; good && i < count; i++) {
        good = position_of(places, topology->node_count, from[i], &topology->edges[i].from) &&
               position_of(places, topology->node_count, to[i], &topology->edges[i].to);
        if (!good)
            refuse(reader, RL_REASON_TOPOLOGY_CONTRADICTORY,
                   "graph %p has an edge to a node of another graph", (void *)graph);
        topology->shape.edge_sum += rl_topology_edge_sum(from[i], to[i]);
    }
    topology->shape.edges = count;
    rl_release(from);
    rl_release(to);
    if (good && !without_cycle(reader, topology))
        good = refuse(reader, RL_REASON_TOPOLOGY_CONTRADICTORY, "the edges of graph %p form a cycle",
                      (void *)graph);
    return good;
}

/* Copies the block of packed arguments that `extra` leads to. */
static bool read_packed(struct reader *reader, struct rl_topology_node *node, void **extra)
{
    const void *block = NULL;
    size_t size = 0;

    for (int i = 0; i + 1 < MOST_EXTRA_WORDS && (uintptr_t)extra[i] != PARAM_END; i += 2) {
        if ((uintptr_t)extra[i] == PARAM_BUFFER)
            block = extra[i + 1];
        else if ((uintptr_t)extra[i] == PARAM_BUFFER_SIZE && extra[i + 1])
            size = *(const size_t *)extra[i + 1];
    }
    node->packed = node->kernel.known = true;
    if (!block || !size)
        return true;
    if (size > MOST_ARGUMENT_BYTES)
        return refuse(reader, RL_REASON_TOPOLOGY_CONTRADICTORY, "node %p has %zu bytes of arguments",
                      (void *)node->handle, size);
    node->kernel.arguments = allocate(reader, 1, size);
    if (!node->kernel.arguments)
        return false;
    memcpy(node->kernel.arguments, block, size);
    node->kernel.argument_bytes = size;
    return true;
}

static struct rl_function function_of(struct reader *reader, void *handle)
{
    size_t at = (size_t)rl_topology_mix((uintptr_t)handle) % FUNCTIONS;

    if (reader->functions[at].handle != handle || !handle) {
        reader->functions[at].handle = handle;
        reader->functions[at].is = rl_function_find(reader->hip, handle);
    }
    return reader->functions[at].is;
}

static bool read_kernel(struct reader *reader, struct rl_topology_node *node)
{
    hipKernelNodeParams params = { 0 };

    if (!ASKED(reader, hipGraphKernelNodeGetParams, node->handle, &params))
        return false;
    node->kernel.function = params.func;
    node->kernel.is = function_of(reader, params.func);
    node->kernel.grid = params.gridDim;
    node->kernel.block = params.blockDim;
    node->kernel.shared_bytes = params.sharedMemBytes;
    if (params.extra && !reader->failed)
        return read_packed(reader, node, params.extra);
    if ((reader->branches || !reader->fresh) && !reader->failed)
        node->kernel.known = rl_arguments_copy(node->kernel.is, params.kernelParams, &node->kernel.arguments,
                                               &node->kernel.argument_bytes);
    node->doubtful = !node->kernel.known && !reader->fresh;
    return true;
}

/* Before 7.2 HIP answers for one of several kinds of copy nodes and takes all others for that one. */
static void read_copy(struct reader *reader, struct rl_topology_node *node)
{
    enum { ANSWERS_FROM = 70200000 };
    hipMemcpy3DParms params = { 0 };
    int version = 0;

    if ((reader->branches || !reader->fresh) && reader->hip->hipRuntimeGetVersion &&
        reader->hip->hipRuntimeGetVersion(&version) == hipSuccess && version >= ANSWERS_FROM &&
        reader->hip->hipGraphMemcpyNodeGetParams &&
        reader->hip->hipGraphMemcpyNodeGetParams(node->handle, &params) == hipSuccess)
        node->copy = rl_topology_copy(&params);
    node->doubtful = !node->copy.bytes && !reader->fresh;
}

/* HIP answers only for nodes of the graph that the exec was made from, and only for these types. */
static bool read_enabled(struct reader *reader, struct rl_topology_node *node)
{
    unsigned int enabled = 1;

    if (!reader->exec || node->type > hipGraphNodeTypeMemset)
        return true;
    if (!ASKED(reader, hipGraphNodeGetEnabled, reader->exec, node->handle, &enabled))
        return false;
    node->disabled = !enabled;
    return true;
}

static struct rl_topology *read_level(struct reader *reader, hipGraph_t graph, int level);

static bool read_child(struct reader *reader, struct rl_topology_node *node, int level)
{
    hipGraphExec_t exec = reader->exec;
    bool branches = reader->branches;
    hipGraph_t inner = NULL;

    if (!ASKED(reader, hipGraphChildGraphNodeGetGraph, node->handle, &inner))
        return false;
    if (!inner || level + 1 == MOST_LEVELS)
        return refuse(reader, RL_REASON_TOPOLOGY_CONTRADICTORY, "node %p: graphs inside graphs without end",
                      (void *)node->handle);
    reader->exec = NULL;
    node->child = read_level(reader, inner, level + 1);
    reader->exec = exec;
    reader->branches = branches;
    return node->child;
}

static bool read_node(struct reader *reader, struct rl_topology_node *node, int level)
{
    hipGraphNodeType type = hipGraphNodeTypeCount;

    if (!ASKED(reader, hipGraphNodeGetType, node->handle, &type) ||
        (node->type = type, !read_enabled(reader, node)))
        return false;
    switch (type) {
    case hipGraphNodeTypeKernel: return read_kernel(reader, node);
    case hipGraphNodeTypeMemset: return ASKED(reader, hipGraphMemsetNodeGetParams, node->handle, &node->fill);
    case hipGraphNodeTypeMemcpy: read_copy(reader, node); return true;
    case hipGraphNodeTypeGraph: return read_child(reader, node, level);
    default: return true;
    }
}

/* One node behind the other; the edges are known to form no cycle. */
static bool is_chain(struct reader *reader, const struct rl_topology *topology)
{
    enum { LEFT = 1, ENTERED = 2 };
    unsigned char *marks;
    bool chain = true;

    if (topology->edge_count + 1 != topology->node_count)
        return false;
    marks = allocate(reader, topology->node_count, sizeof(*marks));
    for (size_t i = 0; marks && chain && i < topology->edge_count; i++) {
        unsigned char *from = &marks[topology->edges[i].from], *to = &marks[topology->edges[i].to];

        chain = !(*from & LEFT) && !(*to & ENTERED);
        *from |= LEFT;
        *to |= ENTERED;
    }
    rl_release(marks);
    return chain && marks;
}

static bool fill_level(struct reader *reader, hipGraph_t graph, struct rl_topology *topology, int level)
{
    size_t count = 0;
    hipGraphNode_t *handles;
    struct rl_place *places;
    bool good, branches = reader->branches;

    if (!ASKED(reader, hipGraphGetNodes, graph, NULL, &count))
        return false;
    if (count > reader->nodes_left)
        return refuse(reader, RL_REASON_TOPOLOGY_CONTRADICTORY, "graph %p has %zu nodes", (void *)graph,
                      count);
    reader->nodes_left -= count;
    topology->nodes = allocate(reader, count, sizeof(*topology->nodes));
    handles = allocate(reader, count, sizeof(*handles));
    places = allocate(reader, count, sizeof(*places));
    good = topology->nodes && handles && places;
    topology->node_count = topology->nodes ? count : 0;
    good = good && read_nodes(reader, graph, topology, handles, places) &&
           read_edges(reader, graph, topology, places);
    branches = branches || (good && !is_chain(reader, topology));
    for (size_t i = 0; good && i < count; i++) {
        reader->branches = branches;
        good = read_node(reader, &topology->nodes[i], level);
    }
    rl_release(handles);
    rl_release(places);
    return good;
}

static struct rl_topology *read_level(struct reader *reader, hipGraph_t graph, int level)
{
    struct rl_topology *topology = allocate(reader, 1, sizeof(*topology));

    if (!topology)
        return NULL;
    if (!fill_level(reader, graph, topology, level)) {
        rl_topology_free(topology);
        return NULL;
    }
    rl_topology_set_digests(topology);
    return topology;
}

struct rl_topology *rl_topology_read(const struct rl_hip_table *hip, hipGraph_t graph, hipGraphExec_t exec,
                                     bool failed, enum rl_reason *reason, char detail[RL_TOPOLOGY_DETAIL])
{
    struct reader reader = { .hip = hip,
                             .exec = exec,
                             .fresh = exec,
                             .failed = failed,
                             .nodes_left = MOST_NODES,
                             .edges_left = MOST_EDGES,
                             .detail = detail };
    struct rl_topology *topology;

    detail[0] = 0;
    topology = read_level(&reader, graph, 0);
    *reason = reader.reason;
    return topology;
}
