/* SPDX-License-Identifier: Apache-2.0 */
/* Packets that wait and that keep caches right: EVENT_WRITE, ACQUIRE_MEM, RELEASE_MEM, WAIT_REG_MEM. */
#include "pm4_queue.h"

#include <inttypes.h>
#include <string.h>

enum {
    EVENT_CACHE_FLUSH_AND_INV_TS = 20,
    EVENT_CS_PARTIAL_FLUSH = 7,
    EVENT_BOTTOM_OF_PIPE_TS = 40,
    EVENT_CS_DONE = 47
};
enum { INDEX_CS_PARTIAL_FLUSH = 4, INDEX_END_OF_PIPE = 5, INDEX_SHADER_DONE = 6 };
enum { DATA_NONE, DATA_32, DATA_64, DATA_GPU_CLOCK, DATA_SYSTEM_CLOCK };
enum { INTERRUPT_NONE, INTERRUPT_ONLY, INTERRUPT_AFTER_WRITE, INTERRUPT_NONE_BUT_CONFIRM };

enum {
    GCR_GL1_RANGE = 3 << 2,
    GCR_GLK_INV = 1 << 7,
    GCR_GLV_INV = 1 << 8,
    GCR_GL1_INV = 1 << 9,
    GCR_GL2_RANGE = 3 << 11,
    GCR_GL2_INV = 1 << 14,
    GCR_GL2_WB = 1 << 15,
    GCR_SEQ_SHIFT = 16,
    RELEASE_GL2_INV = 1 << 20,
    RELEASE_GL2_WB = 1 << 21,
    RELEASE_SEQ_SHIFT = 22,
    RELEASE_GCR = 0x1FFF << 12 | 1 << 30,
};

/* ROCr sends exactly this after it has loaded code, on every generation (amd_gpu_agent.cpp,
 * InvalidateCodeCaches). */
enum { GCR_ROCR_CODE = 0x4381 };

enum sg_outcome sg_event_write(struct sg_pm4_queue *queue, const uint32_t *body)
{
    uint32_t type = body[0] & 0x3F, index = body[0] >> 8 & 15;
    const char *name = queue->target->events[type] ? queue->target->events[type] : "no event";

    if (type != EVENT_CS_PARTIAL_FLUSH || index != INDEX_CS_PARTIAL_FLUSH)
        return sg_fail(queue,
                       "event %" PRIu32 " (%s) with index %" PRIu32
                       ": of the events only CS_PARTIAL_FLUSH (7, "
                       "index 4) is known to a compute buffer here",
                       type, name, index);
    if (!queue->host.waves_done(queue->host.context))
        return SG_BLOCK;
    queue->waited = queue->dispatches;
    return SG_NEXT;
}

/* Loads and stores of the next dispatch go through these; L2 is shared by all of them (PAL and Mesa
 * barriers). */
static uint32_t needed_invalidates(const struct sg_pm4_queue *queue)
{
    return GCR_GLK_INV | GCR_GLV_INV | (queue->target->generation < 12 ? (uint32_t)GCR_GL1_INV : 0);
}

/* Size all ones with base 0 is everything; size_hi may have 8 or 24 bits, both are written by drivers. */
static bool whole_memory(const uint32_t *body)
{
    return body[1] == ~UINT32_C(0) && (body[2] == 0xFF || body[2] == 0xFFFFFF) && !body[3] && !body[4];
}

static enum sg_outcome check_range(struct sg_pm4_queue *queue, const uint32_t *body)
{
    /* Both count 256-byte units. */
    uint64_t base = sg_join(body[3], body[4]), size = sg_join(body[1], body[2]);

    if (whole_memory(body))
        return SG_NEXT;
    if (!size || base >> 56 || size >> 40 || !sg_readable(queue, base << 8, size << 8))
        return sg_fail(queue,
                       "the range of 0x%" PRIx64 " x 256 bytes at 0x%" PRIx64
                       " x 256 is neither everything nor GPU "
                       "memory",
                       size, base);
    return SG_NEXT;
}

static enum sg_outcome check_gcr(struct sg_pm4_queue *queue, uint32_t gcr)
{
    if (gcr == GCR_ROCR_CODE)
        return SG_NEXT;
    if (gcr >> GCR_SEQ_SHIFT == 3)
        return sg_fail(queue, "SEQ 3 does not exist");
    if (gcr & (GCR_GL1_RANGE | GCR_GL2_RANGE))
        return sg_fail(queue, "GL1_RANGE and GL2_RANGE are for operations on a part of a cache");
    if (queue->target->generation >= 12 && gcr & GCR_GL1_INV)
        return sg_fail(queue, "GL1_INV (bit 9) is reserved: %s has no such cache", queue->target->gfx);
    if (!gcr && !sg_warn(queue, "no cache operation is asked for"))
        return SG_FAIL;
    if (gcr & GCR_GL2_INV && !(gcr & GCR_GL2_WB) &&
        !sg_warn(queue, "GL2_INV without GL2_WB: what others wrote and L2 still holds may be lost"))
        return SG_FAIL;
    return SG_NEXT;
}

