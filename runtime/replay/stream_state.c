/* SPDX-License-Identifier: Apache-2.0 */
/* See stream_state.h. */
#include "replay/stream_state.h"

#include <pthread.h>

#include "base/fault.h"
#include "base/fork.h"
#include "base/memory.h"
#include "base/side_table.h"
#include "native/native.h"
#include "native/quiet.h"
#include "replay/device.h"
#include "report/options.h"

/* hip_runtime_api.h: values of macros. Without timestamps, and without the flush to system scope that HIP
 * itself adds where it is needed: after our record things are as after a launch by HIP. */
enum { DISABLE_TIMING = 0x2, DISABLE_SYSTEM_FENCE = 0x20000000, NON_BLOCKING = 0x1 };
static const hipStream_t legacy_stream = (hipStream_t)1, thread_stream = (hipStream_t)2;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct rl_stream_state *idle; /* under the lock */
static _Atomic int device_count;

static const struct rl_stream_state *state_of(const struct rl_record *record)
{
    return (const struct rl_stream_state *)atomic_load_explicit(&record->note, memory_order_relaxed);
}

static bool named(hipStream_t stream, bool per_thread)
{
    return stream && stream != legacy_stream && stream != thread_stream && !(per_thread && !stream);
}

static int current_device(const struct rl_hip_table *hip)
{
    int device = 0;

    if (atomic_load_explicit(&device_count, memory_order_relaxed) == 1)
        return 0;
    return hip->hipGetDevice(&device) == hipSuccess && device >= 0 && device < RL_DEVICES ? device : -1;
}

/* Streams that are not objects of their own have an address of ours for each device. NULL: no device. */
static const void *key_of(const struct rl_hip_table *hip, hipStream_t stream, bool per_thread)
{
    static const char legacy[RL_DEVICES];
    int device;

    if (named(stream, per_thread))
        return (const void *)stream;
    device = current_device(hip);
    if (device < 0)
        return NULL;
    if (stream == thread_stream || (!stream && per_thread))
        return (const char *)pthread_self() + device;
    return &legacy[device];
}

struct rl_stream_state *rl_stream_state_find(const struct rl_hip_table *hip, hipStream_t stream,
                                             bool per_thread)
{
    struct rl_ref ref = rl_side_table_find(RL_STREAM_STATE, key_of(hip, stream, per_thread));
    struct rl_stream_state *state = ref.record ? (struct rl_stream_state *)state_of(ref.record) : NULL;

    return rl_ref_valid(ref) ? state : NULL;
}

static struct rl_stream_state *take_idle(int ordinal)
{
    struct rl_stream_state **link, *state;

    pthread_mutex_lock(&lock);
    for (link = &idle; *link && (*link)->ordinal != ordinal;)
        link = &(*link)->next;
    state = *link;
    if (state)
        *link = state->next;
    pthread_mutex_unlock(&lock);
    return state;
}

static void give_back(struct rl_stream_state *state)
{
    pthread_mutex_lock(&lock);
    state->next = idle;
    idle = state;
    pthread_mutex_unlock(&lock);
}

static bool create_events(const struct rl_hip_table *hip, struct rl_stream_state *state)
{
    for (int i = 0; i < 2; i++)
        if (rl_fault(RL_FAULT_NATIVE) ||
            hip->hipEventCreateWithFlags(&state->events[i], DISABLE_TIMING | DISABLE_SYSTEM_FENCE) !=
                hipSuccess)
            return false;
    return !rl_options()->verify ||
           hip->hipEventCreateWithFlags(&state->fenced, DISABLE_TIMING) == hipSuccess;
}

/* Events belong to the device that is the current one when they are made. */
static struct rl_stream_state *create(const struct rl_hip_table *hip, int ordinal)
{
    struct rl_stream_state *state = rl_allocate(1, sizeof(*state));
    int before = ordinal;
    bool good = state && hip->hipGetDevice(&before) == hipSuccess &&
                (before == ordinal || hip->hipSetDevice(ordinal) == hipSuccess);

    if (good) {
        state->ordinal = ordinal;
        good = create_events(hip, state);
        if (before != ordinal)
            hip->hipSetDevice(before);
    }
    if (good)
        return state;
    rl_release(state);
    return NULL;
}

static int device_of(const struct rl_hip_table *hip, hipStream_t stream, bool per_thread)
{
    hipDevice_t device = -1;
    int count = 0;

    if (!atomic_load_explicit(&device_count, memory_order_relaxed) &&
        hip->hipGetDeviceCount(&count) == hipSuccess)
        atomic_store_explicit(&device_count, count, memory_order_relaxed);
    if (!named(stream, per_thread))
        return current_device(hip);
    return hip->hipStreamGetDevice(stream, &device) == hipSuccess && device >= 0 && device < RL_DEVICES
               ? device
               : -1;
}

/* Only streams that say so do without waits for the legacy stream, and without being waited for by it. */
static bool is_blocking(const struct rl_hip_table *hip, hipStream_t stream, bool per_thread)
{
    unsigned int flags = 0;

    return !named(stream, per_thread) || !hip->hipStreamGetFlags ||
           hip->hipStreamGetFlags(stream, &flags) != hipSuccess || !(flags & NON_BLOCKING);
}

static void retire(struct rl_record *record)
{
    give_back((struct rl_stream_state *)state_of(record));
}

static struct rl_stream_state *make(const struct rl_hip_table *hip, hipStream_t stream, bool per_thread)
{
    int ordinal = device_of(hip, stream, per_thread);
    struct rl_stream_state *state = ordinal < 0 ? NULL : take_idle(ordinal);
    struct rl_record *record;

    if (!state && ordinal >= 0)
        state = create(hip, ordinal);
    if (!state)
        return NULL;
    record = rl_side_table_take(RL_STREAM_STATE);
    if (!record) {
        give_back(state);
        return NULL;
    }
    state->blocking = is_blocking(hip, stream, per_thread); /* rule: blocking-streams-are-looked-at-first */
    atomic_store_explicit(&record->note, (uintptr_t)state, memory_order_relaxed);
    return rl_side_table_insert(RL_STREAM_STATE, key_of(hip, stream, per_thread), record).record ? state
                                                                                                 : NULL;
}

struct rl_stream_state *rl_stream_state_make(const struct rl_hip_table *hip, hipStream_t stream,
                                             bool per_thread)
{
    struct rl_stream_state *state = rl_stream_state_find(hip, stream, per_thread);
    struct rl_quiet quiet;

    if (state || !rl_quiet_begin(&quiet))
        return state;
    state = make(quiet.hip, stream, per_thread);
    rl_quiet_end(&quiet);
    return state;
}

void rl_stream_state_close(hipStream_t stream)
{
    if (named(stream, false)) /* rule: a-destroyed-stream-has-no-state */
        rl_side_table_erase(RL_STREAM_STATE, stream);
}

/* After a device reset nobody knows what became of events either: they are not used again. */
void rl_stream_states_close(void)
{
    rl_side_table_erase_if(RL_STREAM_STATE, NULL, NULL);
    pthread_mutex_lock(&lock);
    idle = NULL;
    pthread_mutex_unlock(&lock);
}

bool rl_stream_states_define(void)
{
    return rl_side_table_define(RL_STREAM_STATE, sizeof(struct rl_record), retire);
}

static void in_child(void)
{
    pthread_mutex_init(&lock, NULL);
    idle = NULL;
}

RL_AT_FORK(NULL, NULL, in_child);
