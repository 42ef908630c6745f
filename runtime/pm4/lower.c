/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Lowering: dispatches with levels -> the words of one indirect buffer.
 *
 * Shape
 *   entry    ACQUIRE_MEM; where waits need the fence word, WRITE_DATA 0 to it (it still holds what the last
 *            replay left, which the first wait could take for its own); START = 0, which stays; on gfx10
 *            the empty buffer resource that its kernels share.
 *   level    for each dispatch, the registers that differ from what this buffer has already written, then
 *            DISPATCH_DIRECT. Dispatches of a level are sorted by kernel, the one that ran last goes first.
 *   fence    between levels: wait for all waves, then invalidate. The order matters: caches that are emptied
 *            while the earlier waves still run fill up again with old data.
 *   exit     wait for all waves: nothing says that the vendor packet itself completes after them.
 *
 * Elision
 *   A shadow holds what this buffer has written. Nothing is known at its beginning: HIP's own dispatches run
 *   between replays. A register is written when it is not known or differs. Registers with at most GAP others
 *   between them share a packet: writing GAP known values again is no longer than a new packet. The low word
 *   of a kernarg or packet pointer is always written, so that every dispatch has its own word to patch, and is
 *   not known afterwards, since a patch may change it.
 *
 * Failure
 *   plan refuses with a reason and the dispatch that it is about; emit cannot fail.
 */
#include "pm4/lower.h"

#include <string.h>

#include "pm4/descriptor.h"

enum {
    GAP = RL_PM4_SET_DWORDS,
    RESERVE = 64, /* more than an entry, a fence, a dispatch with all of its registers, or an exit takes */
    MAX_WORKGROUP = 1024,
    MAX_LDS = 64 * 1024,
    LDS_GRANULE = 512,
    ENTRY_ALIGNMENT = 256,
    KERNARG_ALIGNMENT = 16,
    PACKET_ALIGNMENT = 64,
};

enum {
    SUPPORTED = RL_PROPERTY_PRIVATE_SEGMENT_BUFFER | RL_PROPERTY_DISPATCH_POINTER |
        RL_PROPERTY_QUEUE_POINTER | RL_PROPERTY_KERNARG_POINTER | RL_PROPERTY_DISPATCH_ID |
        RL_PROPERTY_WAVE32,
};

/* Fields that the launcher fills and a descriptor leaves 0. */
enum {
    RSRC1_LAUNCHER = RL_PM4_MASK(COMPUTE_PGM_RSRC1, PRIORITY) | RL_PM4_MASK(COMPUTE_PGM_RSRC1, PRIV) |
        RL_PM4_MASK(COMPUTE_PGM_RSRC1, BULKY),
    RSRC2_LAUNCHER = RL_PM4_MASK(COMPUTE_PGM_RSRC2, TRAP_PRESENT) | /* on gfx12 DYNAMIC_VGPR */
        RL_PM4_MASK(COMPUTE_PGM_RSRC2, EXCP_EN_MSB) | RL_PM4_MASK(COMPUTE_PGM_RSRC2, LDS_SIZE) |
        RL_PM4_MASK(COMPUTE_PGM_RSRC2, WGP_TAKEOVER),
    USER_SGPR_BITS = RL_PM4_MASK(COMPUTE_PGM_RSRC2, USER_SGPR),
    SCRATCH_EN = RL_PM4_MASK(COMPUTE_PGM_RSRC2, SCRATCH_EN),
};

