/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Twins of the kernels that HIP 7.2 compiles for itself (copy, fill, stream operations) and of ROCr's own
 * shaders. Each keeps the kernel's own coverage: a launch with too few work-items or a wrong stride leaves
 * the same holes.
 */
#include "twin.h"

#include <sched.h>
#include <stdio.h>
#include <string.h>

#include "table.h"

/* Reads a field of the kernarg segment, which has no alignment that the host may rely on. */
#define READ(type, offset) (read_field((struct field){ offset, sizeof(type) }, dispatch->kernarg))

struct field {
    uint32_t offset, size;
};

static uint64_t read_field(struct field field, const void *kernarg)
{
    uint64_t value = 0;

    memcpy(&value, (const uint8_t *)kernarg + field.offset, field.size);
    return value;
}

static int refuse(const struct sg_dispatch *dispatch, const char *what, char *error, size_t error_size)
{
    snprintf(error, error_size, "kernel %s: %s", dispatch->kernel, what);
    return -1;
}

static uint32_t groups_x(const struct sg_dispatch *dispatch)
{
    return dispatch->grid[0] / dispatch->workgroup[0] + (dispatch->grid[0] % dispatch->workgroup[0] != 0);
}

static uint32_t items_x(const struct sg_dispatch *dispatch, uint32_t group)
{
    uint32_t left = dispatch->grid[0] - group * dispatch->workgroup[0];

    return left < dispatch->workgroup[0] ? left : dispatch->workgroup[0];
}

/* Overlapping ranges have no defined result on the GPU; here they are copied as if they did not overlap. */
static void copy_span(uint64_t destination, uint64_t source, uint64_t bytes)
{
    memmove((void *)destination, (const void *)source, bytes);
}

/* Work-item i of group g starts at element g * block + i and strides by `step` up to the address `end`. */
static int copy_buffer(const struct sg_dispatch *dispatch, char *error, size_t error_size)
{
    uint64_t source = READ(uint64_t, 0), destination = READ(uint64_t, 8), size = READ(uint64_t, 16);
    uint32_t remainder = (uint32_t)READ(uint32_t, 24), width = READ(uint32_t, 28) == 16 ? 16 : 4;
    uint64_t end = READ(uint64_t, 32);
    uint32_t step = (uint32_t)READ(uint32_t, 40), block = (uint32_t)READ(uint32_t, 44);
    uint64_t elements = end > destination ? (end - destination + width - 1) / width : 0;

    if (!step && elements)
        return refuse(dispatch, "a stride of 0 never ends", error, error_size);
    for (uint32_t g = 0; g < groups_x(dispatch); g++)
        for (uint64_t at = g * block; at < elements; at += step) {
            uint64_t count = items_x(dispatch, g), left = elements - at;
            copy_span(destination + at * width, source + at * width, (count < left ? count : left) * width);
        }
    if (remainder)
        copy_span(destination + size - remainder, source + size - remainder, remainder);
    return 0;
}

/* As above; each element is `length` words of `width` bytes, the stride counts words. */
static int fill_buffer(const struct sg_dispatch *dispatch, char *error, size_t error_size)
{
    uint64_t start = READ(uint64_t, 0), pattern = READ(uint64_t, 8);
    uint32_t length = (uint32_t)READ(uint32_t, 16), width = (uint32_t)READ(uint32_t, 20);
    uint64_t end = READ(uint64_t, 24);
    uint32_t step = (uint32_t)READ(uint32_t, 32), block = (uint32_t)READ(uint32_t, 36);

    if (width != 2 && width != 4 && width != 8 && width != 16)
        width = 1;
    if (!step && end > start)
        return refuse(dispatch, "a stride of 0 never ends", error, error_size);
    size_t bytes = (size_t)length * width;
    for (uint64_t base = start; base < end; base += (uint64_t)step * width)
        for (uint32_t g = 0; g < groups_x(dispatch); g++) {
            uint64_t to = base + (uint64_t)(g * block) * bytes;
            for (uint32_t i = 0; i < items_x(dispatch, g) && to < end; i++, to += bytes)
                memcpy((void *)to, (const void *)pattern, bytes);
        }
    return 0;
}

