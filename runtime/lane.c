/* See lane.h. */
#include "lane.h"

#include <pthread.h>

#include "device.h"
#include "fault.h"
#include "memory.h"
#include "native.h"
#include "quiet.h"
#include "side_table.h"

/* hip_runtime_api.h: values of macros. Without timestamps, and without the flush to system scope that HIP
 * itself adds where it is needed: see architecture section 3 on what a native launch leaves behind. */
enum { DISABLE_TIMING = 0x2, DISABLE_SYSTEM_FENCE = 0x20000000 };
static const hipStream_t legacy_stream = (hipStream_t)1, thread_stream = (hipStream_t)2;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct rl_lane *idle; /* under the lock */
static _Atomic int device_count;

static const struct rl_lane *lane_of(const struct rl_record *record)
{
    return (const struct rl_lane *)atomic_load_explicit(&record->note, memory_order_relaxed);
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

struct rl_lane *rl_lane_find(const struct rl_hip_table *hip, hipStream_t stream, bool per_thread)
{
    struct rl_ref ref = rl_side_table_find(RL_LANE, key_of(hip, stream, per_thread));
    struct rl_lane *lane = ref.record ? (struct rl_lane *)lane_of(ref.record) : NULL;

    return rl_ref_valid(ref) ? lane : NULL;
}

static struct rl_lane *take_idle(int ordinal)
{
    struct rl_lane **link, *lane;

    pthread_mutex_lock(&lock);
    for (link = &idle; *link && (*link)->ordinal != ordinal;)
        link = &(*link)->next;
    lane = *link;
    if (lane)
        *link = lane->next;
    pthread_mutex_unlock(&lock);
    return lane;
}

static void give_back(struct rl_lane *lane)
{
    pthread_mutex_lock(&lock);
    lane->next = idle;
    idle = lane;
    pthread_mutex_unlock(&lock);
}

static bool create_events(const struct rl_hip_table *hip, struct rl_lane *lane)
{
    for (int i = 0; i < 2; i++)
        if (rl_fault(RL_FAULT_NATIVE) ||
            hip->hipEventCreateWithFlags(&lane->events[i], DISABLE_TIMING | DISABLE_SYSTEM_FENCE) !=
                hipSuccess)
            return false;
    return true;
}

/* Events belong to the device that is the current one when they are made. */
static struct rl_lane *create(const struct rl_hip_table *hip, int ordinal)
{
    struct rl_lane *lane = rl_allocate(1, sizeof(*lane));
    int before = ordinal;
    bool good = lane && hip->hipGetDevice(&before) == hipSuccess &&
                (before == ordinal || hip->hipSetDevice(ordinal) == hipSuccess);

    if (good) {
        lane->ordinal = ordinal;
        good = create_events(hip, lane);
        if (before != ordinal)
            hip->hipSetDevice(before);
    }
    if (good)
        return lane;
    rl_release(lane);
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

static void retire(struct rl_record *record)
{
    give_back((struct rl_lane *)lane_of(record));
}

static struct rl_lane *make(const struct rl_hip_table *hip, hipStream_t stream, bool per_thread)
{
    int ordinal = device_of(hip, stream, per_thread);
    struct rl_lane *lane = ordinal < 0 ? NULL : take_idle(ordinal);
    struct rl_record *record;

    if (!lane && ordinal >= 0)
        lane = create(hip, ordinal);
    if (!lane)
        return NULL;
    record = rl_side_table_take(RL_LANE);
    if (!record) {
        give_back(lane);
        return NULL;
    }
    atomic_store_explicit(&record->note, (uintptr_t)lane, memory_order_relaxed);
    return rl_side_table_insert(RL_LANE, key_of(hip, stream, per_thread), record).record ? lane : NULL;
}

struct rl_lane *rl_lane_make(const struct rl_hip_table *hip, hipStream_t stream, bool per_thread)
{
    struct rl_lane *lane = rl_lane_find(hip, stream, per_thread);
    struct rl_quiet quiet;

    if (lane || !rl_quiet_begin(&quiet))
        return lane;
    lane = make(quiet.hip, stream, per_thread);
    rl_quiet_end(&quiet);
    return lane;
}

void rl_lane_close(hipStream_t stream)
{
    if (named(stream, false))
        rl_side_table_erase(RL_LANE, stream);
}

/* After a device reset nobody knows what became of events either: they are not used again. */
void rl_lanes_close(void)
{
    rl_side_table_erase_if(RL_LANE, NULL, NULL);
    pthread_mutex_lock(&lock);
    idle = NULL;
    pthread_mutex_unlock(&lock);
}

bool rl_lanes_define(void)
{
    return rl_side_table_define(RL_LANE, sizeof(struct rl_record), retire);
}

static void start_again(void)
{
    pthread_mutex_init(&lock, NULL);
    idle = NULL;
}

__attribute__((constructor)) static void watch_forks(void)
{
    pthread_atfork(NULL, NULL, start_again);
}
