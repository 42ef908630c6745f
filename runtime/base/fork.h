/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What has to be done around a fork(): the child has one thread, and whatever the others held or were in the
 * middle of stays as it was.
 *
 *     static void in_child(void) { pthread_mutex_init(&lock, NULL); }
 *     RL_AT_FORK(NULL, NULL, in_child);
 *
 * says so at the end of a file. The functions run in no particular order, so that none may rely on another.
 */
#ifndef REDLINE_FORK_H
#define REDLINE_FORK_H

#include <stdbool.h>

struct rl_fork {
    void (*before)(void), (*in_parent)(void), (*in_child)(void); /* NULL: nothing */
};

/* The linker gathers the pointers: a file that is not linked leaves nothing behind. (Not the structs, which
 * compilers align as they please.) */
#define RL_AT_FORK(before, in_parent, in_child)                                                              \
    static const struct rl_fork rl_fork_functions = { before, in_parent, in_child };                         \
    static const struct rl_fork *const rl_fork_entry                                                         \
        __attribute__((used, section("rl_forks"))) = &rl_fork_functions

/* False: forks cannot be watched, for want of memory. Any number of times, from any thread. */
bool rl_forks_watch(void);

#endif
