/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The report at exit, as text or JSON, straight into a file descriptor through one small buffer: no
 * allocation and no stdio, since the exit may come while other threads hold the locks of both.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "report/report.h"
#include "report/version.h"

struct output {
    int file;
    bool failed;
    size_t used;
    char buffer[4096];
};

static struct output output; /* not on the stack of a thread that may have a small one */

static void flush(void)
{
    if (output.used && !rl_write(output.file, output.buffer, output.used))
        output.failed = true;
    output.used = 0;
}

static void put_bytes(const char *bytes, size_t count)
{
    if (output.used + count > sizeof(output.buffer))
        flush();
    memcpy(output.buffer + output.used, bytes, count);
    output.used += count;
}

/* At most 1,000 bytes of text. */
__attribute__((format(printf, 1, 2))) static void put(const char *format, ...)
{
    char text[1001];
    va_list arguments;

    va_start(arguments, format);
    if (vsnprintf(text, sizeof(text), format, arguments) < 0)
        text[0] = 0;
    va_end(arguments);
    put_bytes(text, strlen(text));
}

/* Bytes of the UTF-8 character at the start of the text, or 0: none is there. */
static size_t utf8_length(const unsigned char *text)
{
    static const uint32_t smallest[] = { 0, 0, 0x80, 0x800, 0x10000 };
    size_t length = text[0] < 0x80 ? 1 : text[0] < 0xc0 ? 0 : text[0] < 0xe0 ? 2 : text[0] < 0xf0 ? 3 : 4;
    uint32_t value = length > 1 ? text[0] & 0x7f >> length : text[0];

    if (text[0] >= 0xf8)
        return 0;
    for (size_t i = 1; i < length; i++) {
        if (text[i] >> 6 != 2)
            return 0;
        value = value << 6 | (text[i] & 0x3f);
    }
    if (length && (value < smallest[length] || value > 0x10ffff || (value >= 0xd800 && value < 0xe000)))
        return 0;
    return length;
}

static void put_json_string(const char *string)
{
    const unsigned char *text = (const unsigned char *)string;

    put("\"");
    while (*text) {
        size_t length = utf8_length(text);

        if (!length)
            put("\\ufffd");
        else if (*text == '"' || *text == '\\')
            put("\\%c", *text);
        else if (*text < ' ' || *text == 0x7f)
            put("\\u%04x", *text);
        else
            put_bytes((const char *)text, length);
        text += length ? length : 1;
    }
    put("\"");
}

static uint64_t load(_Atomic uint64_t *number)
{
    return atomic_load_explicit(number, memory_order_relaxed);
}

static uint64_t own_lines(void)
{
    uint64_t count = load(&rl_the_report.exec_count);

    return count < RL_REPORT_EXECS ? count : RL_REPORT_EXECS;
}

static uint64_t shared_execs(void)
{
    return load(&rl_the_report.exec_count) - own_lines();
}

#define COUNTER_NAME(name) #name,
static const char *const counter_names[] = { RL_COUNTERS(COUNTER_NAME) };
#undef COUNTER_NAME

static void put_json_reason(enum rl_reason reason, struct rl_text *detail)
{
    char text[RL_TEXT_SIZE];

    if (reason == RL_REASON_NONE) {
        put("null");
        return;
    }
    rl_text_read(detail, text);
    put("{\"name\": \"%s\", \"sentence\": ", rl_reason_name(reason));
    put_json_string(rl_reason_sentence(reason));
    put(", \"detail\": ");
    put_json_string(text);
    put("}");
}

static void put_json_exec(struct rl_report_exec *exec)
{
    put("\"nodes\": %" PRIu64 ", \"launches\": {\"native\": %" PRIu64 ", \"replayed\": %" PRIu64 "}",
        load(&exec->nodes), load(&exec->launches_native), load(&exec->launches_replayed));
}

/* The state in a word, or "native: " and what makes every launch HIP's. */
static void describe(enum rl_process_state state, char text[RL_TEXT_SIZE + 16])
{
    static const char *const states[] = { "unused", "active", "passive" };
    struct rl_report *report = &rl_the_report;
    char gate[RL_TEXT_SIZE] = "";

    if (state == RL_PROCESS_ACTIVE)
        rl_text_read(&report->gate, gate);
    else if (state == RL_PROCESS_PASSIVE && atomic_load(&report->reason) == RL_REASON_TOOL)
        rl_text_read(&report->detail, gate);
    snprintf(text, RL_TEXT_SIZE + 16, "%s%s", gate[0] ? "native: " : states[state], gate);
}

