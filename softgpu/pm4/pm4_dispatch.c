/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Registers and DISPATCH_DIRECT: everything that a dispatch takes from registers is compared with the kernel
 * descriptor (LLVM AMDGPUUsage: 64 bytes, entry offset at 16, RSRC3, RSRC1, RSRC2 at 44, properties at 56)
 * before the host runs it.
 */
#include "pm4_queue.h"

#include <inttypes.h>
#include <string.h>

enum {
    REG_INITIATOR = 0x200,
    REG_START_X = 0x204,
    REG_NUM_THREAD_X = 0x207,
    REG_PGM_LO = 0x20C,
    REG_PGM_HI = 0x20D,
    REG_SCRATCH_BASE_LO = 0x210,
    REG_SCRATCH_BASE_HI = 0x211,
    REG_RSRC1 = 0x212,
    REG_RSRC2 = 0x213,
    REG_TMPRING_SIZE = 0x218,
    REG_RSRC3 = 0x228,
    REG_USER_DATA_0 = 0x240,
    USER_DATA_COUNT = 16,
};

enum {
    PROPERTY_PRIVATE_SEGMENT_BUFFER = 1 << 0,
    PROPERTY_DISPATCH_PTR = 1 << 1,
    PROPERTY_QUEUE_PTR = 1 << 2,
    PROPERTY_KERNARG_SEGMENT_PTR = 1 << 3,
    PROPERTY_DISPATCH_ID = 1 << 4,
    PROPERTY_FLAT_SCRATCH_INIT = 1 << 5,
    PROPERTY_PRIVATE_SEGMENT_SIZE = 1 << 6,
    PROPERTY_WAVE32 = 1 << 10,
};

enum { RSRC1_PRIV = 1 << 20, RSRC2_SCRATCH_EN = 1 << 0, RSRC2_BIT_6 = 1 << 6, RSRC2_LDS_SIZE = 0x1FF << 15 };
enum { LDS_GRANULE = 512, LDS_LIMIT = 64 * 1024, WORKGROUP_LIMIT = 1024, QUEUE_STRUCTURE = 256 };

struct descriptor {
    uint64_t address;
    uint32_t group_bytes, private_bytes, kernarg_bytes;
    int64_t entry;
    uint32_t rsrc1, rsrc2, rsrc3;
    uint16_t properties, preload;
};

/* The part of the AQL dispatch packet that a kernel may read through its dispatch pointer. */
struct packet_view {
    uint16_t workgroup[3];
    uint32_t grid[3];
    uint64_t kernel_object, kernarg;
};

static uint32_t value_of(const struct sg_pm4_queue *queue, uint32_t offset)
{
    return queue->registers[offset - SG_REGISTER_BASE];
}

static bool is_known(const struct sg_pm4_queue *queue, uint32_t offset)
{
    return queue->known[offset - SG_REGISTER_BASE];
}

static uint32_t field_of(const struct sg_pm4_queue *queue, uint32_t offset, const char *field)
{
    return sg_register_get(sg_register_find(queue->target, offset), field, value_of(queue, offset));
}

enum sg_outcome sg_set_sh_reg(struct sg_pm4_queue *queue, const uint32_t *body, uint32_t count)
{
    for (uint32_t i = 1; i < count; i++) {
        uint32_t offset = body[0] + i - 1;
        const struct sg_register *reg = sg_register_find(queue->target, offset);

        if (!reg)
            return sg_fail(queue, "%s has no compute register at 0x%" PRIX32, queue->target->gfx, offset);
        if (reg->owner == SG_OWNER_ENGINE)
            return sg_fail(queue, "%s is set by the packet processor, not by a buffer", reg->name);
        uint32_t reserved = sg_register_reserved(reg, body[i]);
        if (reserved)
            return sg_fail(queue, "reserved bits 0x%08" PRIX32 " of %s are set", reserved, reg->name);
        if (reg->owner == SG_OWNER_QUEUE &&
            !sg_warn(queue, "%s belongs to the queue: a buffer must not write it", reg->name))
            return SG_FAIL;
        queue->registers[offset - SG_REGISTER_BASE] = body[i];
        queue->known[offset - SG_REGISTER_BASE] = true;
        queue->written[offset - SG_REGISTER_BASE] = true;
    }
    return SG_NEXT;
}