void rl_kernel_read(struct rl_kernel *kernel, uint64_t kernel_object, const void *descriptor)
{
    const uint8_t *bytes = descriptor;
    int64_t entry;

    memcpy(&kernel->group_bytes, bytes + RL_DESCRIPTOR_GROUP_BYTES, 4);
    memcpy(&kernel->private_bytes, bytes + RL_DESCRIPTOR_PRIVATE_BYTES, 4);
    memcpy(&kernel->kernarg_bytes, bytes + RL_DESCRIPTOR_KERNARG_BYTES, 4);
    memcpy(&entry, bytes + RL_DESCRIPTOR_ENTRY, 8);
    memcpy(&kernel->rsrc3, bytes + RL_DESCRIPTOR_RSRC3, 4);
    memcpy(&kernel->rsrc1, bytes + RL_DESCRIPTOR_RSRC1, 4);
    memcpy(&kernel->rsrc2, bytes + RL_DESCRIPTOR_RSRC2, 4);
    memcpy(&kernel->properties, bytes + RL_DESCRIPTOR_PROPERTIES, 2);
    memcpy(&kernel->preload, bytes + RL_DESCRIPTOR_PRELOAD, 2);
    kernel->entry = kernel_object + (uint64_t)entry;
}

/* ---- reasons ---- */

static const char *const reasons[RL_LOWER_REASONS] = {
    [RL_LOWER_OK] = "The dispatches can be lowered.",
    [RL_LOWER_EMPTY] = "There is nothing to dispatch.",
    [RL_LOWER_TOO_LARGE] = "The buffer would be longer than an indirect buffer can be.",
    [RL_LOWER_SCRATCH] = "A kernel uses scratch memory.",
    [RL_LOWER_DYNAMIC_STACK] = "A kernel has a stack of unknown size.",
    [RL_LOWER_KERNARG_PRELOAD] = "A kernel wants its arguments preloaded into registers.",
    [RL_LOWER_PROPERTY] = "A kernel descriptor asks for something that is not known or not supported.",
    [RL_LOWER_DESCRIPTOR] = "A kernel descriptor has bits that this GPU has not, or that launchers set.",
    [RL_LOWER_USER_SGPRS] = "A kernel descriptor has fewer or more user registers than its properties need.",
    [RL_LOWER_ENTRY] = "A kernel's code is not aligned to 256 bytes or lies above 48 bits.",
    [RL_LOWER_WORKGROUP] = "A work-group or a grid is empty, or a work-group has more than 1,024 work-items.",
    [RL_LOWER_PARTIAL_WORKGROUP] = "A grid is not a whole number of work-groups.",
    [RL_LOWER_LDS] = "A dispatch has more than 64 KiB of LDS, or less than its kernel declares.",
    [RL_LOWER_KERNARG] = "A dispatch has no kernel arguments in place, or they are not aligned to 16 bytes.",
    [RL_LOWER_PACKET] = "A kernel reads its dispatch packet and there is no aligned copy of it.",
    [RL_LOWER_QUEUE] = "A kernel reads its queue and there is none.",
    [RL_LOWER_FENCE] = "This GPU needs a fence word and there is none, or it is not aligned.",
    [RL_LOWER_INDEX] = "A dispatch names a kernel or a level that does not exist.",
};

const char *rl_lower_reason_text(enum rl_lower_reason reason)
{
    return reason < RL_LOWER_REASONS ? reasons[reason] : "Unknown reason.";
}

/* ---- checks ---- */

/* Bits of the resource registers that are fields on the target. */
struct field_bits {
    uint32_t rsrc1, rsrc2, rsrc3;
};

static uint32_t user_sgprs(uint16_t properties)
{
    return (properties & RL_PROPERTY_PRIVATE_SEGMENT_BUFFER ? 4 : 0) +
           (properties & RL_PROPERTY_DISPATCH_POINTER ? 2 : 0) +
           (properties & RL_PROPERTY_QUEUE_POINTER ? 2 : 0) +
           (properties & RL_PROPERTY_KERNARG_POINTER ? 2 : 0) +
           (properties & RL_PROPERTY_DISPATCH_ID ? 2 : 0);
}

