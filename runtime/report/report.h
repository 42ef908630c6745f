/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the user can learn: the state of the process, counters, one line for each exec with the reason why
 * it is native, and the summary of all that when the process exits (REDLINE_REPORT).
 *
 * Threads: any, at any time, exit included. No lock, no allocation; errno is kept. Nothing here can fail: a
 * text that two threads write at once keeps one of the two, a text longer than RL_TEXT_SIZE - 1 bytes is
 * cut.
 *
 * Ordering: none; counters and texts are read once, at exit, while other threads may still run.
 *
 * The first RL_REPORT_EXECS execs have a line of their own; later ones share the last line, so memory is
 * constant. The child of a fork starts with an empty report and is a process of its own.
 *
 * The summary is written by the library's destructor: not after _exit() or a signal. A file is written
 * beside its place and renamed. A process that never used HIP says only that, and never replaces a file
 * that exists, so the report of a program is not lost to the shell around it.
 */
#ifndef REDLINE_REPORT_H
#define REDLINE_REPORT_H

#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "report/log.h"
#include "report/reasons.h"

enum { RL_REPORT_EXECS = 256, RL_TEXT_SIZE = 256 };

/* Counters of the process: name in JSON, and in text with _ as blanks. */
#define RL_COUNTERS(X)                                                                                       \
    X(graphs_created)                                                                                        \
    X(captures_ended)                                                                                        \
    X(execs_created)                                                                                         \
    X(execs_destroyed)                                                                                       \
    X(execs_updated)                                                                                         \
    X(launches_without_record)                                                                               \
    X(launches_in_other_streams)                                                                             \
    X(replays_without_place)                                                                                 \
    X(plans_renewed)                                                                                         \
    /* with REDLINE_VERIFY */                                                                                \
    X(replays_verified)                                                                                      \
    X(replays_different)                                                                                     \
    X(not_verified_in_time)                                                                                  \
    X(not_verified_memory_too_large)                                                                         \
    X(not_verified_memory_unknown)                                                                           \
    X(not_verified_out_of_memory)                                                                            \
    X(not_verified_copy_failed)                                                                              \
    X(not_verified_after_an_error)                                                                           \
    X(not_verified_not_placed)                                                                               \
    X(not_verified_not_confirmed)                                                                            \
    X(not_verified_not_repeatable)

#define RL_COUNTER_MEMBER(name) RL_COUNT_##name,
enum rl_counter { RL_COUNTERS(RL_COUNTER_MEMBER) RL_COUNTER_COUNT };
#undef RL_COUNTER_MEMBER

struct rl_text {
    _Atomic uint32_t version; /* odd: being written */
    _Atomic uint64_t words[RL_TEXT_SIZE / 8];
};

struct rl_report_exec {
    _Alignas(64) _Atomic uint64_t launches_native, launches_replayed, nodes, reason;
    _Atomic uint64_t said; /* reasons that the log was told of, a bit each */
    bool shared;           /* by all execs beyond RL_REPORT_EXECS */
    struct rl_text detail;
};

/* Says, once HIP is used, whether the library works here, and if not why. detail: a format, or NULL. */
__attribute__((format(printf, 3, 4))) void rl_report_state(bool active, enum rl_reason reason,
                                                           const char *detail, ...);

/* The libamdhip64 that was found, and whether calls reach us by its dispatch tables; of a long path the end is kept. */
void rl_report_hip(const char *path, const char *version, bool has_tables);

/* What makes every launch HIP's at present, although the library works here; "": nothing. */
void rl_report_gate(const char *what);

void rl_count(enum rl_counter counter);
uint64_t rl_counted(enum rl_counter counter);

/* A new exec's line; never NULL. It stays valid for ever. */
struct rl_report_exec *rl_report_exec(uint64_t nodes);

/* Why the exec is native from now on; RL_REASON_NONE: no more. The log at info, of a wrong replay at error, says each
 * reason once, since an exec that is changed before each launch may get its reason anew each time. REPLAY_DIFFERS stays. */
__attribute__((format(printf, 3, 4))) void rl_report_exec_reason(struct rl_report_exec *exec,
                                                                 enum rl_reason reason, const char *detail,
                                                                 ...);

/* A plain add: of two launches of one exec at the very same time one may go uncounted. */
static inline void rl_report_launch(struct rl_report_exec *exec, bool replayed)
{
    _Atomic uint64_t *counter = replayed ? &exec->launches_replayed : &exec->launches_native;

    if (exec->shared)
        atomic_fetch_add_explicit(counter, 1, memory_order_relaxed);
    else
        atomic_store_explicit(counter, atomic_load_explicit(counter, memory_order_relaxed) + 1,
                              memory_order_relaxed);
}

/* ---- what summary.c reads when the process exits ---- */

enum rl_process_state { RL_PROCESS_UNUSED, RL_PROCESS_ACTIVE, RL_PROCESS_PASSIVE };

struct rl_report {
    _Atomic uint32_t state, reason; /* enum rl_process_state, enum rl_reason */
    _Atomic bool hip_has_tables;
    struct rl_text detail, hip_path, hip_version, gate;
    _Atomic uint64_t counters[RL_COUNTER_COUNT];
    _Atomic uint64_t reasons[RL_REASON_COUNT]; /* how often an exec became native for it */
    _Atomic uint64_t exec_count;
    struct rl_report_exec execs[RL_REPORT_EXECS + 1]; /* the last one is shared */
};

extern struct rl_report rl_the_report __attribute__((visibility("hidden")));

/* Copies the text; "" when a writer is in its middle for ever (it was killed by the exit). */
void rl_text_read(struct rl_text *text, char copy[RL_TEXT_SIZE]);

#endif
