/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Records of every kind that a HIP may write, against a queue of our own: where the replay goes, and when HIP has
 * to launch. Linked with the library's objects.
 *
 *     injection_checks NAME     of a check below: ends with 0 when it holds
 */
#include "replay/inject.h"

#include "ring.h"

enum { OTHER_DOORBELL = 78, COMPLETION = 4242 };

/* ---- HIP: what its record writes ---- */

static union rl_aql other_ring[SLOTS];
static hsa_queue_t other = { .base_address = other_ring,
                             .size = SLOTS,
                             .doorbell_signal = { OTHER_DOORBELL } };
static uint64_t other_write_index;
static struct rl_plan plan = { .buffer = 0x1000, .dwords = 16, .use = { .references = 1 } };
static struct rl_stream_state state;

static int records, waits_left, slots_of_record = 1, fails_at;
static bool no_packet, no_completion, no_barrier_bit, no_ring, waits_on_the_cpu, rings_elsewhere;
static bool marks_the_other, moves_to_the_other, doubles;

static uint64_t add_any(const hsa_queue_t *of, uint64_t count)
{
    if (of == &queue)
        return add(of, count);
    other_write_index += count;
    return other_write_index - count;
}

static bool open_slot(const hsa_queue_t *of, uint64_t index)
{
    return index && (rl_aql_slot(of, index - 1)->barrier.header & TYPE_MASK) == RL_AQL_INVALID;
}

static void ring_as_hip(const hsa_queue_t *of, uint64_t index)
{
    rl_inject_doorbell(of->doorbell_signal, (hsa_signal_value_t)index);
    if (of == &queue)
        ring_doorbell(of->doorbell_signal, (hsa_signal_value_t)index);
}

/* A slot, its barrier, its doorbell. The first `waits_left` barriers wait for a copy. */
static uint64_t write_barrier(const hsa_queue_t *of, uint64_t slots)
{
    uint64_t index = rl_inject_reserve(add_any, of, slots);
    union rl_aql *packet = rl_aql_slot(of, index);

    memset(packet, 0, sizeof(*packet));
    packet->barrier.dependencies[2] = waits_left > 0 ? 4711 : 0;
    packet->barrier.completion = no_completion ? 0 : COMPLETION;
    waits_left--;
    if (waits_on_the_cpu) {
        rl_inject_before_wait();
        CHECK(!open_slot(of, index)); /* what HIP waits for may stand behind it */
    }
    packet->barrier.header = (uint16_t)(RL_AQL_BARRIER_AND | (no_barrier_bit ? 0 : BARRIER_BIT));
    if (!no_ring)
        ring_as_hip(of, index);
    return index;
}

static hipError_t record_event(hipEvent_t event, hipStream_t stream)
{
    (void)event;
    (void)stream;
    records++;
    if (no_packet)
        return hipSuccess;
    if (rings_elsewhere)
        rl_inject_doorbell((hsa_signal_t){ OTHER_DOORBELL }, 1000);
    if (marks_the_other) {
        write_barrier(&other, 1);
        CHECK(!open_slot(&other, other_write_index) && !open_slot(&queue, write_index));
    }
    if (doubles)
        write_barrier(&queue, 1);
    write_barrier(moves_to_the_other && records > 1 ? &other : &queue, (uint64_t)slots_of_record);
    return records == fails_at ? hipErrorIllegalAddress : hipSuccess;
}

static const struct rl_hip_table hip = { .hipEventRecord = record_event };

/* ---- replays ---- */

static enum rl_injection inject(void)
{
    for (size_t i = 0; i < SLOTS; i++) {
        other_ring[i].barrier.header = RL_AQL_INVALID;
        if (write_index - read_index <= i)
            ring[(read_index + i) % SLOTS].barrier.header = RL_AQL_INVALID;
    }
    plan.device = rl_device_find(&hsa, 5, 0);
    CHECK(plan.device && plan.device->reason == RL_REASON_NONE);
    return rl_inject(&hip, &hsa, &plan, &state, NULL);
}

static unsigned type_in(const hsa_queue_t *of, uint64_t index)
{
    return rl_aql_slot(of, index)->barrier.header & TYPE_MASK;
}

static bool is_replay(uint64_t index)
{
    return type_in(&queue, index) == RL_AQL_VENDOR && ring[index % SLOTS].barrier.header & BARRIER_BIT;
}

