/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Whether this library does anything in this process but forward calls. It starts to when HIP is found, and stops
 * for good as soon as something speaks against it, such as a second copy of HIP.
 *
 * Threads: any. rl_active() is a relaxed load: a shim that still reads the old state does what was right then.
 */
#ifndef REDLINE_PROCESS_H
#define REDLINE_PROCESS_H

#include <stdatomic.h>
#include <stdbool.h>

#include "report/reasons.h"

/* EXITING: as FORWARDING, and what HIP and the loader tear down from here on is not ours to look at. */
enum rl_process { RL_PROCESS_WAITING, RL_PROCESS_WORKING, RL_PROCESS_FORWARDING, RL_PROCESS_EXITING };

extern _Atomic int rl_process;

static inline bool rl_active(void)
{
    return atomic_load_explicit(&rl_process, memory_order_relaxed) == RL_PROCESS_WORKING;
}

/* Nothing speaks against working so far. */
static inline bool rl_process_may_work(void)
{
    return atomic_load_explicit(&rl_process, memory_order_relaxed) < RL_PROCESS_FORWARDING;
}

/* Replays may be in flight, also when nothing is replayed any more. */
static inline bool rl_process_lives(void)
{
    return atomic_load_explicit(&rl_process, memory_order_relaxed) != RL_PROCESS_EXITING;
}

/* HIP was found and nothing speaks against working with it. */
void rl_process_work(void);

/* Every later call is a plain forward. The first reason stays; detail: a format or NULL. */
__attribute__((format(printf, 2, 3))) void rl_process_forward(enum rl_reason reason, const char *detail, ...);

#endif
