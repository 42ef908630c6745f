/* SPDX-License-Identifier: Apache-2.0 */
/* See verify.h. */
#include "replay/verify.h"

#include <stdio.h>
#include <time.h>

#include "base/fork.h"
#include "base/memory.h"
#include "native/quiet.h"
#include "replay/reach.h"
#include "report/report.h"

enum {
    BEFORE_SECONDS = 2, /* somebody may wait for this very thread */
    LAUNCH_SECONDS = 60,
    MOST_TIMEOUTS = 2,
    SHORTEST_SLEEP = 20000, /* nanoseconds */
    LONGEST_SLEEP = 1000000,
    NAME_BYTES = 48,
};

struct rl_verification {
    struct rl_verify launch;
    unsigned *timeouts;
    struct rl_keep keep;
    struct rl_quiet quiet;
};

/* Where both have left something else, and what. */
struct difference {
    uint64_t bytes; /* in all of the memory */
    const struct rl_region *region;
    size_t offset;            /* of the first one in the region */
    uint32_t dispatch, level; /* the last one whose arguments name the region */
    bool named;
};

static _Atomic bool busy; /* a verification is under way */

/* ---- waits ---- */

struct patience {
    int64_t until, sleep; /* nanoseconds */
};

static int64_t now(void)
{
    struct timespec time;

    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec * INT64_C(1000000000) + time.tv_nsec;
}

static struct patience patience(int seconds)
{
    return (struct patience){ now() + seconds * INT64_C(1000000000), SHORTEST_SLEEP };
}

/* False when it has run out; else some time has passed. */
static bool rest(struct patience *left)
{
    if (now() > left->until)
        return false;
    nanosleep(&(struct timespec){ 0, left->sleep }, NULL);
    left->sleep = 2 * left->sleep < LONGEST_SLEEP ? 2 * left->sleep : LONGEST_SLEEP;
    return true;
}

static bool claim(void)
{
    struct patience left = patience(BEFORE_SECONDS);

    while (atomic_exchange_explicit(&busy, true, memory_order_acquire))
        if (!rest(&left))
            return false;
    return true;
}

/* For all that is in the stream. hipErrorNotReady: it takes too long. */
static hipError_t wait_for_stream(const struct rl_verify *launch, int seconds)
{
    hipError_t status = launch->hip->hipEventRecord(launch->state->fenced, launch->stream);
    struct patience left = patience(seconds);

    if (status == hipSuccess)
        do
            status = launch->hip->hipEventQuery(launch->state->fenced);
        while (status == hipErrorNotReady && rest(&left));
    if (status != hipSuccess)
        rl_devices_note_error(status);
    return status;
}

/* ---- why not ---- */

static enum rl_counter why_not_kept(enum rl_keep_failure why)
{
    switch (why) {
    case RL_KEEP_TOO_LARGE: return RL_COUNT_not_verified_memory_too_large;
    case RL_KEEP_NO_MEMORY: return RL_COUNT_not_verified_out_of_memory;
    default: return RL_COUNT_not_verified_copy_failed;
    }
}

static enum rl_counter why_not_reached(enum rl_reach answer, const struct rl_keep *keep)
{
    switch (answer) {
    case RL_REACH_UNKNOWN_MEMORY: return RL_COUNT_not_verified_memory_unknown;
    case RL_REACH_TOO_MANY: return RL_COUNT_not_verified_memory_too_large;
    default:
        if (keep->why == RL_KEEP_TOO_LARGE)
            rl_log(RL_LOG_INFO, "a replay is not verified: more than %zu bytes may be changed by it",
                   RL_KEEP_MOST_BYTES);
        return why_not_kept(keep->why);
    }
}

static void ran_out(unsigned *timeouts)
{
    rl_count(RL_COUNT_not_verified_in_time);
    ++*timeouts;
}

static void release(struct rl_verification *verification)
{
    rl_keep_end(&verification->keep);
    rl_release(verification);
    atomic_store_explicit(&busy, false, memory_order_release);
}

/* ---- in front of HIP's launch ---- */

static bool keep_inputs(struct rl_verification *verification)
{
    const struct rl_verify *launch = &verification->launch;
    hipError_t status = wait_for_stream(launch, BEFORE_SECONDS);
    enum rl_reach answer;

    if (status == hipErrorNotReady)
        ran_out(verification->timeouts);
    else if (status != hipSuccess)
        rl_count(RL_COUNT_not_verified_after_an_error);
    if (status != hipSuccess)
        return false;
    if (!rl_keep_begin(&verification->keep, launch->hsa, launch->plan->device)) {
        rl_count(why_not_kept(verification->keep.why));
        return false;
    }
    answer = rl_reach(&verification->keep, launch->hip, launch->seen, launch->proof);
    if (answer != RL_REACH_ALL)
        rl_count(why_not_reached(answer, &verification->keep));
    return answer == RL_REACH_ALL;
}

struct rl_verification *rl_verify_begin(const struct rl_verify *launch, unsigned *timeouts)
{
    struct rl_verification *verification;
    bool good;

