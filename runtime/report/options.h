/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Options, read from the environment once, when the library is loaded (or at the first call, if a
 * constructor that ran before ours calls HIP). Later changes of the environment have no effect.
 *
 *     REDLINE=0|1                    0: every call goes straight to HIP               default 1
 *     REDLINE_LOG=error|info|debug   what is said on stderr while the program runs    default error
 *     REDLINE_TARGETS=LIST           gfx targets that may be replayed on: gfx1100,... or -gfx1030,...; default all
 *     REDLINE_MIN_NODES=N            graphs with fewer nodes are HIP's             default 1
 *     REDLINE_DUMP=FOLDER            each indirect buffer in a file of its own, for `redline-codegen pm4 dump`
 *     REDLINE_VERIFY=0|1             1: launches are by HIP, and what each replay leaves is compared   default 0
 *     REDLINE_REPORT=stderr|FILE     summary at exit; JSON when FILE ends in .json; %p in it is the process
 *
 * Threads: any. Failure: none; what is not understood is ignored and kept in problems[] for the report. In a
 * set-user-id program every option has its default.
 */
#ifndef REDLINE_OPTIONS_H
#define REDLINE_OPTIONS_H

#include <stdbool.h>

enum rl_log_level { RL_LOG_ERROR, RL_LOG_INFO, RL_LOG_DEBUG };
enum rl_report_form { RL_REPORT_NONE, RL_REPORT_STDERR, RL_REPORT_TEXT, RL_REPORT_JSON };

enum { RL_PATH_SIZE = 4096, RL_LIST_SIZE = 512, RL_PROBLEM_COUNT = 8, RL_PROBLEM_SIZE = 160 };

struct rl_options {
    bool enabled;
    enum rl_log_level log;
    enum rl_report_form report;
    char report_file[RL_PATH_SIZE]; /* absolute, so that a later chdir does not move it */
    char targets[RL_LIST_SIZE];
    char dump[RL_PATH_SIZE]; /* absolute; "": no */
    unsigned min_nodes;
    bool verify;
    unsigned problem_count;
    char problems[RL_PROBLEM_COUNT][RL_PROBLEM_SIZE]; /* a sentence each, printable */
};

/* Never NULL, the same every time, never changes. Costs a pthread_once(). */
const struct rl_options *rl_options(void);

#endif
