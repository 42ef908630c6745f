/* SPDX-License-Identifier: Apache-2.0 */
/* See plan.h. */
#define _GNU_SOURCE
#include "replay/plan.h"

#include <fcntl.h>
#include <pthread.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

#include "base/fork.h"
#include "base/memory.h"
#include "pm4/descriptor.h"
#include "pm4/lower.h"
#include "report/options.h"

enum {
    BUFFER_ALIGNMENT = 256,
    ARGUMENT_ALIGNMENT = 64, /* no two kernels share a cache line */
    PACKET_ALIGNMENT = 64,
};

static _Atomic(struct rl_plan *) aside; /* a stack that is only ever taken whole */

static void put_aside(struct rl_use *use)
{
    struct rl_plan *plan = (struct rl_plan *)((char *)use - offsetof(struct rl_plan, use));

    plan->next = atomic_load_explicit(&aside, memory_order_relaxed);
    while (!atomic_compare_exchange_weak_explicit(&aside, &plan->next, plan, memory_order_release,
                                                  memory_order_relaxed))
        ;
}

/* While a plan is made. */
struct draft {
    struct rl_device *device;
    const struct rl_observation *seen;
    const struct rl_proof *proof;
    struct rl_kernel *kernels;
    struct rl_dispatch *dispatches;
    uint32_t *work;
    size_t bytes; /* of the block, as far as it is laid out */
    size_t fence;
    const hsa_queue_t *only_queue;
};

static size_t place(struct draft *draft, size_t bytes, size_t alignment)
{
    size_t at = (draft->bytes + alignment - 1) & ~(alignment - 1);

    draft->bytes = at + bytes;
    return at;
}

static const struct rl_seen *seen_of(const struct draft *draft, uint32_t dispatch)
{
    return &draft->seen->packets[draft->proof->packets[dispatch]];
}

/* Addresses are offsets in the block until it exists; 1 is added so that none is 0. */
static void lay_out(struct draft *draft, uint32_t index)
{
    const struct rl_seen *seen = seen_of(draft, index);
    const struct rl_aql_dispatch *packet = &seen->packet.dispatch;
    const struct rl_kernel *kernel = &draft->kernels[seen->code];
    struct rl_dispatch *dispatch = &draft->dispatches[index];

    *dispatch = (struct rl_dispatch){
        .kernel = seen->code,
        .level = draft->proof->levels[index],
        .lds_bytes = packet->group_bytes,
        .private_bytes = packet->private_bytes,
        .dispatch_id = seen->index,
    };
    memcpy(dispatch->grid, packet->grid, sizeof(dispatch->grid));
    memcpy(dispatch->workgroup, packet->workgroup, sizeof(dispatch->workgroup));
    if (kernel->kernarg_bytes)
        dispatch->kernarg = place(draft, kernel->kernarg_bytes + seen->use.pattern_bytes + 16,
                                  ARGUMENT_ALIGNMENT);
    if (kernel->properties & RL_PROPERTY_DISPATCH_POINTER)
        dispatch->packet = place(draft, sizeof(union rl_aql), PACKET_ALIGNMENT);
    if (kernel->properties & RL_PROPERTY_QUEUE_POINTER) {
        draft->only_queue = draft->seen->queues[seen->queue];
        dispatch->queue = (uintptr_t)draft->only_queue;
    }
}

static void move_to(struct draft *draft, uint64_t base)
{
    for (uint32_t i = 0; i < draft->proof->count; i++) {
        struct rl_dispatch *dispatch = &draft->dispatches[i];
        const struct rl_kernel *kernel = &draft->kernels[dispatch->kernel];

        if (kernel->kernarg_bytes)
            dispatch->kernarg += base;
        if (kernel->properties & RL_PROPERTY_DISPATCH_POINTER)
            dispatch->packet += base;
    }
}

/* Arguments, the pattern behind them with the pointer to it, and the packet with its pointer to the
 * arguments. */
static void copy_in(const struct draft *draft, uint32_t index)
{
    const struct rl_seen *seen = seen_of(draft, index);
    const struct rl_dispatch *dispatch = &draft->dispatches[index];
    uint32_t size = draft->kernels[dispatch->kernel].kernarg_bytes;

    if (size) {
        char *arguments = (char *)(uintptr_t)dispatch->kernarg;

        memcpy(arguments, draft->seen->bytes + seen->arguments, size); /* rule: arguments-are-copied */
        if (seen->use.pattern_bytes) {
            uint64_t pattern = (dispatch->kernarg + size + 15) & ~UINT64_C(15);

            memcpy((void *)(uintptr_t)pattern, draft->seen->bytes + seen->pattern, seen->use.pattern_bytes);
            memcpy(arguments + seen->use.pattern_at, &pattern, sizeof(pattern));
        }
    }
    if (dispatch->packet) {
        union rl_aql *packet = (union rl_aql *)(uintptr_t)dispatch->packet;

        *packet = seen->packet;
        packet->dispatch.header = (uint16_t)((packet->dispatch.header & ~0xff) | RL_AQL_DISPATCH);
        packet->dispatch.kernarg = dispatch->kernarg;
        packet->dispatch.completion = 0;
    }
}

