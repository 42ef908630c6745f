/* SPDX-License-Identifier: Apache-2.0 */
/* See prove.h. */
#include "proof/prove.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "native/native.h"
#include "native/quiet.h"
#include "pm4/descriptor.h"
#include "proof/flat.h"
#include "proof/match.h"

struct node {
    const struct rl_topology_node *is; /* NULL: it only orders others */
    struct rl_function function;       /* kernel: which one */
    uint64_t before, after;            /* sums over its neighbours, in which the order does not matter */
    uint32_t waits;                    /* predecessors that have not got all of their packets */
    uint32_t packets;
    uint64_t done_bytes;
    bool queued, done;
};

struct prover {
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
    for (uint32_t i = 0; i < flat->node_count; i++) {
        prover->nodes[i].is = flat->nodes[i];
        if (flat->nodes[i] && flat->nodes[i]->type == hipGraphNodeTypeKernel)
            prover->nodes[i].function = flat->nodes[i]->kernel.is;
    }
    for (uint32_t i = 0; i < flat->edge_count; i++) {
        struct node *from = &prover->nodes[flat->edges[i].from], *to = &prover->nodes[flat->edges[i].to];

        from->after += rl_topology_mix(flat->edges[i].to + UINT64_C(1));
        to->before += rl_topology_mix(flat->edges[i].from + UINT64_C(1));
        to->waits++;
    }
    return true;
}

/* ---- functions ---- */

struct named {
    void *handle;
    struct rl_function is;
};

/* Those of which not even the name was known when the graph was read, because HIP could not be asked. */
static bool is_unnamed(const struct node *node)
{
    return node->is && node->is->type == hipGraphNodeTypeKernel && !node->function.name;
}

static bool name_functions(struct prover *prover)
{
    struct named last = { NULL, { 0, 0 } };
    struct rl_quiet quiet;
    uint32_t unnamed = 0;

    while (unnamed < prover->node_count && !is_unnamed(&prover->nodes[unnamed]))
        unnamed++;
    if (unnamed == prover->node_count)
        return true;
    if (!rl_quiet_begin(&quiet))
        return refuse(prover, RL_REASON_PENDING_ERROR, "%s", "");
    for (uint32_t i = unnamed; i < prover->node_count; i++) {
        struct node *node = &prover->nodes[i];

        if (!is_unnamed(node))
            continue;
        if (last.handle != node->is->kernel.function)
            last = (struct named){ node->is->kernel.function,
                                   rl_function_find(quiet.hip, node->is->kernel.function) };
        node->function = last.is;
    }
    rl_quiet_end(&quiet);
    return true;
}

/* ---- which node a packet belongs to ---- */

static bool could_be(const struct prover *prover, const struct node *node, const struct rl_seen *packet)
{
    switch (node->is->type) {
    case hipGraphNodeTypeKernel: return rl_match_kernel(prover->seen, node->is, node->function, packet);
    case hipGraphNodeTypeMemset: return rl_match_fill(prover->seen, node->is, node->done_bytes, packet);
    default: return rl_match_copy(prover->seen, node->is, packet);
    }
}

/* It can be no kernel of another module. */
static bool is_certain(const struct node *node)
{
    return node->is->type != hipGraphNodeTypeKernel || node->function.module;
}

/* The launch had another kernel that the node's function may just as well mean. */
static bool is_doubtful(const struct prover *prover, const struct node *node, const struct rl_seen *packet)
{
    const struct rl_observation *seen = prover->seen;

    for (size_t i = 0; i < seen->code_count; i++)
        if (i != packet->code && rl_match_function(node->function, &seen->codes[i]))
            return true;
    return false;
}

static bool same_function(const struct node *one, const struct node *other)
{
    return one->is->type != hipGraphNodeTypeKernel || one->is->kernel.function == other->is->kernel.function;
}

/* Whether it does not matter which of the two the packet is taken for. */
static bool are_alike(const struct prover *prover, const struct node *one, const struct node *other,
                      const struct rl_seen *packet)
{
    if (!same_function(one, other) &&
        (is_doubtful(prover, one, packet) || is_doubtful(prover, other, packet)))
        return false;
    return (one->before == other->before && one->after == other->after) ||
           (rl_match_told_by_arguments(prover->seen, one->is, packet) &&
            rl_match_told_by_arguments(prover->seen, other->is, packet));
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

/* Which of the nodes that wait for nothing the packet is; UINT32_MAX: none. One that can be no other kernel goes
 * before one that only has its name. */
static uint32_t meant(struct prover *prover, const struct rl_seen *packet)
{
    uint32_t found = UINT32_MAX;

    for (uint32_t i = 0; i < prover->ready_count; i++) {
        const struct node *node = &prover->nodes[prover->ready[i]], *other;

        if (!could_be(prover, node, packet))
            continue;
        other = found == UINT32_MAX ? NULL : &prover->nodes[prover->ready[found]];
        if (other && is_certain(node) != is_certain(other)) {
            found = is_certain(node) ? i : found;
            continue;
        }
        if (other && !are_alike(prover, node, other, packet))
            prover->ambiguous = true;
        if (!other || prover->ready[i] < prover->ready[found])
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
    if (node->is->type != hipGraphNodeTypeMemset || node->done_bytes >= rl_match_fill_bytes(node->is))
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

bool rl_prove(const struct rl_topology *topology, struct rl_observation *seen, struct rl_proof *proof)
{
    struct prover prover = { .seen = seen, .proof = proof };
    bool good;

    memset(proof, 0, sizeof(*proof));
    good = seen->reason == RL_REASON_NONE && list_dispatches(&prover) && lay_flat(&prover, topology) &&
           name_functions(&prover) && serve_packets(&prover) && watches_own(&prover) &&
           waits_for_own(&prover);
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

void rl_proof_free(struct rl_proof *proof)
{
    rl_release(proof->packets);
    rl_release(proof->levels);
    rl_release(proof->nodes);
    rl_release(proof->functions);
    *proof = (struct rl_proof){ 0 };
}
