/* SPDX-License-Identifier: Apache-2.0 */
/* What the name of a kernel says. Threads: any; nothing is kept. */
#ifndef REDLINE_NAME_H
#define REDLINE_NAME_H

#include <stddef.h>
#include <stdint.h>

enum rl_builtin { RL_BUILTIN_NONE, RL_BUILTIN_FILL, RL_BUILTIN_FILL_2D, RL_BUILTIN_COPY, RL_BUILTIN_OTHER };

uint64_t rl_name_hash(const char *name, size_t length); /* never 0 */
enum rl_builtin rl_builtin_of(const char *name, size_t length);
const char *rl_builtin_name(enum rl_builtin builtin); /* for people */

#endif
