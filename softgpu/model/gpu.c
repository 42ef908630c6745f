/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include "gpu.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "clock.h"
#include "fault.h"
#include "host.h"
#include "image.h"
#include "kfd.h"
#include "memory.h"
#include "trace.h"
#include "work.h"

enum {
    FIRST_POLL_NS = 50 * 1000,
    BLOCKED_POLL_NS = 250 * 1000,
    IDLE_POLL_NS = 1000 * 1000,
    TEARDOWN_NS = 1000 * 1000 * 1000,
    NICE = -10
};
static const uint64_t TELL_NS = UINT64_C(5000000000);

static pthread_mutex_t list_lock = PTHREAD_MUTEX_INITIALIZER;
static struct sg_gpu *gpus;
static int gpu_count;
static atomic_uint queue_count;

uint64_t sg_queue_delay(struct sg_queue *queue, struct sg_range range)
{
    queue->random ^= queue->random << 13;
    queue->random ^= queue->random >> 7;
    queue->random ^= queue->random << 17;
    bool late = range.tail && (queue->random >> 56) % SG_TAIL_EVERY == 0;
    uint32_t high = late ? range.tail : range.high;

    return (range.low + (queue->random >> 16) % (high - range.low + 1)) * UINT64_C(1000);
}

static void raise_error(struct sg_queue *queue, enum sg_queue_error error)
{
    struct sg_signal *signal = (struct sg_signal *)queue->hsa->inactive_signal;

    queue->failed = true;
    if (!signal || queue->raised || !sg_memory_mapped((uint64_t)signal, sizeof *signal))
        return;
    queue->raised = error;
    queue->raised_ns = sg_now_ns();
    atomic_store(&signal->value, error);
    sg_kfd_set_event(queue->gpu->set_event, queue->gpu->event_data, signal->event_id);
}

void sg_queue_fail(struct sg_queue *queue, uint64_t index, enum sg_queue_error error, const char *text)
{
    if (queue->failed)
        return;
    queue->failed = true;
    fprintf(stderr, "softgpu: GPU %d (%s) queue %u packet %" PRIu64 ": %s\nsoftgpu: the queue is stopped\n",
            queue->gpu->index, queue->gpu->gfx, queue->id, index, text);
    sg_trace_text(queue, index, "error", text);
    for (struct sg_queue *other = queue->gpu->queues; other; other = other->next)
        if (other->hsa && (other == queue || !queue->hsa))
            raise_error(other, error);
}

static bool told(const struct sg_queue *queue)
{
    const struct sg_signal *signal = (const struct sg_signal *)queue->hsa->inactive_signal;

    return !queue->raised || queue->lost || atomic_load(&signal->value) != queue->raised ||
           sg_now_ns() - queue->raised_ns > TELL_NS;
}

bool sg_queue_told(const struct sg_queue *queue)
{
    if (queue->hsa)
        return told(queue);
    for (const struct sg_queue *other = queue->gpu->queues; other; other = other->next)
        if (other->hsa && !told(other))
            return false;
    return true;
}

struct visit {
    struct sg_queue *queue;
    struct sg_pass pass;
};

static void step(void *argument)
{
    struct visit *visit = argument;

    visit->queue->class->step(visit->queue, &visit->pass);
}

/* Packets, signals and rings are the application's memory: it may be gone at any time. */
static void step_safely(struct visit *visit)
{
    struct sg_queue *queue = visit->queue;
    char place[256], text[512];
    uint64_t address;

    if (queue->lost || !sg_fault_guard(step, visit, &address))
        return;
    visit->pass = (struct sg_pass){ SG_IDLE, 0 };
    queue->lost = true;
    sg_memory_describe(address, place, sizeof place);
    snprintf(text, sizeof text, "memory that a packet needs is gone, at 0x%" PRIx64 ": %s", address, place);
    sg_queue_fail(queue, 0, SG_ERROR_MEMORY, text);
}

static void pass(struct sg_gpu *gpu, struct sg_pass *sum)
{
    sg_fault_prepare();
    pthread_mutex_lock(&gpu->lock);
    for (struct sg_queue *queue = gpu->queues; queue; queue = queue->next) {
        struct visit visit = { queue, { SG_IDLE, 0 } };

        step_safely(&visit);
        sg_pass_note(sum, visit.pass.progress);
        sg_pass_wake(sum, visit.pass.wake_ns);
    }
    pthread_mutex_unlock(&gpu->lock);
}

