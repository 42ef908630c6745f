/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Whether this library works in this process at all: it does not before HIP is found, and never again after a
 * reason against it was seen.
 *
 * Threads: any. rl_active() orders nothing; a shim that still sees the state before does what was right then.
 */
#ifndef REDLINE_PROCESS_H
#define REDLINE_PROCESS_H

#include <stdatomic.h>
#include <stdbool.h>

#include "report/reasons.h"

enum rl_process { RL_PROCESS_WAITING, RL_PROCESS_WORKING, RL_PROCESS_FORWARDING };

extern _Atomic int rl_process;

static inline bool rl_active(void)
{
    return atomic_load_explicit(&rl_process, memory_order_relaxed) == RL_PROCESS_WORKING;
}

/* HIP was found and nothing speaks against working with it. */
void rl_process_work(void);

/* Every later call is a plain forward. The first reason stays; detail: a format or NULL. */
__attribute__((format(printf, 2, 3))) void rl_process_forward(enum rl_reason reason, const char *detail, ...);

#endif