static enum rl_lower_reason check_kernel(const struct rl_kernel *kernel, const struct rl_pm4_target *target,
                                         const struct field_bits *bits)
{
    uint32_t wanted = user_sgprs(kernel->properties);
    uint32_t declared = (kernel->rsrc2 & USER_SGPR_BITS) >> RL_LOW_COMPUTE_PGM_RSRC2_USER_SGPR;

    if (kernel->private_bytes || kernel->rsrc2 & SCRATCH_EN)
        return RL_LOWER_SCRATCH;
    if (kernel->properties & RL_PROPERTY_DYNAMIC_STACK)
        return RL_LOWER_DYNAMIC_STACK;
    if (kernel->preload)
        return RL_LOWER_KERNARG_PRELOAD;
    if (kernel->properties & ~SUPPORTED)
        return RL_LOWER_PROPERTY;
    /* From gfx11 on scratch has no buffer resource in SGPRs. */
    if (kernel->properties & RL_PROPERTY_PRIVATE_SEGMENT_BUFFER && !(target->family & RL_GFX10))
        return RL_LOWER_PROPERTY;
    if (kernel->rsrc1 & (~bits->rsrc1 | RSRC1_LAUNCHER) || kernel->rsrc2 & (~bits->rsrc2 | RSRC2_LAUNCHER) ||
        kernel->rsrc3 & ~bits->rsrc3)
        return RL_LOWER_DESCRIPTOR;
    /* More than wanted: for gfx1100 clang pads to 16 with registers that nothing reads. */
    if (declared < wanted || declared > RL_USER_SGPRS)
        return RL_LOWER_USER_SGPRS;
    if (kernel->entry % ENTRY_ALIGNMENT || kernel->entry >> 48)
        return RL_LOWER_ENTRY;
    return RL_LOWER_OK;
}

static enum rl_lower_reason check_dispatch(const struct rl_dispatch *dispatch, const struct rl_kernel *kernel)
{
    uint64_t items = 1;

    if (dispatch->private_bytes)
        return RL_LOWER_SCRATCH;
    for (int i = 0; i < 3; i++) {
        if (!dispatch->workgroup[i] || dispatch->workgroup[i] > MAX_WORKGROUP || !dispatch->grid[i])
            return RL_LOWER_WORKGROUP;
        if (dispatch->grid[i] % dispatch->workgroup[i])
            return RL_LOWER_PARTIAL_WORKGROUP;
        items *= dispatch->workgroup[i];
    }
    if (items > MAX_WORKGROUP)
        return RL_LOWER_WORKGROUP;
    if (dispatch->lds_bytes > MAX_LDS || dispatch->lds_bytes < kernel->group_bytes)
        return RL_LOWER_LDS;
    if (kernel->properties & RL_PROPERTY_KERNARG_POINTER &&
        (!dispatch->kernarg || dispatch->kernarg % KERNARG_ALIGNMENT))
        return RL_LOWER_KERNARG;
    if (kernel->properties & RL_PROPERTY_DISPATCH_POINTER &&
        (!dispatch->packet || dispatch->packet % PACKET_ALIGNMENT))
        return RL_LOWER_PACKET;
    if (kernel->properties & RL_PROPERTY_QUEUE_POINTER && !dispatch->queue)
        return RL_LOWER_QUEUE;
    return RL_LOWER_OK;
}

static enum rl_lower_reason check(struct rl_lower *lower)
{
    const struct rl_lower_input *input = &lower->input;
    const struct field_bits bits = {
        rl_pm4_register_bits(input->target, RL_REG_COMPUTE_PGM_RSRC1),
        rl_pm4_register_bits(input->target, RL_REG_COMPUTE_PGM_RSRC2),
        rl_pm4_register_bits(input->target, RL_REG_COMPUTE_PGM_RSRC3),
    };
    const struct rl_kernel *checked = NULL;

