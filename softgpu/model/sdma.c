/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Copy engine queue: packets in order, each ended before the next; a copy begins late (SOFTGPU_DELAY_COPY_US)
 * and runs on a worker. The small packets around it (fence, atomic, trap, poll, timestamp) are done here.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "clock.h"
#include "copy.h"
#include "kfd.h"
#include "memory.h"
#include "trace.h"
#include "work.h"

struct sdma {
    struct sg_queue queue;
    struct {
        struct sg_job job;
        struct sg_copy copy;
    } running;
    bool active; /* `running` holds the packet at the read pointer */
};

static void run(struct sg_job *job)
{
    struct sdma *sdma = (struct sdma *)((char *)job - offsetof(struct sdma, running.job));

    sg_copy_run(&sdma->running.copy);
}

static bool poll_done(const struct sg_copy *copy)
{
    uint32_t value = atomic_load((_Atomic uint32_t *)copy->target) & copy->mask;
    uint32_t reference = (uint32_t)copy->value;

    switch (copy->function) {
    case 0: return true;
    case 1: return value < reference;
    case 2: return value <= reference;
    case 3: return value == reference;
    case 4: return value != reference;
    case 5: return value >= reference;
    default: return value > reference;
    }
}

static bool is_move(const struct sg_copy *copy)
{
    return copy->kind == SG_COPY_LINEAR || copy->kind == SG_COPY_RECT || copy->kind == SG_COPY_FILL ||
           copy->kind == SG_COPY_WRITE;
}

/* Memory that a small packet touches, in bytes at its target. */
static uint64_t touched(const struct sg_copy *copy)
{
    switch (copy->kind) {
    case SG_COPY_FENCE:
    case SG_COPY_POLL: return 4;
    case SG_COPY_ATOMIC_ADD:
    case SG_COPY_TIMESTAMP: return 8;
    default: return 0;
    }
}

static void advance(struct sdma *sdma, const struct sg_copy *copy)
{
    atomic_store(sdma->queue.read_pointer, atomic_load(sdma->queue.read_pointer) + 4 * copy->dwords);
}

static void small_packet(struct sdma *sdma, const struct sg_copy *copy)
{
    struct sg_gpu *gpu = sdma->queue.gpu;

    switch (copy->kind) {
    case SG_COPY_FENCE: atomic_store((_Atomic uint32_t *)copy->target, (uint32_t)copy->value); break;
    case SG_COPY_ATOMIC_ADD: atomic_fetch_add((_Atomic uint64_t *)copy->target, copy->value); break;
    case SG_COPY_TIMESTAMP: atomic_store((_Atomic uint64_t *)copy->target, sg_now_ticks()); break;
    case SG_COPY_TRAP: sg_kfd_set_event(gpu->set_event, gpu->event_data, (uint32_t)copy->value); break;
    default: break;
    }
}

/* The copy that runs: true when it has ended. */
static bool finish(struct sdma *sdma, struct sg_pass *pass, uint64_t read)
{
    struct sg_job *job = &sdma->running.job;

    sg_pass_wake(pass, sg_work_advance(job, sg_now_ns()));
    if (atomic_load_explicit(&job->state, memory_order_acquire) != SG_JOB_DONE) {
        sg_pass_note(pass, SG_BLOCKED);
        return false;
    }
    sdma->active = false;
    if (job->failed) {
        char place[256], copy[256], text[1280];

        sg_memory_describe(job->fault, place, sizeof place);
        sg_copy_print(&sdma->running.copy, copy, sizeof copy);
        snprintf(text, sizeof text, "%s %s: %s at 0x%" PRIx64 ": %s", sg_copy_name(&sdma->running.copy), copy,
                 job->error, job->fault, place);
        sg_queue_fail(&sdma->queue, read, SG_ERROR_MEMORY, text);
    }
    advance(sdma, &sdma->running.copy);
    return true;
}

/* One packet; false when the queue cannot go on now. After a failure the small packets still run, so that the
 * waiters of later copies go on; no byte is moved any more. */
static bool one_packet(struct sdma *sdma, struct sg_pass *pass)
{
    uint64_t read = atomic_load(sdma->queue.read_pointer), write = atomic_load(sdma->queue.write_pointer);
    struct sg_copy copy;
    char text[512];

    if (sdma->active)
        return finish(sdma, pass, read);
    if (read >= write)
        return false;
    if (sdma->queue.failed && !sg_queue_told(&sdma->queue)) {
        sg_pass_note(pass, SG_BLOCKED);
        return false;
    }
    uint64_t offset = read % sdma->queue.ring_bytes, room = sdma->queue.ring_bytes - offset;
    const uint32_t *words = (const uint32_t *)(sdma->queue.ring + offset);

    if (!sg_copy_decode(&copy, words, (write - read < room ? write - read : room) / 4, sdma->queue.gpu->major,
                        text, sizeof text)) {
        sg_queue_fail(&sdma->queue, read, SG_ERROR_PACKET, text);
        atomic_store(sdma->queue.read_pointer, write);
        return true;
    }
    if (touched(&copy) && !sg_memory_mapped(copy.target, touched(&copy))) {
        char place[256];

        sg_memory_describe(copy.target, place, sizeof place);
        snprintf(text, sizeof text, "%s at 0x%" PRIx64 ": %s", sg_copy_name(&copy), copy.target, place);
        sg_queue_fail(&sdma->queue, read, SG_ERROR_MEMORY, text);
        advance(sdma, &copy);
        return true;
    }
    if (copy.kind == SG_COPY_POLL && !poll_done(&copy)) {
        sg_pass_note(pass, SG_BLOCKED);
        return false;
    }
    bool move = is_move(&copy) && !sdma->queue.failed;
    uint64_t delay_ns = move ? sg_queue_delay(&sdma->queue, sg_options()->copy_delay) : 0;

    sg_copy_print(&copy, text, sizeof text);
    sg_trace_sdma(&sdma->queue, read, sg_copy_name(&copy), text, delay_ns / 1000);
    if (!move) {
        if (!is_move(&copy))
            small_packet(sdma, &copy);
        advance(sdma, &copy);
        return true;
    }
    memset(&sdma->running, 0, sizeof sdma->running);
    sdma->running.copy = copy;
    sdma->running.job.run = run;
    sdma->running.job.due_ns = sg_now_ns() + delay_ns;
    sdma->active = true;
    return true;
}

static void step(struct sg_queue *queue, struct sg_pass *pass)
{
    struct sdma *sdma = (struct sdma *)queue;

    while (one_packet(sdma, pass))
        pass->progress = SG_MOVED;
}

static bool busy(const struct sg_queue *queue)
{
    const struct sdma *sdma = (const struct sdma *)queue;

    return sdma->active && atomic_load(&sdma->running.job.state) == SG_JOB_RUNNING;
}

static void free_queue(struct sg_queue *queue)
{
    free(queue);
}

static const struct sg_queue_class class = { step, busy, free_queue };

struct sg_queue *sg_sdma_new(const struct sg_model_queue_info *info, struct sg_gpu *gpu)
{
    struct sdma *sdma = calloc(1, sizeof *sdma);

    if (!sdma)
        return NULL;
    sdma->queue.class = &class;
    sdma->queue.ring = (uint8_t *)info->ring;
    sdma->queue.ring_bytes = info->ring_bytes;
    sdma->queue.write_pointer = (_Atomic uint64_t *)(gpu->aperture + info->write_pointer);
    sdma->queue.read_pointer = (_Atomic uint64_t *)(gpu->aperture + info->read_pointer);
    return &sdma->queue;
}
