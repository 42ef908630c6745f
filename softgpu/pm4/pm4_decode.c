/* SPDX-License-Identifier: Apache-2.0 */
#include "pm4_decode.h"

#include "pm4.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

void sg_text_add(struct sg_text *text, const char *format, ...)
{
    va_list arguments;
    size_t room = text->used < text->size ? text->size - text->used : 0;

    va_start(arguments, format);
    int length = vsnprintf(room ? text->bytes + text->used : NULL, room, format, arguments);
    va_end(arguments);
    if (length > 0)
        text->used += (size_t)length;
}

const struct sg_target *sg_target_find(const char *gfx)
{
    for (unsigned i = 0; i < sg_target_count; i++)
        if (!strcmp(sg_targets[i].gfx, gfx))
            return &sg_targets[i];
    return NULL;
}

const struct sg_packet *sg_packet_find(const struct sg_target *target, uint32_t header)
{
    if (header >> 30 != 3)
        return NULL;
    for (unsigned i = 0; i < target->packet_count; i++)
        if (target->packets[i].opcode == sg_header_opcode(header))
            return &target->packets[i];
    return NULL;
}

const struct sg_register *sg_register_find(const struct sg_target *target, uint32_t offset)
{
    unsigned low = 0, high = target->register_count;

    while (low < high) {
        unsigned middle = (low + high) / 2;
        if (target->registers[middle].offset < offset)
            low = middle + 1;
        else
            high = middle;
    }
    return low < target->register_count && target->registers[low].offset == offset ? &target->registers[low]
                                                                                   : NULL;
}

uint32_t sg_register_get(const struct sg_register *reg, const char *field, uint32_t word)
{
    for (unsigned i = 0; i < reg->field_count; i++)
        if (!strcmp(reg->fields[i].name, field))
            return sg_field_get(&reg->fields[i], word);
    return 0;
}

uint32_t sg_register_reserved(const struct sg_register *reg, uint32_t word)
{
    for (unsigned i = 0; i < reg->field_count; i++)
        word &= ~sg_field_mask(&reg->fields[i]);
    return word;
}

/* Only the first dwords of a body have a layout; the rest is data (or does not exist). */
static uint32_t layout_dwords(const struct sg_packet *packet)
{
    return packet->min_body == packet->max_body ? packet->max_body
           : packet->field_count                ? packet->fields[packet->field_count - 1].dword + 1u
                                                : 0;
}

int sg_packet_reserved(const struct sg_packet *packet, const uint32_t *body, uint32_t count,
                       struct sg_text *why)
{
    uint32_t dwords = layout_dwords(packet);

    for (uint32_t dword = 0; dword < dwords && dword < count; dword++) {
        uint32_t left = body[dword];
        for (unsigned i = 0; i < packet->field_count; i++) {
            const struct sg_field *field = &packet->fields[i].field;
            if (packet->fields[i].dword != dword)
                continue;
            if (field->kind == SG_ZERO && sg_field_get(field, body[dword])) {
                sg_text_add(why, "%s is %" PRIu32 ": %s", field->name, sg_field_get(field, body[dword]),
                            field->note ? field->note : "must be 0");
                return (int)dword;
            }
            left &= ~sg_field_mask(field);
        }
        if (left) {
            sg_text_add(why, "reserved bits 0x%08" PRIX32 " are set", left);
            return (int)dword;
        }
    }
    return -1;
}

static void print_fields(const struct sg_register *reg, uint32_t value, struct sg_text *text)
{
    bool any = false;

    sg_text_add(text, " %s=0x%" PRIX32, reg->name, value);
    if (reg->field_count < 2)
        return;
    for (unsigned i = 0; i < reg->field_count; i++) {
        uint32_t field = sg_field_get(&reg->fields[i], value);
        if (field) {
            sg_text_add(text, "%s%s=%" PRIu32, any ? " " : "{", reg->fields[i].name, field);
            any = true;
        }
    }
    if (any)
        sg_text_add(text, "}");
}

static void print_registers(const struct sg_target *target, const uint32_t *body, uint32_t count,
                            struct sg_text *text)
{
    for (uint32_t i = 1; i < count; i++) {
        uint32_t offset = (body[0] & 0xFFFF) + i - 1;
        const struct sg_register *reg = sg_register_find(target, offset);
        if (reg)
            print_fields(reg, body[i], text);
        else
            sg_text_add(text, " ?0x%" PRIX32 "=0x%" PRIX32, offset, body[i]);
    }
}

static void print_body(const struct sg_target *target, const struct sg_packet *packet, const uint32_t *body,
                       uint32_t count, struct sg_text *text)
{
    uint32_t dwords = layout_dwords(packet);

    if (!strcmp(packet->name, "SET_SH_REG")) {
        print_registers(target, body, count, text);
        return;
    }
    for (unsigned i = 0; i < packet->field_count; i++) {
        const struct sg_packet_field *entry = &packet->fields[i];
        if (entry->dword >= count)
            break;
        uint32_t value = sg_field_get(&entry->field, body[entry->dword]);
        if (!strcmp(entry->field.name, "dispatch_initiator"))
            print_fields(sg_register_find(target, 0x200), value, text);
        else if (!strcmp(entry->field.name, "event_type") && target->events[value & 63])
            sg_text_add(text, " event_type=%s", target->events[value & 63]);
        else if (value)
            sg_text_add(text, value < 10 ? " %s=%" PRIX32 : " %s=0x%" PRIX32, entry->field.name, value);
    }
    for (uint32_t i = dwords; i < count && i < dwords + 8; i++)
        sg_text_add(text, "%s0x%" PRIX32, i == dwords ? " data=" : ",", body[i]);
    if (count > dwords + 8)
        sg_text_add(text, ",... (%" PRIu32 " dwords)", count - dwords);
}

void sg_packet_print(const struct sg_target *target, const uint32_t *words, uint32_t available,
                     struct sg_text *text)
{
    const struct sg_packet *packet = sg_packet_find(target, words[0]);
    uint32_t body = sg_header_body(words[0]);

    if (!packet) {
        sg_text_add(text, "?? 0x%08" PRIX32 " (%s)", words[0],
                    words[0] >> 30 == 3 ? "unknown opcode" : "not a type 3 packet");
        return;
    }
    sg_text_add(text, "%s", packet->name);
    if (words[0] & 0xFD)
        sg_text_add(text, " ?header bits 0x%" PRIX32, words[0] & 0xFD);
    if (body < packet->min_body || body > packet->max_body)
        sg_text_add(text, " ?%" PRIu32 " body dwords", body);
    if (body > available - 1) {
        sg_text_add(text, " ?cut off");
        body = available - 1;
    }
    print_body(target, packet, words + 1, body, text);
}

size_t sg_pm4_print(const char *gfx, const uint32_t *words, uint32_t dwords, char *bytes, size_t size)
{
    const struct sg_target *target = sg_target_find(gfx);
    struct sg_text text = { bytes, size, 0 };

    if (size)
        bytes[0] = '\0';
    if (!target) {
        sg_text_add(&text, "?? unknown target %s\n", gfx);
        return text.used;
    }
    for (uint32_t i = 0; i < dwords;) {
        sg_text_add(&text, "%5" PRIu32 ": ", i);
        sg_packet_print(target, words + i, dwords - i, &text);
        sg_text_add(&text, "\n");
        /* After something that is no packet the next dword may be one. */
        i += sg_packet_find(target, words[i]) ? 1 + sg_header_body(words[i]) : 1;
    }
    return text.used;
}