static void put_json(enum rl_process_state state)
{
    char description[RL_TEXT_SIZE + 16];
    const struct rl_options *options = rl_options();
    struct rl_report *report = &rl_the_report;
    char path[RL_TEXT_SIZE], version[RL_TEXT_SIZE];
    const char *comma = "";

    rl_text_read(&report->hip_path, path);
    rl_text_read(&report->hip_version, version);
    put("{\n  \"redline\": \"" RL_VERSION "\",\n  \"process\": %d,\n  \"program\": ", getpid());
    put_json_string(program_invocation_short_name);
    put(",\n  \"hip\": ");
    if (path[0]) {
        put("{\"path\": ");
        put_json_string(path);
        put(", \"version\": ");
        put_json_string(version);
        put(", \"dispatch_table\": %s}", atomic_load(&report->hip_has_tables) ? "true" : "false");
    } else {
        put("null");
    }
    describe(state, description);
    put(",\n  \"state\": ");
    put_json_string(description);
    put(",\n  \"reason\": ");
    put_json_reason((enum rl_reason)atomic_load(&report->reason), &report->detail);
    put(",\n  \"counters\": {");
    for (unsigned i = 0; i < RL_COUNTER_COUNT; i++)
        put("%s\n    \"%s\": %" PRIu64, i ? "," : "", counter_names[i], load(&report->counters[i]));
    put("\n  },\n  \"execs\": [");
    for (unsigned i = 0; i < own_lines(); i++) {
        put("%s\n    {\"id\": %u, ", i ? "," : "", i + 1);
        put_json_exec(&report->execs[i]);
        put(", \"reason\": ");
        put_json_reason((enum rl_reason)load(&report->execs[i].reason), &report->execs[i].detail);
        put("}");
    }
    put("\n  ],\n  \"other_execs\": {\"count\": %" PRIu64 ", ", shared_execs());
    put_json_exec(&report->execs[RL_REPORT_EXECS]);
    put("},\n  \"reasons\": {");
    for (unsigned i = 1; i < RL_REASON_COUNT; i++)
        if (load(&report->reasons[i])) {
            put("%s\n    \"%s\": %" PRIu64, comma, rl_reason_name((enum rl_reason)i),
                load(&report->reasons[i]));
            comma = ",";
        }
    put("\n  },\n  \"messages_dropped\": %" PRIu64 ",\n  \"option_problems\": [", rl_log_dropped());
    for (unsigned i = 0; i < options->problem_count; i++) {
        put("%s\n    ", i ? "," : "");
        put_json_string(options->problems[i]);
    }
    put("\n  ]\n}\n");
}

static void put_text_reason(const char *before, enum rl_reason reason, struct rl_text *detail)
{
    char text[RL_TEXT_SIZE];

    if (reason == RL_REASON_NONE)
        return;
    rl_text_read(detail, text);
    put("%s%s%s%s", before, rl_reason_sentence(reason), text[0] ? ": " : "", text);
}

static void put_text_exec(struct rl_report_exec *exec)
{
    put("%" PRIu64 " nodes, launches: %" PRIu64 " native, %" PRIu64 " replayed", load(&exec->nodes),
        load(&exec->launches_native), load(&exec->launches_replayed));
}

static void put_text(enum rl_process_state state)
{
    char description[RL_TEXT_SIZE + 16];
    const struct rl_options *options = rl_options();
    struct rl_report *report = &rl_the_report;
    char path[RL_TEXT_SIZE], version[RL_TEXT_SIZE];

    put("redline: version " RL_VERSION ", process %d (%.100s)", getpid(), program_invocation_short_name);
    for (unsigned i = 0; i < options->problem_count; i++)
        put("\nredline: %s", options->problems[i]);
    if (state == RL_PROCESS_UNUSED) {
        put("\nredline: HIP was not used\n");
        return;
    }
    rl_text_read(&report->hip_path, path);
    rl_text_read(&report->hip_version, version);
    put("\nredline: HIP %s, %s%s", version[0] ? version : "of unknown version", path[0] ? path : "not found",
        atomic_load(&report->hip_has_tables) ? ", by its dispatch table" : "");
    describe(state, description);
    put("\nredline: %s", state == RL_PROCESS_PASSIVE ? "every call went to HIP" : description);
    put_text_reason(": ", (enum rl_reason)atomic_load(&report->reason), &report->detail);
    for (unsigned i = 0; i < RL_COUNTER_COUNT; i++) {
        char words[40];

        snprintf(words, sizeof(words), "%s", counter_names[i]);
        for (char *letter = words; *letter; letter++)
            *letter = *letter == '_' ? ' ' : *letter;
        if (load(&report->counters[i]))
            put("\nredline: %s: %" PRIu64, words, load(&report->counters[i]));
    }
    for (unsigned i = 0; i < own_lines(); i++) {
        put("\nredline: exec %u: ", i + 1);
        put_text_exec(&report->execs[i]);
        put_text_reason("; native because ", (enum rl_reason)load(&report->execs[i].reason),
                        &report->execs[i].detail);
    }
    if (shared_execs()) {
        put("\nredline: %" PRIu64 " more execs: ", shared_execs());
        put_text_exec(&report->execs[RL_REPORT_EXECS]);
        for (unsigned i = 1; i < RL_REASON_COUNT; i++)
            if (load(&report->reasons[i]))
                put("\nredline: of all execs, %" PRIu64 " times: %s", load(&report->reasons[i]),
                    rl_reason_sentence((enum rl_reason)i));
    }
    if (rl_log_dropped())
        put("\nredline: messages dropped: %" PRIu64, rl_log_dropped());
    put("\n");
}

