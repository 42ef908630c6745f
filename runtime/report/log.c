/* SPDX-License-Identifier: Apache-2.0 */
/* See log.h. */
#define _GNU_SOURCE
#include "report/log.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

enum { LINE_SIZE = 500 };

/* A budget is the time up to which it is spent, in microseconds; `ahead` of the clock is the most. */
struct budget {
    _Atomic uint64_t spent_until;
    uint64_t each, ahead;
    _Atomic uint64_t dropped;
};

static struct budget normal = { .each = 125000, .ahead = 32 * 125000 };
static struct budget debug = { .each = 977, .ahead = 4096 * 977 };
static _Atomic uint64_t dropped_ever;
static bool stderr_closed;

static bool spend(struct budget *budget)
{
    uint64_t spent = atomic_load_explicit(&budget->spent_until, memory_order_relaxed), now, start;
    struct timespec time;

    clock_gettime(CLOCK_MONOTONIC, &time);
    now = (uint64_t)time.tv_sec * 1000000 + (uint64_t)time.tv_nsec / 1000;
    do {
        start = spent > now ? spent : now;
        if (start + budget->each > now + budget->ahead) {
            atomic_fetch_add_explicit(&budget->dropped, 1, memory_order_relaxed);
            atomic_fetch_add_explicit(&dropped_ever, 1, memory_order_relaxed);
            return false;
        }
    } while (!atomic_compare_exchange_weak_explicit(&budget->spent_until, &spent, start + budget->each,
                                                    memory_order_relaxed, memory_order_relaxed));
    return true;
}

static bool write_all(int file, const char *text, size_t size)
{
    while (size) {
        ssize_t written = write(file, text, size);

        if (written > 0) {
            text += written;
            size -= (size_t)written;
        } else if (written == 0 || errno != EINTR) {
            return false;
        }
    }
    return true;
}

/* The signal that a write which failed has raised, or 0. */
static int signal_of(int error)
{
    return error == EPIPE ? SIGPIPE : error == EFBIG ? SIGXFSZ : 0;
}

static void take_signal(int signal)
{
    static const struct timespec at_once = { 0, 0 };
    sigset_t only;

    sigemptyset(&only);
    sigaddset(&only, signal);
    while (sigtimedwait(&only, NULL, &at_once) < 0 && errno == EINTR)
        ;
}

bool rl_write(int file, const char *text, size_t size)
{
    sigset_t blocked, pending, before;
    int signal, error;
    bool done;

    sigemptyset(&blocked);
    sigaddset(&blocked, SIGPIPE);
    sigaddset(&blocked, SIGXFSZ);
    if (sigpending(&pending))
        sigemptyset(&pending);
    pthread_sigmask(SIG_BLOCK, &blocked, &before);
    done = write_all(file, text, size);
    error = errno;
    signal = done ? 0 : signal_of(error);
    if (signal && sigismember(&pending, signal) != 1)
        take_signal(signal);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    errno = error;
    return done;
}

uint64_t rl_log_dropped(void)
{
    return atomic_load_explicit(&dropped_ever, memory_order_relaxed);
}

bool rl_stderr_usable(void)
{
    return !stderr_closed;
}

__attribute__((format(printf, 1, 2))) static void write_line(const char *format, ...)
{
    char line[LINE_SIZE];
    va_list arguments;
    int length;

    va_start(arguments, format);
    length = vsnprintf(line, sizeof(line), format, arguments);
    va_end(arguments);
    if (length < 0)
        return;
    if (length >= LINE_SIZE) {
        length = LINE_SIZE - 1;
        line[length - 1] = '\n';
    }
    rl_write(STDERR_FILENO, line, (size_t)length);
}

void rl_log(enum rl_log_level level, const char *format, ...)
{
    struct budget *budget = level == RL_LOG_DEBUG ? &debug : &normal;
    int saved = errno;
    char text[LINE_SIZE];
    va_list arguments;
    uint64_t dropped;

    if (level > rl_options()->log || stderr_closed || !spend(budget))
        return;
    dropped = atomic_exchange_explicit(&budget->dropped, 0, memory_order_relaxed);
    va_start(arguments, format);
    if (vsnprintf(text, sizeof(text), format, arguments) < 0)
        text[0] = 0;
    va_end(arguments);
    if (dropped)
        write_line("redline: %s (%" PRIu64 " messages before this one were dropped)\n", text, dropped);
    else
        write_line("redline: %s\n", text);
    errno = saved;
}

__attribute__((constructor)) static void look_at_stderr(void)
{
    int saved = errno;

    stderr_closed = fcntl(STDERR_FILENO, F_GETFD) < 0;
    errno = saved;
}