    if (!launch->state->fenced || !launch->hip->hipEventQuery) {
        rl_count(RL_COUNT_not_verified_not_placed);
        return NULL;
    }
    if (*timeouts == MOST_TIMEOUTS) {
        rl_count(RL_COUNT_not_verified_in_time);
        return NULL;
    }
    if (!claim()) {
        ran_out(timeouts);
        return NULL;
    }
    verification = rl_allocate(1, sizeof(*verification));
    if (!verification) {
        rl_count(RL_COUNT_not_verified_out_of_memory);
        atomic_store_explicit(&busy, false, memory_order_release);
        return NULL;
    }
    verification->launch = *launch;
    verification->timeouts = timeouts;
    if (!rl_quiet_begin(&verification->quiet)) {
        rl_count(RL_COUNT_not_verified_after_an_error);
        release(verification);
        return NULL;
    }
    good = keep_inputs(verification);
    rl_quiet_end(&verification->quiet);
    if (good)
        return verification;
    release(verification);
    return NULL;
}

/* ---- what differs ---- */

static void find_dispatch(struct difference *difference, const struct rl_verify *launch)
{
    for (uint32_t i = 0; i < launch->proof->count; i++) {
        if (difference->named && launch->proof->levels[i] < difference->level)
            continue;
        if (!rl_reach_names(launch->seen, launch->proof, i, &difference->region->place))
            continue;
        difference->named = true;
        difference->dispatch = i;
        difference->level = launch->proof->levels[i];
    }
    if (!difference->named) {
        difference->dispatch = difference->region->dispatch;
        difference->level = launch->proof->levels[difference->dispatch];
    }
}

/* Of several regions, the one whose last dispatch comes first: the others may only follow from it. */
static struct difference compare(const struct rl_verification *verification)
{
    struct difference first = { 0 };
    uint64_t bytes = 0;

    for (size_t i = 0; i < verification->keep.count; i++) {
        struct difference difference = { .region = &verification->keep.regions[i] };

        for (size_t page = rl_keep_pages(difference.region); page-- > 0;)
            difference.bytes += rl_keep_differences(difference.region, page, &difference.offset);
        if (!difference.bytes)
            continue;
        bytes += difference.bytes;
        find_dispatch(&difference, &verification->launch);
        if (!first.bytes || difference.level < first.level)
            first = difference;
    }
    first.bytes = bytes;
    return first;
}

static unsigned char byte_of(const struct difference *difference, enum rl_look look)
{
    size_t page = difference->offset / RL_KEEP_PAGE;

    return rl_keep_page(difference->region, look, page)[difference->offset % RL_KEEP_PAGE];
}

static void name_of(const struct rl_verify *launch, uint32_t dispatch, char name[NAME_BYTES])
{
    const struct rl_seen *packet = &launch->seen->packets[launch->proof->packets[dispatch]];
    enum rl_builtin builtin = launch->seen->codes[packet->code].builtin;
    void *function = launch->proof->functions[dispatch];
    const char *told = NULL;
    hipFunction_t kernel = NULL;

    if (builtin == RL_BUILTIN_NONE && function && launch->hip->hipKernelNameRef) {
        if (!launch->hip->hipGetFuncBySymbol ||
            launch->hip->hipGetFuncBySymbol(&kernel, function) != hipSuccess || !kernel)
            kernel = function;
        told = launch->hip->hipKernelNameRef(kernel);
    }
    snprintf(name, NAME_BYTES, "%s", told ? told : rl_builtin_name(builtin));
}

static void describe(const struct rl_verify *launch, const struct difference *difference,
                     char detail[RL_SEEN_DETAIL])
{
    uint64_t base = difference->region->place.base;
    char name[NAME_BYTES];

    name_of(launch, difference->dispatch, name);
    snprintf(detail, RL_SEEN_DETAIL,
             "0x%llx (%zu of %zu bytes, %s node %u, %s): HIP left %02x, the replay %02x; %llu bytes differ",
             (unsigned long long)(base + difference->offset), difference->offset,
             difference->region->place.bytes, difference->named ? "last named by" : "reached from",
             launch->proof->nodes[difference->dispatch], name, byte_of(difference, RL_LOOK_HIP),
             byte_of(difference, RL_LOOK_REPLAY), (unsigned long long)difference->bytes);
}

/* ---- behind HIP's launch ---- */

/* HIP's result; `now` as for rl_keep_put(). */
static void restore(struct rl_verification *verification, enum rl_look now)
{
    if (!rl_keep_put(&verification->keep, now, RL_PUT_RESULT) &&
        !rl_keep_put(&verification->keep, RL_LOOK_BEFORE, RL_PUT_RESULT))
        rl_log(RL_LOG_ERROR,
               "REDLINE_VERIFY could not put back what a launch by HIP left: results are wrong");
}

static bool give_up(struct rl_verification *verification, enum rl_counter why)
{
    restore(verification, RL_LOOK_BEFORE);
    rl_count(why);
    return false;
}

