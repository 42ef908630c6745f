#define _GNU_SOURCE
#include "fault.h"

#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdlib.h>

struct guard {
    sigjmp_buf back;
    volatile uint64_t address;
};

/* Read by a signal handler, so it must not be allocated on first use. */
static _Thread_local struct guard *guard __attribute__((tls_model("initial-exec")));
static struct sigaction earlier[2];      /* SIGSEGV, SIGBUS */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void on_fault(int number, siginfo_t *info, void *context)
{
    struct guard *here = guard;

    if (here) {
        here->address = (uint64_t)info->si_addr;
        siglongjmp(here->back, number);
    }
    const struct sigaction *next = &earlier[number == SIGBUS];

    if (next->sa_flags & SA_SIGINFO)
        next->sa_sigaction(number, info, context);
    else if (next->sa_handler != SIG_DFL && next->sa_handler != SIG_IGN)
        next->sa_handler(number);
    else
        signal(number, SIG_DFL); /* the instruction faults again and the process ends as it would have */
}

/* The application may set its own handler at any time; then ours goes in front again. */
static void install(int number)
{
    struct sigaction now;

    pthread_mutex_lock(&lock);
    if (!sigaction(number, NULL, &now) && now.sa_sigaction != on_fault) {
        struct sigaction ours = {.sa_sigaction = on_fault, .sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER};

        sigemptyset(&ours.sa_mask);
        earlier[number == SIGBUS] = now;
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
    struct guard here = {.address = 0};
    int number = sigsetjmp(here.back, 0); /* the handler blocks no signal, so there is no mask to restore */

    if (!number) {
        guard = &here;
        function(argument);
    }
    guard = NULL;
    *address = here.address;
    return number;
}
