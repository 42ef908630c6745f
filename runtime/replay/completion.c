/* SPDX-License-Identifier: Apache-2.0 */
/* See completion.h. */
#include "replay/completion.h"

#include <stddef.h>

#include "base/fault.h"

enum { CLAIM_TRIES = 8, SIGNAL_GPU_ONLY = 1 /* hsa_ext_amd.h: HSA_AMD_SIGNAL_AMD_GPU_ONLY */ };

/* Somebody changes this completion: others pass it by. */
#define BUSY ((struct rl_use *)1)

bool rl_completions_make(const struct rl_hsa_table *hsa, struct rl_completions *completions)
{
    for (size_t i = 0; i < RL_COMPLETIONS; i++)
        if (rl_fault(RL_FAULT_NATIVE) ||
            hsa->hsa_amd_signal_create(0, 0, NULL, SIGNAL_GPU_ONLY, &completions->all[i].signal) !=
                HSA_STATUS_SUCCESS)
            return false;
    return true;
}

struct rl_completion *rl_completion_claim(const struct rl_hsa_table *hsa, struct rl_completions *completions,
                                          struct rl_use *use)
{
    for (int i = 0; i < CLAIM_TRIES; i++) {
        uint32_t turn = atomic_fetch_add_explicit(&completions->turn, 1, memory_order_relaxed);
        struct rl_completion *completion = &completions->all[turn % RL_COMPLETIONS];
        struct rl_use *last = atomic_load_explicit(&completion->use, memory_order_relaxed);

        if (last == BUSY || !atomic_compare_exchange_strong(&completion->use, &last, BUSY))
            continue;
        if (last && hsa->hsa_signal_load_scacquire(completion->signal)) {
            atomic_store_explicit(&completion->use, last, memory_order_release);
            continue;
        }
        rl_use_take(use);
        hsa->hsa_signal_store_relaxed(completion->signal, 1);
        atomic_store_explicit(&completion->use, use, memory_order_release);
        if (last)
            rl_use_drop(last);
        return completion;
    }
    return NULL;
}

void rl_completion_return(struct rl_completion *completion)
{
    struct rl_use *use = atomic_load_explicit(&completion->use, memory_order_relaxed);

    while (use == BUSY || !atomic_compare_exchange_weak(&completion->use, &use, NULL))
        use = atomic_load_explicit(&completion->use, memory_order_relaxed);
    rl_use_drop(use);
}

static void reap(const struct rl_hsa_table *hsa, struct rl_completion *completion)
{
    struct rl_use *use = atomic_load_explicit(&completion->use, memory_order_relaxed);

    if (!use || use == BUSY || !atomic_compare_exchange_strong(&completion->use, &use, BUSY))
        return;
    if (hsa->hsa_signal_load_scacquire(completion->signal)) {
        atomic_store_explicit(&completion->use, use, memory_order_release);
        return;
    }
    atomic_store_explicit(&completion->use, NULL, memory_order_release);
    rl_use_drop(use);
}

void rl_completions_reap(const struct rl_hsa_table *hsa, struct rl_completions *completions)
{
    for (size_t i = 0; i < RL_COMPLETIONS; i++)
        reap(hsa, &completions->all[i]);
}

/* Asked while nobody else can let go of it. */
static bool has(const struct rl_hsa_table *hsa, struct rl_completion *completion,
                bool (*is)(const struct rl_use *use, const void *context), const void *context)
{
    struct rl_use *use = atomic_load_explicit(&completion->use, memory_order_relaxed);
    bool found;

    while (use == BUSY || (use && !atomic_compare_exchange_weak(&completion->use, &use, BUSY)))
        use = atomic_load_explicit(&completion->use, memory_order_relaxed);
    if (!use)
        return false;
    found = hsa->hsa_signal_load_scacquire(completion->signal) && is(use, context);
    atomic_store_explicit(&completion->use, use, memory_order_release);
    return found;
}

bool rl_completions_have(const struct rl_hsa_table *hsa, struct rl_completions *completions,
                         bool (*is)(const struct rl_use *use, const void *context), const void *context)
{
    for (size_t i = 0; i < RL_COMPLETIONS; i++)
        if (has(hsa, &completions->all[i], is, context))
            return true;
    return false;
}
