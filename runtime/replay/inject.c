/* SPDX-License-Identifier: Apache-2.0 */
/* See inject.h; the rules, each with what it was learnt from, stand in section 3 of the architecture. */
#include "replay/inject.h"

#include <sched.h>
#include <string.h>

#include "proof/watch.h"

enum {
    PASS_THROUGH = RL_AQL_BARRIER_AND, /* header: no barrier bit, no fences; no dependencies, no signal */
    MOST_TRIES = 3,
    TYPE = 0xff,
};

/* The slot that this thread has reserved in front of HIP's. */
static _Thread_local struct {
    const struct rl_hsa_table *hsa;
    const hsa_queue_t *queue;
    uint64_t index, count; /* count: slots of HIP behind it */
    bool open;
    unsigned reservations;
} slot __attribute__((tls_model("initial-exec")));

/* The slots before ours are taken in order, so this ends as soon as the queue has gone round once. */
static union rl_aql *free_slot(void)
{
    while (slot.index - slot.hsa->hsa_queue_load_read_index_scacquire(slot.queue) >= slot.queue->size)
        sched_yield();
    return rl_aql_slot(slot.queue, slot.index);
}

/* A producer rings when its packet is valid: HIP's ring for the slot behind ours came while ours was not. */
static void publish(union rl_aql *packet, uint32_t header)
{
    __atomic_store_n(&packet->words[0], header, __ATOMIC_RELEASE);
    slot.open = false;
    /* rule: replays-ring-for-themselves */
    slot.hsa->hsa_signal_store_screlease(slot.queue->doorbell_signal, (hsa_signal_value_t)slot.index);
}

static void pass_through(void)
{
    union rl_aql *packet = free_slot();

    memset(&packet->words[1], 0, sizeof(*packet) - sizeof(packet->words[0]));
    publish(packet, PASS_THROUGH);
}

/* An earlier reservation of the same call was a marker of another stream or a wait: ours goes in front of
 * the last. One add for both slots, since other threads reserve in the same queue. */
uint64_t rl_inject_reserve(rl_hsa_queue_add_write_index_screlease_fn *native, const hsa_queue_t *queue,
                           uint64_t count)
{
    if (slot.open) /* rule: the-last-reservation-is-the-streams-own */
        pass_through();
    slot.index = native(queue, count + 1);
    slot.queue = queue;
    slot.count = count;
    slot.open = true;
    slot.reservations++;
    return slot.index + 1;
}

/* HIP may be about to wait for something that stands behind our slot. */
void rl_inject_before_wait(void)
{
    if (slot.open) /* rule: slots-are-given-up-before-hip-waits */
        pass_through();
}

/* HIP puts waits for copies, other streams and cooperative kernels into the barrier of the record itself;
 * a packet in front of it would not wait. Whatever is not understood counts as a wait. */
static bool waits_for_something(void)
{
    const union rl_aql *packet = rl_aql_slot(slot.queue, slot.index + 1);
    uint16_t header = __atomic_load_n(&packet->barrier.header, __ATOMIC_ACQUIRE);
    int signals = (header & TYPE) == RL_AQL_INVALID ? -1 : rl_aql_barrier_signals(packet);

    for (int i = 0; i < signals; i++)
        if (packet->barrier.dependencies[i])
            return true;
    return signals < 0 || slot.count != 1;
}

static void place(const struct rl_plan *plan, const struct rl_completion *completion)
{
    union rl_aql *packet = free_slot();

    publish(packet,
            rl_pm4_vendor_packet(packet->words, plan->buffer, plan->dwords, completion->signal.handle));
}

/* Kernels that see their queue run in that one only; waits that share a word of memory, in one queue at a
 * time. */
static bool may_run_here(struct rl_plan *plan)
{
    uintptr_t queue = (uintptr_t)slot.queue;

    if (plan->only_queue && plan->only_queue != slot.queue)
        return false;
    if (!plan->exclusive || atomic_load_explicit(&plan->last_queue, memory_order_relaxed) == queue)
        return true;
    /* The owner, this replay, and nobody else. */
    if (atomic_load_explicit(&plan->use.references, memory_order_acquire) > 2)
        return false;
    atomic_store_explicit(&plan->last_queue, queue, memory_order_relaxed);
    return true;
}

static hipError_t record_event(const struct rl_hip_table *hip, struct rl_stream_state *state,
                               hipStream_t stream)
{
    uint32_t turn = atomic_fetch_add_explicit(&state->turn, 1, memory_order_relaxed);
    hipError_t status;

    slot.open = false;
    slot.reservations = 0;
    rl_watch = RL_WATCH_INJECT;
    status = hip->hipEventRecord(state->events[turn & 1], stream);
    rl_watch = RL_WATCH_NOTHING;
    return status;
}

static enum rl_injection try(const struct rl_hip_table *hip, struct rl_plan *plan,
                             struct rl_stream_state *state, hipStream_t stream,
                             const struct rl_completion *completion)
{
    hipError_t status = record_event(hip, state, stream);

    if (status != hipSuccess) {
        if (slot.open)
            pass_through();
        rl_devices_note_error(status);
        return RL_INJECT_FAILED;
    }
    if (!slot.open)
        return slot.reservations ? RL_INJECT_WAITS : RL_INJECT_NO_RECORD;
    if (waits_for_something()) { /* rule: waits-are-waited-for */
        pass_through();
        return RL_INJECT_WAITS;
    }
    if (!may_run_here(plan)) {
        pass_through();
        return RL_INJECT_QUEUE;
    }
    place(plan, completion);
    return RL_INJECT_DONE;
}

enum rl_injection rl_inject(const struct rl_hip_table *hip, const struct rl_hsa_table *hsa,
                            struct rl_plan *plan, struct rl_stream_state *state, hipStream_t stream)
{
    struct rl_completion *completion = rl_completion_claim(hsa, &plan->device->completions, &plan->use);
    enum rl_injection result = RL_INJECT_WAITS;

    if (!completion)
        return RL_INJECT_FULL;
    slot.hsa = hsa;
    for (int i = 0; i < MOST_TRIES && result == RL_INJECT_WAITS; i++)
        result = try(hip, plan, state, stream, completion);
    if (result != RL_INJECT_DONE)
        rl_completion_return(completion);
    return result;
}
