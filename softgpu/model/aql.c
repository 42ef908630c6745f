/*
 * AQL packet processor of one queue (HSA Platform System Architecture 1.2, 2.9): packets are launched in
 * order, a set barrier bit waits until all earlier packets have completed, kernels may overlap otherwise. As
 * on hardware, a vendor PM4 packet completes when its buffer has been parsed, whatever its waves do; the end of
 * the ring and an INVALID slot are looked at again only after a doorbell; the register state that a buffer leaves stays with
 * the queue.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "clock.h"
#include "host.h"
#include "kernel.h"
#include "memory.h"
#include "scratch.h"

enum { TEXT = 1 << 15, REPORT = 2048, IB_SIZE_MASK = 0xfffff, IB_VALID = 1 << 23 };
static const uint32_t IB_HEADER = 0xc0023f00;
static const uint64_t NO_RING = UINT64_MAX;

/* A launched packet, from launch until the read index has passed it. */
struct flight {
    struct flight *next;
    uint64_t index, completion, start_ns;
    struct sg_kernel_job *kernel;        /* of a dispatch packet, until it is done */
    bool complete;
};

struct aql {
    struct sg_queue queue;
    uint64_t slots;
    uint64_t head;                       /* next packet to launch */
    bool look;                           /* a doorbell has been rung since there was nothing at `head` */
    bool scratch_asked;         /* the packet at `head` waits for scratch memory */
    unsigned seen_dependencies; /* of the barrier packet at `head` */
    struct flight *first, **last; /* launched and not retired, in order */
    struct sg_kernel_job *waves; /* dispatches that PM4 buffers started */
    struct sg_pm4_queue *pm4;
    bool parsing; /* the packet at `head` is a buffer under way */
    uint64_t parse_start_ns;
    bool state_reported; /* register state left behind: said once until the next buffer */
};

static struct aql *aql_of(const struct sg_queue *queue)
{
    return (struct aql *)queue;
}

static union sg_packet *slot(const struct aql *aql, uint64_t index)
{
    return (union sg_packet *)aql->queue.ring + index % aql->slots;
}

static void warn(void *context, const char *sentence)
{
    struct aql *aql = context;

    fprintf(stderr, "softgpu: GPU %d (%s) queue %u packet %" PRIu64 ": warning: %s\n", aql->queue.gpu->index,
            aql->queue.gpu->gfx, aql->queue.id, aql->head, sentence);
    sg_trace_text(&aql->queue, aql->head, "warning", sentence);
}

/* --- The machine that the PM4 executor sees --- */

static bool readable(void *context, uint64_t address, uint64_t size)
{
    (void)context;
    return sg_memory_allows(address, size, false);
}

static bool writable(void *context, uint64_t address, uint64_t size)
{
    (void)context;
    return sg_memory_allows(address, size, true);
}

static uint64_t descriptor_of(void *context, uint64_t entry)
{
    (void)context;
    return sg_host_descriptor_of(entry);
}

/* Says when the job is due and returns how late that is, in microseconds. */
static uint64_t delay(struct aql *aql, struct sg_kernel_job *job, struct sg_range otherwise)
{
    uint64_t ns = sg_queue_delay(&aql->queue, sg_options_delay(job->name, otherwise));

    job->job.due_ns = sg_now_ns() + ns;
    return ns / 1000;
}

static int start_wave(void *context, const struct sg_pm4_dispatch *dispatch, char *error, size_t error_size)
{
    struct aql *aql = context;
    struct sg_kernel_job *job = calloc(1, sizeof *job);
    struct sg_trace_dispatch trace;

    if (!job) {
        snprintf(error, error_size, "out of host memory");
        return -1;
    }
    job->index = aql->head;
    job->cancelled = &aql->queue.cancelled;
    if (sg_kernel_from_pm4(job, dispatch, error, error_size)) {
        free(job);
        return -1;
    }
    sg_kernel_trace(job, &trace);
    trace.delay_us = delay(aql, job, sg_options()->wave_delay);
    sg_trace_wave(&aql->queue, aql->head, &trace);
    job->chain = aql->waves;
    aql->waves = job;
    return 0;
}

