/* SPDX-License-Identifier: Apache-2.0 */
/*
 * PM4 words -> names: finds targets, packets, registers and fields in the tables, tells which bits are
 * reserved, and writes decoded text. No state; safe from any thread.
 */
#ifndef SOFTGPU_PM4_DECODE_H
#define SOFTGPU_PM4_DECODE_H

#include "pm4_tables.h"

#include <stddef.h>

/* Text that grows in a fixed buffer as snprintf does: `used` counts what the whole text needs. */
struct sg_text {
    char *bytes;
    size_t size, used;
};

void sg_text_add(struct sg_text *text, const char *format, ...) __attribute__((format(printf, 2, 3)));

const struct sg_target *sg_target_find(const char *gfx);
const struct sg_packet *sg_packet_find(const struct sg_target *target, uint32_t header);
const struct sg_register *sg_register_find(const struct sg_target *target, uint32_t offset);

enum { SG_OP_NOP = 0x10, SG_HEADER_COMPUTE = 2 };

static inline uint32_t sg_header_opcode(uint32_t header)
{
    return header >> 8 & 0xFF;
}

/* Dwords that follow the header. A NOP with the highest count is one dword long. */
static inline uint32_t sg_header_body(uint32_t header)
{
    uint32_t count = header >> 16 & 0x3FFF;
    return count == 0x3FFF && sg_header_opcode(header) == SG_OP_NOP ? 0 : count + 1;
}

static inline uint32_t sg_field_mask(const struct sg_field *field)
{
    return (uint32_t)((UINT64_C(1) << (field->high - field->low + 1)) - 1) << field->low;
}

static inline uint32_t sg_field_get(const struct sg_field *field, uint32_t word)
{
    return (word & sg_field_mask(field)) >> field->low;
}

/* Value of the register's field of that name; a field that the target does not have reads as 0. */
uint32_t sg_register_get(const struct sg_register *reg, const char *field, uint32_t word);

/* Bits of a register that no field names. */
uint32_t sg_register_reserved(const struct sg_register *reg, uint32_t word);

/* First dword of the body whose reserved bits or must-be-zero fields are set, or -1; `why` gets the reason.
 */
int sg_packet_reserved(const struct sg_packet *packet, const uint32_t *body, uint32_t count,
                       struct sg_text *why);

/* One line without its end, for a packet whose `available` dwords (header first) can be read. */
void sg_packet_print(const struct sg_target *target, const uint32_t *words, uint32_t available,
                     struct sg_text *text);

#endif
