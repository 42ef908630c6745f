/* SPDX-License-Identifier: Apache-2.0 */
/* See prove.h. */
#include "proof/prove.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "kernels/arguments.h"
#include "native/native.h"
#include "native/quiet.h"
#include "pm4/descriptor.h"
#include "proof/flat.h"

struct node {
    const struct rl_topology_node *is; /* NULL: it only orders others */
    uint64_t name;                     /* kernel: hash of its name, 0: not known */
    uint64_t before, after;            /* sums over its neighbours, in which the order does not matter */
    uint32_t waits;                    /* predecessors that have not got all of their packets */
    uint32_t packets;
    uint64_t done_bytes;
    bool queued, done;
};

struct prover {
    const struct rl_hip_table *hip;
    struct rl_observation *seen;
    struct rl_proof *proof;
    struct rl_flat flat;
    struct node *nodes; /* of flat */
    uint32_t node_count;
    uint32_t *ready; /* nodes that wait for nothing and are not done */
    uint32_t ready_count;
    bool unordered; /* no node waits for another */
    bool ambiguous;
};

__attribute__((format(printf, 3, 4))) static bool refuse(struct prover *prover, enum rl_reason reason,
                                                         const char *detail, ...)
{
    struct rl_observation *seen = prover->seen;
    va_list arguments;

    if (seen->reason == RL_REASON_NONE) {
        seen->reason = reason;
        va_start(arguments, detail);
        vsnprintf(seen->detail, sizeof(seen->detail), detail, arguments);
        va_end(arguments);
    }
    return false;
}

static void *allocate(struct prover *prover, size_t count, size_t size)
{
    void *memory = rl_allocate(count ? count : 1, size);

    if (!memory)
        refuse(prover, RL_REASON_OUT_OF_MEMORY, "%zu bytes to compare packets with a graph", count * size);
    return memory;
}

static bool lay_flat(struct prover *prover, const struct rl_topology *topology)
{
    const struct rl_flat *flat = &prover->flat;

    if (!rl_flat_make(&prover->flat, topology))
        return refuse(prover, RL_REASON_OUT_OF_MEMORY, "for the nodes of a graph");
    prover->nodes = allocate(prover, flat->node_count, sizeof(*prover->nodes));
    prover->ready = allocate(prover, flat->node_count, sizeof(*prover->ready));
    if (!prover->nodes || !prover->ready)
        return false;
    prover->node_count = flat->node_count;
    for (uint32_t i = 0; i < flat->node_count; i++)
        prover->nodes[i].is = flat->nodes[i];
    for (uint32_t i = 0; i < flat->edge_count; i++) {
        struct node *from = &prover->nodes[flat->edges[i].from], *to = &prover->nodes[flat->edges[i].to];

        from->after += rl_topology_mix(flat->edges[i].to + UINT64_C(1));
        to->before += rl_topology_mix(flat->edges[i].from + UINT64_C(1));
        to->waits++;
    }
    return true;
}

/* ---- names ---- */

struct named {
    void *function;
    uint64_t name;
};

static bool ask_names(struct prover *prover)
{
    struct named *table;
    size_t room = 16;
    struct rl_quiet quiet;

    while (room < 2 * (size_t)prover->node_count)
        room *= 2;
    table = allocate(prover, room, sizeof(*table));
    if (!table)
        return false;
    if (!rl_quiet_begin(&quiet)) {
        rl_release(table);
        return refuse(prover, RL_REASON_PENDING_ERROR, "%s", "");
    }
    for (uint32_t i = 0; i < prover->node_count; i++) {
        const struct rl_topology_node *node = prover->nodes[i].is;
        size_t at;

        if (!node || node->type != hipGraphNodeTypeKernel)
            continue;
        at = (size_t)rl_topology_mix((uintptr_t)node->kernel.function) & (room - 1);
        while (table[at].function && table[at].function != node->kernel.function)
            at = (at + 1) & (room - 1);
        if (!table[at].function)
            table[at] = (struct named){ node->kernel.function,
                                        rl_function_name(prover->hip, node->kernel.function) };
        prover->nodes[i].name = table[at].name;
    }
    rl_quiet_end(&quiet);
    rl_release(table);
    return true;
}

/* ---- which node a packet belongs to ---- */

