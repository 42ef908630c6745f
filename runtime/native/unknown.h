/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Words of HIP's dispatch tables that this version does not know.
 *
 * Nobody can tell what such a function does: it may unload code, destroy what replays use, or hand functions out.
 * So a thunk takes its entry. The first call of any of them ends the replays of this process, waits for those that are
 * under way, and then goes on to HIP with all its arguments. A function that is never called costs nothing.
 *
 * Threads: any.
 */
#ifndef REDLINE_UNKNOWN_H
#define REDLINE_UNKNOWN_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

/* The name that the report gives the word; it stays valid while HIP is loaded. False: there is no thunk for it. */
bool rl_unknown_name(unsigned dispatch, size_t word, const char *name);

/* Into all words of the table that are not known. */
void rl_unknown_install(unsigned dispatch, _Atomic(void *) *table, size_t words);

#endif
