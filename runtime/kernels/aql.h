/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One 64-byte slot of an HSA queue: the packets of the HSA Platform System Architecture 1.2 (section 2.9)
 * that HIP writes, and AMD's vendor formats (hsa_ext_amd.h).
 *
 * The packet processor turns a header to INVALID when it takes the packet and leaves the rest as it is, so
 * the kind of a packet must be told from its body too.
 */
#ifndef REDLINE_AQL_H
#define REDLINE_AQL_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "hsa_api.h"

enum rl_aql_type {
    RL_AQL_VENDOR = 0,
    RL_AQL_INVALID = 1,
    RL_AQL_DISPATCH = 2,
    RL_AQL_BARRIER_AND = 3,
    RL_AQL_BARRIER_OR = 5,
};

enum {
    RL_AQL_BARRIER_VALUE = 2, /* format of a vendor packet: wait for a signal's value, then a barrier */
    RL_AQL_DEPENDENCIES = 5,
    RL_AQL_MOST_ITEMS = 1024, /* work-items of a work-group */
};

struct rl_aql_dispatch {
    uint16_t header, setup, workgroup[3], reserved;
    uint32_t grid[3], private_bytes, group_bytes;
    uint64_t kernel_object, kernarg, reserved2, completion;
};

struct rl_aql_barrier {
    uint16_t header;
    uint8_t format, reserved;
    uint32_t reserved1;
    uint64_t dependencies[RL_AQL_DEPENDENCIES]; /* of a BARRIER_VALUE only the first is a signal */
    uint64_t reserved2, completion;
};

union rl_aql {
    uint32_t words[16];
    struct rl_aql_dispatch dispatch;
    struct rl_aql_barrier barrier;
};

_Static_assert(sizeof(union rl_aql) == 64, "a slot has 64 bytes");

static inline union rl_aql *rl_aql_slot(const hsa_queue_t *queue, uint64_t index)
{
    return (union rl_aql *)queue->base_address + (index & (queue->size - 1));
}

static inline bool rl_aql_is_dispatch(const union rl_aql *packet)
{
    const struct rl_aql_dispatch *dispatch = &packet->dispatch;
    unsigned type = dispatch->header & 0xff;

    if (type != RL_AQL_DISPATCH && type != RL_AQL_INVALID)
        return false;
    return dispatch->workgroup[0] && dispatch->workgroup[1] && dispatch->workgroup[2] &&
           dispatch->kernel_object &&
           (uint64_t)dispatch->workgroup[0] * dispatch->workgroup[1] * dispatch->workgroup[2] <=
               RL_AQL_MOST_ITEMS;
}

/* How many signals a barrier can wait for; -1: the packet is no barrier. */
static inline int rl_aql_barrier_signals(const union rl_aql *packet)
{
    const struct rl_aql_barrier *barrier = &packet->barrier;

    switch (barrier->header & 0xff) {
    case RL_AQL_BARRIER_AND:
    case RL_AQL_BARRIER_OR: return RL_AQL_DEPENDENCIES;
    case RL_AQL_VENDOR: return barrier->format == RL_AQL_BARRIER_VALUE ? 1 : -1;
    case RL_AQL_INVALID: /* taken already */
        if (barrier->format == RL_AQL_BARRIER_VALUE)
            return 1;
        return barrier->format || barrier->reserved || barrier->reserved1 ? -1 : RL_AQL_DEPENDENCIES;
    default: return -1;
    }
}

#endif
