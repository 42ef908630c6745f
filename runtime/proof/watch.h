/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What this thread wants to know of the HSA calls that HIP makes on it: nothing, what a native launch puts
 * into queues (observe), or where an event record reserves its slot (inject). The handlers in hsa.c look at one
 * thread-local word.
 */
#ifndef REDLINE_WATCH_H
#define REDLINE_WATCH_H

enum rl_watch { RL_WATCH_NOTHING, RL_WATCH_OBSERVE, RL_WATCH_INJECT };

extern _Thread_local enum rl_watch rl_watch __attribute__((tls_model("initial-exec"), visibility("hidden")));

#endif