static void *command_processor(void *argument)
{
    struct sg_gpu *gpu = argument;
    uint64_t poll_ns = FIRST_POLL_NS;

    /* HIP's waiting threads spin: without priority they would starve the GPU. Refused without privilege; then
     * slower. */
    setpriority(PRIO_PROCESS, (id_t)syscall(SYS_gettid), NICE);
    prctl(PR_SET_TIMERSLACK, 1000);
    for (;;) {
        struct sg_pass sum = { SG_IDLE, 0 };
        uint32_t seen = sg_work_pulse();

        pass(gpu, &sum);
        if (sum.progress == SG_MOVED) {
            poll_ns = FIRST_POLL_NS;
            continue;
        }
        /* What comes without a kick: stores of the host to memory that a packet polls, rings of ROCr's own.
         */
        uint64_t limit = sum.progress == SG_BLOCKED ? BLOCKED_POLL_NS : IDLE_POLL_NS;
        uint64_t sleep_ns = poll_ns < limit ? poll_ns : limit;

        poll_ns = sleep_ns + sleep_ns / 16;
        sg_work_sleep(seen, sum.wake_ns && sum.wake_ns < sleep_ns ? sum.wake_ns : sleep_ns);
    }
    return NULL;
}

/* Exact target of topology node `node`: gfx_target_version 110501 is gfx1151. */
static void read_target(struct sg_gpu *gpu, int node)
{
    const char *topology = getenv("HSA_MODEL_TOPOLOGY");
    char path[4096], name[64];
    uint64_t value, version = 0;

    snprintf(path, sizeof path, "%s/nodes/%d/properties", topology ? topology : "", node);
    FILE *file = fopen(path, "re");

    while (file && fscanf(file, "%63s %" SCNu64, name, &value) == 2)
        if (!strcmp(name, "gfx_target_version"))
            version = value;
    if (file)
        fclose(file);
    gpu->major = (unsigned)(version / 10000);
    snprintf(gpu->gfx, sizeof gpu->gfx, "gfx%u%x%x", gpu->major % 100, (unsigned)(version / 100 % 100) & 15,
             (unsigned)(version % 100) & 15);
}

static void *create(void)
{
    struct sg_gpu *gpu = calloc(1, sizeof *gpu);

    if (!gpu)
        return NULL;
    pthread_mutex_init(&gpu->lock, NULL);
    pthread_mutex_lock(&list_lock);
    gpu->index = gpu_count++;
    read_target(gpu, gpu->index + 1);
    gpu->next = gpus;
    gpus = gpu;
    pthread_mutex_unlock(&list_lock);
    return gpu;
}

/* libhsakmt never calls this today; the command processor may stay, it then has nothing to do. */
static void destroy(void *model)
{
    struct sg_gpu *gpu = model;

    pthread_mutex_lock(&gpu->lock);
    gpu->queues = NULL;
    pthread_mutex_unlock(&gpu->lock);
}

static void set_global_aperture(void *model, void *base, uint64_t size)
{
    struct sg_gpu *gpu = model;

    (void)size;
    gpu->aperture = base;
}

/* libhsakmt keeps one page of remapped registers for all modelled GPUs and asserts that it is set once; this
 * is called just before it is set again for a further GPU. Nothing reads it, so the first one is forgotten.
 */
static void forget_register_page(uint64_t base)
{
    static uint64_t before;
    struct sg_image rocr;

    if (before && sg_image_find("libhsa-runtime64.so", &rocr))
        for (uintptr_t at = (rocr.data + 7) & ~(uintptr_t)7; at + 8 <= rocr.data_end; at += 8)
            if (*(uint64_t *)at == before)
                *(uint64_t *)at = 0;
    before = base;
}

static void alloced_memory(void *model, void *base, uint64_t size, uint32_t flags)
{
    (void)model;
    sg_kfd_bind((uintptr_t)__builtin_return_address(0));
    if (flags & SG_KFD_MEMORY_MMIO_REMAP)
        forget_register_page((uint64_t)base);
    else if (!(flags & SG_KFD_MEMORY_DOORBELL))
        sg_memory_add((uint64_t)base, size, flags);
}

/* A process may end, and ROCr free its memory, without destroying every queue. */
static void lose_queues(struct sg_gpu *gpu, uint64_t base, uint64_t size)
{
    pthread_mutex_lock(&gpu->lock);
    for (struct sg_queue *queue = gpu->queues; queue; queue = queue->next) {
        uint64_t needed[] = { (uint64_t)queue->ring, (uint64_t)queue->write_pointer,
                              (uint64_t)queue->read_pointer,
                              queue->hsa && !queue->lost ? queue->hsa->doorbell_signal : 0,
                              queue->hsa && !queue->lost ? queue->hsa->inactive_signal : 0 };

        for (size_t i = 0; i < sizeof needed / sizeof *needed; i++)
            queue->lost |= needed[i] - base < size;
    }
    pthread_mutex_unlock(&gpu->lock);
}

