/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Lowering: proven dispatches and their levels -> one PM4 indirect buffer.
 *
 *     rl_levels(nodes, edges, edge_count, weight, level, work);          from the graph's edges
 *     struct rl_lower lower;
 *     if (rl_lower_plan(&lower, &input, work) == RL_LOWER_OK)            checks, orders, counts
 *         rl_lower_emit(&lower, words, places);                          exactly lower.dwords words
 *
 * lower.c opens with the shape of the buffer and the rules of elision. Nothing here allocates, locks or reads
 * GPU memory; any thread may call it. What `input` points to, and `work`, stay unchanged from plan to emit.
 */
#ifndef RL_LOWER_H
#define RL_LOWER_H

#include "pm4/pm4.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What a buffer needs of a kernel descriptor (LLVM's AMDGPU usage guide, "Kernel Descriptor"). */
struct rl_kernel {
    uint64_t entry;         /* GPU address of the code */
    uint32_t group_bytes;   /* static LDS */
    uint32_t private_bytes; /* scratch of a work-item */
    uint32_t kernarg_bytes;
    uint32_t rsrc1, rsrc2, rsrc3;
    uint16_t properties;
    uint16_t preload;
};

/* `descriptor`: its 64 bytes, in host memory. `kernel_object`: its GPU address, as an AQL packet has it. */
void rl_kernel_read(struct rl_kernel *kernel, uint64_t kernel_object, const void *descriptor);

/* One dispatch of the buffer. Addresses that its kernel does not ask for are ignored. */
struct rl_dispatch {
    uint32_t kernel;        /* index into rl_lower_input.kernels */
    uint32_t level;         /* below dispatch_count: see rl_levels() */
    uint32_t grid[3];       /* work-items, as in the AQL packet */
    uint16_t workgroup[3];  /* work-items */
    uint32_t lds_bytes;     /* group segment of the AQL packet: static and dynamic */
    uint32_t private_bytes; /* private segment of the AQL packet */
    uint64_t kernarg;       /* GPU addresses: of a block in our arena, aligned to 16 */
    uint64_t packet;        /* of the retained copy of the AQL packet, aligned to 64 */
    uint64_t queue;         /* of the queue's amd_queue_t */
    uint64_t dispatch_id;
};

struct rl_lower_input {
    const struct rl_pm4_target *target;
    const struct rl_kernel *kernels; /* one for each different kernel: dispatches of one become neighbours */
    const struct rl_dispatch *dispatches;
    uint32_t kernel_count, dispatch_count;
    uint32_t cp_feature_version; /* of CP's microcode; 0 if not known. Only gfx10 looks at it */
    uint64_t fence;    /* GPU address of 4 bytes if rl_lower_needs_fence(); not for two replays at once */
    bool system_entry; /* L2 too, where the target's least is an agent acquire (docs/pm4.md, "Fences") */
    bool system_exit;  /* L2 written back behind the last wave; HIP's closing barrier does it otherwise */
};

enum rl_lower_reason {
    RL_LOWER_OK,
    RL_LOWER_EMPTY,
    RL_LOWER_TOO_LARGE,
    RL_LOWER_SCRATCH,
    RL_LOWER_DYNAMIC_STACK,
    RL_LOWER_KERNARG_PRELOAD,
    RL_LOWER_PROPERTY,
    RL_LOWER_DESCRIPTOR,
    RL_LOWER_USER_SGPRS,
    RL_LOWER_ENTRY,
    RL_LOWER_WORKGROUP,
    RL_LOWER_PARTIAL_WORKGROUP,
    RL_LOWER_LDS,
    RL_LOWER_KERNARG,
    RL_LOWER_PACKET,
    RL_LOWER_QUEUE,
    RL_LOWER_FENCE,
    RL_LOWER_INDEX,
    RL_LOWER_REASONS,
};

/* A plain sentence. */
const char *rl_lower_reason_text(enum rl_lower_reason reason);

/* Where the pointers of one dispatch stand in the buffer: index of the low word, RL_LOWER_NO_WORD if none. */
#define RL_LOWER_NO_WORD UINT32_MAX

struct rl_place {
    uint32_t kernarg;
    uint32_t packet;
};

struct rl_lower {
    struct rl_lower_input input;
    const uint32_t *order;    /* dispatches as they are emitted */
    uint32_t dwords;          /* of the buffer */
    uint32_t levels;          /* fences are one fewer */
    uint32_t refused;         /* dispatch that the reason is about */
    bool flush_returns_early; /* waits are releases and polls of the fence */
};

/* Words of `work` that plan needs; it is rl_lower's until emit. */
size_t rl_lower_work_words(const struct rl_lower_input *input);

/* The buffers of this target need `fence`. */
bool rl_lower_needs_fence(const struct rl_lower_input *input);

/* On any reason but RL_LOWER_OK only lower->refused is set. */
enum rl_lower_reason rl_lower_plan(struct rl_lower *lower, const struct rl_lower_input *input,
                                   uint32_t *work);

/* Writes lower->dwords words and, unless `places` is NULL, a place for each dispatch of the input. */
void rl_lower_emit(const struct rl_lower *lower, uint32_t *words, struct rl_place *places);

/*
 * New address for a kernarg block or a packet copy in a buffer that is not in flight. Its upper half must be
 * the old one's, since that word may serve other dispatches too: false, and nothing done, if not.
 */
static inline bool rl_lower_move(uint32_t *words, uint32_t place, uint64_t from, uint64_t to)
{
    if (place == RL_LOWER_NO_WORD || (from ^ to) >> 32)
        return false;
    assert(words[place] == (uint32_t)from);
    words[place] = (uint32_t)to;
    return true;
}

struct rl_edge {
    uint32_t from, to;
};

/*
 * Level of each node: the least above those of all its predecessors. weight[n] is how many dispatches node n
 * is, one after the other, and dispatch i of the node has level[n] + i. 0: an empty or disabled node, which
 * only orders others. NULL: all 1. Linear in nodes and edges. `work`: rl_levels_work_words(). False: a cycle,
 * an edge to no node, or levels that do not fit 32 bits.
 */
bool rl_levels(uint32_t nodes, const struct rl_edge *edges, uint32_t edge_count, const uint32_t *weight,
               uint32_t *level, uint32_t *work);

static inline size_t rl_levels_work_words(uint32_t nodes, uint32_t edge_count)
{
    return 3 * (size_t)nodes + 1 + edge_count;
}

#endif
