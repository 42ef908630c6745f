/* SPDX-License-Identifier: Apache-2.0 */
/* Host memory that the application registered with ROCr, so that the software GPU may touch it. */
#include <pthread.h>
#include <stdlib.h>

#include "hsa.h"
#include "preload.h"

struct range {
    uint64_t base, size;
    struct range *next;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct range *ranges;
SGP_HOLD_OVER_FORK(mutex, lock, lock)

static void note(const void *base, size_t size)
{
    struct range *range = malloc(sizeof *range);

    if (!range)
        return;
    pthread_mutex_lock(&lock);
    *range = (struct range){ (uint64_t)base, size, ranges };
    ranges = range;
    pthread_mutex_unlock(&lock);
}

SGP_EXPORT hsa_status_t hsa_amd_memory_lock(void *host, size_t size, hsa_agent_t *agents, int agent_count,
                                            void **device)
{
    typedef hsa_status_t lock_fn(void *, size_t, hsa_agent_t *, int, void **);
    hsa_status_t status = SGP_NEXT(lock_fn, "hsa_amd_memory_lock")(host, size, agents, agent_count, device);

    if (status == HSA_STATUS_SUCCESS)
        note(host, size);
    return status;
}

SGP_EXPORT hsa_status_t hsa_amd_memory_lock_to_pool(void *host, size_t size, hsa_agent_t *agents,
                                                    int agent_count, hsa_amd_memory_pool_t pool,
                                                    uint32_t flags, void **device)
{
    typedef hsa_status_t lock_fn(void *, size_t, hsa_agent_t *, int, hsa_amd_memory_pool_t, uint32_t,
                                 void **);
    hsa_status_t status = SGP_NEXT(lock_fn, "hsa_amd_memory_lock_to_pool")(host, size, agents, agent_count,
                                                                           pool, flags, device);

    if (status == HSA_STATUS_SUCCESS)
        note(host, size);
    return status;
}

SGP_EXPORT hsa_status_t hsa_amd_memory_unlock(void *host)
{
    pthread_mutex_lock(&lock);
    for (struct range **at = &ranges; *at; at = &(*at)->next) {
        if ((*at)->base == (uint64_t)host) {
            struct range *gone = *at;

            *at = gone->next;
            free(gone);
            break;
        }
    }
    pthread_mutex_unlock(&lock);
    return SGP_NEXT(hsa_status_t(void *), "hsa_amd_memory_unlock")(host);
}

SGP_EXPORT bool softgpu_preload_registered(uint64_t address, uint64_t size)
{
    bool found = false;

    pthread_mutex_lock(&lock);
    for (const struct range *range = ranges; range && !found; range = range->next)
        found = address >= range->base && address - range->base < range->size &&
                size <= range->size - (address - range->base);
    pthread_mutex_unlock(&lock);
    return found || sgp_vmem_mapped(address, size);
}
