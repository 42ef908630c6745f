/* SPDX-License-Identifier: Apache-2.0 */
/*
 * HIP's own dispatch tables, through which its exported functions jump: the second way in, past the dynamic
 * linker. With our hooks in their entries every call is seen, however the caller came by the function.
 *
 * AMD's builds hand a table to rocprofiler-register when it is made (registration.c). In the others each exported
 * function calls the getter of its table and jumps through it, which its code shows (stub.h). The words are those
 * of AMD's header, which only ever appends to them. None of this is trusted alone: every function that is to be
 * hooked has to jump through the word of that header, by one getter; the table has to be data of this HIP, of a size
 * that covers the words; each entry has to be HIP's own code. Otherwise there is no table.
 *
 * Functions that this version does not know have words as well. Their entries are taken by thunks that say so before
 * they go on to HIP (unknown.h).
 *
 * Threads: any, several at once: entries are replaced one by one, atomically. Nothing is ever put back. A HIP that
 * is unloaded takes its tables along; a new one is looked at anew.
 */
#ifndef REDLINE_DISPATCH_H
#define REDLINE_DISPATCH_H

#include <stdatomic.h>

#include "native/object.h"
#include "native_table.h"

struct rl_dispatch_tables {
    const void *
        getters[RL_DISPATCH_COUNT]; /* NULL: its functions are not to be read, but the table was handed out */
    _Atomic(void *) *tables[RL_DISPATCH_COUNT]; /* NULL: the library has none of its functions */
};

/* HIP hands out a table. It is used when a HIP is found that it belongs to. */
void rl_dispatch_registered(const char *name, void *table);

/* The tables of a HIP. False: it has none, or not all that is needed. Calls HIP's getters. */
bool rl_dispatch_find(const struct rl_object *hip, struct rl_dispatch_tables *found);

/* Puts HIP's own functions into `own`, as far as the tables have them; where our hooks are already, from `saved`, what
 * they call next. The name of an entry that somebody else has taken, or NULL. */
const char *rl_dispatch_read(const struct rl_object *hip, const struct rl_dispatch_tables *found,
                             const struct rl_hip_table *saved, struct rl_hip_table *own);

/* The name of a function that HIP exports, that this version does not know and that does not go through the tables,
 * or NULL. `found` NULL: HIP has no tables. */
const char *rl_dispatch_unknown(const struct rl_object *hip, const struct rl_dispatch_tables *found);

/* Hooks into the entries that hold the functions of `own`, and thunks. What the hooks call next is known before. */
void rl_dispatch_install(const struct rl_dispatch_tables *found, const struct rl_hip_table *own);

/* Another HIP is used from now on, without hooks. */
void rl_dispatch_forget(void);

/* Whether `code`, of HIP, jumps through a table that has our hooks. */
bool rl_dispatch_leads(struct rl_bytes code);

/* Whether somebody has taken the entry of a launch since. Within a launch by a hook. */
extern _Atomic(void *) *_Atomic rl_dispatch_launch;

static inline bool rl_dispatch_taken(void)
{
    _Atomic(void *) *launch = atomic_load_explicit(&rl_dispatch_launch, memory_order_relaxed);

    return launch &&
           atomic_load_explicit(launch, memory_order_relaxed) != (void *)rl_hip_hooks.hipGraphLaunch;
}

#endif