static bool arguments_known(const struct prover *prover, const struct node *node,
                            const struct rl_seen *packet)
{
    return node->is->type == hipGraphNodeTypeKernel && node->is->kernel.arguments &&
           prover->seen->codes[packet->code].layout.known;
}

static bool has_geometry(const struct prover *prover, const struct node *node, const struct rl_seen *packet)
{
    const struct rl_aql_dispatch *dispatch = &packet->packet.dispatch;
    const dim3 *grid = &node->is->kernel.grid, *block = &node->is->kernel.block;
    uint32_t fixed;

    memcpy(&fixed, prover->seen->codes[packet->code].descriptor + RL_DESCRIPTOR_GROUP_BYTES, sizeof(fixed));
    return dispatch->workgroup[0] == block->x && dispatch->workgroup[1] == block->y &&
           dispatch->workgroup[2] == block->z && dispatch->grid[0] == (uint64_t)grid->x * block->x &&
           dispatch->grid[1] == (uint64_t)grid->y * block->y &&
           dispatch->grid[2] == (uint64_t)grid->z * block->z &&
           dispatch->group_bytes == fixed + node->is->kernel.shared_bytes;
}

static bool is_kernel(const struct prover *prover, const struct node *node, const struct rl_seen *packet)
{
    const struct rl_topology_node *is = node->is;
    const struct rl_code *code = &prover->seen->codes[packet->code];

    return code->builtin == RL_BUILTIN_NONE && node->name && node->name == code->name &&
           has_geometry(prover, node, packet) &&
           (!arguments_known(prover, node, packet) ||
            rl_arguments_match(&code->layout, is->kernel.arguments, is->kernel.argument_bytes,
                               prover->seen->bytes + packet->arguments, code->kernarg_bytes));
}

static uint64_t bytes_of(const struct node *node)
{
    const hipMemsetParams *fill = &node->is->fill;

    return (uint64_t)fill->width * fill->elementSize * (fill->height ? fill->height : 1);
}

/* HIP splits the fill of one row at 16-byte boundaries, and writes the parts in order; never a rectangle. */
static bool is_fill(const struct prover *prover, const struct node *node, const struct rl_seen *packet)
{
    const hipMemsetParams *fill = &node->is->fill;
    const struct rl_builtin_use *use = &packet->use;
    const unsigned char *pattern = prover->seen->bytes + packet->pattern;
    uint64_t row = (uint64_t)fill->width * fill->elementSize;
    bool rectangle = fill->height > 1 && fill->pitch != row; /* else its rows lie one behind the other */

    if (!use->pattern_bytes || use->to != (uintptr_t)fill->dst + node->done_bytes ||
        (use->pattern_bytes % fill->elementSize && use->bytes != use->pattern_bytes))
        return false;
    for (uint32_t i = 0; i < use->pattern_bytes; i++)
        if (pattern[i] != (unsigned char)(fill->value >> 8 * ((node->done_bytes + i) % fill->elementSize)))
            return false;
    if (rectangle)
        return use->bytes == row && use->rows == fill->height && use->pitch == fill->pitch;
    return use->rows == 1 && node->done_bytes + use->bytes <= bytes_of(node);
}

/* Memory of this GPU at both ends: such a copy has nothing to do on the host, and none of HIP's own memory in
 * between. */
static bool on_device(const struct prover *prover, uint64_t address, uint64_t bytes)
{
    hsa_amd_pointer_info_t info = { .size = sizeof(info) };

    return prover->seen->hsa->hsa_amd_pointer_info &&
           prover->seen->hsa->hsa_amd_pointer_info((const void *)address, &info, NULL, NULL, NULL) ==
               HSA_STATUS_SUCCESS &&
           info.agentOwner.handle == prover->seen->agent &&
           address + bytes <= (uintptr_t)info.agentBaseAddress + info.sizeInBytes;
}

static bool is_copy(const struct prover *prover, const struct node *node, const struct rl_seen *packet)
{
    const struct rl_topology_copy *copy = node->is->type == hipGraphNodeTypeMemcpy ? &node->is->copy : NULL;

    if (prover->seen->codes[packet->code].builtin != RL_BUILTIN_COPY)
        return false;
    if (copy && copy->bytes &&
        (packet->use.from != (uintptr_t)copy->from || packet->use.to != (uintptr_t)copy->to ||
         packet->use.bytes != copy->bytes))
        return false;
    return on_device(prover, packet->use.from, packet->use.bytes) &&
           on_device(prover, packet->use.to, packet->use.bytes);
}

