/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What is done to two buffers of one owner, on the GPU and at the same time in two numbers on the host: word i
 * of a buffer is always factor * i + term (mod 2^32), and every move keeps it so. A move is launched into a
 * stream or is a node of a graph.
 */
#ifndef TESTS_PROGRESS_MOVES_H
#define TESTS_PROGRESS_MOVES_H

#include "worker.h"

enum { MOST_MOVES = 8 };

enum move_kind {
    MUL_ADD,
    SCALE,
    SET,
    SLOW_SET,
    IOTA,
    ADD,
    COPY,
    SLOW_COPY,
    KERNELS,
    FILL = KERNELS,
    COPY_NODE,
    KINDS
};

struct numbers {
    uint32_t factor, term;
};

struct move {
    enum move_kind kind;
    uint32_t to; /* index of a buffer; what else is read is the other one */
    struct numbers by;
};

struct move_graph {
    struct move move[MOST_MOVES];
    uint32_t count;
    hipGraph_t graph;
    hipGraphNode_t node[MOST_MOVES];
    hipGraphExec_t exec;
};

static const char *const kernel_names[KERNELS] = { "mul_add", "scale", "set",  "slow_set",
                                                   "iota",    "add",   "copy", "slow_copy" };
static hipFunction_t kernels[KERNELS];

static inline void find_kernels(void)
{
    for (int i = 0; i < KERNELS; i++)
        kernels[i] = app_kernel(kernel_names[i]);
}

static inline struct move draw_move(struct worker *worker, uint32_t kinds)
{
    return (struct move){ .kind = draw(worker, kinds),
                          .to = draw(worker, 2),
                          .by = { 2 * draw(worker, 1000) + 1, draw(worker, 1000) } };
}

static inline void apply(const struct move *move, struct numbers buffer[2])
{
    struct numbers *to = &buffer[move->to], from = buffer[1 - move->to];

    switch (move->kind) {
    case MUL_ADD:
    case SCALE:
        to->factor *= move->by.factor;
        to->term = to->term * move->by.factor + (move->kind == MUL_ADD ? move->by.term : 0);
        break;
    case SET:
    case SLOW_SET:
    case FILL: *to = (struct numbers){ 0, move->by.term }; break;
    case IOTA: *to = (struct numbers){ 1, move->by.term }; break;
    case ADD: *to = (struct numbers){ to->factor + from.factor, to->term + from.term }; break;
    case COPY:
    case SLOW_COPY:
    case COPY_NODE: *to = from; break;
    case KINDS: break;
    }
}

struct move_arguments {
    uint32_t *to, *from, factor, term;
    void *pointer[4];
};

static inline void **arguments_of(const struct move *move, uint32_t *const buffer[2],
                                  struct move_arguments *a)
{
    a->to = buffer[move->to];
    a->from = buffer[1 - move->to];
    a->factor = move->by.factor;
    a->term = move->by.term;
    a->pointer[0] = &a->to;
    a->pointer[2] = a->pointer[3] = &app.n;
    switch (move->kind) {
    case MUL_ADD: a->pointer[2] = &a->term; /* fall through */
    case SCALE: a->pointer[1] = &a->factor; break;
    case ADD:
        a->pointer[1] = &a->to;
        a->pointer[2] = &a->from;
        break;
    case COPY:
    case SLOW_COPY: a->pointer[1] = &a->from; break;
    default: a->pointer[1] = &a->term; break;
    }
    return a->pointer;
}

/* The caller has applied the move to its numbers, or does so. */
static inline void launch_move(const struct move *move, uint32_t *const buffer[2], hipStream_t stream)
{
    struct move_arguments arguments;

    if (move->kind == FILL)
        HIP(hipMemsetD32Async(buffer[move->to], (int)move->by.term, app.n, stream));
    else if (move->kind == COPY_NODE)
        HIP(hipMemcpyAsync(buffer[move->to], buffer[1 - move->to], app.n * sizeof(uint32_t),
                           hipMemcpyDeviceToDevice, stream));
    else
        HIP(hipModuleLaunchKernel(kernels[move->kind], BLOCKS(app.n), 1, 1, BLOCK, 1, 1, 0, stream,
                                  arguments_of(move, buffer, &arguments), NULL));
}

