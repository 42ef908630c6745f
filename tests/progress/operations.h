/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a thread can do in a site, by name: one function each, and how often the fuzzer draws it. Each of them
 * is legal whatever other threads do, and leaves the site's numbers at what the GPU will hold.
 */
#ifndef TESTS_PROGRESS_OPERATIONS_H
#define TESTS_PROGRESS_OPERATIONS_H

#include "site.h"

#define BYTES (app.n * sizeof(uint32_t))

struct operation {
    const char *name;
    void (*run)(struct site *site);
    uint32_t weight;
};

static inline void begin(struct site *site, const char *operation)
{
    step(site->worker, operation, site->name);
    site->enqueued++;
}

/* Calls without a stream work in the NULL stream. */
static inline void into_null(struct site *site)
{
    if (!waits_for_null(site))
        synchronize(site);
}

static inline void out_of_null(struct site *site)
{
    if (waits_for_null(site))
        return;
    step(site->worker, "hipStreamSynchronize of the NULL stream", site->name);
    HIP(hipStreamSynchronize(NULL));
}

/* ---- graphs and kernels ---- */

static inline void replay(struct site *site)
{
    struct move_graph *graph = &site->graph[draw(site->worker, GRAPHS)];

    begin(site, "hipGraphLaunch");
    HIP(hipGraphLaunch(graph->exec, site->stream));
    for (uint32_t i = 0; i < graph->count; i++)
        apply(&graph->move[i], site->now);
}

static inline void update(struct site *site)
{
    begin(site, "hipGraphExecKernelNodeSetParams");
    update_graph(&site->graph[draw(site->worker, GRAPHS)], site->worker, site->buffer);
}

/* HIP 7.2.4 gives up its hold on a launched exec in a callback. When that is the last one, the exec is freed
 * there, which waits for the GPU, and the GPU may wait for the next callback: a deadlock of its own. When a
 * second host function has run, the callbacks before the first are over. */
static inline void await_callbacks(struct site *site)
{
    for (int pass = 0; pass < 2; pass++) {
        begin(site, "hipLaunchHostFunc before hipGraphExecDestroy");
        HIP(hipLaunchHostFunc(site->stream, nothing, NULL));
        synchronize(site);
    }
}

static inline void remake(struct site *site)
{
    struct move_graph *graph = &site->graph[draw(site->worker, GRAPHS)];

    await_callbacks(site);
    begin(site, "hipGraphExecDestroy");
    destroy_graph(graph);
    step(site->worker, "hipGraphInstantiate", site->name);
    make_graph(graph, site->worker, site->buffer);
}

static inline void move_in(struct site *site, struct move move)
{
    launch_move(&move, site->buffer, site->stream);
    apply(&move, site->now);
}

static inline void kernel(struct site *site)
{
    begin(site, "hipModuleLaunchKernel");
    move_in(site, draw_move(site->worker, KERNELS));
}

static inline void slow_kernel(struct site *site)
{
    begin(site, "hipModuleLaunchKernel of a slow kernel");
    move_in(site, (struct move){ .kind = SLOW_COPY, .to = draw(site->worker, 2) });
}

/* ---- memory ---- */

static inline void fill(struct site *site)
{
    begin(site, "hipMemsetD32Async");
    move_in(site, (struct move){ .kind = FILL, .to = draw(site->worker, 2), .by.term = site->enqueued });
}

static inline void fill_now(struct site *site)
{
    uint32_t to = draw(site->worker, 2), byte = draw(site->worker, 256);

    into_null(site);
    begin(site, "hipMemset");
    HIP(hipMemset(site->buffer[to], (int)byte, BYTES));
    out_of_null(site);
    site->now[to] = (struct numbers){ 0, byte * 0x01010101u };
}

static inline void copy_across(struct site *site)
{
    begin(site, "hipMemcpyAsync on the GPU");
    move_in(site, (struct move){ .kind = COPY_NODE, .to = draw(site->worker, 2) });
}

static inline void copy_across_now(struct site *site)
{
    struct move move = { .kind = COPY_NODE, .to = draw(site->worker, 2) };

    into_null(site);
    begin(site, "hipMemcpy on the GPU");
    HIP(hipMemcpy(site->buffer[move.to], site->buffer[1 - move.to], BYTES, hipMemcpyDeviceToDevice));
    out_of_null(site);
    apply(&move, site->now);
}

