/* SPDX-License-Identifier: Apache-2.0 */
/* What REDLINE_VERIFY keeps, compares and puts back, in memory of a GPU and a HIP of our own. See test_verify.py. */
#include "ring.h"

#include <time.h>

#include "replay/reach.h"

enum { GPU = 5, CPU = 6, WORDS = 4096, BYTES = WORDS * 8 };
enum { DEVICE_GPU = 1 };

/* ---- memory ---- */

static uint64_t one[WORDS], two[WORDS], three[WORDS], unseen[WORDS]; /* the GPU's */
static uint64_t pinned[WORDS], registered[WORDS], shared[WORDS];     /* the host's */
static uint64_t internal[WORDS];                                     /* HIP's own */

static const struct memory {
    uint64_t *base;
    bool hip, rocr;
    uint64_t agent;
    bool nameless; /* HIP does not say where it begins */
} memories[] = {
    { one, true, true, GPU, false },    { two, true, true, GPU, false },
    { three, true, true, GPU, false },  { unseen, true, true, GPU, false },
    { pinned, true, true, CPU, false }, { registered, true, true, CPU, true },
    { shared, true, false, CPU, true }, { internal, false, true, GPU, false },
};

static const struct memory *memory_at(uint64_t address)
{
    for (size_t i = 0; i < sizeof(memories) / sizeof(memories[0]); i++)
        if (address - (uintptr_t)memories[i].base < BYTES)
            return &memories[i];
    return NULL;
}

static size_t bytes_of_hip = BYTES; /* what it says of all memory */

static hipError_t address_range(hipDeviceptr_t *base, size_t *bytes, hipDeviceptr_t address)
{
    const struct memory *memory = memory_at((uintptr_t)address);

    if (!memory || !memory->hip)
        return hipErrorNotFound;
    *base = memory->nameless ? NULL : memory->base;
    *bytes = bytes_of_hip;
    return hipSuccess;
}

static hipError_t pointer_attribute(void *data, hipPointer_attribute attribute, hipDeviceptr_t address)
{
    CHECK(attribute == HIP_POINTER_ATTRIBUTE_RANGE_START_ADDR && memory_at((uintptr_t)address)->nameless);
    *(void **)data = memory_at((uintptr_t)address)->base;
    return hipSuccess;
}

static hsa_status_t where(const void *address, hsa_amd_pointer_info_t *info, void *(*allocator)(size_t),
                          uint32_t *agents, hsa_agent_t **accessible)
{
    const struct memory *memory = memory_at((uintptr_t)address);

    (void)allocator;
    (void)agents;
    (void)accessible;
    if (!memory) { /* what the library has allocated */
        info->agentOwner.handle = CPU;
        return HSA_STATUS_SUCCESS;
    }
    info->type = memory->rocr ? HSA_EXT_POINTER_TYPE_HSA : HSA_EXT_POINTER_TYPE_UNKNOWN;
    info->agentOwner.handle = memory->rocr ? memory->agent : 0;
    info->agentBaseAddress = info->hostBaseAddress = memory->rocr ? memory->base : NULL;
    info->sizeInBytes = memory->rocr ? BYTES : 0;
    return HSA_STATUS_SUCCESS;
}

static hsa_status_t about_agent(hsa_agent_t agent, hsa_agent_info_t attribute, void *value)
{
    if (attribute != HSA_AGENT_INFO_DEVICE)
        return agent_info(agent, attribute, value);
    *(uint32_t *)value = agent.handle == GPU ? DEVICE_GPU : 0;
    return HSA_STATUS_SUCCESS;
}

/* ---- copies ---- */

static uint64_t copied;                   /* bytes, into the GPU's memory */
static unsigned copies, failing, hanging; /* number of the copy that does so */

static hsa_status_t copy(void *to, hsa_agent_t to_agent, const void *from, hsa_agent_t from_agent,
                         size_t bytes, uint32_t count, const hsa_signal_t *signals_before,
                         hsa_signal_t signal)
{
    CHECK(!count && !signals_before && to_agent.handle + from_agent.handle == GPU + CPU);
    CHECK(memory_at(to_agent.handle == GPU ? (uintptr_t)to : (uintptr_t)from)->agent == GPU);
    copies++;
    if (copies == failing)
        return HSA_STATUS_ERROR_OUT_OF_RESOURCES;
    if (copies == hanging)
        return HSA_STATUS_SUCCESS;
    memcpy(to, from, bytes);
    copied += to_agent.handle == GPU ? bytes : 0;
    signals[signal.handle]--;
    return HSA_STATUS_SUCCESS;
}

