/* SPDX-License-Identifier: Apache-2.0 */
/* See objects.h. */
#define _GNU_SOURCE
#include "objects.h"

#include <stdlib.h>
#include <string.h>

enum { POOL_OBJECTS = 1 << 17 };

static struct object *pool, *free_list;
static size_t pool_used, alive;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static _Thread_local struct object *threads_stream;

struct object *object_make(enum kind kind)
{
    struct object *object = free_list;

    if (!pool)
        pool = calloc(POOL_OBJECTS, sizeof(*pool));
    if (object)
        free_list = object->next;
    else if (pool_used < POOL_OBJECTS)
        object = &pool[pool_used++];
    else
        abort();
    memset(object, 0, sizeof(*object));
    object->kind = kind;
    alive++;
    return object;
}

void object_unmake(struct object *object)
{
    free(object->nodes);
    free(object->edges);
    object->kind = FREE;
    object->next = free_list;
    free_list = object;
    alive--;
}

struct object *object_known(const void *handle, enum kind kind)
{
    struct object *object = (struct object *)handle;

    if (object < pool || object >= pool + pool_used || ((char *)object - (char *)pool) % sizeof(*pool))
        return NULL;
    return object->kind == kind ? object : NULL;
}

void graph_add_node(struct object *graph, struct object *node)
{
    if (graph->node_count == graph->node_room) {
        graph->node_room = graph->node_room ? 2 * graph->node_room : 4;
        graph->nodes = realloc(graph->nodes, graph->node_room * sizeof(*graph->nodes));
    }
    graph->nodes[graph->node_count++] = node;
    node->graph = graph;
}

bool graph_has_edge(const struct object *graph, const struct object *from, const struct object *to)
{
    for (size_t i = 0; i < graph->edge_count; i++)
        if (graph->edges[i].from == from && graph->edges[i].to == to)
            return true;
    return false;
}

void graph_add_edge(struct object *graph, struct object *from, struct object *to)
{
    if (graph->edge_count == graph->edge_room) {
        graph->edge_room = graph->edge_room ? 2 * graph->edge_room : 4;
        graph->edges = realloc(graph->edges, graph->edge_room * sizeof(*graph->edges));
    }
    graph->edges[graph->edge_count++] = (struct edge){ from, to };
}

void node_destroy(struct object *node)
{
    if (node->child)
        graph_destroy(node->child);
    object_unmake(node);
}

void graph_destroy(struct object *graph)
{
    for (size_t i = 0; i < graph->node_count; i++)
        node_destroy(graph->nodes[i]);
    object_unmake(graph);
}

/* A copy of all nodes and edges; each node's `source` is the original. */
struct object *graph_copy(const struct object *graph, enum kind kind)
{
    struct object *made = object_make(kind);

    for (size_t i = 0; i < graph->node_count; i++) {
        const struct object *from = graph->nodes[i];
        struct object *node = object_make(NODE);

        node->type = from->type;
        node->kernel = from->kernel;
        node->fill = from->fill;
        node->enabled = 1;
        node->source = (struct object *)from;
        node->child = from->child ? graph_copy(from->child, GRAPH) : NULL;
        graph_add_node(made, node);
    }
    for (size_t i = 0; i < graph->edge_count; i++) {
        struct object *ends[2] = { NULL, NULL };

        for (size_t n = 0; n < made->node_count; n++) {
            if (made->nodes[n]->source == graph->edges[i].from)
                ends[0] = made->nodes[n];
            if (made->nodes[n]->source == graph->edges[i].to)
                ends[1] = made->nodes[n];
        }
        graph_add_edge(made, ends[0], ends[1]);
    }
    return made;
}

/* The child of a fork has one thread, whoever held the lock. */
static void unlock_in_child(void)
{
    pthread_mutex_init(&lock, NULL);
}

__attribute__((constructor)) static void watch_forks(void)
{
    pthread_atfork(NULL, NULL, unlock_in_child);
}

void model_lock(void)
{
    pthread_mutex_lock(&lock);
}

hipError_t model_done(hipError_t status)
{
    pthread_mutex_unlock(&lock);
    return status;
}

struct object *stream_of(hipStream_t stream, bool per_thread)
{
    if (stream == (hipStream_t)2 || (!stream && per_thread)) {
        if (!threads_stream)
            threads_stream = object_make(STREAM);
        return threads_stream;
    }
    return object_known(stream, STREAM);
}

EXPORT size_t standin_objects(void)
{
    size_t count;

    model_lock();
    count = alive;
    model_done(hipSuccess);
    return count;
}

struct object *object_at(size_t n)
{
    return n < pool_used ? &pool[n] : NULL;
}
