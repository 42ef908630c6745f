/* SPDX-License-Identifier: Apache-2.0 */
/*
 * AQL packet processor of one queue (HSA Platform System Architecture 1.2, 2.9): packets are launched in
 * order, a set barrier bit waits until all earlier packets have completed, kernels may overlap otherwise. As
 * on hardware, a vendor PM4 packet completes when its buffer has been parsed, whatever its waves do; the end
 * of the ring and an INVALID slot are looked at again only after a doorbell; the register state that a buffer
 * leaves stays with the queue.
 */
#include "aql.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "clock.h"
#include "scratch.h"

static const uint64_t NO_RING = UINT64_MAX;

static struct sg_aql *aql_of(const struct sg_queue *queue)
{
    return (struct sg_aql *)queue;
}

uint64_t sg_aql_delay(struct sg_aql *aql, struct sg_kernel_job *job, struct sg_range otherwise)
{
    uint64_t ns = sg_queue_delay(&aql->queue, sg_options_delay(job->name, otherwise));

    job->job.due_ns = sg_now_ns() + ns;
    return ns / 1000;
}

/* --- Launch --- */

struct sg_flight *sg_aql_launch(struct sg_aql *aql, uint64_t completion)
{
    struct sg_flight *flight = calloc(1, sizeof *flight);

    if (!flight) {
        sg_queue_fail(&aql->queue, aql->head, SG_ERROR_PACKET, "out of host memory");
        return NULL;
    }
    flight->index = aql->head;
    flight->completion = completion;
    *aql->last = flight;
    aql->last = &flight->next;
    atomic_store(&sg_aql_slot(aql, aql->head)->header, SG_PACKET_INVALID);
    aql->head++;
    aql->look = true;
    aql->seen_dependencies = 0;
    return flight;
}

void sg_aql_complete(struct sg_aql *aql, struct sg_flight *flight, uint64_t start_ns, uint64_t end_ns,
                     int64_t error)
{
    flight->complete = true;
    sg_signal_complete(aql->queue.gpu, flight->completion, start_ns, end_ns, error);
}

/* Asked for once all earlier packets have ended, as ROCr looks for the packet at the read index. */
static enum sg_progress take_scratch(struct sg_aql *aql, const struct sg_kernel_job *job)
{
    char text[SG_REPORT_BYTES];

    if (!job->dispatch.scratch_bytes)
        return SG_MOVED;
    if (aql->first)
        return SG_BLOCKED;
    switch (sg_scratch_prepare(&aql->queue, job->dispatch.scratch_bytes, job->dispatch.wave_size,
                               &aql->scratch_asked)) {
    case SG_SCRATCH_READY: return SG_MOVED;
    case SG_SCRATCH_WAIT: return SG_BLOCKED;
    case SG_SCRATCH_REFUSED: break;
    }
    snprintf(text, sizeof text, "kernel %s: ROCr gave no %u bytes of scratch a work-item", job->name,
             job->dispatch.scratch_bytes);
    sg_queue_fail(&aql->queue, aql->head, SG_ERROR_GROUP_MEMORY, text);
    return SG_MOVED;
}

static enum sg_progress launch_dispatch(struct sg_aql *aql, uint16_t header)
{
    union sg_packet *packet = sg_aql_slot(aql, aql->head);
    struct sg_kernel_job *job = calloc(1, sizeof *job);
    struct sg_trace_dispatch trace;
    char text[SG_REPORT_BYTES] = "out of host memory";

    if (!job) {
        sg_queue_fail(&aql->queue, aql->head, SG_ERROR_PACKET, text);
        return SG_MOVED;
    }
    job->index = aql->head;
    job->cancelled = &aql->queue.cancelled;
    enum sg_queue_error error = sg_kernel_from_packet(job, &packet->dispatch, packet, text, sizeof text);

    if (error)
        sg_queue_fail(&aql->queue, aql->head, error, text);
    enum sg_progress ready = error ? SG_MOVED : take_scratch(aql, job);

