/* SPDX-License-Identifier: Apache-2.0 */
/* The queue itself: buffers, the walk over packets, reports. The packets stand in pm4_move.c, pm4_fence.c,
 * pm4_dispatch.c. */
#include "pm4_queue.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct sg_pm4_queue *sg_pm4_queue_new(const char *gfx, const struct sg_pm4_host *host)
{
    const struct sg_target *target = sg_target_find(gfx);
    struct sg_pm4_queue *queue = target ? calloc(1, sizeof(*queue)) : NULL;

    if (queue) {
        queue->target = target;
        queue->host = *host;
    }
    return queue;
}

void sg_pm4_queue_free(struct sg_pm4_queue *queue)
{
    free(queue);
}

void sg_pm4_set_strict(struct sg_pm4_queue *queue, bool strict)
{
    queue->strict = strict;
}

const char *sg_pm4_report(const struct sg_pm4_queue *queue)
{
    return queue->report;
}

bool sg_readable(const struct sg_pm4_queue *queue, uint64_t address, uint64_t size)
{
    return address && size && address + size > address &&
           queue->host.readable(queue->host.context, address, size);
}

bool sg_writable(const struct sg_pm4_queue *queue, uint64_t address, uint64_t size)
{
    return address && size && address + size > address &&
           queue->host.writable(queue->host.context, address, size);
}

/* Sentence with its place, and the decoded packet on a second line. */
static void compose(const struct sg_pm4_queue *queue, char *bytes, size_t size, const char *format,
                    va_list arguments)
{
    const struct sg_frame *frame = queue->depth ? &queue->frames[queue->depth - 1] : NULL;
    struct sg_text text = { bytes, size, 0 };
    char sentence[512];

    vsnprintf(sentence, sizeof(sentence), format, arguments);
    sg_text_add(&text, "PM4 %s", queue->target->gfx);
    if (!frame) {
        sg_text_add(&text, ": %s", sentence);
        return;
    }
    if (queue->depth > 1)
        sg_text_add(&text, ", buffer called at dword %" PRIu32, queue->frames[0].position);
    sg_text_add(&text, ", dword %" PRIu32 " of the %" PRIu32 " at 0x%" PRIx64 ": %s", frame->position,
                frame->dwords, frame->address, sentence);
    if (frame->position < frame->dwords) {
        sg_text_add(&text, "\n  ");
        sg_packet_print(queue->target, frame->words + frame->position, frame->dwords - frame->position,
                        &text);
    }
}

enum sg_outcome sg_fail(struct sg_pm4_queue *queue, const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    compose(queue, queue->report, sizeof(queue->report), format, arguments);
    va_end(arguments);
    queue->failed = true;
    return SG_FAIL;
}

bool sg_warn(struct sg_pm4_queue *queue, const char *format, ...)
{
    char sentence[SG_REPORT_SIZE];
    va_list arguments;

    if (queue->retrying)
        return true;
    va_start(arguments, format);
    compose(queue, sentence, sizeof(sentence), format, arguments);
    va_end(arguments);
    if (queue->strict) {
        memcpy(queue->report, sentence, sizeof(sentence));
        queue->failed = true;
        return false;
    }
    queue->host.warn(queue->host.context, sentence);
    return true;
}

/* NULL, or why these dwords cannot be an indirect buffer. */
static const char *refuse_buffer(const struct sg_pm4_queue *queue, uint64_t address, uint32_t dwords)
{
    if (!dwords || dwords > SG_IB_LIMIT)
        return "an indirect buffer has 1 to 0xFFFFF dwords";
    if (address & 3)
        return "an indirect buffer is aligned to 4 bytes";
    if (!sg_readable(queue, address, 4 * (uint64_t)dwords))
        return "the indirect buffer is not in GPU memory";
    return NULL;
}

static void enter(struct sg_pm4_queue *queue, struct sg_frame *frame, uint64_t address, uint32_t dwords)
{
    *frame = (struct sg_frame){ address, (const uint32_t *)(uintptr_t)address, dwords, 0 };
    queue->buffers++;
}

int sg_pm4_start(struct sg_pm4_queue *queue, uint64_t buffer, uint32_t dwords)
{
    if (queue->failed)
        return -1;
    const char *why = queue->depth ? "the buffer before is still being executed"
                                   : refuse_buffer(queue, buffer, dwords);
    if (why) {
        snprintf(queue->report, sizeof(queue->report),
                 "PM4 %s, buffer at 0x%" PRIx64 " of %" PRIu32 " dwords: %s", queue->target->gfx, buffer,
                 dwords, why);
        return -1;
    }
    queue->report[0] = '\0';
    queue->buffers = 0;
    queue->acquired = false;
    queue->retrying = false;
    if (queue->host.waves_done(queue->host.context))
        queue->waited = queue->dispatches;
    enter(queue, &queue->frames[0], buffer, dwords);
    queue->depth = 1;
    return 0;
}

