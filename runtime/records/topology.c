/* SPDX-License-Identifier: Apache-2.0 */
/* See topology.h: what is asked about one that was read. */
#include "records/topology.h"

#include "base/memory.h"
#include "records/places.h"

struct rl_topology_copy rl_topology_copy(const hipMemcpy3DParms *params)
{
    bool plain = !params->srcArray && !params->dstArray && params->extent.height <= 1 &&
                 params->extent.depth <= 1 && !params->srcPos.x && !params->srcPos.y && !params->srcPos.z &&
                 !params->dstPos.x && !params->dstPos.y && !params->dstPos.z;

    return (struct rl_topology_copy){ params->srcPtr.ptr, params->dstPtr.ptr,
                                      plain ? params->extent.width : 0 };
}

static uint64_t add(uint64_t digest, uint64_t value)
{
    return rl_topology_mix(digest + value + UINT64_C(0x9e3779b97f4a7c15));
}

static uint64_t add_bytes(uint64_t digest, const void *data, size_t size)
{
    const unsigned char *bytes = data;

    for (size_t i = 0; i < size; i++)
        digest = (digest ^ bytes[i]) * UINT64_C(0x100000001b3);
    return rl_topology_mix(digest);
}

static uint64_t outline_of(uint64_t digest, const struct rl_topology_node *node)
{
    digest = add(digest, (uint64_t)node->type << 2 | (uint64_t)node->disabled << 1 | node->packed);
    switch (node->type) {
    case hipGraphNodeTypeKernel:
        digest = add(digest, (uintptr_t)node->kernel.function);
        digest = add_bytes(digest, &node->kernel.grid, sizeof(dim3));
        digest = add_bytes(digest, &node->kernel.block, sizeof(dim3));
        return add(digest, node->kernel.shared_bytes);
    case hipGraphNodeTypeMemset:
        digest = add(digest, (uintptr_t)node->fill.dst);
        digest = add(digest, (uint64_t)node->fill.elementSize << 32 | node->fill.value);
        digest = add(digest, node->fill.width);
        return add(add(digest, node->fill.height), node->fill.pitch);
    case hipGraphNodeTypeGraph: return add(digest, node->child->outline);
    default: return digest;
    }
}

static uint64_t contents_of(uint64_t digest, const struct rl_topology_node *node)
{
    if (node->type == hipGraphNodeTypeGraph)
        return add(digest, node->child->digest);
    if (node->type != hipGraphNodeTypeKernel)
        return digest;
    digest = add(add(digest, node->kernel.is.module), node->kernel.argument_bytes);
    return add_bytes(digest, node->kernel.arguments, node->kernel.argument_bytes);
}

static bool is_complete(const struct rl_topology_node *node)
{
    if (node->type == hipGraphNodeTypeGraph)
        return node->child->complete;
    return node->type != hipGraphNodeTypeKernel || node->kernel.known;
}

void rl_topology_set_digests(struct rl_topology *topology)
{
    uint64_t outline = topology->node_count, contents = 0, edges = 0;

    topology->complete = true;
    for (size_t i = 0; i < topology->node_count; i++) {
        const struct rl_topology_node *node = &topology->nodes[i];

        outline = outline_of(outline, node);
        contents = contents_of(contents, node);
        topology->complete = topology->complete && is_complete(node);
        topology->has_children = topology->has_children || node->type == hipGraphNodeTypeGraph;
    }
    for (size_t i = 0; i < topology->edge_count; i++)
        edges += rl_topology_mix((uint64_t)topology->edges[i].from << 32 | topology->edges[i].to);
    topology->outline = add(outline, edges);
    topology->digest = add(topology->outline, contents);
}

static void forget_arguments(struct rl_topology *topology)
{
    for (size_t i = 0; i < topology->node_count; i++) {
        struct rl_topology_node *node = &topology->nodes[i];

        if (node->type == hipGraphNodeTypeGraph)
            forget_arguments(node->child);
        if (node->type != hipGraphNodeTypeKernel)
            continue;
        rl_release(node->kernel.arguments);
        node->kernel.arguments = NULL;
        node->kernel.argument_bytes = 0;
        node->kernel.known = false;
    }
}

