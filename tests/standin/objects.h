/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Graphs, nodes, execs and streams of the model, kept in one pool that hands out the address that was freed
 * last, whatever it was. All functions but the first two are called with the model's lock held, under which
 * nothing foreign runs.
 */
#ifndef OBJECTS_H
#define OBJECTS_H

#include <pthread.h>

#include "within.h"

#define EXPORT __attribute__((visibility("default")))

enum kind { FREE, GRAPH, NODE, EXEC, STREAM };

struct edge {
    struct object *from, *to;
};

struct object {
    enum kind kind;
    struct object *next; /* in the list of free ones */
    /* graph, exec: the nodes in order of addition */
    struct object **nodes;
    size_t node_count, node_room;
    struct edge *edges;
    size_t edge_count, edge_room;
    /* node */
    struct object *graph, *source;
    hipGraphNodeType type;
    hipKernelNodeParams kernel;
    hipMemsetParams fill;
    struct object *child;
    unsigned enabled;
    /* stream */
    struct object *capturing; /* graph */
    struct object *origin;
    bool origin_here, invalidated;
    hipStreamCaptureMode mode;
    pthread_t thread;
    struct object *last[4]; /* what the next captured node depends on */
    size_t last_count;
};

void model_lock(void);
hipError_t model_done(hipError_t status); /* unlocks and gives the status back */

struct object *object_make(enum kind kind);
void object_unmake(struct object *object);
struct object *object_known(const void *handle, enum kind kind); /* NULL: no such object */
struct object *object_at(size_t n); /* of all in the pool, free ones too; NULL: end */
struct object *stream_of(hipStream_t stream, bool per_thread);

void graph_add_node(struct object *graph, struct object *node);
bool graph_has_edge(const struct object *graph, const struct object *from, const struct object *to);
void graph_add_edge(struct object *graph, struct object *from, struct object *to);
void graph_destroy(struct object *graph);
struct object *graph_copy(const struct object *graph,
                          enum kind kind); /* each node's source is the original */
void node_destroy(struct object *node);

#endif