    if (ready == SG_BLOCKED || aql->queue.failed) {
        free(job);
        return ready;
    }
    if (aql->pm4 && !aql->state_reported && sg_pm4_left_behind(aql->pm4, text, sizeof text)) {
        aql->state_reported = true;
        sg_aql_warn(aql, text);
    }
    sg_kernel_trace(job, &trace);
    trace.delay_us = sg_aql_delay(aql, job, sg_options()->kernel_delay);
    sg_trace_aql(&aql->queue, aql->head, packet, header, &trace, NULL);
    struct sg_flight *flight = sg_aql_launch(aql, packet->dispatch.completion);

    if (!flight) {
        free(job);
        return SG_MOVED;
    }
    flight->kernel = job;
    if (aql->pm4)
        sg_pm4_aql_dispatched(aql->pm4);
    return SG_MOVED;
}

/* The packet processor looks at the dependencies one after the other; one that was seen at zero counts. */
static bool barrier_ready(struct sg_aql *aql, const struct sg_packet_barrier *barrier, bool all, bool *bad)
{
    bool any = false, every = true, none = true;

    for (int i = 0; i < SG_AQL_DEPENDENCIES; i++) {
        if (!barrier->dependency[i])
            continue;
        none = false;
        if (!(aql->seen_dependencies >> i & 1)) {
            int64_t value = sg_signal_value(barrier->dependency[i]);

            *bad |= value < 0;
            if (!value)
                aql->seen_dependencies |= 1u << i;
        }
        any |= aql->seen_dependencies >> i & 1;
        every &= aql->seen_dependencies >> i & 1;
    }
    return none || (all ? every : any);
}

static bool compare(const struct sg_packet_barrier_value *packet)
{
    int64_t value = sg_signal_value(packet->signal) & packet->mask;

    switch (packet->condition) {
    case SG_CONDITION_EQ: return value == packet->value;
    case SG_CONDITION_NE: return value != packet->value;
    case SG_CONDITION_LT: return value < packet->value;
    default: return value >= packet->value;
    }
}

static void launch_barrier(struct sg_aql *aql, uint16_t header)
{
    union sg_packet *packet = sg_aql_slot(aql, aql->head);
    uint64_t now = sg_now_ns();

    sg_trace_aql(&aql->queue, aql->head, packet, header, NULL, NULL);
    struct sg_flight *flight = sg_aql_launch(aql, packet->dispatch.completion);

    if (flight)
        sg_aql_complete(aql, flight, now, now, 0);
}

static enum sg_progress launch_vendor(struct sg_aql *aql, uint16_t header)
{
    const union sg_packet *packet = sg_aql_slot(aql, aql->head);
    char report[SG_REPORT_BYTES];

    switch (packet->pm4.format) {
    case SG_VENDOR_PM4_IB: return sg_aql_run_buffer(aql, header);
    case SG_VENDOR_BARRIER_VALUE:
        if (packet->barrier_value.condition > SG_CONDITION_GTE) {
            snprintf(report, sizeof report, "barrier-value packet with unknown condition %u",
                     packet->barrier_value.condition);
            sg_queue_fail(&aql->queue, aql->head, SG_ERROR_PACKET, report);
            return SG_MOVED;
        }
        if (packet->barrier_value.signal && !compare(&packet->barrier_value))
            return SG_BLOCKED;
        launch_barrier(aql, header);
        return SG_MOVED;
    }
    snprintf(report, sizeof report, "vendor packet of unknown format %u", packet->pm4.format);
    sg_queue_fail(&aql->queue, aql->head, SG_ERROR_PACKET, report);
    return SG_MOVED;
}

/* The packet at `head`: launched (MOVED), waiting (BLOCKED), or there is none (IDLE). */
static enum sg_progress launch_next(struct sg_aql *aql)
{
    union sg_packet *packet = sg_aql_slot(aql, aql->head);
    bool bad = false;

    if (!aql->look)
        return SG_IDLE;
    if (aql->head >= atomic_load(aql->queue.write_pointer)) {
        aql->look = false;
        return SG_IDLE;
    }
    uint16_t header = atomic_load(&packet->header);
    unsigned type = sg_header_type(header);

