/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The functions of the libraries that the process really uses.
 *
 * rl_hip(), rl_hip_anew() and rl_hsa() are given the address that their shim returns to. They may be called
 * from any thread at any time, before main and while a library is being loaded, and never return NULL;
 * members are NULL while the library is not loaded and for functions that it does not have. The first call
 * that finds the library fills the whole table. Nothing is allocated, and no lock is held but for single
 * looks at the loaded objects (object.h): threads that resolve at once fill tables of their own, with the
 * same values. Nothing is ever loaded, or kept loaded, on the application's behalf.
 *
 * A table holds what its shims call next. That is the function that the library exports, except where another
 * preloaded library stands between us and HIP and wraps the same function: then it is that wrapper. What the library
 * itself does, whoever stands in between, is in rl_hip_own(): calls that are ours alone use that. Where the two differ,
 * the shim only forwards: behind what it calls is a hook of ours in HIP's dispatch table (dispatch.h), or nothing is
 * replayed.
 *
 * With two copies of a library in the process there is no current table: every call is resolved by who made
 * it, and the process is passive.
 */
#ifndef REDLINE_NATIVE_H
#define REDLINE_NATIVE_H

#include <stdatomic.h>
#include <stdbool.h>

#include "native_table.h"

#define RL_EXPORT __attribute__((visibility("default")))

struct rl_text_range {
    _Atomic uintptr_t start, size;
};

extern _Atomic(const struct rl_hip_table *) rl_hip_current;
extern _Atomic(const struct rl_hsa_table *) rl_hsa_current;
extern _Atomic(const struct rl_hip_table *)
    rl_hip_saved;                          /* what the hooks in HIP's dispatch tables call next */
extern struct rl_text_range rl_hip_text;   /* code of the current libamdhip64; empty: none */
extern struct rl_text_range rl_hsa_caller; /* code of the libamdhip64 that is known to use rl_hsa_current */

/* In start.c, for the rooms above: before a HIP that was found is used (false: no memory); when another one takes
 * its place, with objects of its own. */
bool rl_start(void);
void rl_start_over(void);

const struct rl_hip_table *rl_hip_resolve(const void *caller) __attribute__((cold));
const struct rl_hip_table *rl_hip_anew(const void *caller);
const struct rl_hsa_table *rl_hsa_resolve(const void *caller) __attribute__((cold));

/* Somebody initialises HSA. */
void rl_hip_begins(const void *caller);

/* The library's own functions, whoever wraps them. `table` is one that the functions here returned: it stands in
 * front of this one. */
static inline const struct rl_hip_table *rl_hip_own(const struct rl_hip_table *table)
{
    return table + 1;
}

static inline bool rl_text_has(struct rl_text_range *range, const void *address)
{
    return (uintptr_t)address - atomic_load_explicit(&range->start, memory_order_relaxed) <
           atomic_load_explicit(&range->size, memory_order_relaxed);
}

bool rl_called_by_name(const void *caller) __attribute__((cold));

/*
 * HIP calls itself through its exported functions. The shim tells such a call by its return address and not
 * by a flag of the thread, because a callback of the application that HIP runs within a call is the
 * application's. One that ends in a jump to the shim leaves HIP's return address, too; but HIP called it
 * through a pointer.
 */
static inline bool rl_called_by_hip(const void *caller)
{
    return rl_text_has(&rl_hip_text, caller) && rl_called_by_name(caller);
}

/* For calls whose graph, node or exec came from an earlier shim: the library was found then. */
static inline const struct rl_hip_table *rl_hip(const void *caller)
{
    const struct rl_hip_table *table = atomic_load_explicit(&rl_hip_current, memory_order_acquire);

    return table ? table : rl_hip_resolve(caller);
}

/* For the hooks. The child of a fork finds HIP again by its first call. */
static inline const struct rl_hip_table *rl_hip_hooked(const void *caller)
{
    rl_hip(caller);
    return atomic_load_explicit(&rl_hip_saved, memory_order_acquire);
}

static inline const struct rl_hip_table *rl_hip_hooked_anew(const void *caller)
{
    rl_hip_anew(caller);
    return atomic_load_explicit(&rl_hip_saved, memory_order_acquire);
}

static inline const struct rl_hsa_table *rl_hsa(const void *caller)
{
    const struct rl_hsa_table *table = atomic_load_explicit(&rl_hsa_current, memory_order_acquire);

    return table && rl_text_has(&rl_hsa_caller, caller) ? table : rl_hsa_resolve(caller);
}

#endif