enum sg_outcome sg_acquire_mem(struct sg_pm4_queue *queue, const uint32_t *body)
{
    uint32_t gcr = body[6], needed = needed_invalidates(queue);

    if (check_range(queue, body) == SG_FAIL || check_gcr(queue, gcr) == SG_FAIL)
        return SG_FAIL;
    if (body[5] > SG_POLL_LIMIT &&
        !sg_warn(queue, "poll interval %" PRIu32 " is longer than any driver's", body[5]))
        return SG_FAIL;
    if (queue->waited < queue->dispatches && !sg_warn(queue, "invalidates while waves of this queue may "
                                                             "still run: what they write later stays stale"))
        return SG_FAIL;
    if ((gcr & needed) == needed && whole_memory(body)) {
        queue->invalidated = queue->waited;
        queue->acquired = true;
    }
    return SG_NEXT;
}

static void store(uint64_t address, uint64_t value, size_t size)
{
    if (size == 4)
        __atomic_store_n((uint32_t *)(uintptr_t)address, (uint32_t)value, __ATOMIC_RELEASE);
    else
        __atomic_store_n((uint64_t *)(uintptr_t)address, value, __ATOMIC_RELEASE);
}

static size_t data_size(uint32_t select)
{
    return select == DATA_NONE ? 0 : select == DATA_32 ? 4 : 8;
}

static void write_release(struct sg_pm4_queue *queue, const struct sg_release *release)
{
    size_t size = data_size(release->data_select);
    uint64_t data = release->data_select >= DATA_GPU_CLOCK ? queue->host.clock(queue->host.context)
                                                           : release->data;

    /* The program may have freed the fence while the waves ran. */
    if (size && !sg_writable(queue, release->address, size)) {
        sg_fail(queue, "a RELEASE_MEM writes to 0x%" PRIx64 ", which is no longer GPU memory",
                release->address);
        return;
    }
    if (size)
        store(release->address, data, size);
    if (release->interrupt == INTERRUPT_ONLY || release->interrupt == INTERRUPT_AFTER_WRITE)
        queue->host.interrupt(queue->host.context, release->context);
    queue->released = *release;
}

bool sg_drain_releases(struct sg_pm4_queue *queue)
{
    if (!queue->release_count)
        return true;
    if (!queue->host.waves_done(queue->host.context))
        return false;
    for (unsigned i = 0; i < queue->release_count; i++)
        write_release(queue, &queue->releases[i]);
    queue->release_count = 0;
    return true;
}

static enum sg_outcome check_release_event(struct sg_pm4_queue *queue, uint32_t control)
{
    uint32_t type = control & 0x3F, index = control >> 8 & 15;
    bool pipe = (type == EVENT_CACHE_FLUSH_AND_INV_TS || type == EVENT_BOTTOM_OF_PIPE_TS) &&
                index == INDEX_END_OF_PIPE;
    bool done = type == EVENT_CS_DONE && index == INDEX_SHADER_DONE;

    if (!pipe && !done)
        return sg_fail(queue,
                       "event %" PRIu32 " (%s) with index %" PRIu32
                       " is no end of pipe (20 or 40, index 5) and no "
                       "CS_DONE (47, index 6)",
                       type, queue->target->events[type] ? queue->target->events[type] : "no event", index);
    if (done && queue->target->generation < 12 && control & RELEASE_GCR)
        return sg_fail(queue, "cache operations with CS_DONE exist on gfx12 only");
    if ((control >> RELEASE_SEQ_SHIFT & 3) == 3)
        return sg_fail(queue, "SEQ 3 does not exist");
    return SG_NEXT;
}

static enum sg_outcome check_release_data(struct sg_pm4_queue *queue, const uint32_t *body,
                                          const struct sg_release *release)
{
    size_t size = data_size(release->data_select);

    if (body[1] >> 16 & 2)
        return sg_fail(queue, "dst_sel %" PRIu32 " is a register, not memory", body[1] >> 16 & 3);
    if (release->data_select > DATA_SYSTEM_CLOCK)
        return sg_fail(queue, "data_sel %" PRIu32 " is not known here", release->data_select);
    if (release->interrupt > INTERRUPT_NONE_BUT_CONFIRM)
        return sg_fail(queue, "int_sel %" PRIu32 " is not known here", release->interrupt);
    if (!size && release->address)
        return sg_fail(queue, "an address, but data_sel says that nothing is written");
    if (size && release->address & (size - 1))
        return sg_fail(queue, "the address 0x%" PRIx64 " is not aligned to %zu", release->address, size);
    if (size && !sg_writable(queue, release->address, size))
        return sg_fail(queue, "the address 0x%" PRIx64 " is not writable GPU memory", release->address);
    if ((release->data_select == DATA_32   ? release->data >> 32
         : release->data_select == DATA_64 ? 0
                                           : release->data))
        return sg_fail(queue, "data that data_sel %" PRIu32 " does not send", release->data_select);
    if (release->context && release->interrupt != INTERRUPT_ONLY &&
        release->interrupt != INTERRUPT_AFTER_WRITE)
        return sg_fail(queue, "an interrupt context without an interrupt");
    if (!size && (release->interrupt == INTERRUPT_NONE || release->interrupt == INTERRUPT_NONE_BUT_CONFIRM) &&
        !sg_warn(queue, "neither data nor an interrupt: nobody can see this release"))
        return SG_FAIL;
    return SG_NEXT;
}