void sg_pm4_aql_dispatched(struct sg_pm4_queue *queue)
{
    for (unsigned i = 0; i < queue->target->register_count; i++)
        if (queue->target->registers[i].owner == SG_OWNER_AQL)
            queue->known[queue->target->registers[i].offset - SG_REGISTER_BASE] = false;
}

int sg_pm4_left_behind(const struct sg_pm4_queue *queue, char *bytes, size_t size)
{
    struct sg_text text = { bytes, size, 0 };
    int count = 0;

    if (size)
        bytes[0] = '\0';
    for (unsigned i = 0; i < queue->target->register_count; i++) {
        const struct sg_register *reg = &queue->target->registers[i];
        unsigned index = reg->offset - SG_REGISTER_BASE;
        if (reg->owner == SG_OWNER_AQL || !queue->written[index])
            continue;
        if (reg->reset_known && queue->registers[index] == reg->reset)
            continue;
        sg_text_add(&text, "%s was left 0x%" PRIX32 "%s. ", reg->name, queue->registers[index],
                    reg->reset_known ? reg->reset ? ", it was 1" : ", it was 0" : ", what it was is lost");
        count++;
    }
    return count;
}

static bool all_known(struct sg_pm4_queue *queue, uint32_t first, uint32_t count)
{
    for (uint32_t offset = first; offset < first + count; offset++) {
        if (!is_known(queue, offset)) {
            sg_fail(queue,
                    "%s holds nothing of this queue's buffers (never written, or an AQL dispatch came "
                    "between)",
                    sg_register_find(queue->target, offset)->name);
            return false;
        }
    }
    return true;
}

static void read_descriptor(uint64_t address, struct descriptor *kernel)
{
    const char *bytes = (const char *)(uintptr_t)address;

    kernel->address = address;
    memcpy(&kernel->group_bytes, bytes, 4);
    memcpy(&kernel->private_bytes, bytes + 4, 4);
    memcpy(&kernel->kernarg_bytes, bytes + 8, 4);
    memcpy(&kernel->entry, bytes + 16, 8);
    memcpy(&kernel->rsrc3, bytes + 44, 4);
    memcpy(&kernel->rsrc1, bytes + 48, 4);
    memcpy(&kernel->rsrc2, bytes + 52, 4);
    memcpy(&kernel->properties, bytes + 56, 2);
    memcpy(&kernel->preload, bytes + 58, 2);
}

static enum sg_outcome find_kernel(struct sg_pm4_queue *queue, struct sg_pm4_dispatch *dispatch,
                                   struct descriptor *kernel)
{
    dispatch->entry = sg_join(value_of(queue, REG_PGM_LO), value_of(queue, REG_PGM_HI)) << 8;
    dispatch->descriptor = queue->host.descriptor_of(queue->host.context, dispatch->entry);
    if (!dispatch->descriptor)
        return sg_fail(queue, "no kernel begins at 0x%" PRIx64 " (PGM_HI, PGM_LO)", dispatch->entry);
    if (!sg_readable(queue, dispatch->descriptor, 64))
        return sg_fail(queue, "the kernel descriptor at 0x%" PRIx64 " is not GPU memory",
                       dispatch->descriptor);
    read_descriptor(dispatch->descriptor, kernel);
    if (dispatch->descriptor + (uint64_t)kernel->entry != dispatch->entry)
        return sg_fail(queue, "the descriptor at 0x%" PRIx64 " is not that of the code at 0x%" PRIx64,
                       dispatch->descriptor, dispatch->entry);
    return SG_NEXT;
}

/* Names the first field in which `have` and `want` differ; `except` bits are not compared. */
static enum sg_outcome compare(struct sg_pm4_queue *queue, uint32_t offset, uint32_t want, uint32_t except)
{
    const struct sg_register *reg = sg_register_find(queue->target, offset);
    uint32_t have = value_of(queue, offset), differ = (have ^ want) & ~except;

