/* SPDX-License-Identifier: Apache-2.0 */
/* See tools.h. */
#include "native/tools.h"

#include <stdatomic.h>

#include "native/dispatch.h"
#include "native/stub.h"

/* Functions of ROCr that a profiler has to replace to see a queue's packets. */
static const char *const of_queues[] = { "hsa_queue_create", "hsa_queue_add_write_index_screlease" };
enum { OF_QUEUES = sizeof(of_queues) / sizeof(of_queues[0]) };

static _Atomic bool registered;
static _Atomic(_Atomic(void *) *) callback; /* HIP's variable; NULL: not known where */
static _Atomic bool no_callback;            /* HIP has no such function */
static struct {
    _Atomic(_Atomic(_Atomic(void *) *) *) table; /* ROCr's variable; NULL: not known where */
    _Atomic size_t word;
} entries[OF_QUEUES];
static _Atomic uintptr_t hsa_text, hsa_text_size;

void rl_tools_registered(void)
{
    atomic_store(&registered, true);
}

bool rl_tools_have_registered(void)
{
    return atomic_load_explicit(&registered, memory_order_relaxed);
}

void rl_tools_watch_hip(const struct rl_object *hip)
{
    struct rl_bytes code = rl_object_bytes(hip, "hipRegisterTracerCallback", NULL);
    void *variable = (void *)(uintptr_t)rl_stub_variable(code);

    if (!rl_object_can_write(hip, variable, sizeof(void *)) || (uintptr_t)variable % sizeof(void *))
        variable = NULL;
    atomic_store(&callback, variable);
    atomic_store(&no_callback, !code.start);
}

static void watch_entry(const struct rl_object *hsa, size_t n)
{
    void *const *const *variable;
    void *table = NULL;
    size_t word;

    if (rl_stub_table(rl_object_bytes(hsa, of_queues[n], NULL), &variable, &word) &&
        rl_object_can_write(hsa, variable, sizeof(void *)) && (uintptr_t)variable % sizeof(void *) == 0)
        table = (void *)*variable;
    if (!rl_object_can_write(hsa, table, (word + 1) * sizeof(void *)))
        variable = NULL;
    atomic_store(&entries[n].table, NULL);
    atomic_store(&entries[n].word, word);
    atomic_store(&entries[n].table, (void *)(uintptr_t)variable);
}

void rl_tools_watch_hsa(const struct rl_object *hsa)
{
    atomic_store(&hsa_text, hsa->text);
    atomic_store(&hsa_text_size, hsa->text_size);
    for (size_t n = 0; n < OF_QUEUES; n++)
        watch_entry(hsa, n);
}

static bool is_replaced(size_t n)
{
    _Atomic(_Atomic(void *) *) *variable = atomic_load_explicit(&entries[n].table, memory_order_relaxed);
    _Atomic(void *) *table = variable ? atomic_load_explicit(variable, memory_order_relaxed) : NULL;
    size_t word = atomic_load_explicit(&entries[n].word, memory_order_relaxed);

    return table && (uintptr_t)atomic_load_explicit(&table[word], memory_order_relaxed) -
                            atomic_load_explicit(&hsa_text, memory_order_relaxed) >=
                        atomic_load_explicit(&hsa_text_size, memory_order_relaxed);
}

const char *rl_tool(void)
{
    _Atomic(void *) *variable = atomic_load_explicit(&callback, memory_order_relaxed);

    if (rl_tools_have_registered())
        return "rocprofiler-register has found a tool";
    if (rl_dispatch_taken())
        return "HIP's dispatch table was changed";
    if (variable && atomic_load_explicit(variable, memory_order_relaxed))
        return "hipRegisterTracerCallback() was called";
    for (size_t n = 0; n < OF_QUEUES; n++)
        if (is_replaced(n))
            return "ROCr's dispatch table was changed";
    return NULL;
}

bool rl_tools_are_seen(void)
{
    for (size_t n = 0; n < OF_QUEUES; n++)
        if (!atomic_load(&entries[n].table))
            return false;
    return atomic_load(&callback) || atomic_load(&no_callback);
}
