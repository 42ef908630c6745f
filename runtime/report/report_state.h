/* SPDX-License-Identifier: Apache-2.0 */
/* What report.c keeps and summary.c reads when the process exits. */
#ifndef REDLINE_REPORT_STATE_H
#define REDLINE_REPORT_STATE_H

#include "report/report.h"

enum rl_process_state { RL_PROCESS_UNUSED, RL_PROCESS_ACTIVE, RL_PROCESS_PASSIVE };

struct rl_report {
    _Atomic uint32_t state, reason; /* enum rl_process_state, enum rl_reason */
    struct rl_text detail, hip_path, hip_version;
    _Atomic uint64_t counters[RL_COUNTER_COUNT];
    _Atomic uint64_t reasons[RL_REASON_COUNT]; /* how often an exec became native for it */
    _Atomic uint64_t exec_count;
    struct rl_report_exec execs[RL_REPORT_EXECS + 1]; /* the last one is shared */
};

extern struct rl_report rl_the_report __attribute__((visibility("hidden")));

/* Copies the text; "" when a writer is in its middle for ever (it was killed by the exit). */
void rl_text_read(struct rl_text *text, char copy[RL_TEXT_SIZE]);

/* Writes the report that REDLINE_REPORT asks for. */
void rl_summary_write(void);

#endif