    if (type == SG_PACKET_INVALID) {
        aql->look = false;
        return SG_IDLE;
    }
    if (sg_header_barrier(header) && aql->first)
        return SG_BLOCKED;
    if (sg_header_acquire(header) == 3 || sg_header_release(header) == 3 || header >> 13) {
        char report[SG_REPORT_BYTES];

        snprintf(report, sizeof report, "packet header 0x%04x has a reserved fence scope or reserved bits",
                 header);
        sg_queue_fail(&aql->queue, aql->head, SG_ERROR_PACKET, report);
        return SG_MOVED;
    }
    switch (type) {
    case SG_PACKET_DISPATCH: return launch_dispatch(aql, header);
    case SG_PACKET_BARRIER_AND:
    case SG_PACKET_BARRIER_OR:
        if (!barrier_ready(aql, &packet->barrier, type == SG_PACKET_BARRIER_AND, &bad)) {
            if (!bad)
                return SG_BLOCKED;
            sg_queue_fail(&aql->queue, aql->head, SG_ERROR_PACKET,
                          "barrier packet depends on a packet that failed (negative signal)");
            return SG_MOVED;
        }
        launch_barrier(aql, header);
        return SG_MOVED;
    case SG_PACKET_VENDOR: return launch_vendor(aql, header);
    }
    char report[SG_REPORT_BYTES];

    snprintf(report, sizeof report, "packet of type %u (header 0x%04x) is not supported", type, header);
    sg_queue_fail(&aql->queue, aql->head, SG_ERROR_PACKET, report);
    return SG_MOVED;
}

/* --- Completion --- */

/* Advances what runs; true when something ended. */
static bool collect(struct sg_aql *aql, struct sg_pass *pass)
{
    uint64_t now = sg_now_ns();
    bool moved = false;
    char report[SG_REPORT_BYTES];

    for (struct sg_flight *flight = aql->first; flight; flight = flight->next) {
        struct sg_kernel_job *kernel = flight->kernel;

        if (!kernel)
            continue;
        sg_pass_wake(pass, sg_work_advance(&kernel->job, now));
        if (atomic_load_explicit(&kernel->job.state, memory_order_acquire) != SG_JOB_DONE)
            continue;
        if (kernel->job.failed && !aql->queue.failed) {
            sg_kernel_report(kernel, report, sizeof report);
            sg_queue_fail(&aql->queue, kernel->index, kernel->job.fault ? SG_ERROR_MEMORY : SG_ERROR_CODE,
                          report);
        }
        if (aql->queue.failed && !sg_queue_told(&aql->queue))
            continue;
        moved = true;
        flight->kernel = NULL;
        sg_aql_complete(aql, flight, kernel->job.start_ns, kernel->job.end_ns, kernel->job.failed ? -1 : 0);
        free(kernel);
    }
    for (struct sg_kernel_job **at = &aql->waves; *at;) {
        struct sg_kernel_job *wave = *at;

        sg_pass_wake(pass, sg_work_advance(&wave->job, now));
        if (atomic_load_explicit(&wave->job.state, memory_order_acquire) != SG_JOB_DONE) {
            at = &wave->chain;
            continue;
        }
        moved = true;
        *at = wave->chain;
        if (wave->job.failed) {
            sg_kernel_report(wave, report, sizeof report);
            sg_queue_fail(&aql->queue, wave->index, wave->job.fault ? SG_ERROR_MEMORY : SG_ERROR_CODE,
                          report);
        }
        free(wave);
    }
    return moved;
}

/* Slots are given back in order, each when its packet and all before it have completed. */
static void retire(struct sg_aql *aql)
{
    uint64_t read = 0;
    bool any = false;

    while (aql->first && aql->first->complete) {
        struct sg_flight *flight = aql->first;

        aql->first = flight->next;
        if (!aql->first)
            aql->last = &aql->first;
        read = flight->index + 1;
        any = true;
        free(flight);
    }
    if (any)
        atomic_store(aql->queue.read_pointer, read);
}

