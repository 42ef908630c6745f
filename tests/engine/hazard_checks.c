/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Hazards against queues, tables and a graph of our own, where no application could show them. Linked with
 * the library's objects.
 *
 *     hazard_checks must-flush VERSION|none|failing     prints 0 or 1
 *     hazard_checks device NAME XCCS                    prints the reason and its detail
 *     hazard_checks NAME                                of a check below: ends with 0 when it holds
 */
#include "native/native.h"
#include "proof/observe.h"
#include "proof/prove.h"
#include "replay/gate.h"
#include "ring.h"

/* ---- HIP ---- */

static int version;

static hipError_t get_version(int *value)
{
    *value = version;
    return version ? hipSuccess : hipErrorUnknown;
}

static const struct rl_hip_table hip = { .hipRuntimeGetVersion = get_version };

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

static void ring_in_the_gpus_memory_is_refused(void)
{
    ring_owner = 5;
    rl_observe_begin(&seen, &hsa);
    reserve(1);
    rl_observe_end(&seen);
    CHECK(seen.reason == RL_REASON_QUEUE && strstr(seen.detail, "in the GPU's memory"));
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
    if (!rl_prove(&graph, &seen, &proof))
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

static const struct check checks[] = {
    { "waits-for-earlier-work-stand-in-front", waits_for_earlier_work_stand_in_front },
    { "function-behind-a-foreign-signal-is-a-reason", function_behind_a_foreign_signal_is_a_reason },
    { "barrier-bits-order-nothing", barrier_bits_order_nothing },
    { "buffers-are-executable-memory-of-the-nearest-cpu", buffers_are_executable_memory_of_the_nearest_cpu },
    { "packets-that-are-taken-already-are-still-told", packets_that_are_taken_already_are_still_told },
    { "copy-by-an-engine-is-a-reason", copy_by_an_engine_is_a_reason },
    { "launch-without-packets-has-a-reason", launch_without_packets_has_a_reason },
    { "kernels-of-hip-that-are-not-known-are-refused", kernels_of_hip_that_are_not_known_are_refused },
    { "observed-packets-are-copied-over-many-laps", observed_packets_are_copied_over_many_laps },
    { "a-whole-ring-that-nobody-used-again-is-read", a_whole_ring_that_nobody_used_again_is_read },
    { "slot-of-the-next-lap-is-not-taken-for-ours", slot_of_the_next_lap_is_not_taken_for_ours },
    { "reservation-as-long-as-the-ring-is-refused", reservation_as_long_as_the_ring_is_refused },
    { "ring-in-the-gpus-memory-is-refused", ring_in_the_gpus_memory_is_refused },
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
    return run_check(checks, sizeof(checks) / sizeof(checks[0]), argc == 2 ? argv[1] : NULL);
}
