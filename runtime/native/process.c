/* SPDX-License-Identifier: Apache-2.0 */
/* See process.h. */
#include "native/process.h"

#include <stdarg.h>
#include <stdio.h>

#include "base/fork.h"
#include "report/report.h"

_Atomic int rl_process = RL_PROCESS_WAITING;

void rl_process_work(void)
{
    int before = RL_PROCESS_WAITING;

    if (atomic_compare_exchange_strong(&rl_process, &before, RL_PROCESS_WORKING))
        rl_report_state(true, RL_REASON_NONE, NULL);
}

void rl_process_forward(enum rl_reason reason, const char *detail, ...)
{
    char text[RL_TEXT_SIZE] = "";
    va_list arguments;
    int before = atomic_load(&rl_process);

    while (before < RL_PROCESS_FORWARDING &&
           !atomic_compare_exchange_weak(&rl_process, &before, RL_PROCESS_FORWARDING))
        ;
    if (before >= RL_PROCESS_FORWARDING)
        return;
    if (detail) {
        va_start(arguments, detail);
        vsnprintf(text, sizeof(text), detail, arguments);
        va_end(arguments);
    }
    rl_report_state(false, reason, "%s", text);
}

/* HIP's state does not survive a fork; the child works again once it uses HIP itself. */
static void in_child(void)
{
    atomic_store(&rl_process, RL_PROCESS_WAITING);
}

RL_AT_FORK(NULL, NULL, in_child);

__attribute__((destructor)) static void at_exit(void)
{
    atomic_store(&rl_process, RL_PROCESS_EXITING);
}