static bool waves_done(void *context)
{
    const struct aql *aql = context;

    for (const struct flight *flight = aql->first; flight; flight = flight->next)
        if (flight->kernel)
            return false;
    return !aql->waves;
}

static uint64_t gpu_clock(void *context)
{
    (void)context;
    return sg_now_ticks();
}

/* End-of-pipe interrupts carry no event id that ROCr knows; AQL completion signals do that. */
static void interrupt(void *context, uint32_t value)
{
    (void)context, (void)value;
}

/* --- Launch --- */

static struct flight *launch(struct aql *aql, uint64_t completion, uint64_t start_ns)
{
    struct flight *flight = calloc(1, sizeof *flight);

    if (!flight) {
        sg_queue_fail(&aql->queue, aql->head, SG_ERROR_PACKET, "out of host memory");
        return NULL;
    }
    flight->index = aql->head;
    flight->completion = completion;
    flight->start_ns = start_ns;
    *aql->last = flight;
    aql->last = &flight->next;
    atomic_store(&slot(aql, aql->head)->header, SG_PACKET_INVALID);
    aql->head++;
    aql->look = true;
    aql->seen_dependencies = 0;
    return flight;
}

static void complete(struct aql *aql, struct flight *flight, uint64_t start_ns, uint64_t end_ns,
                     int64_t error)
{
    flight->complete = true;
    sg_signal_complete(aql->queue.gpu, flight->completion, start_ns, end_ns, error);
}