/* Nobody waits here: a copy is done at once or never. */
int nanosleep(const struct timespec *time, struct timespec *left)
{
    (void)time;
    (void)left;
    return 0;
}

static struct rl_hsa_table gpu;
static const struct rl_hip_table hip = { .hipMemGetAddressRange = address_range,
                                         .hipPointerGetAttribute = pointer_attribute };
static struct rl_keep keep;

static void begin(void)
{
    gpu = hsa;
    gpu.hsa_agent_get_info = about_agent;
    gpu.hsa_amd_pointer_info = where;
    gpu.hsa_amd_memory_async_copy = copy;
    CHECK(rl_keep_begin(&keep, &gpu, rl_device_find(&gpu, GPU, 0)));
}

/* ---- what is reached ---- */

/* A fill of HIP's has no variables, and its arguments are read as those of any other kernel. */
static uint64_t block[8];
static struct rl_seen packet = { .dispatch = true };
static struct rl_code code = { .object = 1, .builtin = RL_BUILTIN_FILL, .kernarg_bytes = sizeof(block) };
static uint32_t zero;
static const struct rl_proof proof = { .packets = &zero, .levels = &zero, .nodes = &zero, .count = 1 };

static enum rl_reach reach(void)
{
    const struct rl_observation seen = { .hsa = &gpu,
                                         .packets = &packet,
                                         .count = 1,
                                         .codes = &code,
                                         .code_count = 1,
                                         .bytes = (unsigned char *)block,
                                         .byte_count = sizeof(block) };

    return rl_reach(&keep, &hip, &seen, &proof);
}

static bool is_kept(const uint64_t *base)
{
    const struct rl_region *region = rl_keep_find(&keep, (uintptr_t)base);

    return region && region->place.base == (uintptr_t)base && region->place.bytes == BYTES &&
           !memcmp(region->before, base, BYTES);
}

static void memory_behind_pointers_is_kept(void)
{
    begin();
    block[1] = (uintptr_t)(one + 7);
    one[WORDS - 1] = (uintptr_t)two;
    two[0] = (uintptr_t)one; /* a circle */
    two[1] = (uintptr_t)pinned + 5;
    pinned[100] = (uintptr_t)internal;
    internal[0] = (uintptr_t)three;
    CHECK(reach() == RL_REACH_ALL);
    CHECK(keep.count == 3 && keep.bytes == 3 * BYTES && is_kept(one) && is_kept(two) && is_kept(pinned));
}

static void give_layout(uint32_t offset, uint32_t size)
{
    code.layout.known = true;
    code.layout.argument[code.layout.count].offset = offset;
    code.layout.argument[code.layout.count++].size = size;
}

static void arguments_are_read_as_their_layout_says(void)
{
    begin();
    block[0] = (uintptr_t)one;
    block[1] = (uintptr_t)two; /* two numbers */
    memcpy((char *)block + 20, &(uint64_t){ (uintptr_t)three }, 8);
    block[7] = (uintptr_t)unseen; /* hidden */
    give_layout(0, 8);
    give_layout(8, 4);
    give_layout(12, 4);
    give_layout(16, 24); /* a packed struct */
    CHECK(reach() == RL_REACH_ALL);
    CHECK(keep.count == 2 && is_kept(one) && is_kept(three));
}

static void memory_of_the_host_is_kept_from_where_hip_says_that_it_begins(void)
{
    begin();
    block[0] = (uintptr_t)(registered + 3);
    block[1] = (uintptr_t)(shared + 4);
    CHECK(reach() == RL_REACH_ALL);
    CHECK(keep.count == 2 && is_kept(registered) && is_kept(shared) && !copies);
}

static void memory_that_cannot_be_read_is_unknown(void)
{
    begin();
    block[0] = (uintptr_t)shared;
    bytes_of_hip = (size_t)1 << 45;
    CHECK(reach() == RL_REACH_UNKNOWN_MEMORY);
}

static void too_much_memory_is_not_kept(void)
{
    const struct rl_place half = { .base = 1 << 20, .bytes = RL_KEEP_MOST_BYTES / 2, .agent = GPU };

    begin();
    CHECK(rl_keep_add(&keep, &half, 0) && rl_keep_add(&keep, &half, 0));
    CHECK(!rl_keep_add(&keep, &(struct rl_place){ .base = 1, .bytes = 1 }, 0) &&
          keep.why == RL_KEEP_TOO_LARGE);
}