/* A doorbell is read and taken back, so that ringing it again with the same value is seen. */
static void take_doorbell(struct sg_aql *aql)
{
    struct sg_signal *signal = aql->queue.hsa ? (struct sg_signal *)aql->queue.hsa->doorbell_signal : NULL;

    if (!signal || signal->kind != SG_SIGNAL_DOORBELL || !signal->doorbell)
        aql->look = true; /* still being created, or no doorbell at all: poll the ring */
    else if (atomic_load_explicit(signal->doorbell, memory_order_relaxed) != NO_RING &&
             atomic_exchange(signal->doorbell, NO_RING) != NO_RING)
        aql->look = true;
}

/* A stopped queue executes nothing; its packets end with an error. */
static enum sg_progress drain(struct sg_aql *aql)
{
    uint64_t now = sg_now_ns();
    union sg_packet *packet = sg_aql_slot(aql, aql->head);

    if (!sg_queue_told(&aql->queue))
        return SG_BLOCKED;
    if (aql->head >= atomic_load(aql->queue.write_pointer) ||
        sg_header_type(atomic_load(&packet->header)) == SG_PACKET_INVALID)
        return SG_IDLE;
    struct sg_flight *flight = sg_aql_launch(aql, packet->dispatch.completion);

    if (flight)
        sg_aql_complete(aql, flight, now, now, -1);
    return flight ? SG_MOVED : SG_IDLE;
}

static void step(struct sg_queue *queue, struct sg_pass *pass)
{
    struct sg_aql *aql = aql_of(queue);
    enum sg_progress progress;

    take_doorbell(aql);
    if (collect(aql, pass))
        pass->progress = SG_MOVED;
    retire(aql);
    while ((progress = queue->failed ? drain(aql) : launch_next(aql)) == SG_MOVED) {
        pass->progress = SG_MOVED;
        retire(aql);
    }
    sg_pass_note(pass, progress);
}

static bool busy(const struct sg_queue *queue)
{
    const struct sg_aql *aql = aql_of(queue);

    for (const struct sg_flight *flight = aql->first; flight; flight = flight->next)
        if (flight->kernel && atomic_load(&flight->kernel->job.state) == SG_JOB_RUNNING)
            return true;
    for (const struct sg_kernel_job *wave = aql->waves; wave; wave = wave->chain)
        if (atomic_load(&wave->job.state) == SG_JOB_RUNNING)
            return true;
    return false;
}

static void free_queue(struct sg_queue *queue)
{
    struct sg_aql *aql = aql_of(queue);

    while (aql->first) {
        struct sg_flight *flight = aql->first;

        aql->first = flight->next;
        free(flight->kernel);
        free(flight);
    }
    while (aql->waves) {
        struct sg_kernel_job *wave = aql->waves;

        aql->waves = wave->chain;
        free(wave);
    }
    if (aql->pm4)
        sg_pm4_queue_free(aql->pm4);
    free(aql);
}

static const struct sg_queue_class class = { step, busy, free_queue };

struct sg_queue *sg_aql_new(const struct sg_model_queue_info *info, struct sg_gpu *gpu)
{
    struct sg_aql *aql = calloc(1, sizeof *aql);

    if (!aql)
        return NULL;
    aql->queue.class = &class;
    aql->queue.ring = (uint8_t *)info->ring;
    aql->queue.ring_bytes = info->ring_bytes;
    aql->queue.write_pointer = (_Atomic uint64_t *)(gpu->aperture + info->write_pointer);
    aql->queue.read_pointer = (_Atomic uint64_t *)(gpu->aperture + info->read_pointer);
    aql->slots = info->ring_bytes / SG_AQL_PACKET_BYTES;
    aql->queue.hsa = (struct sg_hsa_queue *)(info->read_pointer -
                                             offsetof(struct sg_hsa_queue, read_dispatch_id));
    aql->last = &aql->first;
    aql->look = true;
    return &aql->queue;
}
