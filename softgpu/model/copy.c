/* SPDX-License-Identifier: Apache-2.0 */
#include "copy.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum {
    OP_NOP = 0,
    OP_COPY = 1,
    OP_WRITE = 2,
    OP_FENCE = 5,
    OP_TRAP = 6,
    OP_POLL = 8,
    OP_ATOMIC = 10,
    OP_FILL = 11,
    OP_TIMESTAMP = 13,
    OP_GCR = 17
};
enum {
    COPY_LINEAR = 0,
    COPY_RECT = 4,
    TIMESTAMP_GLOBAL = 2,
    ATOMIC_ADD64 = 47,
    FILL_DWORDS = 2,
    POLL_FUNCTIONS = 7
};

static uint32_t field(uint32_t word, unsigned low, unsigned bits)
{
    return word >> low & (bits == 32 ? UINT32_MAX : (1u << bits) - 1);
}

static uint64_t address(const uint32_t *low)
{
    return low[0] | (uint64_t)low[1] << 32;
}

/* Widths of the sub-window packet, in bits: coordinates, depth, pitch and slice; gfx12 widened all of them.
 */
struct window_format {
    unsigned xy, z, pitch_low, pitch, slice;
};
static const struct window_format window_sdma5 = { 14, 11, 13, 19, 28 },
                                  window_sdma7 = { 16, 14, 16, 16, 32 };

static void decode_window(struct sg_copy *copy, const uint32_t *words, unsigned gfx_major)
{
    const struct window_format *f = gfx_major >= 12 ? &window_sdma7 : &window_sdma5;
    unsigned shift = field(words[0], 29, 3); /* log2 of the element's bytes */
    uint64_t *base[2] = { &copy->source, &copy->target };
    uint64_t *pitch[2] = { &copy->source_pitch, &copy->target_pitch };
    uint64_t *slice[2] = { &copy->source_slice, &copy->target_slice };

    for (int side = 0; side < 2; side++) {
        const uint32_t *w = words + 1 + 5 * side;

        *pitch[side] = ((uint64_t)field(w[3], f->pitch_low, f->pitch) + 1) << shift;
        *slice[side] = ((uint64_t)field(w[4], 0, f->slice) + 1) << shift;
        *base[side] = address(w) + ((uint64_t)field(w[2], 0, f->xy) << shift) +
                      field(w[2], 16, f->xy) * *pitch[side] + field(w[3], 0, f->z) * *slice[side];
    }
    copy->kind = SG_COPY_RECT;
    copy->bytes = ((uint64_t)field(words[11], 0, f->xy) + 1) << shift;
    copy->rows = field(words[11], 16, f->xy) + 1;
    copy->slices = field(words[12], 0, f->z) + 1;
    copy->dwords = 13;
}