/* ---- graphs ---- */

static inline hipKernelNodeParams node_parameters(const struct move *move, uint32_t *const buffer[2],
                                                  struct move_arguments *arguments)
{
    return (hipKernelNodeParams){ .func = kernels[move->kind],
                                  .gridDim = { BLOCKS(app.n), 1, 1 },
                                  .blockDim = { BLOCK, 1, 1 },
                                  .kernelParams = arguments_of(move, buffer, arguments) };
}

static inline void add_node(struct move_graph *graph, uint32_t n, uint32_t *const buffer[2],
                            const hipGraphNode_t *behind, size_t count)
{
    const struct move *move = &graph->move[n];
    struct move_arguments arguments;

    if (move->kind == FILL) {
        hipMemsetParams fill = { .dst = buffer[move->to],
                                 .elementSize = 4,
                                 .width = app.n,
                                 .height = 1,
                                 .value = move->by.term,
                                 .pitch = app.n * sizeof(uint32_t) };
        HIP(hipGraphAddMemsetNode(&graph->node[n], graph->graph, behind, count, &fill));
    } else if (move->kind == COPY_NODE) {
        HIP(hipGraphAddMemcpyNode1D(&graph->node[n], graph->graph, behind, count, buffer[move->to],
                                    buffer[1 - move->to], app.n * sizeof(uint32_t), hipMemcpyDeviceToDevice));
    } else {
        hipKernelNodeParams parameters = node_parameters(move, buffer, &arguments);
        HIP(hipGraphAddKernelNode(&graph->node[n], graph->graph, behind, count, &parameters));
    }
}

static inline bool touches_both(const struct move *move)
{
    return move->kind == ADD || move->kind == COPY || move->kind == SLOW_COPY || move->kind == COPY_NODE;
}

/* One root and one last node: HIP 7.2.4 lets a second root run before copies that the stream has in flight,
 * and does not wait for each of several last nodes. */
static inline bool must_follow(const struct move_graph *graph, uint32_t n, uint32_t before)
{
    const struct move *move = &graph->move[n], *other = &graph->move[before];

    return before == 0 || n + 1 == graph->count || move->to == other->to || touches_both(move) ||
           touches_both(other);
}

static inline void make_graph(struct move_graph *graph, struct worker *worker, uint32_t *const buffer[2])
{
    graph->count = 1 + draw(worker, MOST_MOVES);
    HIP(hipGraphCreate(&graph->graph, 0));
    for (uint32_t n = 0; n < graph->count; n++) {
        hipGraphNode_t behind[MOST_MOVES];
        size_t count = 0;
        graph->move[n] = draw_move(worker, KINDS);
        for (uint32_t before = 0; before < n; before++)
            if (must_follow(graph, n, before))
                behind[count++] = graph->node[before];
        add_node(graph, n, buffer, behind, count);
    }
    graph->exec = instantiate(graph->graph);
}

static inline void destroy_graph(struct move_graph *graph)
{
    HIP(hipGraphExecDestroy(graph->exec));
    HIP(hipGraphDestroy(graph->graph));
}

/* New arguments for one kernel of the exec. */
static inline void update_graph(struct move_graph *graph, struct worker *worker, uint32_t *const buffer[2])
{
    uint32_t n = draw(worker, graph->count);
    struct move *move = &graph->move[n];
    struct move_arguments arguments;
    hipKernelNodeParams parameters;

    if (move->kind >= KERNELS)
        return;
    move->by = (struct numbers){ 2 * draw(worker, 1000) + 1, draw(worker, 1000) };
    parameters = node_parameters(move, buffer, &arguments);
    HIP(hipGraphExecKernelNodeSetParams(graph->exec, graph->node[n], &parameters));
}

#endif
