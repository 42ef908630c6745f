/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The signals that tell which replays of a device are done, and what each replay uses until then.
 *
 *     completion = rl_completion_claim(hsa, completions, &plan->use);   NULL: as many replays are running as
 *                                                                       there are signals
 *     ... a packet with completion->signal, whose value is 1 until the replay is done; or, when the replay
 *     did not take place:
 *     rl_completion_return(completion);
 *
 * Threads: any. rl_completion_claim() is for the hot path: no lock, no allocation.
 */
#ifndef REDLINE_COMPLETION_H
#define REDLINE_COMPLETION_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "native_table.h"

enum { RL_COMPLETIONS = 1024 };

/* What replays use, counted: one reference of its owner and one of each replay that is not known to be done.
 * The last drop may happen in a launch. */
struct rl_use {
    _Atomic uint32_t references;
    void (*unused)(struct rl_use *use);
};

static inline void rl_use_take(struct rl_use *use)
{
    atomic_fetch_add_explicit(&use->references, 1, memory_order_relaxed);
}

static inline void rl_use_drop(struct rl_use *use)
{
    if (atomic_fetch_sub_explicit(&use->references, 1, memory_order_acq_rel) == 1)
        use->unused(use);
}

struct rl_completion {
    hsa_signal_t signal;          /* 1 while a replay runs, 0 when it is done */
    _Atomic(struct rl_use *) use; /* NULL: free; otherwise holds one reference of it */
};

struct rl_completions {
    _Atomic uint32_t turn;
    struct rl_completion all[RL_COMPLETIONS];
};

bool rl_completions_make(const struct rl_hsa_table *hsa, struct rl_completions *completions);

struct rl_completion *rl_completion_claim(const struct rl_hsa_table *hsa, struct rl_completions *completions,
                                          struct rl_use *use);
void rl_completion_return(struct rl_completion *completion);

/* Lets go of what all replays that are done have used. */
void rl_completions_reap(const struct rl_hsa_table *hsa, struct rl_completions *completions);

/* Whether a replay that is not known to be done uses something that `is` one of those. */
bool rl_completions_have(const struct rl_hsa_table *hsa, struct rl_completions *completions,
                         bool (*is)(const struct rl_use *use, const void *context), const void *context);

#endif