bool sg_copy_decode(struct sg_copy *copy, const uint32_t *words, uint64_t available, unsigned gfx_major,
                    char *text, size_t size)
{
    unsigned op = field(words[0], 0, 8), sub = field(words[0], 8, 8);
    bool known = true;
    uint32_t padded[13] = { 0 };
    const uint32_t *w = words;

    memset(copy, 0, sizeof *copy);
    copy->rows = copy->slices = 1;
    /* The decoder may look at the whole of the longest fixed packet; its true length is checked below. */
    if (available < 13) {
        memcpy(padded, words, available * 4);
        w = padded;
    }
    switch (op) {
    case OP_NOP:
        copy->kind = SG_COPY_NOP;
        copy->dwords = 1 + field(w[0], 16, 14);
        break;
    case OP_COPY:
        if (sub == COPY_RECT) {
            decode_window(copy, w, gfx_major);
            break;
        }
        known = sub == COPY_LINEAR;
        copy->kind = SG_COPY_LINEAR;
        copy->bytes = (uint64_t)field(w[1], 0, 30) + 1;
        copy->source = address(w + 3);
        copy->target = address(w + 5);
        copy->dwords = 7;
        break;
    case OP_WRITE:
        known = sub == 0;
        copy->kind = SG_COPY_WRITE;
        copy->target = address(w + 1);
        copy->bytes = ((uint64_t)field(w[3], 0, 20) + 1) * 4;
        copy->data = words + 4;
        copy->dwords = (uint32_t)(4 + copy->bytes / 4);
        break;
    case OP_FENCE:
        copy->kind = SG_COPY_FENCE;
        copy->target = address(w + 1);
        copy->value = w[3];
        copy->dwords = 4;
        break;
    case OP_TRAP:
        copy->kind = SG_COPY_TRAP;
        copy->value = field(w[1], 0, 28);
        copy->dwords = 2;
        break;
    case OP_POLL:
        copy->kind = field(w[0], 31, 1) ? SG_COPY_POLL : SG_COPY_CACHE; /* of a register: the HDP flush */
        copy->function = field(w[0], 28, 3);
        copy->target = address(w + 1);
        copy->value = w[3];
        copy->mask = w[4];
        copy->dwords = 6;
        known = copy->function < POLL_FUNCTIONS;
        break;
    case OP_ATOMIC:
        known = field(w[0], 25, 7) == ATOMIC_ADD64;
        copy->kind = SG_COPY_ATOMIC_ADD;
        copy->target = address(w + 1);
        copy->value = address(w + 3);
        copy->dwords = 8;
        break;
    case OP_FILL:
        known = field(w[0], 30, 2) == FILL_DWORDS;
        copy->kind = SG_COPY_FILL;
        copy->target = address(w + 1);
        copy->value = w[3];
        copy->bytes = (uint64_t)field(w[4], 0, 30) / 4 * 4 + 4;
        copy->dwords = 5;
        break;
    case OP_TIMESTAMP:
        known = sub == TIMESTAMP_GLOBAL;
        copy->kind = SG_COPY_TIMESTAMP;
        copy->target = address(w + 1);
        copy->dwords = 3;
        break;
    case OP_GCR:
        copy->kind = SG_COPY_CACHE;
        copy->dwords = 5;
        break;
    default: known = false;
    }
    if (!known) {
        snprintf(text, size, "copy engine packet %08x (operation %u, sub-operation %u) is not supported",
                 words[0], op, sub);
        return false;
    }
    if (copy->dwords > available) {
        snprintf(text, size, "copy engine packet %08x of %u dwords ends after the write pointer", words[0],
                 copy->dwords);
        return false;
    }
    return true;
}

const char *sg_copy_name(const struct sg_copy *copy)
{
    static const char *const names[] = { "sdma_nop",    "sdma_copy",      "sdma_copy_rect", "sdma_fill",
                                         "sdma_write",  "sdma_fence",     "sdma_trap",      "sdma_poll",
                                         "sdma_atomic", "sdma_timestamp", "sdma_cache" };

    return names[copy->kind];
}

void sg_copy_print(const struct sg_copy *copy, char *text, size_t size)
{
    switch (copy->kind) {
    case SG_COPY_LINEAR:
        snprintf(text, size, "0x%" PRIx64 " -> 0x%" PRIx64 ", %" PRIu64 " bytes", copy->source, copy->target,
                 copy->bytes);
        break;
    case SG_COPY_RECT:
        snprintf(text, size, "0x%" PRIx64 " -> 0x%" PRIx64 ", %" PRIu64 " bytes x %u x %u", copy->source,
                 copy->target, copy->bytes, copy->rows, copy->slices);
        break;
    case SG_COPY_FILL:
        snprintf(text, size, "0x%" PRIx64 ", %" PRIu64 " bytes of 0x%08" PRIx64, copy->target, copy->bytes,
                 copy->value);
        break;
    case SG_COPY_TRAP: snprintf(text, size, "event %" PRIu64, copy->value); break;
    case SG_COPY_NOP:
    case SG_COPY_CACHE: text[0] = 0; break;
    case SG_COPY_WRITE:
    case SG_COPY_FENCE:
    case SG_COPY_POLL:
    case SG_COPY_ATOMIC_ADD:
    case SG_COPY_TIMESTAMP: snprintf(text, size, "0x%" PRIx64 ", 0x%" PRIx64, copy->target, copy->value);
    }
}

void sg_copy_run(const struct sg_copy *copy)
{
    uint32_t value = (uint32_t)copy->value;

    switch (copy->kind) {
    case SG_COPY_LINEAR:
    case SG_COPY_RECT:
        for (uint32_t z = 0; z < copy->slices; z++)
            for (uint32_t y = 0; y < copy->rows; y++)
                memmove((void *)(copy->target + z * copy->target_slice + y * copy->target_pitch),
                        (const void *)(copy->source + z * copy->source_slice + y * copy->source_pitch),
                        copy->bytes);
        break;
    case SG_COPY_FILL:
        for (uint64_t at = 0; at < copy->bytes; at += 4)
            memcpy((void *)(copy->target + at), &value, 4);
        break;
    case SG_COPY_WRITE: memcpy((void *)copy->target, copy->data, copy->bytes); break;
    default: break;
    }
}
