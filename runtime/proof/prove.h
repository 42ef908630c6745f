/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Whether the graph that HIP described and the packets that its launch left are the same thing, and if so, in
 * which order the packets have to run.
 *
 * Each dispatch is given to a node that it can be (match.h). It can only belong to a node whose predecessors
 * have all been served before. Where several nodes could be meant, it does not matter if they have the same neighbours; if they
 * have not, the packets run one after the other, as HIP has submitted them. (What HIP's barriers wait for is
 * no order: a wait that is over is left out.)
 *
 * Threads: any; nothing is kept. HIP is asked, within rl_quiet_begin(), for the names of functions that it
 * could not be asked about when the graph was read.
 */
#ifndef REDLINE_PROVE_H
#define REDLINE_PROVE_H

#include "proof/observe.h"
#include "records/topology.h"

struct rl_proof {
    uint32_t *packets; /* dispatches: positions in seen->packets, in order of reservation */
    uint32_t *levels;  /* of each */
    uint32_t *nodes;   /* the node that each belongs to, in the graph with its inner graphs laid flat */
    void **functions;  /* the handle of that node's kernel */
    uint32_t count;
    bool by_graph; /* levels come from the graph's edges; else each dispatch is a level */
};

/* False with seen->reason. */
bool rl_prove(const struct rl_topology *topology, struct rl_observation *seen, struct rl_proof *proof);
void rl_proof_free(struct rl_proof *proof);

#endif