    if (!input->dispatch_count)
        return RL_LOWER_EMPTY;
    if (rl_lower_needs_fence(input) && (!input->fence || input->fence % 4))
        return RL_LOWER_FENCE;
    for (uint32_t i = 0; i < input->dispatch_count; i++) {
        const struct rl_dispatch *dispatch = &input->dispatches[i];
        enum rl_lower_reason reason = RL_LOWER_OK;

        lower->refused = i;
        if (dispatch->kernel >= input->kernel_count || dispatch->level >= input->dispatch_count)
            return RL_LOWER_INDEX;
        if (checked != &input->kernels[dispatch->kernel])
            reason = check_kernel(checked = &input->kernels[dispatch->kernel], input->target, &bits);
        if (!reason)
            reason = check_dispatch(dispatch, checked);
        if (reason)
            return reason;
    }
    return RL_LOWER_OK;
}

/* ---- order ---- */

/* Stable counting sort of `from` into `to` by key(dispatch); counts: keys + 1 words. */
#define COUNTING_SORT(from, to, count, key, keys, counts)                                                    \
    do {                                                                                                     \
        memset(counts, 0, ((size_t)(keys) + 1) * sizeof(*(counts)));                                         \
        for (uint32_t i = 0; i < (count); i++)                                                               \
            (counts)[dispatches[i].key + 1]++;                                                               \
        for (uint32_t i = 1; i < (keys); i++)                                                                \
            (counts)[i] += (counts)[i - 1];                                                                  \
        for (uint32_t i = 0; i < (count); i++)                                                               \
            (to)[(counts)[dispatches[(from)[i]].key]++] = (from)[i];                                         \
    } while (0)

/* First of order[begin, end), which is sorted by kernel, that has this kernel; `end` if none. */
static uint32_t find_kernel(const struct rl_dispatch *dispatches, const uint32_t *order, uint32_t begin,
                            uint32_t end, uint32_t kernel)
{
    uint32_t stop = end;

    while (begin < end) {
        uint32_t middle = begin + (end - begin) / 2;

        if (dispatches[order[middle]].kernel < kernel)
            begin = middle + 1;
        else
            end = middle;
    }
    return begin < stop && dispatches[order[begin]].kernel == kernel ? begin : stop;
}

/* By level, within it by kernel, the kernel that ran last first; else as the input has them. */
static void sort(struct rl_lower *lower, uint32_t *work)
{
    const struct rl_dispatch *dispatches = lower->input.dispatches;
    uint32_t count = lower->input.dispatch_count, last = UINT32_MAX;
    uint32_t *first = work, *second = work + count, *counts = second + count;

    for (uint32_t i = 0; i < count; i++)
        first[i] = i;
    COUNTING_SORT(first, second, count, kernel, lower->input.kernel_count, counts);
    COUNTING_SORT(second, first, count, level, count, counts);

    lower->levels = 0;
    for (uint32_t begin = 0, end; begin < count; begin = end, lower->levels++) {
        for (end = begin + 1; end < count && dispatches[first[end]].level == dispatches[first[begin]].level;)
            end++;
        uint32_t at = begin, same = find_kernel(dispatches, first, begin, end, last), rest = same;

        while (rest < end && dispatches[first[rest]].kernel == last)
            second[at++] = first[rest++];
        memcpy(second + at, first + begin, (same - begin) * sizeof(*first));
        memcpy(second + at + (same - begin), first + rest, (end - rest) * sizeof(*first));
        last = dispatches[second[end - 1]].kernel;
    }
    lower->order = second;
}

/* ---- registers and their shadow ---- */

/* Neighbouring registers and what this buffer has written to them. */
struct window {
    uint32_t known; /* bit i: value[i] has been written */
    uint32_t value[RL_USER_SGPRS];
};

struct shadow {
    struct window threads, program, resources, resource3, user;
};

