/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Injected failures: tests build the runtime with -DRL_FAULT_INJECTION and choose which calls of a site fail.
 * Without the flag rl_fault() is the constant false and nothing of this is linked.
 *
 * A process that is started with RL_FAULT=SITE:FIRST:COUNT (SITE: alloc, symbol or native) is armed from
 * the start, so that whole applications can run under failures.
 *
 * Threads: any. A site counts its calls process-wide, so a test that needs "the n-th call" runs one thread.
 */
#ifndef REDLINE_FAULT_H
#define REDLINE_FAULT_H

#include <stdbool.h>
#include <stdint.h>

enum rl_fault_site { RL_FAULT_ALLOC, RL_FAULT_SYMBOL, RL_FAULT_NATIVE, RL_FAULT_SITE_COUNT };

#ifdef RL_FAULT_INJECTION

/* Makes calls first .. first + count - 1 of the site fail, counting from 1 at this moment. */
void rl_fault_arm(enum rl_fault_site site, uint64_t first, uint64_t count);

/* Calls of the site since it was armed. */
uint64_t rl_fault_calls(enum rl_fault_site site);

/* True: the caller must behave as if its operation had failed. */
bool rl_fault(enum rl_fault_site site);

#else

static inline bool rl_fault(enum rl_fault_site site)
{
    (void)site;
    return false;
}

#endif
#endif
