/* SPDX-License-Identifier: Apache-2.0 */
/* See fork.h. */
#include "base/fork.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>

/* The linker's names for the ends of the section. */
extern const struct rl_fork *const __start_rl_forks[] __attribute__((visibility("hidden")));
extern const struct rl_fork *const __stop_rl_forks[] __attribute__((visibility("hidden")));

static void before(void)
{
    for (const struct rl_fork *const *fork = __start_rl_forks; fork < __stop_rl_forks; fork++)
        if ((*fork)->before)
            (*fork)->before();
}

static void in_parent(void)
{
    for (const struct rl_fork *const *fork = __start_rl_forks; fork < __stop_rl_forks; fork++)
        if ((*fork)->in_parent)
            (*fork)->in_parent();
}

static void in_child(void)
{
    for (const struct rl_fork *const *fork = __start_rl_forks; fork < __stop_rl_forks; fork++)
        if ((*fork)->in_child)
            (*fork)->in_child();
}

bool rl_forks_watch(void)
{
    static atomic_bool watched;

    if (atomic_exchange(&watched, true) || !pthread_atfork(before, in_parent, in_child))
        return true;
    atomic_store(&watched, false);
    return false;
}

__attribute__((constructor)) static void watch(void)
{
    rl_forks_watch();
}
