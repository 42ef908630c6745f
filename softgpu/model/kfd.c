/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include "kfd.h"

#include <errno.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>

#include "clock.h"
#include "image.h"

/* Numbers and layouts of linux/kfd_ioctl.h. */
enum request {
    KFD_GET_CLOCK_COUNTERS = 0x05,
    KFD_UPDATE_QUEUE = 0x07,
    KFD_CREATE_EVENT = 0x08,
    KFD_DESTROY_EVENT = 0x09,
    KFD_SET_EVENT = 0x0a,
    KFD_RESET_EVENT = 0x0b,
    KFD_WAIT_EVENTS = 0x0c,
    KFD_SET_TRAP_HANDLER = 0x13,
    KFD_SET_CU_MASK = 0x1a,
    KFD_ALLOC_QUEUE_GWS = 0x1e,
    KFD_SVM = 0x20,
};

/* Requests that the backend implements. */
static const uint8_t forwarded[] = { 0x01, 0x02, 0x03, 0x04, 0x08, 0x09, 0x11, 0x12, 0x14,
                                     0x15, 0x16, 0x17, 0x18, 0x19, 0x20, 0x21, 0x23 };

struct kfd_clock_counters {
    uint64_t gpu, cpu, system, system_frequency;
    uint32_t gpu_id, pad;
};

struct kfd_create_event {
    uint64_t page_offset;
    uint32_t trigger_data, type, auto_reset, node_id, id, slot;
};

struct kfd_event {
    uint32_t id, pad;
};

struct kfd_event_data {
    uint64_t last_age; /* of a signal event; other kinds use more of the union */
    uint64_t union_rest[3];
    uint64_t next;
    uint32_t id, pad;
};

struct kfd_wait_events {
    uint64_t events;
    uint32_t count, for_all, timeout_ms, result;
};

struct kfd_queue_gws {
    uint32_t queue_id, count, first, pad;
};

struct kfd_svm {
    uint64_t start, size;
    uint32_t operation, count;
    struct {
        uint32_t type, value;
    } attribute[];
};

_Static_assert(sizeof(struct kfd_event_data) == 48, "kfd_event_data");
_Static_assert(sizeof(struct kfd_clock_counters) == 40, "kfd_ioctl_get_clock_counters_args");

enum { EVENTS = 1 << 14, EVENT_SIGNAL = 0, WAIT_COMPLETE = 0, WAIT_TIMEOUT = 1, SVM_GET = 1 };
static const uint32_t NO_TIMEOUT = UINT32_MAX, UNDEFINED_LOCATION = UINT32_MAX;

/* An event has an age: how often it was set, from 1. A waiter says which age it has seen and is satisfied by
 * any other, so one waiter cannot take a wake-up from another (kfd_events.c). */
struct event {
    uint64_t age;
    uint32_t waiters;
    bool exists, signal, auto_reset, signaled;
};

static int (*backend)(unsigned long request, void *argument);
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed;
static struct event events[EVENTS]; /* by id */

static struct event *find(uint32_t id)
{
    return id && id < EVENTS && events[id].exists ? &events[id] : NULL;
}

static int no_such_event(void)
{
    errno = EINVAL;
    return -1;
}

static int create_event(unsigned long request, struct kfd_create_event *arguments)
{
    int result = backend(request, arguments);

    if (result || arguments->id >= EVENTS)
        return result;
    pthread_mutex_lock(&lock);
    struct event *event = &events[arguments->id];

    /* Somebody may still wait for an earlier event of this id: age and waiters go on. */
    event->age++;
    event->exists = true;
    event->signal = arguments->type == EVENT_SIGNAL;
    event->auto_reset = arguments->auto_reset;
    event->signaled = false;
    pthread_mutex_unlock(&lock);
    return 0;
}

static int destroy_event(unsigned long request, struct kfd_event *arguments)
{
    pthread_mutex_lock(&lock);
    struct event *event = find(arguments->id);

    if (event) {
        event->exists = false;
        event->age++;
        pthread_cond_broadcast(&changed);
    }
    pthread_mutex_unlock(&lock);
    return event ? backend(request, arguments) : no_such_event();
}

static int set_event(uint32_t id)
{
    pthread_mutex_lock(&lock);
    struct event *event = find(id);

    if (event) {
        event->signaled = !event->auto_reset || !event->waiters;
        event->age++;
        pthread_cond_broadcast(&changed);
    }
    pthread_mutex_unlock(&lock);
    return event ? 0 : no_such_event();
}

static int reset_event(uint32_t id)
{
    pthread_mutex_lock(&lock);
    struct event *event = find(id);

    if (event)
        event->signaled = false;
    pthread_mutex_unlock(&lock);
    return event ? 0 : no_such_event();
}

/* Under `lock`. One waiter's view of one event. */
struct view {
    uint64_t age; /* when the wait began */
    bool activated;
};

static bool begin_wait(const struct kfd_wait_events *arguments, const struct kfd_event_data *data,
                       struct view *views)
{
    for (uint32_t i = 0; i < arguments->count; i++) {
        struct event *event = find(data[i].id);

        if (!event)
            return false;
        views[i].age = event->age;
        views[i].activated = event->signal &&
                             (event->signaled || (data[i].last_age && data[i].last_age != event->age));
        if (event->auto_reset)
            event->signaled = false;
    }
    for (uint32_t i = 0; i < arguments->count; i++)
        events[data[i].id].waiters++;
    return true;
}

