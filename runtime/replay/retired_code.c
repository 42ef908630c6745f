/* SPDX-License-Identifier: Apache-2.0 */
/* See retired_code.h. */
#include "replay/retired_code.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>

#include "base/fork.h"
#include "base/memory.h"
#include "kernels/code.h"
#include "replay/plan.h"

struct unload {
    rl_hsa_executable_destroy_fn *native;
    hsa_executable_t executable;
    uint64_t number;
    struct unload *next;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static _Atomic(struct unload *) awaiting; /* changed under the lock */

static bool runs(const struct rl_use *use, const void *number)
{
    const struct rl_plan *plan = (const struct rl_plan *)((const char *)use - offsetof(struct rl_plan, use));

    return rl_plan_runs(plan, *(const uint64_t *)number);
}

static void put(struct unload *unload)
{
    pthread_mutex_lock(&lock);
    unload->next = atomic_load_explicit(&awaiting, memory_order_relaxed);
    atomic_store_explicit(&awaiting, unload, memory_order_release);
    pthread_mutex_unlock(&lock);
}

hsa_status_t rl_unload(rl_hsa_executable_destroy_fn *native, const struct rl_hsa_table *hsa,
                       hsa_executable_t executable)
{
    uint64_t number = rl_code_unloaded(executable.handle); /* no replay of it begins from here on */
    struct unload *unload;

    /* rule: code-in-use-is-kept */
    if (!number || !rl_devices_have(hsa, runs, &number))
        return native(executable);
    unload = rl_allocate(1, sizeof(*unload));
    if (!unload)
        return native(executable);
    *unload = (struct unload){ native, executable, number, NULL };
    put(unload);
    return HSA_STATUS_SUCCESS;
}

void rl_unloads_reclaim(const struct rl_hsa_table *hsa)
{
    struct unload *unload, *next;

    if (!atomic_load_explicit(&awaiting, memory_order_relaxed))
        return;
    pthread_mutex_lock(&lock);
    unload = atomic_load_explicit(&awaiting, memory_order_relaxed);
    atomic_store_explicit(&awaiting, NULL, memory_order_relaxed);
    pthread_mutex_unlock(&lock);
    for (; unload; unload = next) {
        next = unload->next;
        if (rl_devices_have(hsa, runs, &unload->number)) {
            put(unload);
            continue;
        }
        unload->native(unload->executable);
        rl_release(unload);
    }
}

static void in_child(void)
{
    pthread_mutex_init(&lock, NULL);
    atomic_store(&awaiting, NULL);
}

RL_AT_FORK(NULL, NULL, in_child);