static inline void copy_in(struct site *site, bool pinned)
{
    struct numbers numbers = { site->enqueued + 3, site->worker->id };
    struct slot *slot = free_slot(site, pinned);
    uint32_t to = draw(site->worker, 2);

    fill_words(slot->words, numbers);
    begin(site, pinned ? "hipMemcpyAsync from pinned memory" : "hipMemcpyAsync from pageable memory");
    HIP(hipMemcpyAsync(site->buffer[to], slot->words, BYTES, hipMemcpyHostToDevice, site->stream));
    site->now[to] = numbers;
    slot->used = site->enqueued;
    slot->arriving = false;
}

static inline void copy_out(struct site *site, bool pinned)
{
    struct slot *slot = free_slot(site, pinned);
    uint32_t from = draw(site->worker, 2);

    begin(site, pinned ? "hipMemcpyAsync to pinned memory" : "hipMemcpyAsync to pageable memory");
    HIP(hipMemcpyAsync(slot->words, site->buffer[from], BYTES, hipMemcpyDeviceToHost, site->stream));
    slot->used = site->enqueued;
    slot->arriving = true;
    slot->expected = site->now[from];
}

static inline void copy_now(struct site *site, bool pinned)
{
    struct numbers numbers = { site->enqueued + 5, site->worker->id };
    struct slot *slot = free_slot(site, pinned);

    into_null(site);
    begin(site, pinned ? "hipMemcpy to pinned memory" : "hipMemcpy to pageable memory");
    HIP(hipMemcpy(slot->words, site->buffer[0], BYTES, hipMemcpyDeviceToHost));
    check_words(site, "what hipMemcpy brought", slot->words, site->now[0]);
    fill_words(slot->words, numbers);
    begin(site, pinned ? "hipMemcpy from pinned memory" : "hipMemcpy from pageable memory");
    HIP(hipMemcpy(site->buffer[1], slot->words, BYTES, hipMemcpyHostToDevice));
    site->now[1] = numbers;
}

static inline void copy_in_pinned(struct site *site)
{
    copy_in(site, true);
}

static inline void copy_in_pageable(struct site *site)
{
    copy_in(site, false);
}

static inline void copy_out_pinned(struct site *site)
{
    copy_out(site, true);
}

static inline void copy_out_pageable(struct site *site)
{
    copy_out(site, false);
}

static inline void copy_now_pinned(struct site *site)
{
    copy_now(site, true);
}

static inline void copy_now_pageable(struct site *site)
{
    copy_now(site, false);
}

/* Through memory of the stream's pool, which goes back before anything has run. */
static inline void pool(struct site *site)
{
    void *memory;

    begin(site, "hipMallocAsync");
    HIP(hipMallocAsync(&memory, BYTES, site->stream));
    HIP(hipMemcpyAsync(memory, site->buffer[0], BYTES, hipMemcpyDeviceToDevice, site->stream));
    HIP(hipMemcpyAsync(site->buffer[1], memory, BYTES, hipMemcpyDeviceToDevice, site->stream));
    begin(site, "hipFreeAsync");
    HIP(hipFreeAsync(memory, site->stream));
    site->now[1] = site->now[0];
}

/* hipFree waits for the GPU. */
static inline void allocate(struct site *site)
{
    void *memory;

    begin(site, "hipMalloc");
    HIP(hipMalloc(&memory, BYTES));
    HIP(hipMemcpyAsync(memory, site->buffer[1], BYTES, hipMemcpyDeviceToDevice, site->stream));
    HIP(hipMemcpyAsync(site->buffer[0], memory, BYTES, hipMemcpyDeviceToDevice, site->stream));
    synchronize(site);
    begin(site, "hipFree");
    HIP(hipFree(memory));
    site->now[0] = site->now[1];
}

/* ---- order ---- */

static inline void record(struct site *site)
{
    begin(site, "hipEventRecord");
    HIP(hipEventRecord(site->event, site->stream));
    site->recorded = site->enqueued;
}

static inline void query_event(struct site *site)
{
    hipError_t status;

    step(site->worker, "hipEventQuery", site->name);
    status = hipEventQuery(site->event);
    if (status == hipSuccess)
        settle(site, site->recorded);
    else if (status != hipErrorNotReady)
        HIP(status);
}

static inline void sync_event(struct site *site)
{
    step(site->worker, "hipEventSynchronize", site->name);
    HIP(hipEventSynchronize(site->event));
    settle(site, site->recorded);
}

static inline void query(struct site *site)
{
    hipError_t status;

    step(site->worker, "hipStreamQuery", site->name);
    status = hipStreamQuery(site->stream);
    if (status == hipSuccess)
        settle(site, site->enqueued);
    else if (status != hipErrorNotReady)
        HIP(status);
}