static void put_all(int file, bool json, enum rl_process_state state)
{
    output = (struct output){ .file = file };
    if (json)
        put_json(state);
    else
        put_text(state);
    flush();
}

/* The name with each %p replaced by the process's number. False: too long. */
static bool expand(const char *pattern, char name[RL_PATH_SIZE])
{
    char *end = name, *const limit = name + RL_PATH_SIZE - 16;

    for (; *pattern && end < limit; pattern++) {
        if (pattern[0] == '%' && pattern[1] == 'p') {
            end += snprintf(end, 16, "%d", getpid());
            pattern++;
        } else {
            *end++ = *pattern;
        }
    }
    *end = 0;
    return !*pattern;
}

/* Writes beside the place and renames; keep: never over a file that exists. Returns an error number, or 0. */
static int write_file(const char *name, bool json, enum rl_process_state state, bool keep)
{
    char beside[RL_PATH_SIZE + 32];
    int file, error = 0;

    snprintf(beside, sizeof(beside), "%s.%d.tmp", name, getpid());
    file = open(beside, O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC | O_NOFOLLOW, 0666);
    if (file < 0)
        return errno;
    put_all(file, json, state);
    if (output.failed)
        error = EIO;
    if (close(file) && !error)
        error = errno;
    if (!error && keep)
        error = link(beside, name) && errno != EEXIST ? errno : 0;
    else if (!error && !rename(beside, name))
        return 0;
    else if (!error)
        error = errno;
    unlink(beside);
    return error;
}

/* A device, a pipe or a link to one is written to, never replaced. */
static int write_special(const char *name, bool json, enum rl_process_state state)
{
    int file = open(name, O_WRONLY | O_APPEND | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);

    if (file < 0)
        return errno;
    put_all(file, json, state);
    close(file);
    return output.failed ? EIO : 0;
}

/* Stands for an open file of the process, whatever that is; it is the program's and never replaced. */
static bool is_open_file(const char *name)
{
    return !strncmp(name, "/proc/", 6) || !strncmp(name, "/dev/fd/", 8);
}

static int write_named(const char *pattern, bool json, enum rl_process_state state)
{
    static char name[RL_PATH_SIZE], real[PATH_MAX];
    struct stat status;

    if (!expand(pattern, name))
        return ENAMETOOLONG;
    if (is_open_file(name) || (!stat(name, &status) && !S_ISREG(status.st_mode)))
        return write_special(name, json, state);
    return write_file(realpath(name, real) ? real : name, json, state, state == RL_PROCESS_UNUSED);
}

/* Writes the report that REDLINE_REPORT asks for. */
__attribute__((destructor)) static void at_exit(void)
{
    static atomic_flag written = ATOMIC_FLAG_INIT; /* two threads may call exit() at once */
    const struct rl_options *options = rl_options();
    enum rl_process_state state = (enum rl_process_state)atomic_load(&rl_the_report.state);
    int saved = errno, error = 0;

    if (atomic_flag_test_and_set(&written))
        return;
    if (options->report == RL_REPORT_STDERR && rl_stderr_usable())
        put_all(STDERR_FILENO, false, state);
    else if (options->report == RL_REPORT_TEXT || options->report == RL_REPORT_JSON)
        error = write_named(options->report_file, options->report == RL_REPORT_JSON, state);
    if (error)
        rl_log(RL_LOG_ERROR, "the report was not written to %s: error %d", options->report_file, error);
    errno = saved;
}
