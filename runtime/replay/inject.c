/* SPDX-License-Identifier: Apache-2.0 */
/* See inject.h; what each rule prevents is in docs/hazards.md, H1 to H5. */
#include "replay/inject.h"

#include <sched.h>
#include <string.h>

#include "proof/watch.h"

enum {
    TYPE = 0xff,
    BARRIER_BIT = 1 << 8,
    PASS_THROUGH = RL_AQL_BARRIER_AND, /* header: no barrier bit, no fences; no dependencies, no signal */
    WAIT_FOR_US = RL_AQL_BARRIER_AND | BARRIER_BIT,
    MOST_TRIES = 3,
};

/* What a reservation by HIP means to the record that this thread makes. */
enum mode {
    LOOK,        /* which queue it is in */
    AT_THE_RING, /* one slot more, whose packet is written when HIP rings */
    AT_ONCE,     /* two slots more, if it is in the stream's queue: the replay and a barrier */
};

static _Thread_local struct {
    const struct rl_hsa_table *hsa;
    struct rl_plan *plan;
    const struct rl_completion *completion;
    enum mode mode;
    const hsa_queue_t *queue;  /* of the last reservation; AT_ONCE: where the replay belongs */
    uint64_t index, count;     /* of our slot, and how many of HIP are behind it */
    bool open, placed, silent; /* silent: nobody has rung since the replay was placed */
    unsigned reservations;
    enum rl_injection answer; /* AT_THE_RING: why the slot was passed through */
} injection __attribute__((tls_model("initial-exec")));

/* The slots before this one are taken in order, so this ends as soon as the queue has gone round once. */
static union rl_aql *free_slot(const hsa_queue_t *queue, uint64_t index)
{
    while (index - injection.hsa->hsa_queue_load_read_index_scacquire(queue) >= queue->size)
        sched_yield();
    return rl_aql_slot(queue, index);
}

static void publish(union rl_aql *packet, uint32_t header)
{
    __atomic_store_n(&packet->words[0], header, __ATOMIC_RELEASE);
}

static void put_barrier(const hsa_queue_t *queue, uint64_t index, uint32_t header, uint64_t dependency)
{
    union rl_aql *packet = free_slot(queue, index);

    memset(&packet->words[1], 0, sizeof(*packet) - sizeof(packet->words[0]));
    packet->barrier.dependencies[0] = dependency;
    publish(packet, header);
}

static void place(const hsa_queue_t *queue, uint64_t index)
{
    const struct rl_plan *plan = injection.plan;
    union rl_aql *packet = free_slot(queue, index);

    publish(packet, rl_pm4_vendor_packet(packet->words, plan->buffer, plan->dwords,
                                         injection.completion->signal.handle));
    injection.placed = true;
}

static void pass_through(void)
{
    put_barrier(injection.queue, injection.index, PASS_THROUGH, 0);
    injection.open = false;
}

/* A producer rings when its packet is valid: any ring that HIP has made for the slot behind came too early. */
static void ring(void)
{
    injection.silent = false;
    injection.hsa->hsa_signal_store_screlease(injection.queue->doorbell_signal,
                                              (hsa_signal_value_t)injection.index);
}

static void close_slot(void)
{
    if (!injection.open)
        return;
    pass_through();
    ring();
}

/* Kernels that see their queue run in that one only; waits that share a word of memory, in one queue at a
 * time. */
static bool may_run_in(struct rl_plan *plan, const hsa_queue_t *queue)
{
    if (plan->only_queue && plan->only_queue != queue)
        return false;
    if (!plan->exclusive || atomic_load_explicit(&plan->last_queue, memory_order_relaxed) == (uintptr_t)queue)
        return true;
    /* The owner, this replay, and nobody else. */
    if (atomic_load_explicit(&plan->use.references, memory_order_acquire) > 2)
        return false;
    atomic_store_explicit(&plan->last_queue, (uintptr_t)queue, memory_order_relaxed);
    return true;
}

/* HIP's barrier is in this very queue behind the replay, or waits for the replay's signal. All slots in one add,
 * since other threads reserve in the same queue. */
static uint64_t reserve_at_once(rl_hsa_queue_add_write_index_screlease_fn *native, const hsa_queue_t *queue,
                                uint64_t count)
{
    uint64_t index;

    if (!injection.placed && queue == injection.queue) {
        index = native(queue, count + 2);
        place(queue, index);
        put_barrier(queue, index + 1, WAIT_FOR_US, 0);
        injection.index = index;
        injection.silent = true;
        return index + 2;
    }
    if (!injection.placed || queue == injection.queue)
        return native(queue, count);
    index = native(queue, count + 1);
    put_barrier(queue, index, PASS_THROUGH, injection.completion->signal.handle);
    return index + 1;
}

static uint64_t reserve_open(rl_hsa_queue_add_write_index_screlease_fn *native, const hsa_queue_t *queue,
                             uint64_t count)
{
    close_slot();
    if (injection.placed)
        return native(queue, count);
    injection.index = native(queue, count + 1);
    injection.queue = queue;
    injection.count = count;
    injection.open = true;
    return injection.index + 1;
}

