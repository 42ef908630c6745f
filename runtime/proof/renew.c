/* SPDX-License-Identifier: Apache-2.0 */
/* See renew.h. */
#include "proof/renew.h"

#include "base/memory.h"
#include "kernels/arguments.h"
#include "proof/flat.h"
#include "proof/match.h"

struct renewer {
    struct rl_observation *seen;
    const struct rl_proof *proof;
    struct rl_flat flat;
    uint32_t outer; /* nodes below this number are at the top */
    unsigned generation;
    struct progress {
        uint32_t packets;
        uint64_t done_bytes;
    } *nodes; /* of flat */
};

/* A handle may mean another kernel as soon as a module was unloaded; its module's number never does. */
static bool same_kernel(const struct renewer *renewer, uint32_t dispatch, const struct rl_topology_node *node)
{
    const struct rl_seen *packet = &renewer->seen->packets[renewer->proof->packets[dispatch]];

    if (node->kernel.is.module)
        return rl_match_function(node->kernel.is, &renewer->seen->codes[packet->code]);
    return node->kernel.function == renewer->proof->functions[dispatch] &&
           renewer->generation == rl_function_generation();
}

static bool renew_kernel(const struct renewer *renewer, uint32_t dispatch,
                         const struct rl_topology_node *node)
{
    const struct rl_seen *packet = &renewer->seen->packets[renewer->proof->packets[dispatch]];
    const struct rl_code *code = &renewer->seen->codes[packet->code];
    /* rule: children-are-not-foretold */
    bool may_change = renewer->proof->nodes[dispatch] < renewer->outer && renewer->proof->by_graph;
    unsigned char *dispatched = renewer->seen->bytes + packet->arguments;

    if (node->doubtful || !same_kernel(renewer, dispatch, node) ||
        !rl_match_geometry(renewer->seen, node, packet))
        return false;
    if (!node->kernel.known) /* and not changed */
        return true;
    return may_change ? rl_arguments_write(&code->layout, node->kernel.arguments, node->kernel.argument_bytes,
                                           dispatched, code->kernarg_bytes)
                      : rl_arguments_match(&code->layout, node->kernel.arguments, node->kernel.argument_bytes,
                                           dispatched, code->kernarg_bytes);
}

static bool renew(struct renewer *renewer, uint32_t dispatch)
{
    uint32_t number = renewer->proof->nodes[dispatch];
    const struct rl_seen *packet = &renewer->seen->packets[renewer->proof->packets[dispatch]];
    const struct rl_topology_node *node;
    struct progress *progress;
    bool same;

    if (number >= renewer->flat.node_count || !(node = renewer->flat.nodes[number]))
        return false;
    progress = &renewer->nodes[number];
    if (node->type == hipGraphNodeTypeKernel)
        same = renew_kernel(renewer, dispatch, node);
    else if (node->type == hipGraphNodeTypeMemset)
        same = rl_match_fill(renewer->seen, node, progress->done_bytes, packet);
    else
        same = !node->doubtful && rl_match_copy(renewer->seen, node, packet);
    progress->packets++;
    progress->done_bytes += packet->use.bytes * packet->use.rows;
    return same;
}

static bool all_renewed(const struct renewer *renewer)
{
    for (uint32_t i = 0; i < renewer->flat.node_count; i++) {
        const struct rl_topology_node *node = renewer->flat.nodes[i];
        const struct progress *progress = &renewer->nodes[i];

        if (node && (!progress->packets || (node->type == hipGraphNodeTypeMemset &&
                                            progress->done_bytes != rl_match_fill_bytes(node))))
            return false;
    }
    return true;
}

bool rl_renew(const struct rl_topology *topology, unsigned generation, struct rl_observation *seen,
              const struct rl_proof *proof)
{
    struct renewer renewer = {
        .seen = seen, .proof = proof, .outer = (uint32_t)topology->node_count, .generation = generation
    };
    bool good = rl_flat_make(&renewer.flat, topology);

    renewer.nodes = good ? rl_allocate(renewer.flat.node_count, sizeof(*renewer.nodes)) : NULL;
    good = renewer.nodes;
    for (uint32_t i = 0; good && i < proof->count; i++)
        good = renew(&renewer, i);
    good = good && all_renewed(&renewer);
    rl_flat_free(&renewer.flat);
    rl_release(renewer.nodes);
    return good;
}

bool rl_renew_was_right(const struct rl_observation *foretold, const struct rl_proof *of_it,
                        const struct rl_observation *seen, const struct rl_proof *proof)
{
    bool right = of_it->count == proof->count;

    for (uint32_t i = 0; right && i < proof->count; i++) {
        const struct rl_seen *one = &foretold->packets[of_it->packets[i]],
                             *other = &seen->packets[proof->packets[i]];
        const struct rl_code *code = &seen->codes[other->code];

        right = of_it->nodes[i] == proof->nodes[i] && foretold->codes[one->code].object == code->object &&
                (code->builtin != RL_BUILTIN_NONE ||
                 rl_arguments_match(&code->layout, foretold->bytes + one->arguments, code->kernarg_bytes,
                                    seen->bytes + other->arguments, code->kernarg_bytes));
    }
    return right;
}
