/* SPDX-License-Identifier: Apache-2.0 */
/*
 * For programs that hold the whole runtime and are linked to the stand-in for libamdhip64: single behaviours,
 * each a subcommand that prints nothing and ends with 0 when it holds.
 */
#ifndef CHECK_H
#define CHECK_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "exported.h"
#include "records/records.h"
#include "standin.h"

#define CHECK(condition)                                                                                     \
    do {                                                                                                     \
        if (!(condition)) {                                                                                  \
            fprintf(stderr, "%s:%d: %s is false\n", __FILE__, __LINE__, #condition);                         \
            abort();                                                                                         \
        }                                                                                                    \
    } while (0)
#define GOOD(call) CHECK((call) == hipSuccess)

struct check {
    const char *name;
    void (*run)(void);
};

static inline int run_check(int argc, char **argv, const struct check *checks, size_t count)
{
    for (size_t i = 0; argc == 2 && i < count; i++)
        if (!strcmp(argv[1], checks[i].name)) {
            checks[i].run();
            return 0;
        }
    for (size_t i = 0; i < count; i++)
        puts(checks[i].name);
    return 2;
}

#define RUN_CHECKS(...)                                                                                      \
    int main(int argc, char **argv)                                                                          \
    {                                                                                                        \
        static const struct check checks[] = { __VA_ARGS__ };                                                \
        return run_check(argc, argv, checks, sizeof(checks) / sizeof(checks[0]));                            \
    }

static inline struct rl_exec *exec_record(hipGraphExec_t exec)
{
    return (struct rl_exec *)rl_side_table_find(RL_EXEC, exec).record;
}

static inline enum rl_reason reason_of(hipGraphExec_t exec)
{
    struct rl_exec *record = exec_record(exec);

    return record ? (enum rl_reason)atomic_load(&record->reason) : RL_REASON_UNSEEN;
}

static inline bool stale(hipGraphExec_t exec)
{
    struct rl_exec *record = exec_record(exec);

    CHECK(record);
    return atomic_load(&record->base.marks) & RL_STALE;
}

static inline size_t live(enum rl_kind kind)
{
    return rl_side_table_stats(kind).live;
}

static inline bool tables_empty(void)
{
    for (int kind = 0; kind < RL_KIND_COUNT; kind++)
        if (live((enum rl_kind)kind) || rl_side_table_stats((enum rl_kind)kind).records_out)
            return false;
    return true;
}

static inline hipGraphNode_t kernel_node(hipGraph_t graph, uintptr_t function, hipGraphNode_t after)
{
    hipKernelNodeParams params = { .func = (void *)function,
                                   .gridDim = { 1, 1, 1 },
                                   .blockDim = { 64, 1, 1 } };
    hipGraphNode_t node;

    GOOD(hipGraphAddKernelNode(&node, graph, after ? &after : NULL, after ? 1 : 0, &params));
    return node;
}

static inline hipGraph_t new_graph(void)
{
    hipGraph_t graph;

    GOOD(hipGraphCreate(&graph, 0));
    return graph;
}

/* a -> b -> c */
static inline hipGraph_t chain(hipGraphNode_t nodes[3])
{
    hipGraph_t graph = new_graph();

    nodes[0] = kernel_node(graph, 1, NULL);
    nodes[1] = kernel_node(graph, 2, nodes[0]);
    nodes[2] = kernel_node(graph, 3, nodes[1]);
    return graph;
}

static inline hipGraphExec_t instantiate(hipGraph_t graph)
{
    hipGraphExec_t exec;

    GOOD(hipGraphInstantiate(&exec, graph, NULL, NULL, 0));
    return exec;
}

/* The reason that an exec made from the graph now would get. */
static inline enum rl_reason reason_from(hipGraph_t graph)
{
    hipGraphExec_t exec = instantiate(graph);
    enum rl_reason reason = reason_of(exec);

    GOOD(hipGraphExecDestroy(exec));
    return reason;
}

#endif