static void nothing_placed(void)
{
    for (uint64_t i = 0; i < write_index; i++)
        CHECK(type_in(&queue, i) == RL_AQL_BARRIER_AND);
    for (uint64_t i = 0; i < other_write_index; i++)
        CHECK(type_in(&other, i) == RL_AQL_BARRIER_AND);
    CHECK(atomic_load(&plan.use.references) == 1);
}

/* The ring of the doorbell that HIP makes for its own packet comes when ours is valid: it is the only one. */
static void ring_of_hip_starts_the_replay(void)
{
    CHECK(inject() == RL_INJECT_DONE);
    CHECK(adds == 1 && write_index == 2 && records == 1);
    CHECK(rings == 1 && rung[0] == 1 && is_replay(0));
}

static void waits_are_recorded_again(void)
{
    waits_left = 1;
    CHECK(inject() == RL_INJECT_DONE);
    CHECK(records == 2 && write_index == 4);
    CHECK(ring[0].barrier.header == RL_AQL_BARRIER_AND && is_replay(2));
}

static void waits_without_end_are_native(void)
{
    waits_left = 100;
    CHECK(inject() == RL_INJECT_WAITS && records == 3 && rings == 3);
    nothing_placed();
}

static void full_ring_is_waited_for(void)
{
    write_index = SLOTS; /* every slot is taken: ours is free when the first has been */
    for (size_t i = 0; i < SLOTS; i++)
        ring[i].barrier.header = RL_AQL_INVALID;
    CHECK(inject() == RL_INJECT_DONE);
    CHECK(waited > 0 && read_index >= 1);
    CHECK(adds == 1 && rung[0] == SLOTS + 1 && is_replay(0));
}

static void record_of_several_slots_is_native(void)
{
    slots_of_record = 2;
    CHECK(inject() == RL_INJECT_WAITS);
}

static void record_without_a_barrier_bit_is_native(void)
{
    no_barrier_bit = true;
    CHECK(inject() == RL_INJECT_WAITS);
    nothing_placed();
}

static void record_without_a_signal_is_native(void)
{
    no_completion = true;
    CHECK(inject() == RL_INJECT_WAITS);
    nothing_placed();
}

static void merged_record_is_native(void)
{
    no_packet = true;
    CHECK(inject() == RL_INJECT_NO_RECORD && !adds);
    state.blocking = true;
    CHECK(inject() == RL_INJECT_NO_RECORD && !adds);
}

static void record_that_does_not_ring_is_native(void)
{
    no_ring = true;
    CHECK(inject() == RL_INJECT_NO_RECORD);
    CHECK(rings == 1 && rung[0] == 0); /* ours, for the slot that passes through */
    nothing_placed();
}

static void ring_of_another_queue_is_not_hips_for_ours(void)
{
    rings_elsewhere = true;
    CHECK(inject() == RL_INJECT_DONE && is_replay(0));
}

static void slot_is_closed_before_hip_waits(void)
{
    waits_on_the_cpu = true;
    CHECK(inject() == RL_INJECT_NO_RECORD);
    nothing_placed();
}

static void failed_record_is_native_and_an_error_of_the_gpu_is_noted(void)
{
    no_ring = true;
    fails_at = 1;
    CHECK(inject() == RL_INJECT_FAILED);
    CHECK(atomic_load(&plan.device->failed));
    nothing_placed();
}

static void second_barrier_of_a_record_is_behind_the_replay(void)
{
    doubles = true;
    CHECK(inject() == RL_INJECT_DONE && is_replay(0) && write_index == 3);
}

/* ---- streams whose records write into other streams' queues ---- */

static void blocking_streams_are_looked_at_first(void)
{
    state.blocking = true;
    marks_the_other = true;
    waits_left = 2; /* the first record holds the waits */
    CHECK(inject() == RL_INJECT_DONE && records == 2);
    CHECK(type_in(&queue, 0) == RL_AQL_BARRIER_AND && is_replay(1));
    CHECK(ring[2].barrier.header == (RL_AQL_BARRIER_AND | BARRIER_BIT) && write_index == 4);
    CHECK(other_write_index == 2);
}

