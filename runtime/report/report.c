/* SPDX-License-Identifier: Apache-2.0 */
/* See report.h. */
#define _GNU_SOURCE
#include "report/report.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/fork.h"
#include "report/version.h"

_Static_assert(RL_REASON_COUNT <= 64, "a word has a bit for each reason");

struct rl_report rl_the_report = { .execs[RL_REPORT_EXECS].shared = true };

/* One writer at a time; a second one gives way, so that nobody ever waits. */
static void text_write(struct rl_text *text, const char *format, va_list arguments)
{
    uint32_t version = atomic_load_explicit(&text->version, memory_order_relaxed);
    uint64_t words[RL_TEXT_SIZE / 8] = { 0 };
    int saved = errno;

    if (format && vsnprintf((char *)words, sizeof(words), format, arguments) < 0)
        words[0] = 0;
    errno = saved;
    if (version & 1 || !atomic_compare_exchange_strong_explicit(&text->version, &version, version + 1,
                                                                memory_order_acquire, memory_order_relaxed))
        return;
    for (unsigned i = 0; i < RL_TEXT_SIZE / 8; i++)
        atomic_store_explicit(&text->words[i], words[i], memory_order_release);
    atomic_store_explicit(&text->version, version + 2, memory_order_release);
}

void rl_text_read(struct rl_text *text, char copy[RL_TEXT_SIZE])
{
    uint64_t words[RL_TEXT_SIZE / 8];

    for (unsigned tries = 0; tries < 1000; tries++) {
        uint32_t version = atomic_load_explicit(&text->version, memory_order_acquire);

        for (unsigned i = 0; i < RL_TEXT_SIZE / 8; i++)
            words[i] = atomic_load_explicit(&text->words[i], memory_order_acquire);
        if (!(version & 1) && atomic_load_explicit(&text->version, memory_order_acquire) == version) {
            memcpy(copy, words, RL_TEXT_SIZE);
            copy[RL_TEXT_SIZE - 1] = 0;
            return;
        }
    }
    copy[0] = 0;
}

__attribute__((format(printf, 2, 3))) static void text_set(struct rl_text *text, const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    text_write(text, format, arguments);
    va_end(arguments);
}

void rl_report_hip(const char *path, const char *version, bool has_tables)
{
    size_t length = strlen(path), kept = RL_TEXT_SIZE - sizeof("...");
    bool cut = length >= RL_TEXT_SIZE;

    text_set(&rl_the_report.hip_path, "%s%s", cut ? "..." : "", cut ? path + length - kept : path);
    text_set(&rl_the_report.hip_version, "%s", version);
    atomic_store_explicit(&rl_the_report.hip_has_tables, has_tables, memory_order_relaxed);
}

void rl_report_state(bool active, enum rl_reason reason, const char *detail, ...)
{
    uint32_t state = active ? RL_PROCESS_ACTIVE : RL_PROCESS_PASSIVE, before;
    const struct rl_options *options = rl_options();
    char text[RL_TEXT_SIZE];
    va_list arguments;

    va_start(arguments, detail);
    text_write(&rl_the_report.detail, detail, arguments);
    va_end(arguments);
    atomic_store_explicit(&rl_the_report.reason, reason, memory_order_relaxed);
    before = atomic_exchange_explicit(&rl_the_report.state, state, memory_order_relaxed);
    if (before == state)
        return;
    for (unsigned i = 0; before == RL_PROCESS_UNUSED && i < options->problem_count; i++)
        rl_log(RL_LOG_ERROR, "%s", options->problems[i]);
    rl_text_read(&rl_the_report.detail, text);
    if (active)
        rl_log(RL_LOG_INFO, "version " RL_VERSION " is active");
    else
        rl_log(RL_LOG_INFO, "every call goes to HIP: %s%s%s", rl_reason_sentence(reason), text[0] ? ": " : "",
               text);
}

void rl_report_gate(const char *what)
{
    text_set(&rl_the_report.gate, "%s", what);
}

void rl_count(enum rl_counter counter)
{
    atomic_fetch_add_explicit(&rl_the_report.counters[counter], 1, memory_order_relaxed);
}

uint64_t rl_counted(enum rl_counter counter)
{
    return atomic_load_explicit(&rl_the_report.counters[counter], memory_order_relaxed);
}

struct rl_report_exec *rl_report_exec(uint64_t nodes)
{
    uint64_t index = atomic_fetch_add_explicit(&rl_the_report.exec_count, 1, memory_order_relaxed);
    struct rl_report_exec *exec = &rl_the_report.execs[index < RL_REPORT_EXECS ? index : RL_REPORT_EXECS];

    atomic_fetch_add_explicit(&exec->nodes, nodes, memory_order_relaxed);
    return exec;
}

void rl_report_exec_reason(struct rl_report_exec *exec, enum rl_reason reason, const char *detail, ...)
{
    uint64_t before = atomic_load_explicit(&exec->reason, memory_order_relaxed);
    uint64_t bit = UINT64_C(1) << reason;
    char text[RL_TEXT_SIZE];
    va_list arguments;

    if (before == RL_REASON_REPLAY_DIFFERS && !exec->shared)
        return;
    before = atomic_exchange_explicit(&exec->reason, reason, memory_order_relaxed);
    va_start(arguments, detail);
    text_write(&exec->detail, detail, arguments);
    va_end(arguments);
    if (reason == RL_REASON_NONE || (before == reason && !exec->shared))
        return;
    atomic_fetch_add_explicit(&rl_the_report.reasons[reason], 1, memory_order_relaxed);
    if (atomic_fetch_or_explicit(&exec->said, bit, memory_order_relaxed) & bit)
        return;
    rl_text_read(&exec->detail, text);
    /* An exec that HIP launches is as good as one without us; a wrong replay is not. */
    rl_log(reason == RL_REASON_REPLAY_DIFFERS ? RL_LOG_ERROR : RL_LOG_INFO,
           "exec %s%td is launched by HIP: %s%s%s", exec->shared ? "beyond " : "",
           exec - rl_the_report.execs + !exec->shared, rl_reason_sentence(reason), text[0] ? ": " : "", text);
}

static void text_clear(struct rl_text *text)
{
    atomic_store(&text->words[0], 0);
    atomic_store(&text->version, 0);
}

/* In the child of a fork: only this thread exists, and the fork may have cut any other in mid-write. */
static void in_child(void)
{
    uint64_t used = atomic_load(&rl_the_report.exec_count);

    atomic_store(&rl_the_report.state, RL_PROCESS_UNUSED);
    atomic_store(&rl_the_report.reason, RL_REASON_NONE);
    text_clear(&rl_the_report.detail);
    text_clear(&rl_the_report.hip_path);
    text_clear(&rl_the_report.hip_version);
    text_clear(&rl_the_report.gate);
    for (unsigned i = 0; i < RL_COUNTER_COUNT; i++)
        atomic_store(&rl_the_report.counters[i], 0);
    for (unsigned i = 0; i < RL_REASON_COUNT; i++)
        atomic_store(&rl_the_report.reasons[i], 0);
    for (uint64_t i = 0; i <= RL_REPORT_EXECS && i < used; i++) {
        struct rl_report_exec *exec = &rl_the_report.execs[i];

        atomic_store(&exec->launches_native, 0);
        atomic_store(&exec->launches_replayed, 0);
        atomic_store(&exec->nodes, 0);
        atomic_store(&exec->reason, RL_REASON_NONE);
        atomic_store(&exec->said, 0);
        text_clear(&exec->detail);
    }
    atomic_store(&rl_the_report.exec_count, 0);
}

RL_AT_FORK(NULL, NULL, in_child);
