/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Runs the words of its command line against options, log and report, as a process that uses HIP would; the
 * summary follows at exit. A word is a verb with arguments after colons: state:1:0:detail exec:5:3:2:1:0
 */
#include "report/report.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static struct rl_report_exec *shared_by_threads;

static void print_options(void)
{
    const struct rl_options *options = rl_options();

    printf("%d %d %d %s\n", options->enabled, options->log, options->report, options->report_file);
    for (unsigned i = 0; i < options->problem_count; i++)
        printf("%s\n", options->problems[i]);
}

static void add_execs(char **a)
{
    for (long i = 0; i < atol(a[1]); i++) {
        struct rl_report_exec *exec = rl_report_exec(strtoull(a[2], NULL, 10));

        rl_count(RL_COUNT_execs_created);
        for (long n = 0; n < atol(a[3]); n++)
            rl_report_launch(exec, false);
        for (long n = 0; n < atol(a[4]); n++)
            rl_report_launch(exec, true);
        rl_report_exec_reason(exec, (enum rl_reason)atoi(a[5]), a[6] ? "%s" : NULL, a[6]);
    }
}

/* One exec that gets its reason anew before each launch. */
static void reason_again(char **a)
{
    struct rl_report_exec *exec = rl_report_exec(1);

    for (long i = 0; i < atol(a[1]); i++) {
        rl_report_exec_reason(exec, RL_REASON_NONE, NULL);
        rl_report_exec_reason(exec, (enum rl_reason)atoi(a[2]), NULL);
        rl_report_launch(exec, false);
    }
}

static void *keep_counting(void *unused)
{
    (void)unused;
    for (unsigned i = 0;; i++) {
        rl_report_launch(shared_by_threads, false);
        rl_count(RL_COUNT_graphs_created);
        rl_report_exec_reason(shared_by_threads, RL_REASON_NATIVE_FAILED, "%u of thread %lu", i,
                              (unsigned long)pthread_self());
        rl_log(RL_LOG_INFO, "message %u", i);
    }
    return NULL;
}

static void *exit_here(void *unused)
{
    (void)unused;
    exit(0);
}

static void start(void *(*function)(void *))
{
    pthread_t thread;

    if (pthread_create(&thread, NULL, function, NULL))
        abort();
}

static void in_child(char **a)
{
    int status;
    pid_t pid = fork();

    if (!pid) {
        if (a[1])
            rl_report_state(true, RL_REASON_NONE, NULL);
        exit(0);
    }
    if (pid < 0 || waitpid(pid, &status, 0) != pid || status)
        abort();
}

static void run(char **a)
{
    if (!strcmp(a[0], "options"))
        print_options();
    else if (!strcmp(a[0], "setenv"))
        setenv(a[1], a[2], 1);
    else if (!strcmp(a[0], "chdir"))
        chdir(a[1]) ? abort() : (void)0;
    else if (!strcmp(a[0], "state"))
        rl_report_state(atoi(a[1]), (enum rl_reason)atoi(a[2]), a[3] ? "%s" : NULL, a[3]);
    else if (!strcmp(a[0], "hip"))
        rl_report_hip(a[1], a[2], true);
    else if (!strcmp(a[0], "exec"))
        add_execs(a);
    else if (!strcmp(a[0], "again"))
        reason_again(a);
    else if (!strcmp(a[0], "log"))
        for (long i = 0; i < atol(a[2]); i++)
            rl_log((enum rl_log_level)atoi(a[1]), "%s", a[3]);
    else if (!strcmp(a[0], "fork"))
        in_child(a);
    else if (!strcmp(a[0], "busy"))
        shared_by_threads = rl_report_exec(1), start(keep_counting), start(keep_counting);
    else if (!strcmp(a[0], "exit-in-thread"))
        start(exit_here), pause();
    else
        abort();
}

int main(int argc, char **argv)
{
    for (int i = 1; i < argc; i++) {
        char *arguments[10] = { NULL }, *rest = argv[i];

        for (unsigned n = 0; n < 9 && rest; n++)
            arguments[n] = strsep(&rest, ":");
        run(arguments);
    }
    return 0;
}