static int fill_rect(const struct sg_dispatch *dispatch, char *error, size_t error_size)
{
    static const uint32_t width_of[4] = { 1, 2, 4, 8 };
    uint64_t buffer = 0, pattern = READ(uint64_t, 32), length = READ(uint32_t, 40);
    uint64_t origin = READ(uint64_t, 48), columns = READ(uint64_t, 56), rows = READ(uint64_t, 64);
    uint64_t pitch = READ(uint64_t, 72);
    uint32_t width = 0;

    for (int i = 3; i >= 0 && !buffer; i--) {
        buffer = READ(uint64_t, 8u * (uint32_t)i);
        width = width_of[i];
    }
    if (!buffer)
        return refuse(dispatch, "no buffer", error, error_size);
    for (uint64_t y = 0; y < dispatch->grid[1] && y < rows; y++)
        for (uint64_t x = 0; x < dispatch->grid[0] && x < columns; x++)
            memcpy((void *)(buffer + (origin + y * pitch + x) * width), (const void *)pattern,
                   length * width);
    return 0;
}

static int copy_aligned(const struct sg_dispatch *dispatch, char *error, size_t error_size)
{
    uint64_t source = READ(uint64_t, 0), destination = READ(uint64_t, 8);
    uint64_t from = READ(uint64_t, 16), to = READ(uint64_t, 24), size = READ(uint64_t, 32);
    uint32_t width = READ(uint32_t, 40) == 16 ? 16 : 4;
    uint64_t count = dispatch->grid[0] < size ? dispatch->grid[0] : size;

    (void)error;
    (void)error_size;
    copy_span(destination + to * width, source + from * width, count * width);
    return 0;
}

/* A rectangle is row pitch, slice pitch and offset, in elements. */
static void copy_rows(const struct sg_dispatch *dispatch, uint32_t width)
{
    uint64_t source = READ(uint64_t, 0), destination = READ(uint64_t, 8);
    uint64_t columns = READ(uint64_t, 96), rows = READ(uint64_t, 104), slices = READ(uint64_t, 112);

    if (columns > dispatch->grid[0])
        columns = dispatch->grid[0];
    for (uint64_t z = 0; z < dispatch->grid[2] && z < slices; z++)
        for (uint64_t y = 0; y < dispatch->grid[1] && y < rows; y++) {
            uint64_t from = READ(uint64_t, 48) + y * READ(uint64_t, 32) + z * READ(uint64_t, 40);
            uint64_t to = READ(uint64_t, 80) + y * READ(uint64_t, 64) + z * READ(uint64_t, 72);
            copy_span(destination + to * width, source + from * width, columns * width);
        }
}

static int copy_rect(const struct sg_dispatch *dispatch, char *error, size_t error_size)
{
    (void)error;
    (void)error_size;
    copy_rows(dispatch, 1);
    return 0;
}

static int copy_rect_aligned(const struct sg_dispatch *dispatch, char *error, size_t error_size)
{
    (void)error;
    (void)error_size;
    copy_rows(dispatch, READ(uint64_t, 120) == 16 ? 16 : 4);
    return 0;
}

static void store(uint64_t address, uint32_t bits, uint64_t value)
{
    if (bits == 32)
        __atomic_store_n((uint32_t *)address, (uint32_t)value, __ATOMIC_SEQ_CST);
    else
        __atomic_store_n((uint64_t *)address, value, __ATOMIC_SEQ_CST);
}

enum { WAIT_AT_LEAST, WAIT_EQUAL, WAIT_AND, WAIT_NOR };