static bool draft_make(struct draft *draft)
{
    uint32_t count = draft->proof->count;
    size_t codes = draft->seen->code_count;

    draft->kernels = rl_allocate(codes ? codes : 1, sizeof(*draft->kernels));
    draft->dispatches = rl_allocate(count ? count : 1, sizeof(*draft->dispatches));
    if (!draft->kernels || !draft->dispatches)
        return false;
    for (size_t i = 0; i < codes; i++)
        rl_kernel_read(&draft->kernels[i], draft->seen->codes[i].object, draft->seen->codes[i].descriptor);
    for (uint32_t i = 0; i < count; i++)
        lay_out(draft, i);
    return true;
}

static void dump(const struct rl_plan *plan)
{
    static _Atomic uint32_t number;
    const char *folder = rl_options()->dump;
    char path[RL_PATH_SIZE + 64];
    struct rl_pm4_dump head = rl_pm4_dump_header(plan->device->target, plan->dwords);
    struct iovec parts[] = {
        { &head, sizeof(head) },
        { (void *)(uintptr_t)plan->buffer, (size_t)plan->dwords * sizeof(uint32_t) },
    };
    int file;

    if (!folder[0])
        return;
    snprintf(path, sizeof(path), "%s/%ld-%u-%s.ib", folder, (long)getpid(), atomic_fetch_add(&number, 1) + 1,
             plan->device->gfx);
    file = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
    if (file < 0)
        return;
    if (writev(file, parts, 2) != (ssize_t)(parts[0].iov_len + parts[1].iov_len))
        unlink(path);
    close(file);
}

static void note_executables(struct rl_plan *plan, const struct rl_observation *seen)
{
    for (size_t i = 0; i < seen->code_count; i++)
        if (!rl_plan_runs(plan, seen->codes[i].executable))
            plan->executables[plan->executable_count++] = seen->codes[i].executable;
    /* One may have been unloaded since its kernels were seen: the first replay looks. */
    atomic_store_explicit(&plan->checked, rl_code_generation() - 1, memory_order_relaxed);
}

static struct rl_plan *build(struct draft *draft, enum rl_reason *reason, char detail[RL_SEEN_DETAIL])
{
    struct rl_plan *plan = NULL;
    struct rl_lower lower;
    struct rl_lower_input input = {
        .target = draft->device->target,
        .kernels = draft->kernels,
        .dispatches = draft->dispatches,
        .kernel_count = (uint32_t)draft->seen->code_count,
        .dispatch_count = draft->proof->count,
    };
    bool fenced = rl_lower_needs_fence(&input);
    size_t buffer, room;
    enum rl_lower_reason refused;
    void *memory;

    draft->fence = fenced ? place(draft, 64, 64) : 0;
    input.fence = fenced ? BUFFER_ALIGNMENT : 0; /* any aligned address while only words are counted */
    draft->work = rl_allocate(1, rl_lower_work_words(&input) * sizeof(*draft->work));
    *reason = RL_REASON_OUT_OF_MEMORY;
    if (!draft->work)
        return NULL;
    /* Real addresses follow. They need more words only if the block crosses a multiple of 4 GiB. */
    move_to(draft, UINT64_C(1) << 32);
    refused = rl_lower_plan(&lower, &input, draft->work);
    if (refused != RL_LOWER_OK) {
        *reason = RL_REASON_NOT_LOWERED;
        snprintf(detail, RL_SEEN_DETAIL, "%s", rl_lower_reason_text(refused));
        return NULL;
    }
    move_to(draft, -(UINT64_C(1) << 32));
    room = lower.dwords + BUFFER_ALIGNMENT / sizeof(uint32_t);
    buffer = place(draft, room * sizeof(uint32_t), BUFFER_ALIGNMENT);
    plan = rl_allocate(1, sizeof(*plan) + draft->seen->code_count * sizeof(plan->executables[0]));
    memory = plan ? rl_device_allocate(draft->seen->hsa, draft->device, draft->bytes) : NULL;
    if (!memory) {
        rl_release(plan);
        return NULL;
    }
    move_to(draft, (uintptr_t)memory);
    input.fence = fenced ? (uintptr_t)memory + draft->fence : 0;
    refused = rl_lower_plan(&lower, &input, draft->work);
    if (refused != RL_LOWER_OK || lower.dwords > room) {
        rl_device_release(draft->seen->hsa, draft->device, memory, draft->bytes);
        rl_release(plan);
        *reason = RL_REASON_NOT_LOWERED;
        return NULL;
    }
    for (uint32_t i = 0; i < draft->proof->count; i++)
        copy_in(draft, i);
    rl_lower_emit(&lower, (uint32_t *)((char *)memory + buffer), NULL);
    *plan = (struct rl_plan){
        .device = draft->device,
        .buffer = (uintptr_t)memory + buffer,
        .dwords = lower.dwords,
        .exclusive = fenced,
        .only_queue = draft->only_queue,
        .use = { 1, put_aside },
        .dispatches = draft->proof->count,
        .levels = lower.levels,
        .memory = memory,
        .bytes = draft->bytes,
    };
    note_executables(plan, draft->seen);
    *reason = RL_REASON_NONE;
    return plan;
}