enum sg_outcome sg_release_mem(struct sg_pm4_queue *queue, const uint32_t *body)
{
    struct sg_release release = {
        .address = sg_join(body[2], body[3]),
        .data = sg_join(body[4], body[5]),
        .dispatches = queue->dispatches,
        .data_select = body[1] >> 29,
        .interrupt = body[1] >> 24 & 7,
        .context = body[6],
    };
    bool fence = release.data_select == DATA_32 || release.data_select == DATA_64;

    if (check_release_event(queue, body[0]) == SG_FAIL ||
        check_release_data(queue, body, &release) == SG_FAIL)
        return SG_FAIL;
    if (fence && !(body[0] & RELEASE_GL2_WB) &&
        !sg_warn(queue, "a fence without GL2_WB: who sees it need not see what the waves wrote"))
        return SG_FAIL;
    if (body[0] & RELEASE_GL2_INV && !(body[0] & RELEASE_GL2_WB) &&
        !sg_warn(queue, "GL2_INV without GL2_WB: what the waves wrote and L2 still holds may be lost"))
        return SG_FAIL;
    if (queue->release_count == SG_RELEASES && !sg_drain_releases(queue))
        return SG_BLOCK;
    queue->releases[queue->release_count++] = release;
    sg_drain_releases(queue);
    return queue->failed ? SG_FAIL : SG_NEXT;
}

static bool satisfied(uint32_t function, uint32_t value, uint32_t reference)
{
    switch (function) {
    case 1: return value < reference;
    case 2: return value <= reference;
    case 3: return value == reference;
    case 4: return value != reference;
    case 5: return value >= reference;
    case 6: return value > reference;
    }
    return true;
}

static const struct sg_release *pending_on(const struct sg_pm4_queue *queue, uint64_t address)
{
    for (unsigned i = 0; i < queue->release_count; i++)
        if (data_size(queue->releases[i].data_select) && queue->releases[i].address == address)
            return &queue->releases[i];
    return NULL;
}

enum sg_outcome sg_wait_reg_mem(struct sg_pm4_queue *queue, const uint32_t *body)
{
    uint32_t function = body[0] & 7, operation = body[0] >> 6 & 3;
    uint64_t address = sg_join(body[1], body[2]);

    if ((body[0] >> 4 & 3) != 1)
        return sg_fail(queue, "only memory can be waited for, mem_space is %" PRIu32, body[0] >> 4 & 3);
    if (operation != 0 && operation != 3)
        return sg_fail(queue, "operation %" PRIu32 " writes registers or does not exist", operation);
    if (function == 7)
        return sg_fail(queue, "function 7 does not exist");
    if (!sg_readable(queue, address, 4))
        return sg_fail(queue, "the address 0x%" PRIx64 " is not GPU memory", address);
    if (body[3] & ~body[4])
        return sg_fail(queue, "the reference 0x%" PRIX32 " has bits outside of the mask 0x%" PRIX32, body[3],
                       body[4]);
    if ((function == 0 || !body[4]) && !sg_warn(queue, "waits for nothing: function or mask make it always "
                                                       "true"))
        return SG_FAIL;
    if (body[5] << 1 >> 1 > SG_POLL_LIMIT &&
        !sg_warn(queue, "poll interval %" PRIu32 " is longer than any driver's", body[5] << 1 >> 1))
        return SG_FAIL;

    sg_drain_releases(queue);
    if (queue->failed)
        return SG_FAIL;
    uint32_t value = __atomic_load_n((const uint32_t *)(uintptr_t)address, __ATOMIC_ACQUIRE);
    if (!satisfied(function, value & body[4], body[3]))
        return SG_BLOCK;
    if (pending_on(queue, address)) {
        if (!sg_warn(queue, "passes before the RELEASE_MEM that it stands behind has written: the fence word "
                            "held the value "
                            "already"))
            return SG_FAIL;
    } else if (queue->released.address == address && queue->waited < queue->released.dispatches) {
        queue->waited = queue->released.dispatches;
    }
    return SG_NEXT;
}