/* Writes the registers of a window that are in `force`, not known, or differ; where[i]: the word of each. */
static inline uint32_t *set_window(uint32_t *at, struct window *window, uint32_t offset, const uint32_t *want,
                                   uint32_t count, uint32_t force, uint32_t **where)
{
    uint32_t all = UINT32_MAX >> (32 - count), todo = force | (all & ~window->known);

    for (uint32_t i = 0; i < count; i++)
        todo |= (uint32_t)(window->value[i] != want[i]) << i;
    if (!todo)
        return at;
    window->known |= all;
    while (todo) {
        uint32_t first = (uint32_t)__builtin_ctz(todo), end = first;

        for (uint32_t i = first; i < count && i <= end + GAP; i++)
            if (todo >> i & 1)
                end = i + 1;
        for (uint32_t i = first; i < end; i++) {
            window->value[i] = want[i];
            if (where)
                where[i] = at + RL_PM4_SET_DWORDS + (i - first);
        }
        at = rl_pm4_set(at, offset + first, want + first, end - first);
        todo &= ~(UINT32_MAX >> (32 - end));
    }
    return at;
}

/* ---- emission ---- */

/* Words go to `words`, or, to be counted only, always to the same spare room. */
struct writer {
    uint32_t *words;
    size_t count;
    uint32_t spare[RESERVE];
};

static uint32_t *reserve(struct writer *writer)
{
    return writer->words ? writer->words + writer->count : writer->spare;
}

static void commit(struct writer *writer, const uint32_t *begin, const uint32_t *end)
{
    assert(end - begin <= RESERVE);
    writer->count += (size_t)(end - begin);
}

/* What a kernel's dispatches have in common. */
struct program {
    const struct rl_kernel *kernel;
    uint32_t entry[2], rsrc1, rsrc2, initiator;
};

static struct program program_of(const struct rl_kernel *kernel, const struct rl_pm4_target *target)
{
    return (struct program){
        .kernel = kernel,
        .entry = { (uint32_t)(kernel->entry >> 8), (uint32_t)(kernel->entry >> 40) },
        .rsrc1 = kernel->rsrc1 | target->rsrc1_set,
        .rsrc2 = kernel->rsrc2 | target->rsrc2_set,
        /* Not ORDER_MODE: that waves of a grid may start out of order is more than AQL is known to allow. */
        .initiator = RL_PM4(DISPATCH_DIRECT, COMPUTE_SHADER_EN, 1) |
                     RL_PM4(DISPATCH_DIRECT, FORCE_START_AT_000, 1) |
                     RL_PM4(DISPATCH_DIRECT, CS_W32_EN, (kernel->properties & RL_PROPERTY_WAVE32) != 0),
    };
}

static uint32_t put_address(uint32_t *user, uint32_t count, uint64_t address)
{
    user[count] = (uint32_t)address;
    user[count + 1] = (uint32_t)(address >> 32);
    return count + 2;
}

/* User SGPRs in the order of their property bits. There is no scratch, so its buffer resource is empty. */
static uint32_t *set_user_data(uint32_t *at, struct shadow *shadow, const struct rl_dispatch *dispatch,
                               uint16_t properties, uint32_t **kernarg, uint32_t **packet)
{
    uint32_t user[RL_USER_SGPRS], count = 0, force = 0, kernarg_at = 0, packet_at = 0;
    uint32_t *where[RL_USER_SGPRS];

    *kernarg = *packet = NULL;
    if (properties & RL_PROPERTY_PRIVATE_SEGMENT_BUFFER)
        while (count < 4)
            user[count++] = 0;
    if (properties & RL_PROPERTY_DISPATCH_POINTER) {
        force |= 1u << (packet_at = count);
        count = put_address(user, count, dispatch->packet);
    }
    if (properties & RL_PROPERTY_QUEUE_POINTER)
        count = put_address(user, count, dispatch->queue);
    if (properties & RL_PROPERTY_KERNARG_POINTER) {
        force |= 1u << (kernarg_at = count);
        count = put_address(user, count, dispatch->kernarg);
    }
    if (properties & RL_PROPERTY_DISPATCH_ID)
        count = put_address(user, count, dispatch->dispatch_id);
    if (!count)
        return at;
    at = set_window(at, &shadow->user, RL_REG_COMPUTE_USER_DATA_0, user, count, force, where);
    shadow->user.known &= ~force;
    if (properties & RL_PROPERTY_DISPATCH_POINTER)
        *packet = where[packet_at];
    if (properties & RL_PROPERTY_KERNARG_POINTER)
        *kernarg = where[kernarg_at];
    return at;
}

