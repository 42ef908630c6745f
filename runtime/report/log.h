/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Messages on stderr, one line each, for people: "redline: text".
 *
 * Threads: any, also while the process exits; no lock, no allocation, errno is kept. A message is one
 * write(2) of at most 500 bytes. Nothing is ever written to a stderr that was closed when the library was
 * loaded, since its number then belongs to a file of the program. A reader that is gone raises no SIGPIPE;
 * a full pipe drops the message.
 *
 * Errors and information share a budget of 32 messages and 8 more a second, debug has one of 4,096 and
 * 1,024. What goes over it is counted, and the count is said with the next message and in the report.
 */
#ifndef REDLINE_LOG_H
#define REDLINE_LOG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "report/options.h"

/* Not for the launch path at RL_LOG_INFO or below. */
__attribute__((format(printf, 2, 3))) void rl_log(enum rl_log_level level, const char *format, ...);

/* Messages of any level that the budget dropped. */
uint64_t rl_log_dropped(void);

/* Writes all of it or gives up: false, and neither SIGPIPE nor SIGXFSZ reaches the program. Used for the
 * report too. */
bool rl_write(int file, const char *text, size_t size);

/* False when there is no stderr to write to. */
bool rl_stderr_usable(void);

#endif