static void copy_that_fails_is_a_reason(void)
{
    begin();
    block[0] = (uintptr_t)one;
    one[0] = (uintptr_t)two;
    failing = 2;
    CHECK(reach() == RL_REACH_NOT_KEPT && keep.why == RL_KEEP_NO_COPY);
    rl_keep_end(&keep);
}

static void copy_that_is_late_keeps_what_it_uses(void)
{
    begin();
    block[0] = (uintptr_t)one;
    hanging = 1;
    CHECK(reach() == RL_REACH_NOT_KEPT && keep.why == RL_KEEP_NO_COPY && keep.transfer.late);
    unsigned char *staging = keep.transfer.staging;
    rl_keep_end(&keep);
    begin();
    CHECK(keep.transfer.staging != staging && reach() == RL_REACH_ALL);
}

/* ---- what is compared and put back ---- */

/* All words are 1 before, HIP makes words 0 to 9 of `one` and `pinned` 2. */
static void launch_by_hip(void)
{
    for (int i = 0; i < WORDS; i++)
        one[i] = pinned[i] = 1;
    begin();
    block[0] = (uintptr_t)one;
    block[1] = (uintptr_t)pinned;
    CHECK(reach() == RL_REACH_ALL && keep.count == 2);
    for (int i = 0; i < 10; i++)
        one[i] = pinned[i] = 2;
    CHECK(rl_keep_look(&keep, RL_LOOK_HIP) && rl_keep_put(&keep, RL_LOOK_HIP, RL_PUT_INPUTS));
    CHECK(one[0] == 1 && one[9] == 1 && pinned[0] == 1 && pinned[9] == 1);
}

static void result(uint64_t *words)
{
    for (int i = 0; i < 10; i++)
        words[i] = 2;
}

static size_t differences(const uint64_t *words, size_t *offset)
{
    const struct rl_region *region = rl_keep_find(&keep, (uintptr_t)words);
    size_t count = 0;

    for (size_t page = rl_keep_pages(region); page-- > 0;)
        count += rl_keep_differences(region, page, offset);
    return count;
}

static void the_same_result_is_equal(void)
{
    launch_by_hip();
    result(one);
    result(pinned);
    copied = 0;
    CHECK(rl_keep_look(&keep, RL_LOOK_REPLAY) && rl_keep_is_equal(&keep) && !rl_keep_has_stray(&keep));
    CHECK(rl_keep_put(&keep, RL_LOOK_REPLAY, RL_PUT_RESULT) && !copied);
}

static void only_bytes_that_differ_are_written(void)
{
    launch_by_hip();
    CHECK(copied == 9 * 8 + 1); /* the low bytes of ten words, and what is between them */
    copied = copies = 0;
    one[0] = one[200] = 3; /* somebody else, far from the result */
    CHECK(rl_keep_put(&keep, RL_LOOK_BEFORE, RL_PUT_RESULT));
    CHECK(copied == 9 * 8 + 1 && copies == 1 && one[0] == 2 && one[9] == 2 && one[200] == 3);
}

static void result_is_put_back_after_a_copy_that_failed(void)
{
    launch_by_hip();
    copies = 0;
    failing = 1;
    CHECK(!rl_keep_put(&keep, RL_LOOK_BEFORE, RL_PUT_RESULT) && one[0] == 1);
    CHECK(rl_keep_put(&keep, RL_LOOK_BEFORE, RL_PUT_RESULT) && one[0] == 2 && pinned[9] == 2);
}

static void wrong_result_is_found_and_replaced(void)
{
    size_t offset;

    launch_by_hip();
    result(one);
    result(pinned);
    one[4] = 7;
    pinned[5] = 1; /* never written */
    CHECK(rl_keep_look(&keep, RL_LOOK_REPLAY) && !rl_keep_is_equal(&keep) && !rl_keep_has_stray(&keep));
    CHECK(rl_keep_put(&keep, RL_LOOK_REPLAY, RL_PUT_INPUTS) && one[4] == 1 && one[3] == 1 && pinned[5] == 1);
    result(one);
    result(pinned);
    CHECK(rl_keep_look(&keep, RL_LOOK_HIP_AGAIN) && rl_keep_put(&keep, RL_LOOK_HIP_AGAIN, RL_PUT_RESULT));
    CHECK(differences(one, &offset) == 1 && offset == 4 * 8 && one[4] == 2);
    CHECK(differences(pinned, &offset) == 1 && offset == 5 * 8 && pinned[5] == 2);
}

