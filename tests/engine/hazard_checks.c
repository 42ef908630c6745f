/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Hazards against queues, tables and a graph of our own, where no application could show them. Linked with
 * the library's objects.
 *
 *     hazard_checks must-flush VERSION|none|failing     prints 0 or 1
 *     hazard_checks device NAME XCCS                    prints the reason and its detail
 *     hazard_checks NAME                                of a check below: ends with 0 when it holds
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "native/native.h"
#include "proof/observe.h"
#include "proof/prove.h"
#include "replay/device.h"
#include "replay/gate.h"
#include "replay/inject.h"

#define CHECK(condition)                                                                                     \
    do {                                                                                                     \
        if (!(condition)) {                                                                                  \
            fprintf(stderr, "%s:%d: %s is false\n", __FILE__, __LINE__, #condition);                         \
            exit(1);                                                                                         \
        }                                                                                                    \
    } while (0)

enum { SLOTS = 8, EXECUTABLE = 1 << 2, BARRIER_BIT = 1 << 8 };
enum { AGENT_NAME = 0, AGENT_XCCS = 0xA111, AGENT_CPU = 0xA113 };

/* ---- one queue ---- */

static union rl_aql ring[SLOTS];
static hsa_queue_t queue = { .base_address = ring, .size = SLOTS, .doorbell_signal = { 77 } };
static uint64_t write_index, read_index, adds, waited, rings;
static hsa_signal_value_t rung[64];

static uint64_t add(const hsa_queue_t *of, uint64_t count)
{
    uint64_t index = write_index;

    CHECK(of == &queue);
    adds++;
    write_index += count;
    return index;
}

static uint64_t load_write_index(const hsa_queue_t *of)
{
    CHECK(of == &queue);
    return write_index;
}

/* A full ring: the packet processor takes one packet each time that somebody looks. */
static uint64_t load_read_index(const hsa_queue_t *of)
{
    CHECK(of == &queue);
    if (write_index - read_index > SLOTS) {
        waited++;
        return read_index++;
    }
    return read_index;
}

/* A doorbell rung for a slot whose packet is not valid would be lost. */
static void ring_doorbell(hsa_signal_t signal, hsa_signal_value_t index)
{
    CHECK(signal.handle == queue.doorbell_signal.handle && rings < sizeof(rung) / sizeof(rung[0]));
    CHECK((ring[index % SLOTS].barrier.header & 0xff) != RL_AQL_INVALID);
    rung[rings++] = index;
}

static hsa_status_t queue_info(hsa_queue_t *of, hsa_queue_info_attribute_t attribute, void *value)
{
    CHECK(of == &queue && attribute == HSA_AMD_QUEUE_INFO_AGENT);
    ((hsa_agent_t *)value)->handle = 5;
    return HSA_STATUS_SUCCESS;
}

/* ---- one GPU ---- */

static const char *agent_name = "gfx1100";
static uint32_t agent_xccs = 1;

static hsa_status_t agent_info(hsa_agent_t agent, hsa_agent_info_t attribute, void *value)
{
    CHECK(agent.handle == 5);
    switch ((int)attribute) {
    case AGENT_NAME: strcpy(value, agent_name); return HSA_STATUS_SUCCESS;
    case AGENT_XCCS: *(uint32_t *)value = agent_xccs; return HSA_STATUS_SUCCESS;
    case AGENT_CPU: ((hsa_agent_t *)value)->handle = 6; return HSA_STATUS_SUCCESS;
    default: return HSA_STATUS_ERROR;
    }
}

static hsa_status_t pool_info(hsa_amd_memory_pool_t pool, hsa_amd_memory_pool_info_t attribute, void *value)
{
    CHECK(pool.handle == 9);
    *(uint32_t *)value = attribute == HSA_AMD_MEMORY_POOL_INFO_GLOBAL_FLAGS ? 3 : 0;
    return HSA_STATUS_SUCCESS;
}

static hsa_status_t pools(hsa_agent_t agent, hsa_status_t (*visit)(hsa_amd_memory_pool_t, void *),
                          void *context)
{
    CHECK(agent.handle == 6);
    return visit((hsa_amd_memory_pool_t){ 9 }, context);
}

static hsa_amd_memory_pool_t pool_asked;
static uint32_t flags_asked;

static hsa_status_t allocate(hsa_amd_memory_pool_t pool, size_t size, uint32_t flags, void **memory)
{
    pool_asked = pool;
    flags_asked = flags;
    *memory = malloc(size);
    return HSA_STATUS_SUCCESS;
}

static hsa_status_t release(void *memory)
{
    free(memory);
    return HSA_STATUS_SUCCESS;
}

static hsa_status_t allow(uint32_t count, const hsa_agent_t *agents, const uint32_t *flags,
                          const void *memory)
{
    (void)count;
    (void)agents;
    (void)flags;
    (void)memory;
    return HSA_STATUS_SUCCESS;
}

static hsa_signal_value_t signals[RL_COMPLETIONS + 1];

static hsa_status_t create_signal(hsa_signal_value_t value, uint32_t consumers, const hsa_agent_t *agents,
                                  uint64_t attributes, hsa_signal_t *signal)
{
    static uint64_t made;

    (void)consumers;
    (void)agents;
    (void)attributes;
    CHECK(made < RL_COMPLETIONS);
    signal->handle = ++made;
    signals[made] = value;
    return HSA_STATUS_SUCCESS;
}

static hsa_signal_value_t load_signal(hsa_signal_t signal)
{
    return signals[signal.handle];
}

static void store_signal(hsa_signal_t signal, hsa_signal_value_t value)
{
    signals[signal.handle] = value;
}

static const struct rl_hsa_table hsa = {
    .hsa_agent_get_info = agent_info,
    .hsa_amd_agent_iterate_memory_pools = pools,
    .hsa_amd_memory_pool_get_info = pool_info,
    .hsa_amd_memory_pool_allocate = allocate,
    .hsa_amd_memory_pool_free = release,
    .hsa_amd_agents_allow_access = allow,
    .hsa_amd_signal_create = create_signal,
    .hsa_signal_load_scacquire = load_signal,
    .hsa_signal_store_relaxed = store_signal,
    .hsa_signal_store_screlease = ring_doorbell,
    .hsa_queue_load_read_index_scacquire = load_read_index,
    .hsa_queue_load_write_index_relaxed = load_write_index,
    .hsa_amd_queue_get_info = queue_info,
};

/* ---- HIP ---- */

static int version, records, waits_left, slots_of_record = 1;

static hipError_t get_version(int *value)
{
    *value = version;
    return version ? hipSuccess : hipErrorUnknown;
}

/* As HIP does it: a slot, its barrier, its doorbell. The first `waits_left` barriers wait for a copy. */
static hipError_t record_event(hipEvent_t event, hipStream_t stream)
{
    uint64_t index = rl_inject_reserve(add, &queue, (uint64_t)slots_of_record);
    union rl_aql *packet = rl_aql_slot(&queue, index);

    (void)event;
    (void)stream;
    records++;
    memset(packet, 0, sizeof(*packet));
    packet->barrier.dependencies[2] = waits_left > 0 ? 4711 : 0;
    waits_left--;
    packet->barrier.header = RL_AQL_BARRIER_AND | BARRIER_BIT;
    CHECK((rl_aql_slot(&queue, index - 1)->barrier.header & 0xff) == RL_AQL_INVALID);
    ring_doorbell(queue.doorbell_signal, (hsa_signal_value_t)index);
    return hipSuccess;
}

static const struct rl_hip_table hip = { .hipRuntimeGetVersion = get_version,
                                         .hipEventRecord = record_event };

/* ---- replays ---- */

static struct rl_plan plan = { .buffer = 0x1000, .dwords = 16, .use = { .references = 1 } };
static struct rl_stream_state state;

static enum rl_injection inject(void)
{
    for (size_t i = 0; i < SLOTS; i++)
        if (write_index - read_index <= i)
            ring[(read_index + i) % SLOTS].barrier.header = RL_AQL_INVALID;
    plan.device = rl_device_find(&hsa, 5, 0);
    CHECK(plan.device && plan.device->reason == RL_REASON_NONE);
    return rl_inject(&hip, &hsa, &plan, &state, NULL);
}

static void ring_of_our_own(void)
{
    CHECK(inject() == RL_INJECT_DONE);
    CHECK(adds == 1 && write_index == 2 && records == 1);
    CHECK(rings == 2 && rung[0] == 1 && rung[1] == 0); /* HIP's, which came too early for us; ours */
    CHECK((ring[0].barrier.header & 0xff) == RL_AQL_VENDOR && ring[0].barrier.header & BARRIER_BIT);
}

static void waits_are_recorded_again(void)
{
    waits_left = 1;
    CHECK(inject() == RL_INJECT_DONE);
    CHECK(records == 2 && write_index == 4);
    CHECK(ring[0].barrier.header == RL_AQL_BARRIER_AND && rung[1] == 0); /* passed through, and rung */
    CHECK((ring[2].barrier.header & 0xff) == RL_AQL_VENDOR && rung[3] == 2);
}

static void waits_without_end_are_native(void)
{
    waits_left = 100;
    CHECK(inject() == RL_INJECT_WAITS);
    CHECK(records == 3 && rings == 6);
    for (uint64_t i = 0; i < write_index; i += 2)
        CHECK(ring[i].barrier.header == RL_AQL_BARRIER_AND);
    CHECK(atomic_load(&plan.use.references) == 1);
}

static void full_ring_is_waited_for(void)
{
    write_index = SLOTS; /* every slot is taken: ours is free when the first has been */
    for (size_t i = 0; i < SLOTS; i++)
        ring[i].barrier.header = RL_AQL_INVALID;
    CHECK(inject() == RL_INJECT_DONE);
    CHECK(waited > 0 && read_index >= 1);
    CHECK(adds == 1 && rung[1] == SLOTS && (ring[0].barrier.header & 0xff) == RL_AQL_VENDOR);
}

static void record_of_several_slots_is_native(void)
{
    slots_of_record = 2;
    CHECK(inject() == RL_INJECT_WAITS);
}

static void kernels_that_see_their_queue_run_in_it_alone(void)
{
    static const hsa_queue_t other = { .size = SLOTS };

    plan.only_queue = &other;
    CHECK(inject() == RL_INJECT_QUEUE);
    CHECK(ring[0].barrier.header == RL_AQL_BARRIER_AND && rung[1] == 0);
    plan.only_queue = &queue;
    CHECK(inject() == RL_INJECT_DONE);
}

static void replays_that_share_a_fence_word_are_in_one_queue(void)
{
    plan.exclusive = true;
    atomic_store(&plan.last_queue, 0x1000);
    atomic_store(&plan.use.references, 2); /* one replay is still in that queue */
    CHECK(inject() == RL_INJECT_QUEUE && atomic_load(&plan.use.references) == 2);
    atomic_store(&plan.use.references, 1);
    CHECK(inject() == RL_INJECT_DONE && atomic_load(&plan.last_queue) == (uintptr_t)&queue);
    CHECK(inject() == RL_INJECT_DONE);
}

static void buffers_are_executable_memory_of_the_nearest_cpu(void)
{
    struct rl_device *device = rl_device_find(&hsa, 5, 0);
    void *memory = rl_device_allocate(&hsa, device, 100);

    CHECK(memory && pool_asked.handle == 9 && flags_asked == EXECUTABLE);
    rl_device_release(&hsa, device, memory, 100);
}

/* ---- observations ---- */

static struct rl_observation seen;

static void barriers(uint64_t from, uint64_t count)
{
    for (uint64_t i = from; i < from + count; i++) {
        memset(rl_aql_slot(&queue, i), 0, sizeof(union rl_aql));
        rl_aql_slot(&queue, i)->barrier.header = RL_AQL_BARRIER_AND | BARRIER_BIT;
    }
}

static void reserve(uint64_t count)
{
    uint64_t index = add(&queue, count);

    barriers(index, count);
    rl_observe_reserved(&queue, index, count);
}

static void observed_packets_are_copied_over_many_laps(void)
{
    rl_observe_begin(&seen, &hsa);
    for (int i = 0; i < 10 * SLOTS; i++) {
        reserve(3);
        rl_observe_doorbell(queue.doorbell_signal, (hsa_signal_value_t)write_index - 1);
    }
    rl_observe_end(&seen);
    CHECK(seen.reason == RL_REASON_NONE && seen.count == 30 * SLOTS);
    for (size_t i = 0; i < seen.count; i++)
        CHECK(seen.packets[i].taken && seen.packets[i].index == i);
    rl_observe_free(&seen);
}

static void a_whole_ring_that_nobody_used_again_is_read(void)
{
    rl_observe_begin(&seen, &hsa);
    reserve(SLOTS / 2);
    reserve(SLOTS / 2);
    rl_observe_doorbell(queue.doorbell_signal, SLOTS - 1);
    rl_observe_end(&seen);
    CHECK(seen.reason == RL_REASON_NONE);
    rl_observe_free(&seen);
}

static void slot_of_the_next_lap_is_not_taken_for_ours(void)
{
    rl_observe_begin(&seen, &hsa);
    reserve(2);
    barriers(add(&queue, SLOTS - 1), SLOTS - 1); /* another thread's: the last of them lies on our first */
    rl_observe_doorbell(queue.doorbell_signal, 1);
    rl_observe_end(&seen);
    CHECK(seen.reason == RL_REASON_QUEUE && strstr(seen.detail, "used again"));
    rl_observe_free(&seen);
}

static void reservation_as_long_as_the_ring_is_refused(void)
{
    rl_observe_begin(&seen, &hsa);
    rl_observe_reserved(&queue, add(&queue, SLOTS), SLOTS);
    rl_observe_end(&seen);
    CHECK(seen.reason == RL_REASON_QUEUE && strstr(seen.detail, "slots at once"));
    rl_observe_free(&seen);
}

static void vendor_packet_that_may_dispatch_is_refused(void)
{
    rl_observe_begin(&seen, &hsa);
    reserve(1);
    ring[0].barrier.header = RL_AQL_VENDOR;
    ring[0].barrier.format = 0x41;
    rl_observe_doorbell(queue.doorbell_signal, 0);
    rl_observe_end(&seen);
    CHECK(seen.reason == RL_REASON_PACKET_UNKNOWN);
    rl_observe_free(&seen);
}

static void packets_that_are_taken_already_are_still_told(void)
{
    union rl_aql dispatch = { .dispatch = { .header = RL_AQL_INVALID,
                                            .workgroup = { 64, 1, 1 },
                                            .grid = { 64, 1, 1 },
                                            .kernel_object = 0x1000 } };
    union rl_aql barrier = { .barrier = { .header = RL_AQL_INVALID, .dependencies = { 1 } } };
    union rl_aql value = { .barrier = { .header = RL_AQL_INVALID, .format = RL_AQL_BARRIER_VALUE } };
    union rl_aql other = { .barrier = { .header = RL_AQL_INVALID, .format = 1 } };

    CHECK(rl_aql_is_dispatch(&dispatch) && !rl_aql_is_dispatch(&barrier));
    CHECK(rl_aql_barrier_signals(&barrier) == RL_AQL_DEPENDENCIES);
    CHECK(rl_aql_barrier_signals(&value) == 1 && rl_aql_barrier_signals(&other) < 0);
}

static void launch_without_packets_has_a_reason(void)
{
    rl_observe_begin(&seen, &hsa);
    rl_observe_end(&seen);
    CHECK(seen.reason == RL_REASON_NO_PACKETS);
    rl_observe_free(&seen);
}

static void copy_by_an_engine_is_a_reason(void)
{
    rl_observe_begin(&seen, &hsa);
    reserve(1);
    rl_observe_copy();
    rl_observe_doorbell(queue.doorbell_signal, 0);
    rl_observe_end(&seen);
    CHECK(seen.reason == RL_REASON_COPY_ENGINE);
    rl_observe_free(&seen);
}

static void kernels_of_hip_that_are_not_known_are_refused(void)
{
    unsigned char arguments[256] = { 1 };
    struct rl_aql_dispatch dispatch = { .workgroup = { 256, 1, 1 }, .grid = { 256, 1, 1 } };
    struct rl_builtin_use use;

    CHECK(!rl_builtin_read(RL_BUILTIN_OTHER, arguments, sizeof(arguments), &dispatch, &use));
}

/* ---- proofs: a graph of one fill, and a launch of it ---- */

enum { FILLED = 0x10000, BEFORE = 99, OWN = 7, STRANGER = 42 };
enum { LEADING, FIRST_HALF, BETWEEN, SECOND_HALF, CLOSING, PACKETS };

static hipError_t no_error(void)
{
    return hipSuccess;
}

static hipError_t exchange_mode(hipStreamCaptureMode *mode)
{
    (void)mode;
    return hipSuccess;
}

/* As native.c has them: what shims call, and behind it HIP's own. */
static const struct rl_hip_table quiet[2] = { [1] = { .hipPeekAtLastError = no_error,
                                                      .hipGetLastError = no_error,
                                                      .hipThreadExchangeStreamCaptureMode = exchange_mode } };
static struct rl_seen launch[PACKETS];
static uint64_t watched[1];

/* HIP splits the fill; its barriers wait for what was before the launch, then for nothing. */
static void launch_fill(void)
{
    static struct rl_code fill = { .builtin = RL_BUILTIN_FILL };
    static unsigned char pattern[4] = { 1, 1, 1, 1 };

    seen = (struct rl_observation){ .hsa = &hsa,
                                    .packets = launch,
                                    .count = PACKETS,
                                    .queue_count = 1,
                                    .codes = &fill,
                                    .code_count = 1,
                                    .bytes = pattern,
                                    .byte_count = 4,
                                    .watched = watched };
    for (int i = 0; i < PACKETS; i++) {
        bool second = i == SECOND_HALF;

        launch[i] = (struct rl_seen){ .index = (uint64_t)i, .taken = true };
        launch[i].packet.barrier.header = RL_AQL_BARRIER_AND | BARRIER_BIT;
        launch[i].dispatch = second || i == FIRST_HALF;
        if (!launch[i].dispatch)
            continue;
        launch[i].packet.dispatch.header = RL_AQL_DISPATCH | BARRIER_BIT;
        launch[i].use =
            (struct rl_builtin_use){ .to = FILLED + 64 * second, .bytes = 64, .rows = 1, .pattern_bytes = 4 };
    }
    launch[LEADING].packet.barrier.dependencies[0] = BEFORE;
    launch[BETWEEN].packet.barrier.completion = OWN;
}

static enum rl_reason proved(uint32_t *levels)
{
    struct rl_topology_node node = { .type = hipGraphNodeTypeMemset };
    struct rl_topology graph = { .node_count = 1, .nodes = &node };
    struct rl_proof proof;

    node.fill = (hipMemsetParams){
        .dst = (void *)FILLED, .elementSize = 1, .height = 1, .pitch = 128, .value = 1, .width = 128
    };
    atomic_store(&rl_hip_current, &quiet[0]);
    CHECK(rl_hip_own(&quiet[0]) == &quiet[1]);
    if (!rl_prove(&quiet[1], &graph, &seen, &proof))
        return seen.reason;
    CHECK(proof.count == 2 && seen.reason == RL_REASON_NONE);
    memcpy(levels, proof.levels, 2 * sizeof(*levels));
    rl_proof_free(&proof);
    return RL_REASON_NONE;
}

static void waits_for_earlier_work_stand_in_front(void)
{
    uint32_t levels[2];

    launch_fill();
    CHECK(proved(levels) == RL_REASON_NONE);
    launch_fill();
    launch[BETWEEN].packet.barrier.dependencies[1] = BEFORE;
    CHECK(proved(levels) == RL_REASON_PACKET_UNKNOWN);
    launch_fill();
    launch[CLOSING].packet.barrier.dependencies[0] = OWN;
    CHECK(proved(levels) == RL_REASON_NONE);
}

static void function_behind_a_foreign_signal_is_a_reason(void)
{
    uint32_t levels[2];

    launch_fill();
    seen.watched_count = 1;
    watched[0] = OWN;
    CHECK(proved(levels) == RL_REASON_NONE);
    launch_fill();
    seen.watched_count = 1;
    watched[0] = STRANGER;
    CHECK(proved(levels) == RL_REASON_HOST_WORK);
}

static void barrier_bits_order_nothing(void)
{
    uint32_t with[2], without[2];

    launch_fill();
    CHECK(proved(with) == RL_REASON_NONE && with[0] != with[1]);
    launch_fill();
    launch[FIRST_HALF].packet.dispatch.header = launch[SECOND_HALF].packet.dispatch.header = RL_AQL_DISPATCH;
    CHECK(proved(without) == RL_REASON_NONE && !memcmp(with, without, sizeof(with)));
    launch[SECOND_HALF].packet.dispatch.header = RL_AQL_INVALID;
    CHECK(proved(without) == RL_REASON_NONE && !memcmp(with, without, sizeof(with)));
}

static const struct {
    const char *name;
    void (*run)(void);
} checks[] = {
    { "waits-for-earlier-work-stand-in-front", waits_for_earlier_work_stand_in_front },
    { "function-behind-a-foreign-signal-is-a-reason", function_behind_a_foreign_signal_is_a_reason },
    { "kernels-that-see-their-queue-run-in-it-alone", kernels_that_see_their_queue_run_in_it_alone },
    { "replays-that-share-a-fence-word-are-in-one-queue", replays_that_share_a_fence_word_are_in_one_queue },
    { "barrier-bits-order-nothing", barrier_bits_order_nothing },
    { "buffers-are-executable-memory-of-the-nearest-cpu", buffers_are_executable_memory_of_the_nearest_cpu },
    { "packets-that-are-taken-already-are-still-told", packets_that_are_taken_already_are_still_told },
    { "copy-by-an-engine-is-a-reason", copy_by_an_engine_is_a_reason },
    { "launch-without-packets-has-a-reason", launch_without_packets_has_a_reason },
    { "kernels-of-hip-that-are-not-known-are-refused", kernels_of_hip_that_are_not_known_are_refused },
    { "ring-of-our-own", ring_of_our_own },
    { "waits-are-recorded-again", waits_are_recorded_again },
    { "waits-without-end-are-native", waits_without_end_are_native },
    { "full-ring-is-waited-for", full_ring_is_waited_for },
    { "record-of-several-slots-is-native", record_of_several_slots_is_native },
    { "observed-packets-are-copied-over-many-laps", observed_packets_are_copied_over_many_laps },
    { "a-whole-ring-that-nobody-used-again-is-read", a_whole_ring_that_nobody_used_again_is_read },
    { "slot-of-the-next-lap-is-not-taken-for-ours", slot_of_the_next_lap_is_not_taken_for_ours },
    { "reservation-as-long-as-the-ring-is-refused", reservation_as_long_as_the_ring_is_refused },
    { "vendor-packet-that-may-dispatch-is-refused", vendor_packet_that_may_dispatch_is_refused },
};

static int must_flush(const char *text)
{
    struct rl_hip_table table = hip;

    if (!strcmp(text, "none"))
        table.hipRuntimeGetVersion = NULL;
    version = atoi(text); /* 0: the call fails */
    printf("%d\n", rl_gate_must_flush(&table));
    return 0;
}

static int device(const char *name, const char *xccs)
{
    struct rl_device *found;

    agent_name = name;
    agent_xccs = (uint32_t)atoi(xccs);
    found = rl_device_find(&hsa, 5, 0);
    CHECK(found);
    printf("%s: %s\n", rl_reason_name(found->reason), found->detail);
    return 0;
}

int main(int argc, char **argv)
{
    if (argc == 3 && !strcmp(argv[1], "must-flush"))
        return must_flush(argv[2]);
    if (argc == 4 && !strcmp(argv[1], "device"))
        return device(argv[2], argv[3]);
    for (size_t i = 0; argc == 2 && i < sizeof(checks) / sizeof(checks[0]); i++)
        if (!strcmp(argv[1], checks[i].name)) {
            checks[i].run();
            return 0;
        }
    for (size_t i = 0; i < sizeof(checks) / sizeof(checks[0]); i++)
        puts(checks[i].name);
    return 2;
}
