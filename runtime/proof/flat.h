/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A graph with the graphs inside its child nodes laid flat: nodes by number, edges, successors.
 *
 * The numbers depend on nothing but nodes and edges of the description, so two descriptions that are alike
 * have the same ones. A child node is its own entry; its exit is a node more. Threads: any; nothing is kept.
 */
#ifndef REDLINE_FLAT_H
#define REDLINE_FLAT_H

#include "pm4/lower.h"
#include "records/topology.h"

struct rl_flat {
    const struct rl_topology_node **nodes; /* NULL: the node only orders others */
    struct rl_edge *edges;
    uint32_t node_count, edge_count;
    uint32_t *first, *next; /* successors of node n: next[first[n]] to next[first[n + 1] - 1] */
};

/* False: no memory; rl_flat_free() is due all the same. */
bool rl_flat_make(struct rl_flat *flat, const struct rl_topology *topology);
void rl_flat_free(struct rl_flat *flat);

#endif
