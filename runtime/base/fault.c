/* SPDX-License-Identifier: Apache-2.0 */
/* See fault.h. Compiled only into builds with -DRL_FAULT_INJECTION. */
#include "base/fault.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct {
    _Atomic uint64_t calls, first, count;
} sites[RL_FAULT_SITE_COUNT];

void rl_fault_arm(enum rl_fault_site site, uint64_t first, uint64_t count)
{
    atomic_store(&sites[site].first, first);
    atomic_store(&sites[site].count, count);
    atomic_store(&sites[site].calls, 0);
}

uint64_t rl_fault_calls(enum rl_fault_site site)
{
    return atomic_load(&sites[site].calls);
}

bool rl_fault(enum rl_fault_site site)
{
    uint64_t call = atomic_fetch_add(&sites[site].calls, 1) + 1;

    return call - atomic_load(&sites[site].first) < atomic_load(&sites[site].count);
}

__attribute__((constructor)) static void arm_from_environment(void)
{
    static const char *const names[RL_FAULT_SITE_COUNT] = { "alloc", "symbol", "native" };
    const char *value = getenv("RL_FAULT");
    unsigned long long first, count;
    char name[8];

    if (!value || sscanf(value, "%7[a-z]:%llu:%llu", name, &first, &count) != 3)
        return;
    for (unsigned site = 0; site < RL_FAULT_SITE_COUNT; site++)
        if (!strcmp(name, names[site]))
            rl_fault_arm((enum rl_fault_site)site, first, count);
}
