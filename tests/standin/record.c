/* SPDX-License-Identifier: Apache-2.0 */
/* Recording of calls and what tests dictate. See standin.h. */
#define _GNU_SOURCE
#include "within.h"

#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <string.h>

enum { MOST_FUNCTIONS = 256 };

static struct entry {
    _Atomic unsigned calls, first, count;
    _Atomic int status;
    _Atomic bool half;
    void *_Atomic replacement;
    void (*_Atomic within)(void);
} entries[MOST_FUNCTIONS];

static _Atomic unsigned all_calls, strict_failures;
static _Atomic bool strict;
static _Thread_local hipError_t last_error;
static _Thread_local uintptr_t arguments[MOST_FUNCTIONS][STANDIN_ARGUMENTS];

#define EXPORT __attribute__((visibility("default")))

static int id_of(const char *name)
{
    for (int i = 0; i < standin_name_count; i++)
        if (!strcmp(standin_names[i], name))
            return i;
    __builtin_trap();
}

EXPORT void standin_fail(const char *name, unsigned first, unsigned count, int status, bool half)
{
    struct entry *entry = &entries[id_of(name)];

    atomic_store(&entry->status, status);
    atomic_store(&entry->half, half);
    atomic_store(&entry->first, atomic_load(&entry->calls) + first);
    atomic_store(&entry->count, count);
}

EXPORT void standin_replace(const char *name, void *function)
{
    atomic_store(&entries[id_of(name)].replacement, function);
}

EXPORT void standin_within(const char *name, void (*callback)(void))
{
    atomic_store(&entries[id_of(name)].within, callback);
}

hipError_t hipGraphCreate(hipGraph_t *, unsigned int);
hipError_t hipGraphDestroy(hipGraph_t);
hipError_t hipGraphAddEmptyNode(hipGraphNode_t *, hipGraph_t, const hipGraphNode_t *, size_t);
hipError_t hipGraphInstantiate(hipGraphExec_t *, hipGraph_t, hipGraphNode_t *, char *, size_t);
hipError_t hipGraphExecUpdate(hipGraphExec_t, hipGraph_t, hipGraphNode_t *, hipGraphExecUpdateResult *);
hipError_t hipGraphLaunch(hipGraphExec_t, hipStream_t);
hipError_t hipGraphExecDestroy(hipGraphExec_t);

static void call_itself(void)
{
    static _Thread_local bool inside;
    hipGraphExecUpdateResult result;
    hipGraphNode_t node;
    hipGraph_t graph;
    hipGraphExec_t exec;

    if (inside)
        return;
    inside = true;
    if (hipGraphCreate(&graph, 0) || hipGraphAddEmptyNode(&node, graph, NULL, 0) ||
        hipGraphInstantiate(&exec, graph, NULL, NULL, 0) || hipGraphExecUpdate(exec, graph, &node, &result) ||
        hipGraphLaunch(exec, NULL) || hipGraphExecDestroy(exec) || hipGraphDestroy(graph))
        __builtin_trap();
    inside = false;
}

EXPORT void standin_calls_itself(const char *name)
{
    standin_within(name, call_itself);
}

EXPORT void *standin_export(const char *name)
{
    return (void *)(uintptr_t)standin_exports[id_of(name)];
}

EXPORT void *standin_function(const char *name)
{
    return standin_functions[id_of(name)];
}

EXPORT void standin_reset(void)
{
    for (int i = 0; i < standin_name_count; i++) {
        atomic_store(&entries[i].calls, 0);
        atomic_store(&entries[i].count, 0);
        atomic_store(&entries[i].replacement, NULL);
        atomic_store(&entries[i].within, NULL);
    }
    atomic_store(&all_calls, 0);
    atomic_store(&strict_failures, 0);
    atomic_store(&strict, false);
}

EXPORT unsigned standin_calls(const char *name)
{
    return atomic_load(&entries[id_of(name)].calls);
}

EXPORT unsigned standin_all_calls(void)
{
    return atomic_load(&all_calls);
}

EXPORT const uintptr_t *standin_arguments(const char *name)
{
    return arguments[id_of(name)];
}

EXPORT void standin_strict_capture(bool on)
{
    atomic_store(&strict, on);
}

EXPORT unsigned standin_strict_failures(void)
{
    return atomic_load(&strict_failures);
}

/* Questions about errors and the mode itself are allowed in any mode. */
static bool refused(int id)
{
    static const char *const allowed[] = { "hipGetLastError", "hipPeekAtLastError",
                                           "hipThreadExchangeStreamCaptureMode" };

    for (size_t i = 0; i < sizeof(allowed) / sizeof(allowed[0]); i++)
        if (!strcmp(standin_names[id], allowed[i]))
            return false;
    return atomic_load(&strict) && standin_thread_mode() != hipStreamCaptureModeRelaxed &&
           model_global_capture_elsewhere();
}

void *standin_enter(int id, struct standin_call *call, int count, ...)
{
    struct entry *entry = &entries[id];
    unsigned n = atomic_fetch_add(&entry->calls, 1) + 1;
    void (*within)(void) = atomic_load(&entry->within);
    bool failing = n - atomic_load(&entry->first) < atomic_load(&entry->count);
    va_list list;

    atomic_fetch_add(&all_calls, 1);
    va_start(list, count);
    for (int i = 0; i < count && i < STANDIN_ARGUMENTS; i++)
        arguments[id][i] = va_arg(list, uintptr_t);
    va_end(list);
    call->id = id;
    if (refused(id)) {
        atomic_fetch_add(&strict_failures, 1);
        call->status = hipErrorStreamCaptureUnsupported;
        return NULL;
    }
    if (within)
        within();
    call->half = failing && atomic_load(&entry->half);
    call->status = failing ? atomic_load(&entry->status) : 0;
    call->modelled = !failing || call->half;
    return failing ? NULL : atomic_load(&entry->replacement);
}

int standin_leave(const struct standin_call *call, int status)
{
    if (call->half)
        status = call->status;
    if (status && strcmp(standin_names[call->id], "hipGetLastError") &&
        strcmp(standin_names[call->id], "hipPeekAtLastError"))
        last_error = (hipError_t)status;
    return status;
}

hipError_t standin_last_error(bool clear)
{
    hipError_t error = last_error;

    if (clear)
        last_error = hipSuccess;
    return error;
}