static bool could_be(const struct prover *prover, const struct node *node, const struct rl_seen *packet)
{
    switch (node->is->type) {
    case hipGraphNodeTypeKernel: return is_kernel(prover, node, packet);
    case hipGraphNodeTypeMemset: return node->is->fill.elementSize && is_fill(prover, node, packet);
    default: return is_copy(prover, node, packet);
    }
}

/* ---- serving the packets ---- */

static void queue(struct prover *prover, uint32_t node)
{
    if (prover->nodes[node].waits || prover->nodes[node].queued)
        return;
    prover->nodes[node].queued = true;
    prover->ready[prover->ready_count++] = node;
}

static void release_successors(struct prover *prover, uint32_t node)
{
    const uint32_t *first = prover->flat.first, *next = prover->flat.next;

    prover->nodes[node].done = true;
    for (uint32_t i = first[node]; i < first[node + 1] && !prover->unordered; i++) {
        prover->nodes[next[i]].waits--;
        queue(prover, next[i]);
    }
}

/* Takes the node out of those that are ready; nodes that only order others are done as soon as they are. */
static void complete_empty(struct prover *prover, uint32_t from)
{
    while (from < prover->ready_count) {
        uint32_t node = prover->ready[from];

        if (prover->nodes[node].is) {
            from++;
            continue;
        }
        prover->ready[from] = prover->ready[--prover->ready_count];
        release_successors(prover, node);
    }
}

static void finish(struct prover *prover, uint32_t position)
{
    uint32_t node = prover->ready[position], before = --prover->ready_count;

    prover->ready[position] = prover->ready[before];
    release_successors(prover, node);
    complete_empty(prover, before);
}

/* Which of the nodes that wait for nothing the packet is; UINT32_MAX: none. Where several could be meant
 * it must not matter: they have the same neighbours, or do the very same. */
static uint32_t meant(struct prover *prover, const struct rl_seen *packet)
{
    uint32_t found = UINT32_MAX;

    for (uint32_t i = 0; i < prover->ready_count; i++) {
        const struct node *node = &prover->nodes[prover->ready[i]], *other;

        if (!could_be(prover, node, packet))
            continue;
        if (found == UINT32_MAX) {
            found = i;
            continue;
        }
        other = &prover->nodes[prover->ready[found]];
        if ((node->before != other->before || node->after != other->after) &&
            !(arguments_known(prover, node, packet) && arguments_known(prover, other, packet)))
            prover->ambiguous = true;
        if (prover->ready[i] < prover->ready[found])
            found = i;
    }
    return found;
}

static bool serve(struct prover *prover, uint32_t dispatch, const struct rl_seen *packet)
{
    uint32_t found = meant(prover, packet);
    struct node *node;

    if (found == UINT32_MAX)
        return false;
    node = &prover->nodes[prover->ready[found]];
    prover->proof->nodes[dispatch] = prover->ready[found];
    if (node->is->type == hipGraphNodeTypeKernel)
        prover->proof->functions[dispatch] = node->is->kernel.function;
    node->packets++;
    node->done_bytes += packet->use.bytes * packet->use.rows;
    if (node->is->type != hipGraphNodeTypeMemset || node->done_bytes >= bytes_of(node))
        finish(prover, found);
    return true;
}

/* False: a packet or a node is left over, *left is the packet's position or the number of packets. */
static bool serve_all(struct prover *prover, uint32_t *left)
{
    const struct rl_proof *proof = prover->proof;

    for (uint32_t i = 0; i < prover->node_count; i++)
        queue(prover, i);
    complete_empty(prover, 0);
    for (*left = 0; *left < proof->count; ++*left)
        if (!serve(prover, *left, &prover->seen->packets[proof->packets[*left]]))
            return false;
    for (uint32_t i = 0; i < prover->node_count; i++)
        if (!prover->nodes[i].done)
            return false;
    return true;
}