static bool satisfied(uint64_t address, uint32_t bits, uint64_t value, uint64_t condition, uint64_t mask)
{
    uint64_t full = bits == 32 ? UINT32_MAX : UINT64_MAX;
    uint64_t seen = bits == 32 ? __atomic_load_n((uint32_t *)address, __ATOMIC_SEQ_CST)
                               : __atomic_load_n((uint64_t *)address, __ATOMIC_SEQ_CST);

    value &= full;
    mask &= full;
    switch (condition) {
    case WAIT_AT_LEAST: return (seen & mask) >= value;
    case WAIT_EQUAL: return (seen & mask) == value;
    case WAIT_AND: return (seen & mask & value) != 0;
    case WAIT_NOR: return ((seen | value) & mask) != mask;
    default: return true;
    }
}

static int wait(const struct sg_dispatch *dispatch, uint64_t address, uint32_t bits, uint64_t value,
                uint64_t condition, uint64_t mask, char *error, size_t error_size)
{
    while (!satisfied(address, bits, value, condition, mask)) {
        if (dispatch->cancelled && dispatch->cancelled(dispatch->cancelled_context))
            return refuse(dispatch, "cancelled while it waited for memory", error, error_size);
        sched_yield();
    }
    return 0;
}

static int stream_write(const struct sg_dispatch *dispatch, char *error, size_t error_size)
{
    uint64_t narrow = READ(uint64_t, 0), wide = READ(uint64_t, 8);

    if (!narrow && !wide)
        return refuse(dispatch, "no address", error, error_size);
    store(narrow ? narrow : wide, narrow ? 32 : 64, READ(uint64_t, 16));
    return 0;
}

static int stream_wait(const struct sg_dispatch *dispatch, char *error, size_t error_size)
{
    uint64_t narrow = READ(uint64_t, 0), wide = READ(uint64_t, 8);

    if (!narrow && !wide)
        return refuse(dispatch, "no address", error, error_size);
    return wait(dispatch, narrow ? narrow : wide, narrow ? 32 : 64, READ(uint64_t, 16), READ(uint64_t, 24),
                READ(uint64_t, 32), error, error_size);
}

/* One entry of hipStreamBatchMemOp, as hip_runtime_api.h lays it out. */
struct memory_operation {
    uint32_t operation, padding;
    uint64_t address, value;
    uint32_t flags, padding2;
    uint64_t alias, padding3;
};

enum { WAIT_VALUE_32 = 1, WRITE_VALUE_32 = 2, WAIT_VALUE_64 = 4, WRITE_VALUE_64 = 5 };

static int batch_memory(const struct sg_dispatch *dispatch, char *error, size_t error_size)
{
    const struct memory_operation *operation = (const void *)READ(uint64_t, 0);
    uint32_t count = (uint32_t)READ(uint32_t, 8);

    for (uint32_t i = 0; i < count; i++) {
        uint32_t bits = operation[i].operation < WAIT_VALUE_64 ? 32 : 64;
        if (operation[i].operation == WRITE_VALUE_32 || operation[i].operation == WRITE_VALUE_64)
            store(operation[i].address, bits, operation[i].value);
        else if ((operation[i].operation == WAIT_VALUE_32 || operation[i].operation == WAIT_VALUE_64) &&
                 wait(dispatch, operation[i].address, bits, operation[i].value, operation[i].flags,
                      UINT64_MAX, error, error_size))
            return -1;
    }
    return 0;
}

/* Sets a counter of the global wave sync unit, which no kernel here reads. */
static int init_gws(const struct sg_dispatch *dispatch, char *error, size_t error_size)
{
    (void)dispatch;
    (void)error;
    (void)error_size;
    return 0;
}

/* ROCr's copy: `phases` pairs of start addresses, then the two ends; a phase ends where the next starts. */
static int copy_phases(const struct sg_dispatch *dispatch, uint32_t phases)
{
    for (uint32_t i = 0; i < phases; i++) {
        uint64_t source = READ(uint64_t, 16 * i), destination = READ(uint64_t, 16 * i + 8);
        copy_span(destination, source, READ(uint64_t, 16 * (i + 1)) - source);
    }
    return 0;
}

