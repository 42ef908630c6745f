/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What HIP puts into HSA queues during one native launch, on the thread that made it.
 *
 *     struct rl_observation seen;
 *     rl_observe_begin(&seen, hsa);
 *     status = native(exec, stream);
 *     rl_observe_end(&seen);           now seen.reason and seen.packets are complete
 *     rl_observe_free(&seen);
 *
 * Packets are copied when HIP rings the doorbell of their queue, with the kernel arguments that they point to
 * and the patterns that those point to: HIP may use that memory for something else as soon as it pleases.
 * They are listed in the order in which their slots were reserved, over all queues. Whatever else HIP does
 * that belongs to the launch becomes seen.reason.
 *
 * Threads: an observation belongs to one thread; the functions below the line are called by the HSA handlers
 * while that thread watches. Out of memory is a reason too.
 */
#ifndef REDLINE_OBSERVE_H
#define REDLINE_OBSERVE_H

#include <stddef.h>

#include "kernels/aql.h"
#include "kernels/builtin.h"
#include "report/reasons.h"

enum { RL_SEEN_QUEUES = 16, RL_SEEN_DETAIL = 160 };

struct rl_seen {
    union rl_aql packet;
    uint64_t index;
    uint32_t queue;            /* position in queues */
    bool taken;                /* copied */
    bool dispatch;             /* else a barrier */
    uint32_t code;             /* dispatch: position in codes */
    size_t arguments;          /* dispatch: offset in bytes, of code.kernarg_bytes */
    size_t pattern;            /* offset in bytes, of use.pattern_bytes */
    struct rl_builtin_use use; /* of a fill or copy kernel of HIP's */
};

struct rl_observation {
    const struct rl_hsa_table *hsa;
    enum rl_reason reason;
    char detail[RL_SEEN_DETAIL];
    struct rl_seen *packets;
    size_t count, room, first_untaken;
    const hsa_queue_t *queues[RL_SEEN_QUEUES];
    size_t queue_count;
    struct rl_code *codes; /* the different kernels */
    size_t code_count, code_room;
    unsigned char *bytes;
    size_t byte_count, byte_room;
    uint64_t *watched; /* signals with a host function behind them */
    size_t watched_count, watched_room;
    uint64_t agent; /* that all queues belong to */
};

void rl_observe_begin(struct rl_observation *seen, const struct rl_hsa_table *hsa);
void rl_observe_end(struct rl_observation *seen);
void rl_observe_free(struct rl_observation *seen);

/* ---- */
void rl_observe_reserved(const hsa_queue_t *queue, uint64_t index, uint64_t count);
void rl_observe_doorbell(hsa_signal_t signal, hsa_signal_value_t index);
void rl_observe_handler(hsa_signal_t signal);
void rl_observe_copy(void);

#endif