static inline void sync_device(struct site *site)
{
    step(site->worker, "hipDeviceSynchronize", site->name);
    HIP(hipDeviceSynchronize());
    settle(site, site->enqueued);
}

/* HIP 7.2.4 crashes when a stream waits for an event that was recorded in hipStreamLegacy. */
static inline hipStream_t to_be_waited_for(const struct site *site)
{
    return site->kind == LEGACY ? NULL : site->stream;
}

/* The other site's stream waits until its buffer has been read. */
static inline void pull(struct site *site)
{
    struct site *other = site->other;
    uint32_t to = draw(site->worker, 2) | (other == site);

    begin(site, "hipStreamWaitEvent");
    HIP(hipEventRecord(other->link, to_be_waited_for(other)));
    HIP(hipStreamWaitEvent(site->stream, other->link, 0));
    HIP(hipMemcpyAsync(site->buffer[to], other->buffer[0], BYTES, hipMemcpyDeviceToDevice, site->stream));
    site->now[to] = other->now[0];
    HIP(hipEventRecord(site->link, to_be_waited_for(site)));
    begin(other, "hipStreamWaitEvent back");
    HIP(hipStreamWaitEvent(other->stream, site->link, 0));
}

static void note_call(void *called)
{
    atomic_fetch_add((atomic_uint *)called, 1);
}

static inline void host_function(struct site *site)
{
    begin(site, "hipLaunchHostFunc");
    site->calls++;
    HIP(hipLaunchHostFunc(site->stream, note_call, &site->called));
    site->called_at = site->enqueued;
}

/* ---- streams and modules ---- */

/* What is enqueued behind it waits until let_go(). */
static uint32_t *gate;

static inline void make_gate(void)
{
    void *memory;

    HIP(hipExtMallocWithFlags(&memory, sizeof(uint64_t), hipMallocSignalMemory));
    gate = memory;
    *gate = 0;
}

static inline void let_go(void)
{
    __atomic_store_n(gate, 1, __ATOMIC_RELEASE);
}

static inline void hold(struct site *site)
{
    begin(site, "hipStreamWaitValue32");
    HIP(hipStreamWaitValue32(site->stream, gate, 1, hipStreamWaitValueGte, 0xffffffff));
}

/* A new stream continues behind what the old one had still to do. HIP 7.2.4 crashes when a thread waits for
 * the NULL stream's peers while another destroys one of them: only streams that are no peers are destroyed. */
static inline void renew(struct site *site)
{
    hipStream_t old = site->stream;

    if (site->shared || waits_for_null(site))
        return;
    begin(site, "hipStreamCreate");
    HIP(hipEventRecord(site->link, old));
    site->stream = make_stream(site->kind);
    HIP(hipStreamWaitEvent(site->stream, site->link, 0));
    begin(site, "hipStreamDestroy");
    HIP(hipStreamDestroy(old));
}

/* A module that nothing has to do with. */
static inline void module(struct site *site)
{
    hipModule_t other;

    begin(site, "hipModuleLoad");
    other = app_module("v4.co");
    begin(site, "hipModuleUnload");
    HIP(hipModuleUnload(other));
}

static const struct operation operations[] = {
    { "replay", replay, 24 },
    { "update", update, 6 },
    { "remake", remake, 1 },
    { "kernel", kernel, 10 },
    { "slow_kernel", slow_kernel, 3 },
    { "fill", fill, 4 },
    { "fill_now", fill_now, 1 },
    { "copy_across", copy_across, 3 },
    { "copy_across_now", copy_across_now, 1 },
    { "copy_in_pinned", copy_in_pinned, 4 },
    { "copy_in_pageable", copy_in_pageable, 4 },
    { "copy_out_pinned", copy_out_pinned, 4 },
    { "copy_out_pageable", copy_out_pageable, 4 },
    { "copy_now_pinned", copy_now_pinned, 1 },
    { "copy_now_pageable", copy_now_pageable, 1 },
    { "pool", pool, 1 },
    { "allocate", allocate, 1 },
    { "record", record, 4 },
    { "query_event", query_event, 2 },
    { "sync_event", sync_event, 2 },
    { "query", query, 3 },
    { "synchronize", synchronize, 3 },
    { "sync_device", sync_device, 1 },
    { "pull", pull, 4 },
    { "host_function", host_function, 3 },
    { "renew", renew, 1 },
    { "module", module, 1 },
    { "hold", hold, 0 }, /* fuzz has nobody who lets go */
};

enum { OPERATIONS = sizeof(operations) / sizeof(operations[0]) };

#endif