static bool place(const struct rl_verify *launch)
{
    return rl_inject(launch->hip, launch->hsa, launch->plan, launch->state, launch->stream) == RL_INJECT_DONE;
}

/* What replays that are done have used may stand in the way of the first try. */
static bool replay(const struct rl_verify *launch)
{
    if (place(launch))
        return true;
    rl_devices_reap(launch->hsa);
    return place(launch);
}

/* *wait: for what was launched; hipErrorNotReady: it may still be at work. */
static bool hip_again(struct rl_verification *verification, hipError_t *wait)
{
    const struct rl_verify *launch = &verification->launch;

    if (launch->native(launch->exec, launch->given) != hipSuccess)
        return false;
    *wait = wait_for_stream(launch, LAUNCH_SECONDS);
    return *wait == hipSuccess && rl_keep_look(&verification->keep, RL_LOOK_HIP_AGAIN);
}

static bool replay_again(struct rl_verification *verification, hipError_t *wait)
{
    if (!replay(&verification->launch))
        return false;
    *wait = wait_for_stream(&verification->launch, LAUNCH_SECONDS);
    return *wait == hipSuccess && rl_keep_look(&verification->keep, RL_LOOK_REPLAY_AGAIN);
}

/* Each once more: what HIP does not leave again says nothing about the replay, nor does a stray byte that the replay
 * does not leave again. */
static bool confirm(struct rl_verification *verification, char detail[RL_SEEN_DETAIL])
{
    struct rl_keep *keep = &verification->keep;
    enum rl_look last = RL_LOOK_HIP_AGAIN;
    struct difference difference;
    hipError_t wait = hipSuccess;
    bool good = rl_keep_put(keep, RL_LOOK_REPLAY, RL_PUT_INPUTS) && hip_again(verification, &wait);

    if (good && rl_keep_has_stray(keep)) {
        last = RL_LOOK_REPLAY_AGAIN;
        good = rl_keep_put(keep, RL_LOOK_HIP_AGAIN, RL_PUT_INPUTS) && replay_again(verification, &wait);
    }
    if (!good && wait == hipSuccess)
        return give_up(verification, RL_COUNT_not_verified_not_confirmed);
    if (!good) { /* what may still run must not be disturbed */
        rl_count(RL_COUNT_not_verified_not_confirmed);
        return false;
    }
    restore(verification, last);
    difference = compare(verification);
    if (difference.bytes)
        describe(&verification->launch, &difference, detail);
    else
        rl_count(RL_COUNT_not_verified_not_repeatable);
    return difference.bytes;
}

/* The GPU is not fit to put anything back. */
static bool replay_failed(hipError_t status, char detail[RL_SEEN_DETAIL])
{
    if (status == hipErrorNotReady)
        snprintf(detail, RL_SEEN_DETAIL, "the replay was not done in %d seconds", LAUNCH_SECONDS);
    else
        snprintf(detail, RL_SEEN_DETAIL, "the replay ended in error %d of HIP", status);
    return true;
}

static bool judge_replay(struct rl_verification *verification, char detail[RL_SEEN_DETAIL])
{
    struct rl_keep *keep = &verification->keep;
    hipError_t status;

    if (!rl_keep_put(keep, RL_LOOK_HIP, RL_PUT_INPUTS))
        return give_up(verification, RL_COUNT_not_verified_copy_failed);
    if (!replay(&verification->launch))
        return give_up(verification, RL_COUNT_not_verified_not_placed);
    status = wait_for_stream(&verification->launch, LAUNCH_SECONDS);
    if (status != hipSuccess)
        return replay_failed(status, detail);
    if (!rl_keep_look(keep, RL_LOOK_REPLAY))
        return give_up(verification, why_not_kept(keep->why));
    if (!rl_keep_is_equal(keep))
        return confirm(verification, detail);
    rl_count(RL_COUNT_replays_verified);
    return false;
}

static bool judge(struct rl_verification *verification, char detail[RL_SEEN_DETAIL])
{
    hipError_t status = wait_for_stream(&verification->launch, LAUNCH_SECONDS);

    if (status == hipErrorNotReady) {
        ran_out(verification->timeouts);
        return false;
    }
    if (status != hipSuccess) {
        rl_count(RL_COUNT_not_verified_after_an_error);
        return false;
    }
    if (rl_keep_look(&verification->keep, RL_LOOK_HIP))
        return judge_replay(verification, detail);
    rl_count(why_not_kept(verification->keep.why));
    return false;
}

bool rl_verify_end(struct rl_verification *verification, hipError_t status, char detail[RL_SEEN_DETAIL])
{
    bool differs = false;

    if (status == hipSuccess && rl_quiet_begin(&verification->quiet)) {
        differs = judge(verification, detail);
        rl_quiet_end(&verification->quiet);
    } else {
        rl_count(RL_COUNT_not_verified_after_an_error);
    }
    if (differs)
        rl_count(RL_COUNT_replays_different);
    release(verification);
    return differs;
}

/* The one that another thread had under way is not the child's. */
static void in_child(void)
{
    atomic_store(&busy, false);
}

RL_AT_FORK(NULL, NULL, in_child);
