/*
 * Queues as the application sees them: the error callback of each (ROCr's own way to it needs an ioctl that the model
 * backend does not have), priority and CU mask (likewise; accepted, and without effect on results), and doorbells, which
 * wake the command processor at once.
 */
#define _GNU_SOURCE
#include <linux/futex.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "hsa.h"
#include "preload.h"

enum { QUEUE_MULTI = 0, QUEUE_COOPERATIVE = 2 };

typedef void error_callback(hsa_status_t status, hsa_queue_t *queue, void *data);

struct queue {
    hsa_queue_t *queue;
    error_callback *callback;
    void *data;
    struct queue *next;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct queue *queues;

SGP_EXPORT struct sgp_doorbell softgpu_preload_doorbell;

SGP_EXPORT hsa_status_t hsa_queue_create(hsa_agent_t agent, uint32_t size, uint32_t type, error_callback *callback,
                                         void *data, uint32_t private_bytes, uint32_t group_bytes, hsa_queue_t **queue)
{
    typedef hsa_status_t create_fn(hsa_agent_t, uint32_t, uint32_t, error_callback *, void *, uint32_t, uint32_t,
                                   hsa_queue_t **);
    /* A cooperative queue wants global wave sync, which the model backend has not; all work-groups of a kernel run at
     * once here anyway, so an ordinary queue serves. */
    hsa_status_t status = SGP_NEXT(create_fn, "hsa_queue_create")(
        agent, size, type == QUEUE_COOPERATIVE ? QUEUE_MULTI : type, callback, data, private_bytes, group_bytes, queue);

    if (status == HSA_STATUS_SUCCESS)
        *(uint32_t *)*queue = type;
    struct queue *one = status == HSA_STATUS_SUCCESS && callback ? malloc(sizeof *one) : NULL;

    if (one) {
        pthread_mutex_lock(&lock);
        *one = (struct queue){*queue, callback, data, queues};
        queues = one;
        pthread_mutex_unlock(&lock);
    }
    return status;
}

SGP_EXPORT hsa_status_t hsa_queue_destroy(hsa_queue_t *queue)
{
    pthread_mutex_lock(&lock);
    for (struct queue **at = &queues; *at; at = &(*at)->next) {
        if ((*at)->queue == queue) {
            struct queue *gone = *at;

            *at = gone->next;
            free(gone);
            break;
        }
    }
    pthread_mutex_unlock(&lock);
    return SGP_NEXT(hsa_status_t(hsa_queue_t *), "hsa_queue_destroy")(queue);
}

SGP_EXPORT bool softgpu_preload_queue_error(uint64_t handle, int status)
{
    struct queue found = {0};

    pthread_mutex_lock(&lock);
    for (const struct queue *at = queues; at; at = at->next)
        if ((uint64_t)at->queue == handle)
            found = *at;
    pthread_mutex_unlock(&lock);
    if (found.callback)
        found.callback((hsa_status_t)status, found.queue, found.data);
    return found.callback != NULL;
}

SGP_EXPORT hsa_status_t hsa_amd_queue_set_priority(hsa_queue_t *queue, uint32_t priority)
{
    enum { PRIORITY_HIGH = 2 };

    return queue && priority <= PRIORITY_HIGH ? HSA_STATUS_SUCCESS : HSA_STATUS_ERROR_INVALID_ARGUMENT;
}

SGP_EXPORT hsa_status_t hsa_amd_queue_cu_set_mask(const hsa_queue_t *queue, uint32_t bits, const uint32_t *mask)
{
    return queue && bits % 32 == 0 && (mask || !bits) ? HSA_STATUS_SUCCESS : HSA_STATUS_ERROR_INVALID_ARGUMENT;
}

static void ring(void)
{
    atomic_fetch_add(&softgpu_preload_doorbell.value, 1);
    if (atomic_load(&softgpu_preload_doorbell.sleepers))
        syscall(SYS_futex, &softgpu_preload_doorbell.value, FUTEX_WAKE_PRIVATE, 1 << 30, NULL, NULL, 0);
}

SGP_EXPORT void hsa_signal_store_relaxed(hsa_signal_t signal, hsa_signal_value_t value)
{
    SGP_NEXT(void(hsa_signal_t, hsa_signal_value_t), "hsa_signal_store_relaxed")(signal, value);
    ring();
}

SGP_EXPORT void hsa_signal_store_screlease(hsa_signal_t signal, hsa_signal_value_t value)
{
    SGP_NEXT(void(hsa_signal_t, hsa_signal_value_t), "hsa_signal_store_screlease")(signal, value);
    ring();
}