    if (!differ)
        return SG_NEXT;
    for (unsigned i = 0; i < reg->field_count; i++)
        if (differ & sg_field_mask(&reg->fields[i]))
            return sg_fail(queue, "%s.%s is %" PRIu32 ", the kernel descriptor says %" PRIu32, reg->name,
                           reg->fields[i].name, sg_field_get(&reg->fields[i], have),
                           sg_field_get(&reg->fields[i], want));
    return sg_fail(queue, "%s is 0x%08" PRIX32 ", the kernel descriptor says 0x%08" PRIX32, reg->name, have,
                   want);
}

static enum sg_outcome check_priv(struct sg_pm4_queue *queue)
{
    bool set = value_of(queue, REG_RSRC1) & RSRC1_PRIV;
    const char *gfx = queue->target->gfx;

    switch (queue->target->priv) {
    case SG_PRIV_MUST:
        return set ? SG_NEXT
                   : sg_fail(queue, "RSRC1.PRIV is not set: on %s a preempted dispatch may then hang", gfx);
    case SG_PRIV_SHOULD:
        return set || sg_warn(queue,
                              "RSRC1.PRIV is not set: a %s with two shader arrays may hang when preempted",
                              gfx)
                   ? SG_NEXT
                   : SG_FAIL;
    case SG_PRIV_NEED_NOT:
        return !set || sg_warn(queue, "RSRC1.PRIV is set: %s does not need it", gfx) ? SG_NEXT : SG_FAIL;
    }
    return set ? sg_fail(queue, "RSRC1.PRIV is set: waves would run privileged, %s needs no such work-around",
                         gfx)
               : SG_NEXT;
}

static enum sg_outcome check_resources(struct sg_pm4_queue *queue, const struct descriptor *kernel,
                                       struct sg_pm4_dispatch *dispatch)
{
    bool traps = queue->target->generation < 12;
    uint32_t rsrc2 = value_of(queue, REG_RSRC2);

    if (compare(queue, REG_RSRC1, kernel->rsrc1, RSRC1_PRIV) == SG_FAIL || check_priv(queue) == SG_FAIL ||
        compare(queue, REG_RSRC2, kernel->rsrc2, RSRC2_LDS_SIZE | (traps ? RSRC2_BIT_6 : 0)) == SG_FAIL ||
        compare(queue, REG_RSRC3, kernel->rsrc3, 0) == SG_FAIL)
        return SG_FAIL;
    /* Whoever launches sets it; kfdtest does below gfx12, where the bit got another meaning. */
    if (traps && !(rsrc2 & RSRC2_BIT_6))
        return sg_fail(queue, "RSRC2.TRAP_PRESENT is not set: waves could not be saved when the queue is "
                              "preempted");
    dispatch->lds_bytes = field_of(queue, REG_RSRC2, "lds_size") * LDS_GRANULE;
    if (dispatch->lds_bytes < kernel->group_bytes || dispatch->lds_bytes > LDS_LIMIT)
        return sg_fail(
            queue, "RSRC2.LDS_SIZE gives %" PRIu32 " bytes, the kernel needs %" PRIu32 " and %d is the limit",
            dispatch->lds_bytes, kernel->group_bytes, LDS_LIMIT);
    return SG_NEXT;
}

static enum sg_outcome check_scratch(struct sg_pm4_queue *queue, const struct descriptor *kernel)
{
    if (!(value_of(queue, REG_RSRC2) & RSRC2_SCRATCH_EN))
        return kernel->private_bytes
                   ? sg_fail(queue, "the kernel has %" PRIu32 " bytes of scratch and RSRC2.SCRATCH_EN is 0",
                             kernel->private_bytes)
                   : SG_NEXT;
    if (!is_known(queue, REG_TMPRING_SIZE) || !is_known(queue, REG_SCRATCH_BASE_LO) ||
        !is_known(queue, REG_SCRATCH_BASE_HI))
        return sg_fail(queue, "the kernel uses scratch, which belongs to the queue: TMPRING_SIZE and "
                              "SCRATCH_BASE are not "
                              "the buffer's to know");
    uint64_t base = sg_join(value_of(queue, REG_SCRATCH_BASE_LO), value_of(queue, REG_SCRATCH_BASE_HI)) << 8;
    uint64_t unit = queue->target->generation < 11 ? 1024 : 256;
    uint64_t waves = field_of(queue, REG_TMPRING_SIZE, "waves");
    uint64_t wave_bytes = field_of(queue, REG_TMPRING_SIZE, "wavesize") * unit;
    uint64_t lanes = kernel->properties & PROPERTY_WAVE32 ? 32 : 64;
    if (!waves || wave_bytes < kernel->private_bytes * lanes)
        return sg_fail(queue,
                       "TMPRING_SIZE has %" PRIu64 " waves of %" PRIu64
                       " bytes, a wave of the kernel needs %" PRIu64,
                       waves, wave_bytes, kernel->private_bytes * lanes);
    if (!sg_writable(queue, base, waves * wave_bytes))
        return sg_fail(queue, "the scratch of %" PRIu64 " bytes at 0x%" PRIx64 " is not writable GPU memory",
                       waves * wave_bytes, base);
    return SG_NEXT;
}