/* Asked for once all earlier packets have ended, as ROCr looks for the packet at the read index. */
static enum sg_progress take_scratch(struct aql *aql, const struct sg_kernel_job *job)
{
    char text[REPORT];

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

static enum sg_progress launch_dispatch(struct aql *aql, uint16_t header)
{
    union sg_packet *packet = slot(aql, aql->head);
    struct sg_kernel_job *job = calloc(1, sizeof *job);
    struct sg_trace_dispatch trace;
    char text[REPORT] = "out of host memory";

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
        warn(aql, text);
    }
    sg_kernel_trace(job, &trace);
    trace.delay_us = delay(aql, job, sg_options()->kernel_delay);
    sg_trace_aql(&aql->queue, aql->head, packet, header, &trace, NULL);
    struct flight *flight = launch(aql, packet->dispatch.completion, 0);

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
static bool barrier_ready(struct aql *aql, const struct sg_packet_barrier *barrier, bool all, bool *bad)
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

static void launch_barrier(struct aql *aql, uint16_t header)
{
    union sg_packet *packet = slot(aql, aql->head);
    uint64_t now = sg_now_ns();

    sg_trace_aql(&aql->queue, aql->head, packet, header, NULL, NULL);
    struct flight *flight = launch(aql, packet->dispatch.completion, now);

    if (flight)
        complete(aql, flight, now, now, 0);
}

/* Text of a buffer, to be freed; NULL when memory is short. */
static char *decode(const char *gfx, const uint32_t *words, uint32_t dwords)
{
    size_t size = TEXT;
    char *text = malloc(size);

    while (text && sg_pm4_print(gfx, words, dwords, text, size) + 1 >= size) {
        free(text);
        size *= 2;
        text = malloc(size);
    }
    return text;
}

static bool start_buffer(struct aql *aql, uint16_t header)
{
    const struct sg_packet_pm4 *packet = &slot(aql, aql->head)->pm4;
    uint64_t address = packet->jump[1] | (uint64_t)packet->jump[2] << 32;
    uint32_t dwords = packet->jump[3] & IB_SIZE_MASK;
    char report[REPORT];

    if (packet->jump[0] != IB_HEADER || !(packet->jump[3] & IB_VALID) || packet->remaining != 10 || !dwords ||
        address % 4) {
        snprintf(report, sizeof report,
                 "vendor PM4 packet with jump %08x %08x %08x %08x and %u dwords remaining is not an "
                 "INDIRECT_BUFFER with VALID",
                 packet->jump[0], packet->jump[1], packet->jump[2], packet->jump[3], packet->remaining);
        sg_queue_fail(&aql->queue, aql->head, SG_ERROR_PACKET, report);
        return false;
    }
    if (!sg_memory_allows(address, dwords * UINT64_C(4), false)) {
        char place[256];

        sg_memory_describe(address, place, sizeof place);
        snprintf(report, sizeof report, "PM4 buffer 0x%" PRIx64 " of %u dwords is not GPU memory: %s",
                 address, dwords, place);
        sg_queue_fail(&aql->queue, aql->head, SG_ERROR_MEMORY, report);
        return false;
    }
    char *text = sg_trace_on() ? decode(aql->queue.gpu->gfx, (const uint32_t *)address, dwords) : NULL;

    sg_trace_aql(&aql->queue, aql->head, slot(aql, aql->head), header, NULL, text);
    free(text);
    if (!aql->pm4) {
        struct sg_pm4_host host = {aql,        readable,  writable,  descriptor_of, start_wave,
                                   waves_done, gpu_clock, interrupt, warn};

        aql->pm4 = sg_pm4_queue_new(aql->queue.gpu->gfx, &host);
    }
    if (!aql->pm4) {
        snprintf(report, sizeof report, "no PM4 executor for %s", aql->queue.gpu->gfx);
        sg_queue_fail(&aql->queue, aql->head, SG_ERROR_PACKET, report);
        return false;
    }
    if (sg_pm4_start(aql->pm4, address, dwords)) {
        sg_queue_fail(&aql->queue, aql->head, SG_ERROR_PACKET, sg_pm4_report(aql->pm4));
        return false;
    }
    aql->parsing = true;
    aql->state_reported = false;
    aql->parse_start_ns = sg_now_ns();
    return true;
}

static enum sg_progress run_buffer(struct aql *aql, uint16_t header)
{
    if (!aql->parsing && !start_buffer(aql, header))
        return SG_MOVED;
    switch (sg_pm4_step(aql->pm4)) {
    case SG_PM4_BLOCKED: return SG_BLOCKED;
    case SG_PM4_FAILED:
        aql->parsing = false;
        sg_queue_fail(&aql->queue, aql->head, SG_ERROR_PACKET, sg_pm4_report(aql->pm4));
        return SG_MOVED;
    case SG_PM4_DONE: break;
    }
    aql->parsing = false;
    struct flight *flight = launch(aql, slot(aql, aql->head)->pm4.completion, aql->parse_start_ns);

    if (flight)
        complete(aql, flight, aql->parse_start_ns, sg_now_ns(), 0);
    return SG_MOVED;
}

static enum sg_progress launch_vendor(struct aql *aql, uint16_t header)
{
    const union sg_packet *packet = slot(aql, aql->head);
    char report[REPORT];