static void freed_memory(void *model, void *base, uint64_t size)
{
    (void)model;
    sg_memory_remove((uint64_t)base, size);
    pthread_mutex_lock(&list_lock);
    for (struct sg_gpu *gpu = gpus; gpu; gpu = gpu->next)
        lose_queues(gpu, (uint64_t)base, size);
    pthread_mutex_unlock(&list_lock);
}

static void set_notify_event(void *model, void (*callback)(void *data), void *data)
{
    (void)model, (void)callback, (void)data;
}

static void set_wait_event(void *model, void (*callback)(void *data, uint64_t address, uint64_t age),
                           void *data)
{
    (void)model, (void)callback, (void)data;
}

static void set_set_event(void *model, sg_set_event_fn fn, void *data)
{
    struct sg_gpu *gpu = model;

    gpu->set_event = fn;
    gpu->event_data = data;
}

static void *register_queue(void *model, struct sg_model_queue_info *info)
{
    struct sg_gpu *gpu = model;
    struct sg_queue *queue = info->type == SG_KFD_QUEUE_COMPUTE_AQL ? sg_aql_new(info, gpu)
                                                                    : sg_sdma_new(info, gpu);

    if (!queue)
        return NULL;
    queue->gpu = gpu;
    queue->id = atomic_fetch_add(&queue_count, 1);
    queue->random = (sg_options()->seed + 1) * UINT64_C(0x9e3779b97f4a7c15) ^
                    (queue->id + 1) * UINT64_C(0xbf58476d1ce4e5b9);
    if (!queue->random)
        queue->random = 1;
    pthread_mutex_lock(&gpu->lock);
    struct sg_queue **end = &gpu->queues;

    while (*end)
        end = &(*end)->next;
    *end = queue;
    if (!gpu->running)
        gpu->running = !sg_thread_start(command_processor, gpu, "softgpu-cp");
    if (!gpu->running)
        fprintf(stderr, "softgpu: no thread for GPU %d: its queues will not run\n", gpu->index);
    pthread_mutex_unlock(&gpu->lock);
    sg_work_kick();
    return queue;
}

static void destroy_queue(void *model, void *handle)
{
    struct sg_gpu *gpu = model;
    struct sg_queue *queue = handle, **at;
    uint64_t until = sg_now_ns() + TEARDOWN_NS;

    pthread_mutex_lock(&gpu->lock);
    for (at = &gpu->queues; *at && *at != queue; at = &(*at)->next)
        ;
    bool ours = *at != NULL; /* not in a forked child */

    if (ours)
        *at = queue->next;
    atomic_store(&queue->cancelled, true);
    pthread_mutex_unlock(&gpu->lock);
    if (!ours)
        return;
    /* The memory of its kernels may go next: let them end. One that waits for ever is left to itself, as its
     * thread cannot be taken away; a real GPU would kill the waves. */
    while (queue->class->busy(queue) && sg_now_ns() < until)
        sg_work_sleep(sg_work_pulse(), FIRST_POLL_NS);
    if (queue->class->busy(queue))
        fprintf(stderr, "softgpu: queue %u was destroyed while a kernel of it still runs\n", queue->id);
    else
        queue->class->free(queue);
}

/* The child has none of the threads and must not touch the parent's queues, which its exit may still destroy.
 */
static void after_fork(void)
{
    pthread_mutex_init(&list_lock, NULL);
    for (struct sg_gpu *gpu = gpus; gpu; gpu = gpu->next) {
        pthread_mutex_init(&gpu->lock, NULL);
        gpu->queues = NULL;
        gpu->running = false;
    }
    gpus = NULL;
    gpu_count = 0;
    sg_work_forget();
    sg_memory_forget();
    sg_trace_forget();
    sg_kfd_forget();
}

static const struct sg_model_functions functions = {
    .version_major = 0,
    .version_minor = 4,
    .create = create,
    .destroy = destroy,
    .set_global_aperture = set_global_aperture,
    .alloced_memory = alloced_memory,
    .freed_memory = freed_memory,
    .set_notify_event = set_notify_event,
    .set_wait_event = set_wait_event,
    .register_queue = register_queue,
    .set_set_event = set_set_event,
    .destroy_queue = destroy_queue,
};

/* The one export: ROCr calls it once per process while it opens the model. */
__attribute__((visibility("default"))) const struct sg_model_functions *get_hsakmt_model_functions(void);

const struct sg_model_functions *get_hsakmt_model_functions(void)
{
    static bool prepared;

    if (!prepared) {
        pthread_atfork(NULL, NULL, after_fork);
        prepared = true;
    }
    sg_options();
    sg_host_bind();
    return &functions;
}
