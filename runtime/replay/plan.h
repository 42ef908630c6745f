/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A plan: one exec's dispatches as one retained indirect buffer, with everything that the buffer points to,
 * in one block of host memory that the GPU reads. It is made once, never changed, and may be replayed in any
 * stream of its device.
 *
 * The last drop of a reference only puts the plan aside, since it may happen in a launch; rl_plans_reclaim()
 * gives memory back, and makes the native destroys that had to wait for replays.
 *
 * Threads: any.
 */
#ifndef REDLINE_PLAN_H
#define REDLINE_PLAN_H

#include <stdatomic.h>

#include "proof/observe.h"
#include "proof/prove.h"
#include "replay/device.h"

struct rl_plan {
    struct rl_use use; /* references: of its owner and of each replay that is not known to be done */
    struct rl_device *device;
    uint64_t buffer;
    uint32_t dwords;
    bool exclusive;                /* may not run in two queues at once: its waits share a word of memory */
    const hsa_queue_t *only_queue; /* NULL: kernels do not see their queue */
    _Atomic uintptr_t last_queue;
    uint32_t dispatches, levels;
    void *memory;
    size_t bytes;             /* of memory */
    struct rl_plan *next;     /* among those put aside */
    _Atomic unsigned checked; /* rl_code_generation() when all its code was last known to be there */
    size_t executable_count;
    uint64_t executables[]; /* rl_code.executable of its kernels, each once */
};

/* NULL with a reason. The observation is still what its launch left. */
struct rl_plan *rl_plan_make(struct rl_device *device, const struct rl_observation *seen,
                             const struct rl_proof *proof, enum rl_reason *reason,
                             char detail[RL_SEEN_DETAIL]);

/* Whether the code that it runs is still loaded. */
bool rl_plan_has_code(struct rl_plan *plan);
bool rl_plan_runs(const struct rl_plan *plan, uint64_t executable);

static inline void rl_plan_drop(struct rl_plan *plan)
{
    rl_use_drop(&plan->use);
}

/* Takes over a reference of `plan`: when all others are gone, destroys the exec. False: no memory, nothing
 * taken. */
bool rl_plan_destroy_after(struct rl_plan *plan, rl_hipGraphExecDestroy_fn *native, hipGraphExec_t exec);

/* The application has destroyed the exec, and HIP has not yet. */
bool rl_plans_await(hipGraphExec_t exec);

/* Not in a launch that replays. */
void rl_plans_reclaim(const struct rl_hsa_table *hsa);

#endif
