/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A native graph as HIP describes it: nodes, edges, types, kernel and fill parameters, the graphs inside child nodes.
 *
 * Read through HIP's own functions on the thread that has just instantiated or updated an exec, within rl_quiet_begin()
 * and rl_quiet_end(). HIP's answers are not believed: every count has a limit, every handle is looked for among the
 * graph's own nodes, edges must not form a cycle, nesting has a limit. A topology is complete or not made at all, is never
 * changed and belongs to whoever read it.
 */
#ifndef REDLINE_TOPOLOGY_H
#define REDLINE_TOPOLOGY_H

#include "kernels/functions.h"
#include "native_table.h"
#include "report/reasons.h"

enum { RL_TOPOLOGY_DETAIL = 160 };

struct rl_shape {
    uint64_t nodes, node_sum, edges, edge_sum; /* counts, and sums in which the order does not matter */
};

struct rl_topology_node {
    hipGraphNode_t handle; /* of the source graph: only good for comparing */
    uint32_t type;         /* hipGraphNodeType, or a number that this release does not have */
    bool disabled;
    bool packed;   /* kernel: its arguments came as one block */
    bool doubtful; /* changed since it was launched, to something that is not described */
    union {
        struct {
            void *function;
            struct rl_function is; /* which kernel that is */
            dim3 grid, block;
            unsigned int shared_bytes;
            bool known;      /* `arguments` is all of them; false: not needed or not known (arguments.h) */
            void *arguments; /* one block, owned; NULL: none */
            size_t argument_bytes;
        } kernel;
        hipMemsetParams fill;
        struct rl_topology_copy {
            const void *from, *to;
            size_t bytes; /* 0: not one row of memory, or this HIP does not tell */
        } copy;
        struct rl_topology *child;
    };
};

struct rl_topology {
    size_t node_count, edge_count;
    struct rl_topology_node *nodes; /* in HIP's order */
    struct {
        uint32_t from, to; /* positions in nodes */
    } *edges;
    struct rl_shape shape; /* of this level alone */
    uint64_t outline; /* of everything that only calls can change, by position and without node handles */
    uint64_t digest;  /* and of which kernels they are, and what arguments hold, which anybody may write to */
    bool complete;    /* the digest tells of every argument */
    bool has_children;      /* a child node */
    bool children_doubtful; /* HIP may have left the arguments in there as they were before */
};

/*
 * Describes `graph`; `exec` was just made from it, or is NULL when it was made from another graph. `failed`: a call on the
 * graph or its nodes did, and no pointer that HIP hands out is followed. NULL with *reason and detail when an answer was
 * refused, did not fit, or memory ran out.
 */
struct rl_topology *rl_topology_read(const struct rl_hip_table *hip, hipGraph_t graph, hipGraphExec_t exec,
                                     bool failed, enum rl_reason *reason, char detail[RL_TOPOLOGY_DETAIL]);
void rl_topology_free(struct rl_topology *topology);
void rl_topology_set_digests(struct rl_topology *topology); /* when all else is there */

/* Arguments in inner graphs are not known any more. */
void rl_topology_forget_children(struct rl_topology *topology);

/* Whether both have the same nodes and edges at the same positions, whatever their parameters. */
bool rl_topology_alike(const struct rl_topology *one, const struct rl_topology *other);

/* The first node of a type that only HIP can run, in inner graphs too; NULL: none. */
const struct rl_topology_node *rl_topology_native_node(const struct rl_topology *topology);
struct rl_topology_copy rl_topology_copy(const hipMemcpy3DParms *params);
const char *rl_topology_type_name(uint32_t type);

static inline uint64_t rl_topology_mix(uint64_t x)
{
    x = (x ^ x >> 32) * UINT64_C(0x9e3779b97f4a7c15);
    x = (x ^ x >> 29) * UINT64_C(0xd6e8feb86659fd93);
    return x ^ x >> 32;
}

static inline uint64_t rl_topology_node_sum(hipGraphNode_t node)
{
    return rl_topology_mix((uintptr_t)node);
}

static inline uint64_t rl_topology_edge_sum(hipGraphNode_t from, hipGraphNode_t to)
{
    return rl_topology_mix(rl_topology_mix((uintptr_t)from) + (uintptr_t)to);
}

#endif