static enum sg_outcome check_shape(struct sg_pm4_queue *queue, const uint32_t *body,
                                   struct sg_pm4_dispatch *dispatch)
{
    const struct sg_register *initiator = sg_register_find(queue->target, REG_INITIATOR);
    bool threads = sg_register_get(initiator, "use_thread_dimensions", body[3]);
    uint64_t items = 1;

    for (unsigned axis = 0; axis < 3; axis++) {
        uint32_t offset = REG_NUM_THREAD_X + axis, full = field_of(queue, offset, "num_thread_full");
        if (value_of(queue, offset) != full)
            return sg_fail(queue,
                           "NUM_THREAD_%c is 0x%" PRIX32
                           ": partial work-groups and interleaving are not for a "
                           "compute buffer",
                           "XYZ"[axis], value_of(queue, offset));
        if (!full || full > WORKGROUP_LIMIT)
            return sg_fail(queue, "NUM_THREAD_%c is %" PRIu32 ", a work-group has 1 to %d", "XYZ"[axis], full,
                           WORKGROUP_LIMIT);
        if (!body[axis])
            return sg_fail(queue, "the dispatch has no work-group in %c", "xyz"[axis]);
        if (threads && body[axis] % full)
            return sg_fail(queue,
                           "%" PRIu32 " work-items in %c are no whole number of work-groups of %" PRIu32
                           ": a partial work-group",
                           body[axis], "xyz"[axis], full);
        dispatch->workgroup[axis] = full;
        dispatch->groups[axis] = threads ? body[axis] / full : body[axis];
        if ((uint64_t)dispatch->groups[axis] * full > UINT32_MAX)
            return sg_fail(queue, "more than 2^32 - 1 work-items in %c", "xyz"[axis]);
        items *= full;
    }
    if (items > WORKGROUP_LIMIT)
        return sg_fail(queue, "a work-group of %" PRIu64 " work-items, %d is the limit", items,
                       WORKGROUP_LIMIT);
    return SG_NEXT;
}

static enum sg_outcome check_initiator(struct sg_pm4_queue *queue, uint32_t word,
                                       const struct descriptor *kernel)
{
    const struct sg_register *reg = sg_register_find(queue->target, REG_INITIATOR);
    static const char *const refused[] = {
        "partial_tg_en",     "ordered_append_enbl", "ordered_append_mode",
        "scalar_l1_inv_vol", "vector_l1_inv_vol",   "reserved",
        "restore",           "amp_shader_en",       "disable_disp_prempt_en",
        "ttrace_queue_id",
    };
    static const char *const odd[] = { "ping_pong_en", "tunnel_enable", "interleave_2d_en" };
    uint32_t reserved = sg_register_reserved(reg, word);
    bool wave32 = kernel->properties & PROPERTY_WAVE32;

    if (reserved)
        return sg_fail(queue, "reserved bits 0x%08" PRIX32 " of the initiator are set", reserved);
    if (!sg_register_get(reg, "compute_shader_en", word))
        return sg_fail(queue, "COMPUTE_SHADER_EN is not set: nothing would run");
    for (unsigned i = 0; i < sizeof(refused) / sizeof(refused[0]); i++)
        if (sg_register_get(reg, refused[i], word))
            return sg_fail(queue, "initiator bit %s is not for a compute buffer", refused[i]);
    for (unsigned i = 0; i < sizeof(odd) / sizeof(odd[0]); i++)
        if (sg_register_get(reg, odd[i], word) &&
            !sg_warn(queue, "initiator bit %s: no driver sets it", odd[i]))
            return SG_FAIL;
    if (sg_register_get(reg, "cs_w32_en", word) != wave32)
        return sg_fail(queue, "CS_W32_EN is %d, the kernel descriptor says wave%d", !wave32,
                       wave32 ? 32 : 64);
    if (sg_register_get(reg, "force_start_at_000", word))
        return SG_NEXT;
    if (!all_known(queue, REG_START_X, 3))
        return SG_FAIL;
    for (unsigned axis = 0; axis < 3; axis++)
        if (value_of(queue, REG_START_X + axis))
            return sg_fail(queue, "START_%c is %" PRIu32 ": dispatches start at 0", "XYZ"[axis],
                           value_of(queue, REG_START_X + axis));
    return SG_NEXT;
}

