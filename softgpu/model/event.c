#define _GNU_SOURCE
#include "event.h"

#include <pthread.h>
#include <sched.h>
#include <stdio.h>

#include "got.h"

enum { PAIRS = 8 };

static struct {
    _Atomic(pthread_cond_t *) condition;
    _Atomic(pthread_mutex_t *) mutex;
} pairs[PAIRS];

static struct sg_image rocr;
static int (*real_wait)(pthread_cond_t *, pthread_mutex_t *);
static int (*real_timedwait)(pthread_cond_t *, pthread_mutex_t *, const struct timespec *);
static int (*real_broadcast)(pthread_cond_t *);

/* While this thread is inside sg_event_set. */
static _Thread_local const _Atomic int *setting;

static pthread_mutex_t *mutex_of(pthread_cond_t *condition)
{
    for (int i = 0; i < PAIRS; i++)
        if (atomic_load(&pairs[i].condition) == condition)
            return atomic_load(&pairs[i].mutex);
    return NULL;
}

/* Notes which lock goes with a static condition variable of ROCr; true the first time. */
static int first_seen(pthread_cond_t *condition, pthread_mutex_t *mutex)
{
    uintptr_t at = (uintptr_t)condition;

    if (at < rocr.low || at >= rocr.high || mutex_of(condition))
        return 0;
    for (int i = 0; i < PAIRS; i++) {
        pthread_cond_t *none = NULL;

        if (atomic_compare_exchange_strong(&pairs[i].condition, &none, condition) || none == condition) {
            atomic_store(&pairs[i].mutex, mutex);
            return 1;
        }
    }
    return 0;
}

/* The first sleep ends at once, as a condition variable may: the caller checks again, now that its lock is known. */
static int wait(pthread_cond_t *condition, pthread_mutex_t *mutex)
{
    return first_seen(condition, mutex) ? 0 : real_wait(condition, mutex);
}

static int timedwait(pthread_cond_t *condition, pthread_mutex_t *mutex, const struct timespec *until)
{
    return first_seen(condition, mutex) ? 0 : real_timedwait(condition, mutex, until);
}

static int broadcast(pthread_cond_t *condition)
{
    pthread_mutex_t *mutex = setting ? mutex_of(condition) : NULL;

    while (mutex && pthread_mutex_trylock(mutex)) {
        /* The holder is a callback that waits for us: no waiter can be between check and sleep. */
        if (atomic_load(setting))
            mutex = NULL;
        else
            sched_yield();
    }
    int result = real_broadcast(condition);

    if (mutex)
        pthread_mutex_unlock(mutex);
    return result;
}

void sg_event_bind(void)
{
    if (real_broadcast)
        return;
    if (sg_image_find("libhsa-runtime64.so", &rocr)) {
        *(void **)&real_wait = sg_got_replace(&rocr, "pthread_cond_wait", (void *)wait);
        *(void **)&real_timedwait = sg_got_replace(&rocr, "pthread_cond_timedwait", (void *)timedwait);
        *(void **)&real_broadcast = sg_got_replace(&rocr, "pthread_cond_broadcast", (void *)broadcast);
    }
    if (!real_broadcast)
        fprintf(stderr, "softgpu: ROCr's event calls were not found; a wake-up may be lost\n");
}

void sg_event_set(sg_set_event_fn set, void *data, uint32_t id, const _Atomic int *in_callback)
{
    if (!id || !set)
        return;
    setting = in_callback;
    set(data, id);
    setting = NULL;
}