    switch (packet->pm4.format) {
    case SG_VENDOR_PM4_IB: return run_buffer(aql, header);
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
static enum sg_progress launch_next(struct aql *aql)
{
    union sg_packet *packet = slot(aql, aql->head);
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
        char report[REPORT];

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
    char report[REPORT];

    snprintf(report, sizeof report, "packet of type %u (header 0x%04x) is not supported", type, header);
    sg_queue_fail(&aql->queue, aql->head, SG_ERROR_PACKET, report);
    return SG_MOVED;
}

/* --- Completion --- */

static void note_wake(struct sg_pass *pass, uint64_t ns)
{
    if (ns && (!pass->wake_ns || ns < pass->wake_ns))
        pass->wake_ns = ns;
}

/* Advances what runs; true when something ended. */
static bool collect(struct aql *aql, struct sg_pass *pass)
{
    uint64_t now = sg_now_ns();
    bool moved = false;
    char report[REPORT];

    for (struct flight *flight = aql->first; flight; flight = flight->next) {
        struct sg_kernel_job *kernel = flight->kernel;

        if (!kernel)
            continue;
        note_wake(pass, sg_work_advance(&kernel->job, now));
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
        complete(aql, flight, kernel->job.start_ns, kernel->job.end_ns, kernel->job.failed ? -1 : 0);
        free(kernel);
    }
    for (struct sg_kernel_job **at = &aql->waves; *at;) {
        struct sg_kernel_job *wave = *at;

        note_wake(pass, sg_work_advance(&wave->job, now));
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
static void retire(struct aql *aql)
{
    uint64_t read = 0;
    bool any = false;

    while (aql->first && aql->first->complete) {
        struct flight *flight = aql->first;

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
static void take_doorbell(struct aql *aql)
{
    struct sg_signal *signal = aql->queue.hsa ? (struct sg_signal *)aql->queue.hsa->doorbell_signal : NULL;

    if (!signal || signal->kind != SG_SIGNAL_DOORBELL || !signal->doorbell)
        aql->look = true; /* still being created, or no doorbell at all: poll the ring */
    else if (atomic_load_explicit(signal->doorbell, memory_order_relaxed) != NO_RING &&
             atomic_exchange(signal->doorbell, NO_RING) != NO_RING)
        aql->look = true;
}

/* A stopped queue executes nothing; its packets end with an error. */
static enum sg_progress drain(struct aql *aql)
{
    uint64_t now = sg_now_ns();
    union sg_packet *packet = slot(aql, aql->head);

    if (!sg_queue_told(&aql->queue))
        return SG_BLOCKED;
    if (aql->head >= atomic_load(aql->queue.write_pointer) ||
        sg_header_type(atomic_load(&packet->header)) == SG_PACKET_INVALID)
        return SG_IDLE;
    struct flight *flight = launch(aql, packet->dispatch.completion, now);

    if (flight)
        complete(aql, flight, now, now, -1);
    return flight ? SG_MOVED : SG_IDLE;
}

static void step(struct sg_queue *queue, struct sg_pass *pass)
{
    struct aql *aql = aql_of(queue);
    enum sg_progress progress;

    take_doorbell(aql);
    if (collect(aql, pass))
        pass->progress = SG_MOVED;
    retire(aql);
    while ((progress = queue->failed ? drain(aql) : launch_next(aql)) == SG_MOVED) {
        pass->progress = SG_MOVED;
        retire(aql);
    }
    if (progress > pass->progress)
        pass->progress = progress;
}

static bool busy(const struct sg_queue *queue)
{
    const struct aql *aql = aql_of(queue);

    for (const struct flight *flight = aql->first; flight; flight = flight->next)
        if (flight->kernel && atomic_load(&flight->kernel->job.state) == SG_JOB_RUNNING)
            return true;
    for (const struct sg_kernel_job *wave = aql->waves; wave; wave = wave->chain)
        if (atomic_load(&wave->job.state) == SG_JOB_RUNNING)
            return true;
    return false;
}

static void free_queue(struct sg_queue *queue)
{
    struct aql *aql = aql_of(queue);

    while (aql->first) {
        struct flight *flight = aql->first;

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

static const struct sg_queue_class class = {step, busy, free_queue};

struct sg_queue *sg_aql_new(const struct sg_model_queue_info *info, struct sg_gpu *gpu)
{
    struct aql *aql = calloc(1, sizeof *aql);

    if (!aql)
        return NULL;
    aql->queue.class = &class;
    aql->queue.ring = (uint8_t *)info->ring;
    aql->queue.ring_bytes = info->ring_bytes;
    aql->queue.write_pointer = (_Atomic uint64_t *)(gpu->aperture + info->write_pointer);
    aql->queue.read_pointer = (_Atomic uint64_t *)(gpu->aperture + info->read_pointer);
    aql->slots = info->ring_bytes / SG_AQL_PACKET_BYTES;
    aql->queue.hsa =
        (struct sg_hsa_queue *)(info->read_pointer - offsetof(struct sg_hsa_queue, read_dispatch_id));
    aql->last = &aql->first;
    aql->look = true;
    return &aql->queue;
}