static uint32_t *put_wait(uint32_t *at, const struct rl_lower *lower, uint32_t *fences)
{
    if (!lower->flush_returns_early)
        return rl_pm4_partial_flush(at);
    at = rl_pm4_release(at, lower->input.fence, ++*fences);
    return rl_pm4_wait(at, lower->input.fence, *fences);
}

static uint32_t *put_entry(uint32_t *at, const struct rl_lower *lower, struct shadow *shadow)
{
    static const uint32_t no_scratch[4];
    const struct rl_lower_input *input = &lower->input;
    const struct rl_pm4_target *target = input->target;
    const struct rl_dispatch *first = &input->dispatches[lower->order[0]];

    at = rl_pm4_acquire(at, input->system_entry ? target->system_gcr : target->level_gcr);
    if (lower->flush_returns_early)
        at = rl_pm4_write(at, input->fence, 0);
    at = rl_pm4_set_start(at);
    if (input->kernels[first->kernel].properties & RL_PROPERTY_PRIVATE_SEGMENT_BUFFER)
        at = set_window(at, &shadow->user, RL_REG_COMPUTE_USER_DATA_0, no_scratch, 4, 0, NULL);
    return at;
}

static uint32_t *put_exit(uint32_t *at, const struct rl_lower *lower, uint32_t *fences)
{
    uint32_t gcr = lower->input.target->exit_gcr;

    if (lower->input.system_exit)
        gcr |= RL_PM4(ACQUIRE_MEM, GL2_WB, 1) | RL_PM4_NAME(ACQUIRE_MEM, SEQ, FORWARD);
    at = put_wait(at, lower, fences);
    return gcr ? rl_pm4_acquire(at, gcr) : at;
}

/* The whole buffer; returns its dwords. `words` NULL: only counted. */
static size_t walk(const struct rl_lower *lower, uint32_t *words, struct rl_place *places)
{
    const struct rl_lower_input *input = &lower->input;
    struct writer writer = { .words = words };
    struct shadow shadow = { 0 };
    struct program program = { 0 };
    uint32_t fences = 0, level = input->dispatches[lower->order[0]].level;
    uint32_t *begin = reserve(&writer);

    commit(&writer, begin, put_entry(begin, lower, &shadow));
    for (uint32_t i = 0; i < input->dispatch_count; i++) {
        const struct rl_dispatch *dispatch = &input->dispatches[lower->order[i]];
        const struct rl_kernel *kernel = &input->kernels[dispatch->kernel];
        uint32_t threads[3], groups[3], *kernarg, *packet, *at;

        if (dispatch->level != level) {
            level = dispatch->level;
            begin = reserve(&writer);
            at = put_wait(begin, lower, &fences);
            commit(&writer, begin, rl_pm4_acquire(at, input->target->level_gcr));
        }
        at = begin = reserve(&writer);
        if (program.kernel != kernel) {
            program = program_of(kernel, input->target);
            at = set_window(at, &shadow.program, RL_REG_COMPUTE_PGM_LO, program.entry, 2, 0, NULL);
            at = set_window(at, &shadow.resource3, RL_REG_COMPUTE_PGM_RSRC3, &kernel->rsrc3, 1, 0, NULL);
        }
        for (int d = 0; d < 3; d++) {
            threads[d] = dispatch->workgroup[d];
            groups[d] = dispatch->grid[d] / dispatch->workgroup[d];
        }
        uint32_t granules = (dispatch->lds_bytes + LDS_GRANULE - 1) / LDS_GRANULE;
        uint32_t resources[2] = { program.rsrc1,
                                  program.rsrc2 | RL_PM4(COMPUTE_PGM_RSRC2, LDS_SIZE, granules) };

        at = set_window(at, &shadow.resources, RL_REG_COMPUTE_PGM_RSRC1, resources, 2, 0, NULL);
        at = set_window(at, &shadow.threads, RL_REG_COMPUTE_NUM_THREAD_X, threads, 3, 0, NULL);
        at = set_user_data(at, &shadow, dispatch, kernel->properties, &kernarg, &packet);
        at = rl_pm4_dispatch(at, groups, program.initiator);
        commit(&writer, begin, at);
        if (places)
            places[lower->order[i]] = (struct rl_place){
                kernarg ? (uint32_t)(kernarg - words) : RL_LOWER_NO_WORD,
                packet ? (uint32_t)(packet - words) : RL_LOWER_NO_WORD,
            };
    }
    begin = reserve(&writer);
    commit(&writer, begin, put_exit(begin, lower, &fences));
    return writer.count;
}