void rl_topology_forget_children(struct rl_topology *topology)
{
    topology->children_doubtful = false;
    for (size_t i = 0; i < topology->node_count; i++)
        if (topology->nodes[i].type == hipGraphNodeTypeGraph)
            forget_arguments(topology->nodes[i].child);
}

void rl_topology_free(struct rl_topology *topology)
{
    if (!topology)
        return;
    for (size_t i = 0; i < topology->node_count; i++) {
        struct rl_topology_node *node = &topology->nodes[i];

        if (node->type == hipGraphNodeTypeGraph)
            rl_topology_free(node->child);
        else if (node->type == hipGraphNodeTypeKernel)
            rl_release(node->kernel.arguments);
    }
    rl_release(topology->nodes);
    rl_release(topology->edges);
    rl_release(topology);
}

/* NULL: no memory. */
static struct rl_place *sorted_edges(const struct rl_topology *topology)
{
    struct rl_place *edges = rl_allocate(topology->edge_count, sizeof(*edges));

    for (size_t i = 0; edges && i < topology->edge_count; i++)
        edges[i].key = (uint64_t)topology->edges[i].from << 32 | topology->edges[i].to;
    if (edges)
        rl_places_sort(edges, topology->edge_count);
    return edges;
}

static bool edges_alike(const struct rl_topology *one, const struct rl_topology *other)
{
    struct rl_place *left = sorted_edges(one), *right = sorted_edges(other);
    bool alike = left && right;

    for (size_t i = 0; alike && i < one->edge_count; i++)
        alike = left[i].key == right[i].key;
    rl_release(left);
    rl_release(right);
    return alike;
}

bool rl_topology_alike(const struct rl_topology *one, const struct rl_topology *other)
{
    if (one->node_count != other->node_count || one->edge_count != other->edge_count ||
        !edges_alike(one, other))
        return false;
    for (size_t i = 0; i < one->node_count; i++)
        if (one->nodes[i].type != other->nodes[i].type ||
            (one->nodes[i].type == hipGraphNodeTypeGraph &&
             !rl_topology_alike(one->nodes[i].child, other->nodes[i].child)))
            return false;
    return true;
}

/* What a retained buffer cannot express: the host, other streams, other processes, memory that comes and
 * goes. */
static bool only_hip_can_run(uint32_t type)
{
    switch (type) {
    case hipGraphNodeTypeKernel:
    case hipGraphNodeTypeMemcpy:
    case hipGraphNodeTypeMemset:
    case hipGraphNodeTypeGraph:
    case hipGraphNodeTypeEmpty:
    case hipGraphNodeTypeMemcpyFromSymbol:
    case hipGraphNodeTypeMemcpyToSymbol: return false;
    default: return true;
    }
}

const struct rl_topology_node *rl_topology_native_node(const struct rl_topology *topology)
{
    const struct rl_topology_node *found = NULL;

    for (size_t i = 0; i < topology->node_count && !found; i++) {
        const struct rl_topology_node *node = &topology->nodes[i];

        if (only_hip_can_run(node->type))
            found = node;
        else if (node->type == hipGraphNodeTypeGraph)
            found = rl_topology_native_node(node->child);
    }
    return found;
}

const char *rl_topology_type_name(uint32_t type)
{
    static const char *const names[] = {
        [hipGraphNodeTypeKernel] = "kernel",
        [hipGraphNodeTypeMemcpy] = "copy",
        [hipGraphNodeTypeMemset] = "fill",
        [hipGraphNodeTypeHost] = "host function",
        [hipGraphNodeTypeGraph] = "child graph",
        [hipGraphNodeTypeEmpty] = "empty",
        [hipGraphNodeTypeWaitEvent] = "event wait",
        [hipGraphNodeTypeEventRecord] = "event record",
        [hipGraphNodeTypeExtSemaphoreSignal] = "semaphore signal",
        [hipGraphNodeTypeExtSemaphoreWait] = "semaphore wait",
        [hipGraphNodeTypeMemAlloc] = "allocation",
        [hipGraphNodeTypeMemFree] = "free",
        [hipGraphNodeTypeMemcpyFromSymbol] = "copy from a variable",
        [hipGraphNodeTypeMemcpyToSymbol] = "copy to a variable",
        [hipGraphNodeTypeBatchMemOp] = "memory operations",
    };

    return type < sizeof(names) / sizeof(names[0]) && names[type] ? names[type] : "unknown";
}
