/* SPDX-License-Identifier: Apache-2.0 */
/* See match.h. */
#include "proof/match.h"

#include <string.h>

#include "kernels/arguments.h"

bool rl_match_told_by_arguments(const struct rl_observation *seen, const struct rl_topology_node *node,
                                const struct rl_seen *packet)
{
    return node->type == hipGraphNodeTypeKernel && node->kernel.arguments &&
           seen->codes[packet->code].layout.known;
}

bool rl_match_function(struct rl_function function, const struct rl_code *code)
{
    if (function.module && function.module != code->module) /* rule: functions-belong-to-modules */
        return false;
    return function.name && function.name == code->name && code->builtin == RL_BUILTIN_NONE;
}

bool rl_match_geometry(const struct rl_observation *seen, const struct rl_topology_node *node,
                       const struct rl_seen *packet)
{
    const struct rl_aql_dispatch *dispatch = &packet->packet.dispatch;
    const dim3 *grid = &node->kernel.grid, *block = &node->kernel.block;
    uint32_t fixed;

    memcpy(&fixed, seen->codes[packet->code].descriptor, sizeof(fixed));
    return dispatch->workgroup[0] == block->x && dispatch->workgroup[1] == block->y &&
           dispatch->workgroup[2] == block->z && dispatch->grid[0] == (uint64_t)grid->x * block->x &&
           dispatch->grid[1] == (uint64_t)grid->y * block->y &&
           dispatch->grid[2] == (uint64_t)grid->z * block->z &&
           dispatch->group_bytes == fixed + node->kernel.shared_bytes;
}

bool rl_match_kernel(const struct rl_observation *seen, const struct rl_topology_node *node,
                     struct rl_function function, const struct rl_seen *packet)
{
    const struct rl_code *code = &seen->codes[packet->code];

    return rl_match_function(function, code) && rl_match_geometry(seen, node, packet) &&
           (!rl_match_told_by_arguments(seen, node, packet) ||
            rl_arguments_match(&code->layout, node->kernel.arguments, node->kernel.argument_bytes,
                               seen->bytes + packet->arguments, code->kernarg_bytes));
}

uint64_t rl_match_fill_bytes(const struct rl_topology_node *node)
{
    const hipMemsetParams *fill = &node->fill;

    return (uint64_t)fill->width * fill->elementSize * (fill->height ? fill->height : 1);
}

/* HIP splits the fill of one row at 16-byte boundaries, and writes the parts in order; never a rectangle. */
bool rl_match_fill(const struct rl_observation *seen, const struct rl_topology_node *node, uint64_t done,
                   const struct rl_seen *packet)
{
    const hipMemsetParams *fill = &node->fill;
    const struct rl_builtin_use *use = &packet->use;
    const unsigned char *pattern = seen->bytes + packet->pattern;
    uint64_t row = (uint64_t)fill->width * fill->elementSize;
    bool rectangle = fill->height > 1 && fill->pitch != row; /* else its rows lie one behind the other */

    if (!fill->elementSize || !use->pattern_bytes || use->to != (uintptr_t)fill->dst + done ||
        (use->pattern_bytes % fill->elementSize && use->bytes != use->pattern_bytes))
        return false;
    for (uint32_t i = 0; i < use->pattern_bytes; i++)
        if (pattern[i] != (unsigned char)(fill->value >> 8 * ((done + i) % fill->elementSize)))
            return false;
    if (rectangle)
        return use->bytes == row && use->rows == fill->height && use->pitch == fill->pitch;
    return use->rows == 1 && done + use->bytes <= rl_match_fill_bytes(node);
}

/* Memory of this GPU at both ends: such a copy has nothing to do on the host, and none of HIP's own memory in
 * between. */
static bool on_device(const struct rl_observation *seen, uint64_t address, uint64_t bytes)
{
    hsa_amd_pointer_info_t info = { .size = sizeof(info) };

    return seen->hsa->hsa_amd_pointer_info &&
           seen->hsa->hsa_amd_pointer_info((const void *)address, &info, NULL, NULL, NULL) ==
               HSA_STATUS_SUCCESS &&
           info.agentOwner.handle == seen->agent &&
           address + bytes <= (uintptr_t)info.agentBaseAddress + info.sizeInBytes;
}

bool rl_match_copy(const struct rl_observation *seen, const struct rl_topology_node *node,
                   const struct rl_seen *packet)
{
    const struct rl_topology_copy *copy = node->type == hipGraphNodeTypeMemcpy ? &node->copy : NULL;

    if (seen->codes[packet->code].builtin != RL_BUILTIN_COPY)
        return false;
    if (copy && copy->bytes &&
        (packet->use.from != (uintptr_t)copy->from || packet->use.to != (uintptr_t)copy->to ||
         packet->use.bytes != copy->bytes))
        return false;
    return on_device(seen, packet->use.from, packet->use.bytes) &&
           on_device(seen, packet->use.to, packet->use.bytes);
}