/* Once more, with no node waiting for another: whether packets and nodes are the same things at all. */
static bool serve_unordered(struct prover *prover, uint32_t *left)
{
    for (uint32_t i = 0; i < prover->node_count; i++) {
        struct node *node = &prover->nodes[i];

        node->waits = node->packets = 0;
        node->done_bytes = 0;
        node->queued = node->done = false;
    }
    prover->ready_count = 0;
    prover->unordered = true;
    return serve_all(prover, left);
}

static bool serve_packets(struct prover *prover)
{
    const struct rl_aql_dispatch *packet;
    uint32_t left = 0;

    if (serve_all(prover, &left) && !prover->ambiguous)
        return true;
    prover->ambiguous = true;
    if (serve_unordered(prover, &left))
        return true;
    if (left == prover->proof->count)
        return refuse(prover, RL_REASON_PACKETS_DIFFER, "%u packets, and a node has none", left);
    packet = &prover->seen->packets[prover->proof->packets[left]].packet.dispatch;
    return refuse(prover, RL_REASON_PACKETS_DIFFER, "packet %u (%s, grid %u, %u, %u) belongs to no node",
                  left,
                  rl_builtin_name(
                      prover->seen->codes[prover->seen->packets[prover->proof->packets[left]].code].builtin),
                  packet->grid[0], packet->grid[1], packet->grid[2]);
}

/* ---- levels ---- */

static bool levels_of_graph(struct prover *prover)
{
    uint32_t count = prover->node_count;
    uint32_t *weight = allocate(prover, count, sizeof(*weight)),
             *level = allocate(prover, count, sizeof(*level));
    uint32_t *work = allocate(prover, rl_levels_work_words(count, prover->flat.edge_count), sizeof(*work));
    bool good = weight && level && work;

    if (good) {
        for (uint32_t i = 0; i < count; i++)
            weight[i] = prover->nodes[i].packets;
        good = rl_levels(count, prover->flat.edges, prover->flat.edge_count, weight, level, work) ||
               refuse(prover, RL_REASON_PACKETS_DIFFER, "the graph has no order");
    }
    if (good)
        for (uint32_t i = 0; i < prover->proof->count; i++)
            /* rule: levels-are-those-of-the-graph */
            prover->proof->levels[i] = level[prover->proof->nodes[i]]++;
    rl_release(weight);
    rl_release(level);
    rl_release(work);
    return good;
}

static void levels_in_turn(struct prover *prover)
{
    for (uint32_t i = 0; i < prover->proof->count; i++)
        prover->proof->levels[i] = i;
}

static bool completes(const struct rl_observation *seen, size_t count, uint64_t signal)
{
    while (count-- > 0)
        if (seen->packets[count].packet.barrier.completion == signal)
            return true;
    return false;
}

/* A barrier that waits for something from before this launch may stand only before its queue's first
 * dispatch. The other way round says nothing: HIP leaves a wait out when its signal has come already. */
static bool waits_for_own(struct prover *prover)
{
    const struct rl_observation *seen = prover->seen;
    bool started[RL_SEEN_QUEUES] = { false };

    for (size_t i = 0; i < seen->count; i++) {
        const struct rl_seen *packet = &seen->packets[i];
        int waits = packet->dispatch ? 0 : rl_aql_barrier_signals(&packet->packet);

        for (int k = 0; k < waits && started[packet->queue]; k++) {
            uint64_t signal = packet->packet.barrier.dependencies[k];

            if (signal && !completes(seen, i, signal))
                return refuse(prover, RL_REASON_PACKET_UNKNOWN, "a wait for something outside of the graph");
        }
        started[packet->queue] = started[packet->queue] || packet->dispatch;
    }
    return true;
}

/* HIP watches the signals of its own barriers to learn what is done. Any other signal is not of this
 * launch's packets. A host function that packets wait for shows in waits_for_own(). */
static bool watches_own(struct prover *prover)
{
    const struct rl_observation *seen = prover->seen;

    for (size_t w = 0; w < seen->watched_count; w++) {
        size_t i = 0;

        while (i < seen->count &&
               (seen->packets[i].dispatch || seen->packets[i].packet.barrier.completion != seen->watched[w]))
            i++;
        if (i == seen->count)
            return refuse(prover, RL_REASON_HOST_WORK,
                          "a function waits for something that is not in the packets");
    }
    return true;
}