/* The stream's barrier may lack the bit, and may be in front of another's: ours stands between. */
static void barrier_of_ours_holds_what_is_behind_a_replay(void)
{
    state.blocking = no_barrier_bit = doubles = true;
    CHECK(inject() == RL_INJECT_DONE && is_replay(2));
    CHECK(ring[3].barrier.header == (RL_AQL_BARRIER_AND | BARRIER_BIT) && !ring[3].barrier.completion);
}

static void stream_that_moves_before_the_replay_is_native(void)
{
    state.blocking = moves_to_the_other = true;
    CHECK(inject() == RL_INJECT_NO_RECORD);
    nothing_placed();
}

/* Another stream shares the queue, and this one moves: its barrier waits for the replay's signal. */
static void stream_that_moves_behind_the_replay_waits_for_it(void)
{
    state.blocking = moves_to_the_other = doubles = true;
    CHECK(inject() == RL_INJECT_DONE && is_replay(2));
    CHECK(other_write_index == 2 && type_in(&other, 0) == RL_AQL_BARRIER_AND);
    CHECK(other_ring[0].barrier.dependencies[0] == ((union rl_aql *)&ring[2])->dispatch.completion);
    CHECK(other_ring[0].barrier.dependencies[0]);
}

static void placed_replay_is_rung_for_when_hip_does_not(void)
{
    state.blocking = no_ring = true;
    CHECK(inject() == RL_INJECT_DONE && is_replay(1));
    CHECK(rings == 1 && rung[0] == 1);
}

static void what_is_placed_is_done_whatever_hip_says(void)
{
    state.blocking = true;
    fails_at = 2;
    CHECK(inject() == RL_INJECT_DONE && records == 2 && is_replay(1));
    CHECK(atomic_load(&plan.device->failed));
}

/* ---- plans that are bound to a queue ---- */

static void kernels_that_see_their_queue_run_in_it_alone(void)
{
    for (int blocking = 0; blocking < 2; blocking++) {
        state.blocking = blocking;
        plan.only_queue = &other;
        CHECK(inject() == RL_INJECT_QUEUE);
        plan.only_queue = &queue;
        CHECK(inject() == RL_INJECT_DONE);
        read_index = write_index;
    }
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

static const struct check checks[] = {
    { "ring-of-hip-starts-the-replay", ring_of_hip_starts_the_replay },
    { "waits-are-recorded-again", waits_are_recorded_again },
    { "waits-without-end-are-native", waits_without_end_are_native },
    { "full-ring-is-waited-for", full_ring_is_waited_for },
    { "record-of-several-slots-is-native", record_of_several_slots_is_native },
    { "record-without-a-barrier-bit-is-native", record_without_a_barrier_bit_is_native },
    { "record-without-a-signal-is-native", record_without_a_signal_is_native },
    { "merged-record-is-native", merged_record_is_native },
    { "record-that-does-not-ring-is-native", record_that_does_not_ring_is_native },
    { "ring-of-another-queue-is-not-hips-for-ours", ring_of_another_queue_is_not_hips_for_ours },
    { "slot-is-closed-before-hip-waits", slot_is_closed_before_hip_waits },
    { "failed-record-is-native-and-an-error-of-the-gpu-is-noted",
      failed_record_is_native_and_an_error_of_the_gpu_is_noted },
    { "second-barrier-of-a-record-is-behind-the-replay", second_barrier_of_a_record_is_behind_the_replay },
    { "blocking-streams-are-looked-at-first", blocking_streams_are_looked_at_first },
    { "barrier-of-ours-holds-what-is-behind-a-replay", barrier_of_ours_holds_what_is_behind_a_replay },
    { "stream-that-moves-before-the-replay-is-native", stream_that_moves_before_the_replay_is_native },
    { "stream-that-moves-behind-the-replay-waits-for-it", stream_that_moves_behind_the_replay_waits_for_it },
    { "placed-replay-is-rung-for-when-hip-does-not", placed_replay_is_rung_for_when_hip_does_not },
    { "what-is-placed-is-done-whatever-hip-says", what_is_placed_is_done_whatever_hip_says },
    { "kernels-that-see-their-queue-run-in-it-alone", kernels_that_see_their_queue_run_in_it_alone },
    { "replays-that-share-a-fence-word-are-in-one-queue", replays_that_share_a_fence_word_are_in_one_queue },
};

int main(int argc, char **argv)
{
    return run_check(checks, sizeof(checks) / sizeof(checks[0]), argc == 2 ? argv[1] : NULL);
}
