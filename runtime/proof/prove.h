/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Whether the graph that HIP described and the packets that its launch left are the same thing, and if so, in
 * which order the packets have to run.
 *
 * Each dispatch is given to a node: a kernel by its name, grid, block and LDS, HIP's own fills and copies by
 * the memory that they write. A packet can only belong to a node whose predecessors have all been served
 * before. Where several nodes could be meant, it does not matter if they have the same neighbours; if they
 * have not, the packets run one after the other, as HIP has submitted them. (What HIP's barriers wait for is
 * no order: a wait that is over is left out.)
 *
 * Threads: any; nothing is kept. Functions of HIP are asked for the names of kernels, within
 * rl_quiet_begin().
 */
#ifndef REDLINE_PROVE_H
#define REDLINE_PROVE_H

#include "proof/observe.h"
#include "records/topology.h"

struct rl_proof {
    uint32_t *packets; /* dispatches: positions in seen->packets, in order of reservation */
    uint32_t *levels;  /* of each */
    uint32_t *nodes;   /* the node that each belongs to, in the graph with its inner graphs laid flat */
    void **functions;  /* what that node calls its kernel */
    uint32_t count;
    bool by_graph; /* levels come from the graph's edges; else each dispatch is a level */
};

/* False with seen->reason. */
bool rl_prove(const struct rl_hip_table *hip, const struct rl_topology *topology, struct rl_observation *seen,
              struct rl_proof *proof);

/* Whether the graph still is what was proved, but for the values of arguments: these are written into what
 * was seen, which then is what HIP would submit now. False: another launch must be observed, and what was
 * seen is of no use any more. */
bool rl_prove_again(const struct rl_topology *topology, struct rl_observation *seen,
                    const struct rl_proof *proof);
void rl_proof_free(struct rl_proof *proof);

#endif