static bool satisfied(const struct kfd_wait_events *arguments, const struct kfd_event_data *data,
                      struct view *views)
{
    uint32_t activated = 0;

    for (uint32_t i = 0; i < arguments->count; i++) {
        views[i].activated |= events[data[i].id].age != views[i].age;
        activated += views[i].activated;
    }
    return arguments->for_all ? activated == arguments->count : activated > 0;
}

static int wait_events(struct kfd_wait_events *arguments)
{
    struct kfd_event_data *data = (struct kfd_event_data *)arguments->events;
    struct view *views = calloc(arguments->count ? arguments->count : 1, sizeof *views);
    struct timespec until;
    int waited = 0;

    if (!views) {
        errno = ENOMEM;
        return -1;
    }
    clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_sec += arguments->timeout_ms / 1000;
    until.tv_nsec += arguments->timeout_ms % 1000 * 1000000;
    if (until.tv_nsec >= 1000000000) {
        until.tv_nsec -= 1000000000;
        until.tv_sec++;
    }
    pthread_mutex_lock(&lock);
    bool known = begin_wait(arguments, data, views), done = false;

    while (known && !(done = satisfied(arguments, data, views)) && waited != ETIMEDOUT) {
        if (arguments->timeout_ms == NO_TIMEOUT)
            pthread_cond_wait(&changed, &lock);
        else
            waited = pthread_cond_timedwait(&changed, &lock, &until);
    }
    for (uint32_t i = 0; known && i < arguments->count; i++) {
        struct event *event = &events[data[i].id];

        event->waiters--;
        if (event->signal && views[i].activated && data[i].last_age)
            data[i].last_age = event->age;
    }
    pthread_mutex_unlock(&lock);
    free(views);
    arguments->result = done ? WAIT_COMPLETE : WAIT_TIMEOUT;
    return known ? 0 : no_such_event();
}

static int get_clocks(struct kfd_clock_counters *arguments)
{
    arguments->gpu = sg_now_ticks();
    arguments->cpu = sg_now_ns();
    arguments->system = sg_now_ns();
    arguments->system_frequency = 1000000000;
    return 0;
}

/* Locations and flags of host memory change nothing here: every range is where it is and may be accessed. */
static int get_svm(struct kfd_svm *arguments)
{
    enum {
        PREFERRED_LOCATION = 0,
        PREFETCH_LOCATION = 1,
        SET_FLAGS = 5,
        CLEAR_FLAGS = 6,
        GRANULARITY = 7,
        PAGES = 9
    };

    for (uint32_t i = 0; i < arguments->count; i++) {
        switch (arguments->attribute[i].type) {
        case PREFERRED_LOCATION:
        case PREFETCH_LOCATION: arguments->attribute[i].value = UNDEFINED_LOCATION; break;
        case SET_FLAGS: arguments->attribute[i].value = 0; break;
        case CLEAR_FLAGS: arguments->attribute[i].value = UINT32_MAX; break;
        case GRANULARITY: arguments->attribute[i].value = PAGES; break;
        }
    }
    return 0;
}

static int answer(unsigned long request, void *arguments)
{
    unsigned number = _IOC_NR(request);

    switch (number) {
    case KFD_GET_CLOCK_COUNTERS: return get_clocks(arguments);
    case KFD_CREATE_EVENT: return create_event(request, arguments);
    case KFD_DESTROY_EVENT: return destroy_event(request, arguments);
    case KFD_SET_EVENT: return set_event(((struct kfd_event *)arguments)->id);
    case KFD_RESET_EVENT: return reset_event(((struct kfd_event *)arguments)->id);
    case KFD_WAIT_EVENTS: return wait_events(arguments);
    case KFD_UPDATE_QUEUE: /* priority and share of time: no effect on results */
    case KFD_SET_CU_MASK:
    case KFD_SET_TRAP_HANDLER: return 0;
    case KFD_ALLOC_QUEUE_GWS: ((struct kfd_queue_gws *)arguments)->first = 0; return 0;
    case KFD_SVM:
        if (((struct kfd_svm *)arguments)->operation == SVM_GET)
            return get_svm(arguments);
        break;
    }
    if (memchr(forwarded, (int)number, sizeof forwarded))
        return backend(request, arguments);
    errno = ENOTTY;
    return -1;
}

static void bind(uintptr_t return_address)
{
    struct sg_image rocr;
    pthread_condattr_t attributes;

    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(&changed, &attributes);
    pthread_condattr_destroy(&attributes);
    if (!sg_image_find("libhsa-runtime64.so", &rocr) ||
        return_address - rocr.text >= rocr.text_end - rocr.text)
        return; /* called by something else, a test for instance */
    uintptr_t function = sg_image_function(&rocr, return_address);

    backend = (int (*)(unsigned long, void *))function;
    if (function && sg_image_redirect(&rocr, function, (void *)answer))
        return;
    backend = NULL;
    fprintf(stderr,
            "softgpu: this build of ROCr is laid out differently: its own events and clocks are used\n");
}

void sg_kfd_bind(uintptr_t return_address)
{
    static bool bound;

    pthread_mutex_lock(&lock);
    if (!bound)
        bind(return_address);
    bound = true;
    pthread_mutex_unlock(&lock);
}

void sg_kfd_set_event(sg_set_event_fn set, void *data, uint32_t id)
{
    if (!id)
        return;
    if (backend)
        set_event(id);
    else if (set)
        set(data, id);
}

void sg_kfd_forget(void)
{
    pthread_mutex_init(&lock, NULL);
    memset(events, 0, sizeof events);
}
