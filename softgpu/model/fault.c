/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include "fault.h"

#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "memory.h"

struct guard {
    sigjmp_buf back;
    volatile uint64_t address;
};

/* Read by a signal handler, so it must not be allocated on first use. */
static _Thread_local struct guard *guard __attribute__((tls_model("initial-exec")));

/* Handlers of the application, newest last. The process has one at a time, and libraries set theirs
 * for a while and put back what was there: so each that was seen in front of ours is remembered. */
enum { HANDLERS = 8 };
static struct chain {
    struct sigaction handler[HANDLERS];
    int count;
} chains[2]; /* SIGSEGV, SIGBUS */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

/* A handler may call the one before it or raise the signal again: both lead back to ours, deeper in the
 * stack. `depth` counts that, and each level goes to the next older handler. */
static _Thread_local struct {
    uintptr_t frame; /* of the outer level */
    int depth;
} level __attribute__((tls_model("initial-exec")));

static void remove_handler(struct chain *chain, int at)
{
    memmove(chain->handler + at, chain->handler + at + 1,
            (size_t)(chain->count - at - 1) * sizeof *chain->handler);
    chain->count--;
}

static void pass_on(int number, siginfo_t *info, void *context, int depth)
{
    struct chain *chain = &chains[number == SIGBUS];
    bool raised = info->si_code <= 0; /* by a process, not by an instruction that faults again */
    int count = chain->count;

    if (depth > count) {
        signal(number, SIG_DFL);
        if (raised)
            raise(number);
        return;
    }
    const struct sigaction next = chain->handler[count - depth];

    if (next.sa_flags & SA_RESETHAND)
        remove_handler(chain, count - depth);
    if (next.sa_flags & SA_SIGINFO)
        next.sa_sigaction(number, info, context);
    else if (next.sa_handler != SIG_IGN)
        next.sa_handler(number);
    else if (!raised)
        signal(number, SIG_DFL);
}

/* What a forked child can see of a GPU is gone, as with the kernel driver, whose mappings it does not get. */
static void explain(uint64_t address)
{
    static const char text[] = "softgpu: a forked child touched GPU memory of its parent: HIP cannot be used "
                               "in it, as it was started before the fork\n";
    static atomic_bool said;

    if (sg_memory_was_parents(address) && !atomic_exchange(&said, true) &&
        write(STDERR_FILENO, text, sizeof text - 1) < 0)
        return;
}

static void on_fault(int number, siginfo_t *info, void *context)
{
    struct guard *here = guard;
    uintptr_t frame = (uintptr_t)__builtin_frame_address(0), outer = level.frame;
    int depth = level.depth;

    if (here) {
        here->address = (uint64_t)info->si_addr;
        siglongjmp(here->back, number);
    }
    explain((uint64_t)info->si_addr);
    /* A handler that left by a jump has not counted back: then this frame is not below that one. */
    level.depth = outer && frame < outer ? depth + 1 : 1;
    level.frame = frame;
    pass_on(number, info, context, level.depth);
    level.frame = outer;
    level.depth = depth;
}

static bool same_handler(const struct sigaction *a, const struct sigaction *b)
{
    return a->sa_sigaction == b->sa_sigaction && a->sa_flags == b->sa_flags;
}

/* The application may set its own handler at any time; then ours goes in front again. */
static void install(int number)
{
    struct chain *chain = &chains[number == SIGBUS];
    struct sigaction now;

    pthread_mutex_lock(&lock);
    if (!sigaction(number, NULL, &now) && now.sa_sigaction != on_fault) {
        struct sigaction ours = { .sa_sigaction = on_fault,
                                  .sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER };

        for (int i = chain->count; i-- > 0;)
            if (same_handler(&chain->handler[i], &now))
                remove_handler(chain, i);
        if (chain->count == HANDLERS)
            remove_handler(chain, 0);
        if (now.sa_handler == SIG_DFL)
            chain->count = 0;
        else
            chain->handler[chain->count++] = now;
        sigemptyset(&ours.sa_mask);
        sigaction(number, &ours, NULL);
    }
    pthread_mutex_unlock(&lock);
}

void sg_fault_prepare(void)
{
    install(SIGSEGV);
    install(SIGBUS);
}

int sg_fault_guard(void (*function)(void *), void *argument, uint64_t *address)
{
    struct guard here = { .address = 0 };
    int number = sigsetjmp(here.back, 0); /* the handler blocks no signal, so there is no mask to restore */

    if (!number) {
        guard = &here;
        function(argument);
    }
    guard = NULL;
    *address = here.address;
    return number;
}
