/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The vendor PM4 packet: its indirect buffer in the strict executor, the machine that the executor sees, and
 * the dispatches that it starts. These wait for nothing but what stands in the buffer.
 */
#include "aql.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "clock.h"
#include "host.h"
#include "memory.h"

enum { TEXT = 1 << 15, IB_SIZE_MASK = 0xfffff, IB_VALID = 1 << 23 };
static const uint32_t IB_HEADER = 0xc0023f00;

void sg_aql_warn(void *context, const char *sentence)
{
    struct sg_aql *aql = context;

    fprintf(stderr, "softgpu: GPU %d (%s) queue %u packet %" PRIu64 ": warning: %s\n", aql->queue.gpu->index,
            aql->queue.gpu->gfx, aql->queue.id, aql->head, sentence);
    sg_trace_text(&aql->queue, aql->head, "warning", sentence);
}

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

static int start_wave(void *context, const struct sg_pm4_dispatch *dispatch, char *error, size_t error_size)
{
    struct sg_aql *aql = context;
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
    trace.delay_us = sg_aql_delay(aql, job, sg_options()->wave_delay);
    sg_trace_wave(&aql->queue, aql->head, &trace);
    job->chain = aql->waves;
    aql->waves = job;
    return 0;
}

static bool waves_done(void *context)
{
    const struct sg_aql *aql = context;

    for (const struct sg_flight *flight = aql->first; flight; flight = flight->next)
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

static bool start_buffer(struct sg_aql *aql, uint16_t header)
{
    const struct sg_packet_pm4 *packet = &sg_aql_slot(aql, aql->head)->pm4;
    uint64_t address = packet->jump[1] | (uint64_t)packet->jump[2] << 32;
    uint32_t dwords = packet->jump[3] & IB_SIZE_MASK;
    char report[SG_REPORT_BYTES];

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

    sg_trace_aql(&aql->queue, aql->head, sg_aql_slot(aql, aql->head), header, NULL, text);
    free(text);
    if (!aql->pm4) {
        struct sg_pm4_host host = { aql,        readable,  writable,  descriptor_of, start_wave,
                                    waves_done, gpu_clock, interrupt, sg_aql_warn };

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

enum sg_progress sg_aql_run_buffer(struct sg_aql *aql, uint16_t header)
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
    struct sg_flight *flight = sg_aql_launch(aql, sg_aql_slot(aql, aql->head)->pm4.completion);

    if (flight)
        sg_aql_complete(aql, flight, aql->parse_start_ns, sg_now_ns(), 0);
    return SG_MOVED;
}
