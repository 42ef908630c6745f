/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Whether one packet of a launch can be one node of its graph.
 *
 * A kernel is told by the module or library that it belongs to and its name, grid, block, LDS and arguments, as far as
 * these are known; HIP's own fills and copies by the memory that they write.
 */
#ifndef REDLINE_MATCH_H
#define REDLINE_MATCH_H

#include "proof/observe.h"
#include "records/topology.h"

/* `function`: of the node's kernel. Of a function whose module is not known only the name is compared. */
bool rl_match_kernel(const struct rl_observation *seen, const struct rl_topology_node *node,
                     struct rl_function function, const struct rl_seen *packet);
bool rl_match_function(struct rl_function function, const struct rl_code *code);
bool rl_match_geometry(const struct rl_observation *seen, const struct rl_topology_node *node,
                       const struct rl_seen *packet);

/* `done`: bytes that earlier packets have filled. */
bool rl_match_fill(const struct rl_observation *seen, const struct rl_topology_node *node, uint64_t done,
                   const struct rl_seen *packet);
uint64_t rl_match_fill_bytes(const struct rl_topology_node *node);

bool rl_match_copy(const struct rl_observation *seen, const struct rl_topology_node *node,
                   const struct rl_seen *packet);

/* The arguments of both are known, and were compared. */
bool rl_match_told_by_arguments(const struct rl_observation *seen, const struct rl_topology_node *node,
                                const struct rl_seen *packet);

#endif