uint64_t rl_inject_reserve(rl_hsa_queue_add_write_index_screlease_fn *native, const hsa_queue_t *queue,
                           uint64_t count)
{
    injection.reservations++;
    switch (injection.mode) {
    case AT_THE_RING: return reserve_open(native, queue, count);
    case AT_ONCE: return reserve_at_once(native, queue, count);
    default: injection.queue = queue; return native(queue, count);
    }
}

/* HIP may be about to wait for something that stands behind our slot. */
void rl_inject_before_wait(void)
{
    close_slot();
}

/* HIP puts waits for copies, other streams and cooperative kernels into the barrier of the record itself; a packet
 * in front of it would not wait. And it clears the barrier bit where it believes that nothing is left to wait for.
 * Whatever is not understood counts as a wait. */
static bool stands_behind_us(void)
{
    const union rl_aql *packet = rl_aql_slot(injection.queue, injection.index + 1);
    uint16_t header = __atomic_load_n(&packet->barrier.header, __ATOMIC_ACQUIRE);
    int signals = (header & TYPE) == RL_AQL_INVALID ? -1 : rl_aql_barrier_signals(packet);

    for (int i = 0; i < signals; i++)
        if (packet->barrier.dependencies[i])
            return false;
    return signals > 0 && injection.count == 1 && header & BARRIER_BIT && packet->barrier.completion;
}

/* HIP's packet is written, and its ring, which follows, is ours too. */
void rl_inject_doorbell(hsa_signal_t signal, hsa_signal_value_t index)
{
    if (!(injection.open || injection.silent) || signal.handle != injection.queue->doorbell_signal.handle ||
        (uint64_t)index <= injection.index)
        return;
    injection.silent = false;
    if (!injection.open)
        return;
    injection.answer = RL_INJECT_DONE;
    if (!stands_behind_us()) /* rule: waits-are-waited-for */
        injection.answer = RL_INJECT_WAITS;
    if (injection.answer == RL_INJECT_DONE && !may_run_in(injection.plan, injection.queue))
        injection.answer = RL_INJECT_QUEUE;
    if (injection.answer == RL_INJECT_DONE)
        place(injection.queue, injection.index);
    else
        pass_through();
    injection.open = false;
}

static hipError_t record_event(const struct rl_hip_table *hip, struct rl_stream_state *state,
                               hipStream_t stream, enum mode mode)
{
    uint32_t turn = atomic_fetch_add_explicit(&state->turn, 1, memory_order_relaxed);
    hipError_t status;

    injection.mode = mode;
    injection.open = false;
    injection.reservations = 0;
    injection.answer = RL_INJECT_NO_RECORD;
    rl_watch = RL_WATCH_INJECT;
    status = hip->hipEventRecord(state->events[turn & 1], stream);
    rl_watch = RL_WATCH_NOTHING;
    close_slot();
    if (injection.silent)
        ring();
    if (status != hipSuccess)
        rl_devices_note_error(status);
    return status;
}

/* What is placed is placed, whatever HIP says afterwards. */
static enum rl_injection answer_of(hipError_t status)
{
    if (injection.placed)
        return RL_INJECT_DONE;
    return status == hipSuccess ? injection.answer : RL_INJECT_FAILED;
}

static enum rl_injection inject_at_the_ring(const struct rl_hip_table *hip, struct rl_stream_state *state,
                                            hipStream_t stream)
{
    enum rl_injection answer = RL_INJECT_WAITS;

    for (int i = 0; i < MOST_TRIES && answer == RL_INJECT_WAITS; i++)
        answer = answer_of(record_event(hip, state, stream, AT_THE_RING));
    return answer;
}

static enum rl_injection inject_at_once(const struct rl_hip_table *hip, struct rl_stream_state *state,
                                        hipStream_t stream)
{
    hipError_t status = record_event(hip, state, stream, LOOK);

    if (status != hipSuccess || !injection.reservations)
        return answer_of(status);
    if (!may_run_in(injection.plan, injection.queue))
        return RL_INJECT_QUEUE;
    return answer_of(record_event(hip, state, stream, AT_ONCE));
}

enum rl_injection rl_inject(const struct rl_hip_table *hip, const struct rl_hsa_table *hsa,
                            struct rl_plan *plan, struct rl_stream_state *state, hipStream_t stream)
{
    struct rl_completion *completion = rl_completion_claim(hsa, &plan->device->completions, &plan->use);
    enum rl_injection answer;

    if (!completion)
        return RL_INJECT_FULL;
    injection.hsa = hsa;
    injection.plan = plan;
    injection.completion = completion;
    injection.placed = false;
    answer = state->blocking ? inject_at_once(hip, state, stream) : inject_at_the_ring(hip, state, stream);
    if (answer != RL_INJECT_DONE)
        rl_completion_return(completion);
    return answer;
}