static enum sg_outcome indirect_buffer(struct sg_pm4_queue *queue, const uint32_t *body)
{
    uint64_t address = sg_join(body[0], body[1]);
    uint32_t dwords = body[2] & SG_IB_LIMIT;
    bool chain = body[2] >> 20 & 1;
    const char *why = refuse_buffer(queue, address, dwords);

    if (!(body[2] >> 23 & 1))
        return sg_fail(queue, "VALID is not set: the packet processor skips or refuses such a buffer");
    if (why)
        return sg_fail(queue, "%s (0x%" PRIx64 ", %" PRIu32 " dwords)", why, address, dwords);
    if (queue->buffers >= SG_IB_COUNT_LIMIT)
        return sg_fail(queue, "more than %d indirect buffers in one: an endless chain", SG_IB_COUNT_LIMIT);
    if (chain) {
        enter(queue, &queue->frames[queue->depth - 1], address, dwords);
        return SG_JUMP;
    }
    if (queue->depth == SG_IB_DEPTH)
        return sg_fail(queue, "a third level of indirect buffers: the packet processor has two");
    queue->frames[queue->depth - 1].position += 4;
    enter(queue, &queue->frames[queue->depth++], address, dwords);
    return SG_JUMP;
}

static enum sg_outcome execute(struct sg_pm4_queue *queue, const struct sg_packet *packet,
                               const uint32_t *body, uint32_t count)
{
    switch (packet->opcode) {
    case SG_OP_NOP: return SG_NEXT;
    case 0x15: return sg_dispatch_direct(queue, body);
    case 0x37: return sg_write_data(queue, body, count);
    case 0x3C: return sg_wait_reg_mem(queue, body);
    case 0x3F: return indirect_buffer(queue, body);
    case 0x40: return sg_copy_data(queue, body);
    case 0x46: return sg_event_write(queue, body);
    case 0x49: return sg_release_mem(queue, body);
    case 0x50: return sg_dma_data(queue, body);
    case 0x58: return sg_acquire_mem(queue, body);
    case 0x76: return sg_set_sh_reg(queue, body, count);
    }
    return sg_fail(queue, "the executor does not know %s", packet->name);
}

static enum sg_outcome step(struct sg_pm4_queue *queue, struct sg_frame *frame)
{
    const uint32_t *words = frame->words + frame->position;
    uint32_t header = words[0], body = sg_header_body(header);
    const struct sg_packet *packet = sg_packet_find(queue->target, header);
    char reason[256] = "";
    struct sg_text why = { reason, sizeof(reason), 0 };

    if (header >> 30 != 3)
        return sg_fail(queue, "not a type 3 packet");
    if (!packet)
        return sg_fail(queue, "unknown packet, opcode 0x%02" PRIX32, sg_header_opcode(header));
    /* Bit 1 is the shader type: PAL and Mesa set it for compute, ROCr does not on a compute queue. */
    if (header & 0xFF & ~SG_HEADER_COMPUTE)
        return sg_fail(queue, "header bits 0x%02" PRIX32 " are set", header & 0xFF & ~SG_HEADER_COMPUTE);
    if (body < packet->min_body || body > packet->max_body)
        return sg_fail(queue, "%s with %" PRIu32 " body dwords, it has %u%s", packet->name, body,
                       packet->min_body, packet->min_body == packet->max_body ? "" : " or more");
    if (body >= frame->dwords - frame->position)
        return sg_fail(queue, "%s with %" PRIu32 " body dwords goes past the end of the buffer", packet->name,
                       body);
    int dword = sg_packet_reserved(packet, words + 1, body, &why);
    if (dword >= 0)
        return sg_fail(queue, "%s, body dword %d: %s", packet->name, dword, reason);

    enum sg_outcome outcome = execute(queue, packet, words + 1, body);
    if (outcome == SG_NEXT)
        frame->position += 1 + body;
    return outcome;
}

enum sg_pm4_status sg_pm4_step(struct sg_pm4_queue *queue)
{
    while (!queue->failed && queue->depth) {
        struct sg_frame *frame = &queue->frames[queue->depth - 1];

        sg_drain_releases(queue);
        if (queue->failed)
            break;
        if (frame->position < frame->dwords) {
            enum sg_outcome outcome = step(queue, frame);
            queue->retrying = outcome == SG_BLOCK;
            if (outcome == SG_BLOCK)
                return SG_PM4_BLOCKED;
        } else if (queue->depth > 1) {
            queue->depth--;
        } else {
            if (queue->waited < queue->dispatches && !sg_warn(queue, "the buffer ends without a wait for its "
                                                                     "last dispatch: whoever waits for the "
                                                                     "packet does "
                                                                     "not wait for the waves"))
                break;
            queue->retrying = true;
            if (!sg_drain_releases(queue))
                return SG_PM4_BLOCKED;
            queue->retrying = false;
            queue->depth = 0;
        }
    }
    return queue->failed ? SG_PM4_FAILED : SG_PM4_DONE;
}