static enum sg_outcome check_packet(struct sg_pm4_queue *queue, const struct descriptor *kernel,
                                    const struct sg_pm4_dispatch *dispatch)
{
    struct packet_view packet;
    const char *bytes = (const char *)(uintptr_t)dispatch->dispatch_packet;

    if (dispatch->dispatch_packet & 63 || !sg_readable(queue, dispatch->dispatch_packet, 64))
        return sg_fail(queue, "the dispatch pointer 0x%" PRIx64 " is no packet in GPU memory",
                       dispatch->dispatch_packet);
    memcpy(packet.workgroup, bytes + 4, 6);
    memcpy(packet.grid, bytes + 12, 12);
    memcpy(&packet.kernel_object, bytes + 32, 8);
    memcpy(&packet.kernarg, bytes + 40, 8);
    for (unsigned axis = 0; axis < 3; axis++)
        if (packet.workgroup[axis] != dispatch->workgroup[axis] ||
            packet.grid[axis] != dispatch->groups[axis] * dispatch->workgroup[axis])
            return sg_fail(queue,
                           "the packet behind the dispatch pointer has another shape in %c: work-group %u, "
                           "grid %" PRIu32,
                           "xyz"[axis], packet.workgroup[axis], packet.grid[axis]);
    if (packet.kernel_object != dispatch->descriptor)
        return sg_fail(queue, "the packet behind the dispatch pointer is for the kernel 0x%" PRIx64,
                       packet.kernel_object);
    if (kernel->properties & PROPERTY_KERNARG_SEGMENT_PTR && packet.kernarg != dispatch->kernarg)
        return sg_fail(queue, "the packet behind the dispatch pointer has the kernarg address 0x%" PRIx64,
                       packet.kernarg);
    return SG_NEXT;
}

/* Order of user SGPRs: LLVM AMDGPUUsage, "Initial Kernel Execution State". */
static enum sg_outcome read_user_data(struct sg_pm4_queue *queue, const struct descriptor *kernel,
                                      struct sg_pm4_dispatch *dispatch)
{
    static const struct {
        uint16_t property;
        uint8_t size;
    } order[] = {
        { PROPERTY_PRIVATE_SEGMENT_BUFFER, 4 },
        { PROPERTY_DISPATCH_PTR, 2 },
        { PROPERTY_QUEUE_PTR, 2 },
        { PROPERTY_KERNARG_SEGMENT_PTR, 2 },
        { PROPERTY_DISPATCH_ID, 2 },
        { PROPERTY_FLAT_SCRATCH_INIT, 2 },
        { PROPERTY_PRIVATE_SEGMENT_SIZE, 1 },
    };
    uint32_t count = field_of(queue, REG_RSRC2, "user_sgpr"), next = 0;

