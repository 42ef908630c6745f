/* SPDX-License-Identifier: Apache-2.0 */
/* Packets by which the packet processor itself moves data: WRITE_DATA, COPY_DATA, DMA_DATA. */
#include "pm4_queue.h"

#include <inttypes.h>
#include <string.h>

enum {
    SELECT_L2_OLD = 1,
    SELECT_L2 = 2,
    SELECT_IMMEDIATE = 5,
    SELECT_MEMORY = 5,
    SELECT_GPU_CLOCK = 9,
    SELECT_SYSTEM_CLOCK = 10
};
enum { DMA_SELECT_ADDRESS = 0, DMA_SELECT_DATA = 2, DMA_SELECT_L2 = 3 };

enum sg_outcome sg_write_data(struct sg_pm4_queue *queue, const uint32_t *body, uint32_t count)
{
    uint32_t select = body[0] >> 8 & 15, dwords = count - 3;
    bool advance = !(body[0] >> 16 & 1);
    uint64_t address = sg_join(body[1], body[2]);

    if (select != SELECT_L2 && select != SELECT_MEMORY)
        return sg_fail(queue, "dst_sel %" PRIu32 " is not memory", select);
    if (!sg_writable(queue, address, advance ? 4 * (uint64_t)dwords : 4))
        return sg_fail(queue, "the address 0x%" PRIx64 " is not writable GPU memory", address);
    if (!advance && !sg_warn(queue, "addr_incr says that all data goes to one address"))
        return SG_FAIL;
    if (!(body[0] >> 20 & 1) && !sg_warn(queue, "without WR_CONFIRM later packets may run before the write "
                                                "lands"))
        return SG_FAIL;
    for (uint32_t i = 0; i < dwords; i++)
        __atomic_store_n((uint32_t *)(uintptr_t)(address + (advance ? 4 * (uint64_t)i : 0)), body[3 + i],
                         __ATOMIC_RELEASE);
    return SG_NEXT;
}

/* Source of a COPY_DATA. `size` is 4 or 8. */
static enum sg_outcome copy_source(struct sg_pm4_queue *queue, const uint32_t *body, size_t size,
                                   uint64_t *value)
{
    uint32_t select = body[0] & 15;
    uint64_t source = sg_join(body[1], body[2]);

    switch (select) {
    case SELECT_L2_OLD:
    case SELECT_L2:
        if (source & (size - 1))
            return sg_fail(queue, "the source 0x%" PRIx64 " is not aligned to %zu", source, size);
        if (!sg_readable(queue, source, size))
            return sg_fail(queue, "the source 0x%" PRIx64 " is not GPU memory", source);
        *value = 0;
        memcpy(value, (const void *)(uintptr_t)source, size);
        return SG_NEXT;
    case SELECT_IMMEDIATE:
        if (size == 4 && body[2])
            return sg_fail(queue, "the upper half of an immediate value of 32 bits is not 0");
        *value = source;
        return SG_NEXT;
    case SELECT_GPU_CLOCK:
    case SELECT_SYSTEM_CLOCK:
        if (source)
            return sg_fail(queue, "a source address, but the source is a clock");
        if (size == 4)
            return sg_fail(queue, "a clock has 64 bits");
        *value = queue->host.clock(queue->host.context);
        return SG_NEXT;
    }
    return sg_fail(queue, "src_sel %" PRIu32 " is neither memory, immediate nor a clock", select);
}

enum sg_outcome sg_copy_data(struct sg_pm4_queue *queue, const uint32_t *body)
{
    size_t size = body[0] >> 16 & 1 ? 8 : 4;
    uint32_t select = body[0] >> 8 & 15;
    uint64_t address = sg_join(body[3], body[4]), value;

    if (select != SELECT_L2 && select != SELECT_MEMORY)
        return sg_fail(queue, "dst_sel %" PRIu32 " is not memory", select);
    if (address & (size - 1))
        return sg_fail(queue, "the destination 0x%" PRIx64 " is not aligned to %zu", address, size);
    if (!sg_writable(queue, address, size))
        return sg_fail(queue, "the destination 0x%" PRIx64 " is not writable GPU memory", address);
    if (!(body[0] >> 20 & 1) && !sg_warn(queue, "without WR_CONFIRM later packets may run before the write "
                                                "lands"))
        return SG_FAIL;
    if (copy_source(queue, body, size, &value) == SG_FAIL)
        return SG_FAIL;
    memcpy((void *)(uintptr_t)address, &value, size);
    return SG_NEXT;
}

static enum sg_outcome dma_fill(struct sg_pm4_queue *queue, const uint32_t *body, uint64_t address,
                                uint32_t bytes)
{
    if (body[2])
        return sg_fail(queue, "a fill has 32 bits of data, the upper half is not 0");
    if (bytes & 3 || address & 3)
        return sg_fail(queue, "a fill is aligned to 4 bytes, it has %" PRIu32 " at 0x%" PRIx64, bytes,
                       address);
    for (uint32_t i = 0; i < bytes; i += 4)
        memcpy((void *)(uintptr_t)(address + i), &body[1], 4);
    return SG_NEXT;
}

enum sg_outcome sg_dma_data(struct sg_pm4_queue *queue, const uint32_t *body)
{
    uint32_t to = body[0] >> 20 & 3, from = body[0] >> 29 & 3, bytes = body[5] & 0x3FFFFFF;
    uint64_t source = sg_join(body[1], body[2]), address = sg_join(body[3], body[4]);

    if (to != DMA_SELECT_ADDRESS && to != DMA_SELECT_L2)
        return sg_fail(queue, "dst_sel %" PRIu32 " is not memory", to);
    if (from != DMA_SELECT_ADDRESS && from != DMA_SELECT_L2 && from != DMA_SELECT_DATA)
        return sg_fail(queue, "src_sel %" PRIu32 " is neither memory nor data", from);
    if (!bytes)
        return sg_fail(queue, "a copy of 0 bytes");
    if (!sg_writable(queue, address, bytes))
        return sg_fail(queue, "the destination 0x%" PRIx64 ", %" PRIu32 " bytes, is not writable GPU memory",
                       address, bytes);
    if (body[5] >> 31)
        return sg_fail(queue, "DIS_WC: nobody is told when the copy is done");
    if (!(body[0] >> 31) && !sg_warn(queue, "without CP_SYNC later packets may run before the copy is done"))
        return SG_FAIL;
    if (from == DMA_SELECT_DATA)
        return dma_fill(queue, body, address, bytes);
    if (!sg_readable(queue, source, bytes))
        return sg_fail(queue, "the source 0x%" PRIx64 ", %" PRIu32 " bytes, is not GPU memory", source,
                       bytes);
    if (source < address + bytes && address < source + bytes)
        return sg_fail(queue, "source 0x%" PRIx64 " and destination 0x%" PRIx64 " overlap", source, address);
    memcpy((void *)(uintptr_t)address, (const void *)(uintptr_t)source, bytes);
    return SG_NEXT;
}
