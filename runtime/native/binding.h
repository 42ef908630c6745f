/* SPDX-License-Identifier: Apache-2.0 */
/*
 * All or nothing: every function of HIP that changes a graph must reach us, whoever calls it, or records would claim
 * what is no longer true. Whether that is so is looked at when HIP is found and again when anything was loaded since.
 *
 * Where HIP has dispatch tables that are understood (dispatch.h), every call goes through our hooks in them.
 *
 * Where it has none there is the dynamic linker. It binds a caller to the first object of the global scope that defines
 * the name, also a caller inside a dlopen(RTLD_LOCAL), so that object must be us, for every function that we export and
 * the library has. Callers that are bound past the global scope, as dlopen(RTLD_DEEPBIND) does, are found by looking at
 * the addresses that the loader put into their tables. What a program looks up by dlsym() on the library's own handle,
 * or loads later, cannot be seen: so there must be nobody who could. Any object that refers to one of the loader's
 * functions ends it, but for HIP and what HIP brings along. And another preloaded library that wraps HIP's functions
 * could not see replays.
 */
#ifndef REDLINE_BINDING_H
#define REDLINE_BINDING_H

#include "native/dispatch.h"
#include "native/object.h"

/* AMD's HIP, whatever its file is called. */
bool rl_binding_is_clr(const struct rl_object *object);

/* What can be said before HIP's tables are looked for. `hip` NULL: its functions come from an object that is not known.
 * False: every call is a plain forward from now on. */
bool rl_binding_may_work(const struct rl_object *hip);

/* Any thread; the same answer from each. `dispatch` NULL: HIP has no tables that are understood. `taken`: the entry of
 * one that somebody else has changed, or NULL. `wrapper`: a preloaded library behind us that wraps HIP's functions, or
 * "". */
void rl_binding_check(const struct rl_object *hip, const struct rl_dispatch_tables *dispatch,
                      const char *taken, const char *wrapper);

#endif
