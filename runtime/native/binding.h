/* SPDX-License-Identifier: Apache-2.0 */
/*
 * All or nothing: every function of HIP that changes a graph must reach us, whoever calls it, or records
 * would claim what is no longer true.
 *
 * Checked when the library is found and again when anything was loaded since. The loader binds a caller to the
 * first object of the global scope that defines the name, also a caller inside a dlopen(RTLD_LOCAL), so that
 * object must be us, for every function that we export and the library has. Callers that are bound past the
 * global scope, as dlopen(RTLD_DEEPBIND) does, are found by looking at the addresses that the loader put into
 * their tables. What a program looks up by dlsym() on the library's own handle cannot be seen.
 */
#ifndef REDLINE_BINDING_H
#define REDLINE_BINDING_H

#include "native/object.h"

/* `hip` NULL: its functions come from an object with another name. Any thread; the same answer from each. */
void rl_binding_check(const struct rl_object *hip);

#endif
