/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What we know about HIP's objects.
 *
 * A graph's record says what the calls seen so far made of the graph; HIP's own answer is compared with it
 * when the graph is instantiated. A node's record says whose it is. An exec's record holds what HIP said
 * about the graph it was made from, and why it is launched natively. A stream has a record while a capture
 * that was begun on it is open (capture.c).
 *
 * A mark is a doubt about an object. It makes execs native: the object itself, or every exec that is made from it
 * later. A mark too many costs speed and is otherwise harmless.
 *
 * Threads: any function from any thread; none of them calls HIP. HIP asks applications not to use one graph in
 * two threads at once; what they do wrong costs no more than a wrong record, which the comparison with HIP
 * finds. Out of memory means "no record": native.
 */
#ifndef REDLINE_RECORDS_H
#define REDLINE_RECORDS_H

#include "base/side_table.h"
#include "hip_api.h"
#include "records/topology.h"
#include "report/report.h"

enum rl_mark {
    RL_STALE = 1,            /* exec: changed since its last launch */
    RL_FAILED = 2,           /* a native call on it failed and may have done half of its work */
    RL_USER_OBJECT = 4,      /* graph: holds a user object */
    RL_UNSEEN = 8,           /* graph: comes from something that has no record */
    RL_CAPTURE_UNKNOWN = 16, /* graph, stream: its capture cannot be followed */
    RL_CHANGED = 32,         /* exec: no longer what its source graph made of it, and launched since */
    RL_REFUSED = 64,   /* graph: HIP refused a call on it; what it has then is compared with what it had */
    RL_NODE_SET = 128, /* exec: parameters of a node were set since it was last examined */
    RL_UPDATED = 256,  /* exec: updated from a graph since it was last examined */
    RL_LAUNCHED = 512  /* exec: a launch was observed */
};

struct rl_graph {
    struct rl_record base;
    _Atomic bool in_capture;
    /* the rest: under the lock of records.c */
    struct rl_shape shape;
    bool nodes_known, edges_known; /* false: HIP's next answer is taken as it is */
    struct rl_node *nodes;
    struct rl_ref parent;              /* of a graph inside a child node */
    uint64_t edits;                    /* calls that changed the graph, its nodes or a graph inside it */
    uint64_t read_edits, read_outline; /* HIP's last answer, and how many calls it had seen */
    bool was_read;
};

struct rl_node {
    struct rl_record base;
    /* the rest: under the lock of records.c */
    struct rl_ref graph;
    struct rl_node *next, **link; /* in the graph's list; link NULL: in none */
    hipGraph_t inner;             /* what hipGraphChildGraphNodeGetGraph handed out */
};

/* Whoever launches execs keeps more behind it. */
struct rl_exec {
    struct rl_record base;        /* its note: struct rl_report_exec * */
    _Atomic bool busy;            /* a launch or an update is under way: what is not atomic belongs to it */
    _Atomic uint32_t reason;      /* enum rl_reason: why it is native */
    struct rl_topology *topology; /* NULL: could not be read; owned */
    struct rl_ref source; /* the graph it was made or updated from, and that graph's edits at the time */
    uint64_t source_edits;
    bool updated; /* it was updated, since it was made */
    unsigned long long flags;
};

struct rl_capture {
    struct rl_record base;
    /* under the lock of records.c: the graph being captured, NULL while nobody has seen it */
    hipGraph_t graph;
};

extern _Atomic unsigned rl_captures_open; /* at least the captures that are under way, whoever makes them */

/* What generated shims say, after the native call and with its result: `made` is the out parameter itself,
 * since a failing call leaves garbage behind it. NULL and handles without a record are normal. */
void rl_record_graph(hipError_t status, const void *caller, hipGraph_t *made);
void rl_record_node(hipError_t status, const void *caller, hipGraphNode_t *made, hipGraph_t owner,
                    const hipGraphNode_t *dependencies, size_t count);
void rl_invalidate_graph(hipError_t status, hipGraph_t graph);
void rl_invalidate_node(hipError_t status, hipGraphNode_t node);
void rl_invalidate_stream(hipError_t status, hipStream_t stream);

/* For the handlers. */
struct rl_ref rl_graph_find_or_make(hipGraph_t graph, uint32_t marks_if_made);
void rl_graph_mark(hipGraph_t graph, uint32_t marks); /* the graphs that it is inside of, too */
uint32_t rl_graph_doubts(hipGraph_t graph);           /* its marks; RL_UNSEEN without a record */
uint64_t rl_graph_edits(struct rl_ref graph);         /* changes with each call that may have changed it */
void rl_graph_forget(hipGraph_t graph);               /* with its nodes and the graphs inside them */
void rl_graph_shape_unknown(hipGraph_t graph);        /* it changes where no shim sees it */
void rl_graph_edges(hipGraph_t graph, const hipGraphNode_t *from, const hipGraphNode_t *to, size_t count,
                    bool added);
struct rl_ref rl_node_forget(hipGraphNode_t node); /* gives the graph that it was in */
void rl_graph_failed(struct rl_ref graph);         /* a native call on something in it did */
void rl_node_inner(hipGraphNode_t node, hipGraph_t inner);
void rl_records_forget(void); /* everything */
bool rl_records_define(void); /* before the first record is made; any number of times */

/* Compares HIP's answer with the record of the graph and keeps it; the reason when they differ, with its
 * detail. */
enum rl_reason rl_graph_compare(struct rl_ref graph, const struct rl_topology *topology,
                                char detail[RL_TEXT_SIZE]);

/* Guards what the structs above say; nothing is called with it held. */
void rl_records_lock(void);
void rl_records_unlock(void);

#endif