static void result_that_hip_does_not_repeat_is_no_difference(void)
{
    size_t offset;

    launch_by_hip();
    result(one);
    one[4] = 7;
    result(pinned);
    CHECK(rl_keep_look(&keep, RL_LOOK_REPLAY) && rl_keep_put(&keep, RL_LOOK_REPLAY, RL_PUT_INPUTS));
    result(one);
    one[4] = 8;
    result(pinned);
    CHECK(rl_keep_look(&keep, RL_LOOK_HIP_AGAIN) && rl_keep_put(&keep, RL_LOOK_HIP_AGAIN, RL_PUT_RESULT));
    CHECK(!differences(one, &offset) && one[4] == 2);
}

/* Word 300 is not the result's. `again`: what the second replay leaves there. */
static void stray(uint64_t again)
{
    launch_by_hip();
    result(one);
    result(pinned);
    one[300] = pinned[300] = 9;
    CHECK(rl_keep_look(&keep, RL_LOOK_REPLAY) && rl_keep_has_stray(&keep));
    CHECK(rl_keep_put(&keep, RL_LOOK_REPLAY, RL_PUT_INPUTS) && one[300] == 1 && pinned[300] == 1);
    result(one);
    result(pinned);
    CHECK(rl_keep_look(&keep, RL_LOOK_HIP_AGAIN) && rl_keep_put(&keep, RL_LOOK_HIP_AGAIN, RL_PUT_INPUTS));
    result(one);
    result(pinned);
    one[300] = pinned[300] = again;
    CHECK(rl_keep_look(&keep, RL_LOOK_REPLAY_AGAIN) &&
          rl_keep_put(&keep, RL_LOOK_REPLAY_AGAIN, RL_PUT_RESULT));
}

static void stray_bytes_of_a_replay_are_found_and_put_back(void)
{
    size_t offset;

    stray(9);
    CHECK(differences(one, &offset) == 1 && offset == 300 * 8 && one[300] == 1 && one[0] == 2);
    CHECK(differences(pinned, &offset) == 1 && offset == 300 * 8 && pinned[300] == 1);
}

static void bytes_that_somebody_else_writes_meanwhile_stay(void)
{
    size_t offset;

    stray(1);
    CHECK(!differences(one, &offset) && one[300] == 9 && one[0] == 2);
    CHECK(!differences(pinned, &offset) && pinned[300] == 9 && pinned[0] == 2);
}

static const struct check checks[] = {
    { "memory-behind-pointers-is-kept", memory_behind_pointers_is_kept },
    { "arguments-are-read-as-their-layout-says", arguments_are_read_as_their_layout_says },
    { "memory-of-the-host-is-kept-from-where-hip-says-that-it-begins",
      memory_of_the_host_is_kept_from_where_hip_says_that_it_begins },
    { "memory-that-cannot-be-read-is-unknown", memory_that_cannot_be_read_is_unknown },
    { "too-much-memory-is-not-kept", too_much_memory_is_not_kept },
    { "copy-that-fails-is-a-reason", copy_that_fails_is_a_reason },
    { "copy-that-is-late-keeps-what-it-uses", copy_that_is_late_keeps_what_it_uses },
    { "the-same-result-is-equal", the_same_result_is_equal },
    { "only-bytes-that-differ-are-written", only_bytes_that_differ_are_written },
    { "result-is-put-back-after-a-copy-that-failed", result_is_put_back_after_a_copy_that_failed },
    { "wrong-result-is-found-and-replaced", wrong_result_is_found_and_replaced },
    { "result-that-hip-does-not-repeat-is-no-difference", result_that_hip_does_not_repeat_is_no_difference },
    { "stray-bytes-of-a-replay-are-found-and-put-back", stray_bytes_of_a_replay_are_found_and_put_back },
    { "bytes-that-somebody-else-writes-meanwhile-stay", bytes_that_somebody_else_writes_meanwhile_stay },
};

int main(int argc, char **argv)
{
    return run_check(checks, sizeof(checks) / sizeof(checks[0]), argc == 2 ? argv[1] : NULL);
}
