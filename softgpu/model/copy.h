/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What one packet of a copy engine asks for, decoded: the packet formats of SDMA 5 and 6 (gfx10, gfx11) and
 * SDMA 7 (gfx12), as far as ROCr emits them. Anything else is an error with a reason.
 */
#ifndef SOFTGPU_MODEL_COPY_H
#define SOFTGPU_MODEL_COPY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum sg_copy_kind {
    SG_COPY_NOP,
    SG_COPY_LINEAR,
    SG_COPY_RECT,
    SG_COPY_FILL,
    SG_COPY_WRITE,
    SG_COPY_FENCE,
    SG_COPY_TRAP,
    SG_COPY_POLL,
    SG_COPY_ATOMIC_ADD,
    SG_COPY_TIMESTAMP,
    SG_COPY_CACHE,
};

struct sg_copy {
    enum sg_copy_kind kind;
    uint32_t dwords; /* length of the packet */
    uint64_t source, target;
    uint64_t bytes; /* of a row when `rows` or `slices` exceed 1 */
    uint32_t rows, slices;
    uint64_t source_pitch, source_slice, target_pitch, target_slice; /* bytes */
    uint64_t value;          /* fill, fence, atomic, poll reference, trap context */
    uint32_t mask, function; /* poll */
    const uint32_t *data;    /* write */
};

/* `available` dwords may be read. False, with a sentence in `text`, when the packet is not understood. */
bool sg_copy_decode(struct sg_copy *copy, const uint32_t *words, uint64_t available, unsigned gfx_major,
                    char *text, size_t size);
void sg_copy_print(const struct sg_copy *copy, char *text, size_t size);
const char *sg_copy_name(const struct sg_copy *copy);

/* Moves the bytes of LINEAR, RECT, FILL and WRITE. */
void sg_copy_run(const struct sg_copy *copy);

#endif