    dispatch->user_sgpr_count = count;
    if (kernel->preload & 0x7F)
        return sg_fail(queue, "the kernel wants arguments preloaded into user SGPRs, which %s does not do",
                       queue->target->gfx);
    for (unsigned i = 0; i < sizeof(order) / sizeof(order[0]); i++) {
        if (!(kernel->properties & order[i].property))
            continue;
        if (next + order[i].size > count || next + order[i].size > USER_DATA_COUNT)
            return sg_fail(queue, "the descriptor's properties 0x%X need more user SGPRs than its %" PRIu32,
                           kernel->properties, count);
        if (!all_known(queue, REG_USER_DATA_0 + next, order[i].size))
            return SG_FAIL;
        const uint32_t *data = &queue->registers[REG_USER_DATA_0 + next - SG_REGISTER_BASE];
        uint64_t address = order[i].size > 1 ? sg_join(data[0], data[1]) : 0;
        switch (order[i].property) {
        case PROPERTY_PRIVATE_SEGMENT_BUFFER:
            if (!(kernel->rsrc2 & RSRC2_SCRATCH_EN) && (address || data[2] || data[3]) &&
                !sg_warn(queue, "the private segment buffer in USER_DATA is not 0, and the kernel has no "
                                "scratch"))
                return SG_FAIL;
            break;
        case PROPERTY_DISPATCH_PTR: dispatch->dispatch_packet = address; break;
        case PROPERTY_QUEUE_PTR:
            if (!sg_readable(queue, address, QUEUE_STRUCTURE))
                return sg_fail(queue, "the queue pointer 0x%" PRIx64 " is not GPU memory", address);
            break;
        case PROPERTY_KERNARG_SEGMENT_PTR:
            dispatch->kernarg = address;
            if (address & 15 ||
                !sg_readable(queue, address, kernel->kernarg_bytes ? kernel->kernarg_bytes : 1))
                return sg_fail(queue,
                               "the kernarg address 0x%" PRIx64 " (%" PRIu32
                               " bytes) is not aligned to 16 or not GPU "
                               "memory",
                               address, kernel->kernarg_bytes);
            break;
        case PROPERTY_DISPATCH_ID: dispatch->dispatch_id = address; break;
        }
        next += order[i].size;
    }
    for (uint32_t i = 0; i < count && i < USER_DATA_COUNT; i++)
        dispatch->user_sgpr[i] = value_of(queue, REG_USER_DATA_0 + i);
    return SG_NEXT;
}

/* What stands between this dispatch and those before it. */
static enum sg_outcome check_order(struct sg_pm4_queue *queue)
{
    if (!queue->acquired && !sg_warn(queue,
                                     "no ACQUIRE_MEM that invalidates K$, vector L0%s stands before the "
                                     "first dispatch of the buffer",
                                     queue->target->generation < 12 ? " and L1" : ""))
        return SG_FAIL;
    if (queue->acquired && queue->waited > queue->invalidated &&
        !sg_warn(queue,
                 "waits for waves before it, but no ACQUIRE_MEM invalidates K$, vector L0%s after that wait",
                 queue->target->generation < 12 ? " and L1" : ""))
        return SG_FAIL;
    return SG_NEXT;
}

enum sg_outcome sg_dispatch_direct(struct sg_pm4_queue *queue, const uint32_t *body)
{
    struct sg_pm4_dispatch dispatch = { 0 };
    struct descriptor kernel = { 0 };
    char error[256] = "";

    if (!all_known(queue, REG_PGM_LO, 2) || !all_known(queue, REG_RSRC1, 2) ||
        !all_known(queue, REG_RSRC3, 1) || !all_known(queue, REG_NUM_THREAD_X, 3))
        return SG_FAIL;
    if (find_kernel(queue, &dispatch, &kernel) == SG_FAIL ||
        check_resources(queue, &kernel, &dispatch) == SG_FAIL || check_scratch(queue, &kernel) == SG_FAIL ||
        check_initiator(queue, body[3], &kernel) == SG_FAIL ||
        check_shape(queue, body, &dispatch) == SG_FAIL ||
        read_user_data(queue, &kernel, &dispatch) == SG_FAIL)
        return SG_FAIL;
    if (kernel.properties & PROPERTY_DISPATCH_PTR && check_packet(queue, &kernel, &dispatch) == SG_FAIL)
        return SG_FAIL;
    if (check_order(queue) == SG_FAIL)
        return SG_FAIL;
    dispatch.wave_size = kernel.properties & PROPERTY_WAVE32 ? 32 : 64;
    if (queue->host.dispatch(queue->host.context, &dispatch, error, sizeof(error)))
        return sg_fail(queue, "%s", error);
    queue->dispatches++;
    return SG_NEXT;
}