struct rl_plan *rl_plan_make(struct rl_device *device, const struct rl_observation *seen,
                             const struct rl_proof *proof, enum rl_reason *reason,
                             char detail[RL_SEEN_DETAIL])
{
    struct draft draft = { .device = device, .seen = seen, .proof = proof };
    struct rl_plan *plan = NULL;

    *reason = RL_REASON_OUT_OF_MEMORY;
    detail[0] = 0;
    if (draft_make(&draft))
        plan = build(&draft, reason, detail);
    rl_release(draft.kernels);
    rl_release(draft.dispatches);
    rl_release(draft.work);
    if (plan)
        dump(plan);
    return plan;
}

bool rl_plan_runs(const struct rl_plan *plan, uint64_t executable)
{
    for (size_t i = 0; i < plan->executable_count; i++)
        if (plan->executables[i] == executable)
            return true;
    return false;
}

bool rl_plan_has_code(struct rl_plan *plan)
{
    unsigned generation = rl_code_generation();

    if (atomic_load_explicit(&plan->checked, memory_order_relaxed) == generation)
        return true;
    for (size_t i = 0; i < plan->executable_count; i++)
        if (!rl_code_is_loaded(plan->executables[i]))
            return false;
    atomic_store_explicit(&plan->checked, generation, memory_order_relaxed);
    return true;
}

/* ---- life ---- */

struct destroy {
    struct rl_plan *plan;
    rl_hipGraphExecDestroy_fn *native;
    hipGraphExec_t exec;
    struct destroy *next;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static _Atomic(struct destroy *) awaiting; /* changed under the lock */

bool rl_plan_destroy_after(struct rl_plan *plan, rl_hipGraphExecDestroy_fn *native, hipGraphExec_t exec)
{
    struct destroy *destroy = rl_allocate(1, sizeof(*destroy));

    if (!destroy)
        return false;
    *destroy = (struct destroy){ plan, native, exec, NULL };
    pthread_mutex_lock(&lock);
    destroy->next = atomic_load_explicit(&awaiting, memory_order_relaxed);
    atomic_store_explicit(&awaiting, destroy, memory_order_release);
    pthread_mutex_unlock(&lock);
    return true;
}

bool rl_plans_await(hipGraphExec_t exec)
{
    const struct destroy *destroy;

    if (!atomic_load_explicit(&awaiting, memory_order_acquire))
        return false;
    pthread_mutex_lock(&lock);
    destroy = atomic_load_explicit(&awaiting, memory_order_relaxed);
    while (destroy && destroy->exec != exec)
        destroy = destroy->next;
    pthread_mutex_unlock(&lock);
    return destroy;
}

/* The next native destroy whose replays are done, out of the list. */
static struct destroy *next_due(void)
{
    struct destroy *before = NULL, *due;

    pthread_mutex_lock(&lock);
    due = atomic_load_explicit(&awaiting, memory_order_relaxed);
    while (due && atomic_load_explicit(&due->plan->use.references, memory_order_acquire) > 1) {
        before = due;
        due = due->next;
    }
    if (due && before)
        before->next = due->next;
    else if (due)
        atomic_store_explicit(&awaiting, due->next, memory_order_release);
    pthread_mutex_unlock(&lock);
    return due;
}

void rl_plans_reclaim(const struct rl_hsa_table *hsa)
{
    struct destroy *due;
    struct rl_plan *plan;

    if (!atomic_load_explicit(&awaiting, memory_order_relaxed) &&
        !atomic_load_explicit(&aside, memory_order_relaxed))
        return;
    rl_devices_reap(hsa);
    while (atomic_load_explicit(&awaiting, memory_order_relaxed) && (due = next_due())) {
        due->native(due->exec);
        rl_plan_drop(due->plan);
        rl_release(due);
    }
    plan = atomic_exchange_explicit(&aside, NULL, memory_order_acquire);
    while (plan) {
        struct rl_plan *next = plan->next;

        rl_device_release(hsa, plan->device, plan->memory, plan->bytes);
        rl_release(plan);
        plan = next;
    }
}

/* The child of a fork has none of the GPU's memory. */
static void in_child(void)
{
    pthread_mutex_init(&lock, NULL);
    atomic_store(&aside, NULL);
    atomic_store(&awaiting, NULL);
}

RL_AT_FORK(NULL, NULL, in_child);