static bool list_dispatches(struct prover *prover)
{
    struct rl_observation *seen = prover->seen;
    struct rl_proof *proof = prover->proof;

    proof->packets = allocate(prover, seen->count, sizeof(*proof->packets));
    proof->levels = allocate(prover, seen->count, sizeof(*proof->levels));
    proof->nodes = allocate(prover, seen->count, sizeof(*proof->nodes));
    proof->functions = allocate(prover, seen->count, sizeof(*proof->functions));
    if (!proof->packets || !proof->levels || !proof->nodes || !proof->functions)
        return false;
    for (size_t i = 0; i < seen->count; i++)
        if (seen->packets[i].dispatch)
            proof->packets[proof->count++] = (uint32_t)i;
    return proof->count || refuse(prover, RL_REASON_EMPTY, "%s", "");
}

static void release(struct prover *prover)
{
    rl_flat_free(&prover->flat);
    rl_release(prover->nodes);
    rl_release(prover->ready);
}

bool rl_prove(const struct rl_hip_table *hip, const struct rl_topology *topology, struct rl_observation *seen,
              struct rl_proof *proof)
{
    struct prover prover = { .hip = hip, .seen = seen, .proof = proof };
    bool good;

    memset(proof, 0, sizeof(*proof));
    good = seen->reason == RL_REASON_NONE && list_dispatches(&prover) && lay_flat(&prover, topology) &&
           ask_names(&prover) && serve_packets(&prover) && watches_own(&prover) && waits_for_own(&prover);
    if (good && prover.ambiguous)
        levels_in_turn(&prover);
    else if (good)
        good = levels_of_graph(&prover);
    proof->by_graph = !prover.ambiguous;
    release(&prover);
    if (!good)
        rl_proof_free(proof);
    return good;
}

/* ---- once more, with other arguments ---- */

static bool renew_kernel(struct prover *prover, const struct node *node, const struct rl_seen *packet,
                         void *function)
{
    const struct rl_topology_node *is = node->is;
    const struct rl_code *code = &prover->seen->codes[packet->code];

    if (is->doubtful || is->kernel.function != function || !has_geometry(prover, node, packet))
        return false;
    return !is->kernel.arguments ||
           rl_arguments_write(&code->layout, is->kernel.arguments, is->kernel.argument_bytes,
                              prover->seen->bytes + packet->arguments, code->kernarg_bytes);
}

static bool renew(struct prover *prover, uint32_t dispatch)
{
    const struct rl_proof *proof = prover->proof;
    struct node *node = &prover->nodes[proof->nodes[dispatch]];
    const struct rl_seen *packet = &prover->seen->packets[proof->packets[dispatch]];
    bool same = false;

    if (!node->is)
        return false;
    if (node->is->type == hipGraphNodeTypeKernel)
        same = renew_kernel(prover, node, packet, proof->functions[dispatch]);
    else if (node->is->type == hipGraphNodeTypeMemset)
        same = node->is->fill.elementSize && is_fill(prover, node, packet);
    else if (!node->is->doubtful)
        same = is_copy(prover, node, packet);
    node->packets++;
    node->done_bytes += packet->use.bytes * packet->use.rows;
    return same;
}

static bool all_renewed(const struct prover *prover)
{
    for (uint32_t i = 0; i < prover->node_count; i++) {
        const struct node *node = &prover->nodes[i];

        if (node->is && (!node->packets ||
                         (node->is->type == hipGraphNodeTypeMemset && node->done_bytes != bytes_of(node))))
            return false;
    }
    return true;
}

bool rl_prove_again(const struct rl_topology *topology, struct rl_observation *seen,
                    const struct rl_proof *proof)
{
    struct prover prover = { .seen = seen, .proof = (struct rl_proof *)proof };
    bool good = lay_flat(&prover, topology);

    for (uint32_t i = 0; good && i < proof->count; i++)
        good = proof->nodes[i] < prover.node_count && renew(&prover, i);
    good = good && all_renewed(&prover);
    release(&prover);
    return good;
}

void rl_proof_free(struct rl_proof *proof)
{
    rl_release(proof->packets);
    rl_release(proof->levels);
    rl_release(proof->nodes);
    rl_release(proof->functions);
    *proof = (struct rl_proof){ 0 };
}