static int rocr_copy_aligned(const struct sg_dispatch *dispatch, char *error, size_t error_size)
{
    (void)error;
    (void)error_size;
    return copy_phases(dispatch, 4);
}

static int rocr_copy_misaligned(const struct sg_dispatch *dispatch, char *error, size_t error_size)
{
    (void)error;
    (void)error_size;
    return copy_phases(dispatch, 2);
}

static int rocr_fill(const struct sg_dispatch *dispatch, char *error, size_t error_size)
{
    uint32_t value = (uint32_t)READ(uint32_t, 24);

    (void)error;
    (void)error_size;
    for (uint64_t at = READ(uint64_t, 0); at < READ(uint64_t, 16); at += sizeof(value))
        memcpy((void *)at, &value, sizeof(value));
    return 0;
}

static const struct sg_builtin builtins[] = {
    { "__amd_rocclr_copyBuffer", 48, false, copy_buffer },
    { "__amd_rocclr_fillBufferAligned", 40, false, fill_buffer },
    { "__amd_rocclr_fillBufferAligned2D", 80, true, fill_rect },
    { "__amd_rocclr_copyBufferAligned", 44, true, copy_aligned },
    { "__amd_rocclr_copyBufferRect", 128, true, copy_rect },
    { "__amd_rocclr_copyBufferRectAligned", 128, true, copy_rect_aligned },
    { "__amd_rocclr_streamOpsWrite", 24, false, stream_write },
    { "__amd_rocclr_streamOpsWait", 40, false, stream_wait },
    { "__amd_rocclr_batchMemOp", 12, false, batch_memory },
    { "__amd_rocclr_gwsInit", 4, false, init_gws },
    { "rocr.copy_aligned", 84, false, rocr_copy_aligned },
    { "rocr.copy_misaligned", 52, false, rocr_copy_misaligned },
    { "rocr.fill", 32, false, rocr_fill },
};

const struct sg_builtin *sg_builtin_find(const char *kernel)
{
    for (size_t i = 0; i < sizeof(builtins) / sizeof(builtins[0]); i++)
        if (!strcmp(builtins[i].kernel, kernel))
            return &builtins[i];
    return NULL;
}

/* `phases` pairs that rise together to the pair of ends, with the number of work-items behind them. */
static bool is_copy(const uint8_t *kernarg, size_t size, uint32_t phases, uint32_t items)
{
    uint64_t pair[2], next[2];
    uint32_t count, behind = 16 * (phases + 1);

    if (size < behind + sizeof(count))
        return false;
    memcpy(&count, kernarg + behind, sizeof(count));
    if (count != items)
        return false;
    for (uint32_t i = 0; i < phases; i++) {
        memcpy(pair, kernarg + (size_t)16 * i, sizeof(pair));
        memcpy(next, kernarg + (size_t)16 * (i + 1), sizeof(next));
        if (next[0] < pair[0] || next[0] - pair[0] != next[1] - pair[1])
            return false;
    }
    return true;
}

const char *sg_twin_rocr_shader(const void *kernarg, size_t kernarg_size, const uint32_t grid[3])
{
    uint64_t bound[3];
    uint32_t count;

    if (is_copy(kernarg, kernarg_size, 4, grid[0]))
        return "rocr.copy_aligned";
    if (is_copy(kernarg, kernarg_size, 2, grid[0]))
        return "rocr.copy_misaligned";
    if (kernarg_size < 32)
        return NULL;
    memcpy(bound, kernarg, sizeof(bound));
    memcpy(&count, (const uint8_t *)kernarg + 28, sizeof(count));
    return count == grid[0] && bound[0] <= bound[1] && bound[1] <= bound[2] ? "rocr.fill" : NULL;
}