size_t rl_lower_work_words(const struct rl_lower_input *input)
{
    size_t keys = input->kernel_count > input->dispatch_count ? input->kernel_count : input->dispatch_count;

    return 2 * (size_t)input->dispatch_count + keys + 1;
}

bool rl_lower_needs_fence(const struct rl_lower_input *input)
{
    return rl_pm4_partial_flush_returns_early(input->target, input->cp_feature_version);
}

enum rl_lower_reason rl_lower_plan(struct rl_lower *lower, const struct rl_lower_input *input, uint32_t *work)
{
    *lower = (struct rl_lower){ .input = *input, .flush_returns_early = rl_lower_needs_fence(input) };
    enum rl_lower_reason reason = check(lower);

    if (reason)
        return reason;
    sort(lower, work);
    size_t dwords = walk(lower, NULL, NULL);

    if (dwords > RL_PM4_MAX_DWORDS)
        return RL_LOWER_TOO_LARGE;
    lower->dwords = (uint32_t)dwords;
    return RL_LOWER_OK;
}

void rl_lower_emit(const struct rl_lower *lower, uint32_t *words, struct rl_place *places)
{
    size_t written = walk(lower, words, places);

    assert(written == lower->dwords);
    (void)written;
}

/* ---- levels ---- */

bool rl_levels(uint32_t nodes, const struct rl_edge *edges, uint32_t edge_count, const uint32_t *weight,
               uint32_t *level, uint32_t *work)
{
    uint32_t *waiting = work, *ready = waiting + nodes, *first = ready + nodes, *next = first + nodes + 1;
    uint32_t done = 0, found = 0;

    memset(waiting, 0, nodes * sizeof(*waiting));
    memset(first, 0, ((size_t)nodes + 1) * sizeof(*first));
    for (uint32_t i = 0; i < edge_count; i++) {
        if (edges[i].from >= nodes || edges[i].to >= nodes)
            return false;
        first[edges[i].from]++;
        waiting[edges[i].to]++;
    }
    for (uint32_t i = 0, sum = 0; i <= nodes; i++)
        first[i] = sum += first[i];
    for (uint32_t i = edge_count; i-- > 0;)
        next[--first[edges[i].from]] = edges[i].to;
    for (uint32_t i = 0; i < nodes; i++) {
        level[i] = 0;
        if (!waiting[i])
            ready[found++] = i;
    }
    while (done < found) {
        uint32_t node = ready[done++], after = level[node] + (weight ? weight[node] : 1);

        if (after < level[node])
            return false;
        for (uint32_t i = first[node]; i < first[node + 1]; i++) {
            if (level[next[i]] < after)
                level[next[i]] = after;
            if (!--waiting[next[i]])
                ready[found++] = next[i];
        }
    }
    return found == nodes;
}
