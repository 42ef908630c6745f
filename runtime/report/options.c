/* SPDX-License-Identifier: Apache-2.0 */
/* See options.h. An option is one line of known[] and the function that reads its value. */
#define _GNU_SOURCE
#include "report/options.h"

#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/auxv.h>
#include <unistd.h>

static struct rl_options options = {
    .enabled = true, .log = RL_LOG_ERROR, .report = RL_REPORT_NONE, .min_nodes = 1
};

/* The index of the value among the words, or -1. */
static int choice(const char *value, const char *const words[])
{
    for (int i = 0; words[i]; i++)
        if (!strcasecmp(value, words[i]))
            return i;
    return -1;
}

static bool read_switch(const char *value, bool *on)
{
    int i = choice(value, (const char *const[]){ "0", "1", "off", "on", "no", "yes", "false", "true", NULL });

    if (i >= 0)
        *on = i % 2;
    return i >= 0;
}

static bool read_enabled(const char *value)
{
    return read_switch(value, &options.enabled);
}

static bool read_verify(const char *value)
{
    return read_switch(value, &options.verify);
}

static bool read_log(const char *value)
{
    int i = choice(value, (const char *const[]){ "error", "info", "debug", NULL });

    if (i >= 0)
        options.log = (enum rl_log_level)i;
    return i >= 0;
}

/* The path, from where the process is now. */
static bool read_path(const char *value, char path[RL_PATH_SIZE])
{
    size_t used = 0;

    if (value[0] != '/') {
        if (!getcwd(path, RL_PATH_SIZE))
            return false;
        used = strlen(path);
        path[used++] = '/';
    }
    if (used + strlen(value) >= RL_PATH_SIZE)
        return false;
    strcpy(path + used, value);
    return true;
}

static bool read_report(const char *value)
{
    static const char *const stdout_names[] = { "stdout", "/dev/stdout", "/dev/fd/1", "/proc/self/fd/1",
                                                NULL };
    size_t length = strlen(value);

    if (choice(value, (const char *const[]){ "stderr", "/dev/stderr", NULL }) >= 0) {
        options.report = RL_REPORT_STDERR;
        return true;
    }
    if (choice(value, stdout_names) >= 0 || !read_path(value, options.report_file))
        return false;
    options.report = length > 5 && !strcmp(value + length - 5, ".json") ? RL_REPORT_JSON : RL_REPORT_TEXT;
    return true;
}

static bool read_dump(const char *value)
{
    if (read_path(value, options.dump))
        return true;
    options.dump[0] = 0;
    return false;
}

static bool read_targets(const char *value)
{
    if (strlen(value) >= RL_LIST_SIZE ||
        strspn(value, "abcdefghijklmnopqrstuvwxyz0123456789,*- ") != strlen(value))
        return false;
    strcpy(options.targets, value);
    return true;
}

static bool read_min_nodes(const char *value)
{
    char *end;
    unsigned long number = strtoul(value, &end, 10);

    if (*value < '0' || *value > '9' || *end || number > UINT_MAX)
        return false;
    options.min_nodes = (unsigned)number;
    return true;
}

static const struct {
    const char *name;
    const char *expected;
    bool (*read)(const char *value);
} known[] = {
    { "REDLINE", "0 or 1", read_enabled },
    { "REDLINE_LOG", "error, info or debug", read_log },
    { "REDLINE_DUMP", "a folder", read_dump },
    { "REDLINE_MIN_NODES", "a number", read_min_nodes },
    { "REDLINE_TARGETS", "gfx targets with commas between them", read_targets },
    { "REDLINE_VERIFY", "0 or 1", read_verify },
    { "REDLINE_REPORT", "stderr or a file name; never stdout", read_report },
};

enum { KNOWN_COUNT = sizeof(known) / sizeof(known[0]) };

__attribute__((format(printf, 1, 2))) static void problem(const char *format, ...)
{
    va_list arguments;
    char *text;

    if (options.problem_count == RL_PROBLEM_COUNT)
        return;
    text = options.problems[options.problem_count++];
    va_start(arguments, format);
    vsnprintf(text, RL_PROBLEM_SIZE, format, arguments);
    va_end(arguments);
    for (; *text; text++)
        if (*text < ' ' || *text > '~')
            *text = '?';
}

/* A misspelt name would otherwise be silent. */
static void find_unknown_names(void)
{
    for (char **entry = environ; entry && *entry; entry++) {
        size_t length = strcspn(*entry, "=");
        bool found = strncmp(*entry, "REDLINE_", 8) != 0;

        for (unsigned i = 0; i < KNOWN_COUNT && !found; i++)
            found = strlen(known[i].name) == length && !strncmp(*entry, known[i].name, length);
        if (!found)
            problem("%.60s is not an option of this version: ignored", *entry);
    }
}

static void read_all(void)
{
    int saved = errno;

    for (unsigned i = 0; i < KNOWN_COUNT; i++) {
        const char *value = secure_getenv(known[i].name);

        if (value && *value && !known[i].read(value))
            problem("%s=%.60s is not understood (%s): ignored", known[i].name, value, known[i].expected);
    }
    if (!getauxval(AT_SECURE))
        find_unknown_names();
    errno = saved;
}

const struct rl_options *rl_options(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;

    pthread_once(&once, read_all);
    return &options;
}

/* Before the program's threads exist and before it can change its environment. */
__attribute__((constructor)) static void read_at_load(void)
{
    rl_options();
}
