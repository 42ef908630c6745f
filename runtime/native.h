/*
 * The functions of the libraries that the process really uses.
 *
 * rl_hip() and rl_hsa() may be called from any thread at any time, before main and while a library is being loaded. They
 * never return NULL; members are NULL while the library is not loaded and for functions that it does not have. The first
 * call that finds the library fills the whole table and every later call is one acquire load. No lock is taken, since the
 * dynamic loader's own lock is held by whoever loads HIP. Nothing is ever loaded on the application's behalf.
 */
#ifndef REDLINE_NATIVE_H
#define REDLINE_NATIVE_H

#include <stdatomic.h>

#include "native_table.h"

#define RL_EXPORT __attribute__((visibility("default")))

extern _Atomic(const struct rl_hip_table *) rl_hip_current;
extern _Atomic(const struct rl_hsa_table *) rl_hsa_current;

const struct rl_hip_table *rl_hip_resolve(void);
const struct rl_hsa_table *rl_hsa_resolve(void);

static inline const struct rl_hip_table *rl_hip(void)
{
    const struct rl_hip_table *table = atomic_load_explicit(&rl_hip_current, memory_order_acquire);
    return table ? table : rl_hip_resolve();
}

static inline const struct rl_hsa_table *rl_hsa(void)
{
    const struct rl_hsa_table *table = atomic_load_explicit(&rl_hsa_current, memory_order_acquire);
    return table ? table : rl_hsa_resolve();
}

#endif
