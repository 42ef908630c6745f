/* SPDX-License-Identifier: Apache-2.0 */
/* See flat.h. */
#include "proof/flat.h"

#include <string.h>

#include "base/memory.h"

static void count_all(const struct rl_topology *topology, size_t *nodes, size_t *edges)
{
    *nodes += topology->node_count;
    *edges += topology->edge_count;
    for (size_t i = 0; i < topology->node_count; i++)
        if (topology->nodes[i].type == hipGraphNodeTypeGraph) {
            *nodes += 1;
            *edges += 2 * topology->nodes[i].child->node_count + 1;
            count_all(topology->nodes[i].child, nodes, edges);
        }
}

static void add_edge(struct rl_flat *flat, uint32_t from, uint32_t to)
{
    flat->edges[flat->edge_count++] = (struct rl_edge){ from, to };
}

static bool runs(const struct rl_topology_node *node)
{
    return !node->disabled &&
           (node->type == hipGraphNodeTypeKernel || node->type == hipGraphNodeTypeMemset ||
            node->type == hipGraphNodeTypeMemcpy || node->type == hipGraphNodeTypeMemcpyFromSymbol ||
            node->type == hipGraphNodeTypeMemcpyToSymbol);
}

/* Node i of the level becomes node base + i; exits[n]: the node that what follows n waits for. */
static void lay_flat(struct rl_flat *flat, const struct rl_topology *topology, uint32_t *exits)
{
    uint32_t base = flat->node_count;

    flat->node_count += (uint32_t)topology->node_count;
    for (uint32_t i = 0; i < topology->node_count; i++) {
        const struct rl_topology_node *node = &topology->nodes[i];
        uint32_t inner, leave;

        exits[base + i] = base + i;
        flat->nodes[base + i] = runs(node) ? node : NULL;
        if (node->type != hipGraphNodeTypeGraph)
            continue;
        leave = flat->node_count++;
        exits[base + i] = exits[leave] = leave;
        inner = flat->node_count;
        lay_flat(flat, node->child, exits);
        add_edge(flat, base + i, leave);
        for (uint32_t k = 0; k < node->child->node_count; k++) {
            add_edge(flat, base + i, inner + k);
            add_edge(flat, exits[inner + k], leave);
        }
    }
    for (size_t i = 0; i < topology->edge_count; i++)
        add_edge(flat, exits[base + topology->edges[i].from], base + topology->edges[i].to);
}

static void index_successors(struct rl_flat *flat)
{
    for (uint32_t i = 0; i < flat->edge_count; i++)
        flat->first[flat->edges[i].from]++;
    for (uint32_t i = 0, sum = 0; i <= flat->node_count; i++)
        flat->first[i] = sum += i < flat->node_count ? flat->first[i] : 0;
    for (uint32_t i = flat->edge_count; i-- > 0;)
        flat->next[--flat->first[flat->edges[i].from]] = flat->edges[i].to;
}

bool rl_flat_make(struct rl_flat *flat, const struct rl_topology *topology)
{
    size_t nodes = 0, edges = 0;
    uint32_t *exits;
    bool good;

    memset(flat, 0, sizeof(*flat));
    count_all(topology, &nodes, &edges);
    if (nodes > UINT32_MAX / 8 || edges > UINT32_MAX / 8)
        return false;
    flat->nodes = rl_allocate(nodes, sizeof(*flat->nodes));
    flat->edges = rl_allocate(edges, sizeof(*flat->edges));
    flat->first = rl_allocate(nodes + 1, sizeof(*flat->first));
    flat->next = rl_allocate(edges, sizeof(*flat->next));
    exits = rl_allocate(nodes, sizeof(*exits));
    good = flat->nodes && flat->edges && flat->first && flat->next && exits;
    if (good) {
        lay_flat(flat, topology, exits);
        index_successors(flat);
    }
    rl_release(exits);
    return good;
}

void rl_flat_free(struct rl_flat *flat)
{
    rl_release(flat->nodes);
    rl_release(flat->edges);
    rl_release(flat->first);
    rl_release(flat->next);
    memset(flat, 0, sizeof(*flat));
}
