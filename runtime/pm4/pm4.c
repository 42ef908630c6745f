/* SPDX-License-Identifier: Apache-2.0 */
/*
 * PM4 targets, the vendor packet, and the decoder. The facts are in pm4_table.h and in the targets below;
 * docs/pm4.md names their sources.
 */
#include "pm4/pm4.h"

#include <stdarg.h>
#include <stdio.h>

/* ---- targets ---- */

#define GCR(field) RL_PM4_MASK(ACQUIRE_MEM, field)

enum {
    GCR_SHADER_READS = GCR(GLK_INV) | GCR(GLV_INV),
    GCR_L2 = GCR(GL2_WB) | GCR(GL2_INV),
    /* Stores go through to L2, which all shaders share: only what is read from needs invalidating. */
    GCR_AGENT = GCR_SHADER_READS | GCR(GL1_INV),
    /* Only gfx10.1 has scalar stores, which K$ keeps. L2 after K$ when both are written back (PAL). */
    GCR_AGENT_10_1 = GCR_AGENT | GCR(GLK_WB),
    GCR_FORWARD = RL_VALUE_ACQUIRE_MEM_SEQ_FORWARD << RL_LOW_ACQUIRE_MEM_SEQ,
    GCR_SYSTEM_10_1 = GCR_AGENT_10_1 | GCR_L2 | GCR_FORWARD,
    GCR_SYSTEM = GCR_AGENT | GCR_L2,
    /* HIP's packets ask for a system acquire on gfx12, so nothing less stands between dispatches. */
    GCR_GFX12 = GCR_SHADER_READS | GCR_L2,
};

enum {
    /* gfx11.0 may hang when a queue is preempted unless its raw dispatches are privileged (DEGFX11_12113). */
    PRIV = RL_PM4_MASK(COMPUTE_PGM_RSRC1, PRIV),
    /* Below gfx12 the launcher says that there is a trap handler; on gfx12 the bit means dynamic VGPRs. */
    TRAP = RL_PM4_MASK(COMPUTE_PGM_RSRC2, TRAP_PRESENT),
};

#define GFX10_1(name) { name, RL_GFX10_1, GCR_AGENT_10_1, GCR_SYSTEM_10_1, GCR(GLK_WB), 0, TRAP }
#define GFX10_3(name) { name, RL_GFX10_3, GCR_AGENT, GCR_SYSTEM, 0, 0, TRAP }
#define GFX11_0(name) { name, RL_GFX11_0, GCR_AGENT, GCR_SYSTEM, 0, PRIV, TRAP }
#define GFX11_5(name) { name, RL_GFX11_5, GCR_AGENT, GCR_SYSTEM, 0, 0, TRAP }
#define GFX12_0(name) { name, RL_GFX12_0, GCR_GFX12, GCR_GFX12, 0, 0, 0 }

static const struct rl_pm4_target targets[] = {
    GFX10_1("gfx1010"), GFX10_1("gfx1011"), GFX10_1("gfx1012"), GFX10_3("gfx1030"), GFX10_3("gfx1031"),
    GFX10_3("gfx1032"), GFX10_3("gfx1033"), GFX10_3("gfx1034"), GFX10_3("gfx1035"), GFX10_3("gfx1036"),
    GFX11_0("gfx1100"), GFX11_0("gfx1101"), GFX11_0("gfx1102"), GFX11_0("gfx1103"), GFX11_5("gfx1150"),
    GFX11_5("gfx1151"), GFX11_5("gfx1152"), GFX11_5("gfx1153"), GFX12_0("gfx1200"), GFX12_0("gfx1201"),
};

#define COUNT(array) (sizeof(array) / sizeof(*(array)))

const struct rl_pm4_target *rl_pm4_find_target(const char *gfx)
{
    for (size_t i = 0; gfx && i < COUNT(targets); i++)
        if (!strcmp(gfx, targets[i].name))
            return &targets[i];
    return NULL;
}

bool rl_pm4_partial_flush_returns_early(const struct rl_pm4_target *target, uint32_t cp_feature_version)
{
    /* PAL, CmdUtil::CanUseCsPartialFlush: with wave save/restore on, up to these microcode versions. */
    switch (target->family) {
    case RL_GFX10_1: return cp_feature_version < 32;
    case RL_GFX10_3: return cp_feature_version < 35;
    default: return false;
    }
}

/* ---- the vendor packet ---- */

enum {
    AQL_TYPE_VENDOR = 0,
    AQL_BARRIER = 1 << 8,
    AQL_ACQUIRE_SYSTEM = 2 << 9,
    AQL_RELEASE_NONE = 0 << 11,
    VENDOR_PM4_IB = 1,
    VENDOR_DWORDS_LEFT = 10,
};

uint32_t rl_pm4_vendor_packet(uint32_t slot[16], uint64_t buffer, uint32_t dwords, uint64_t completion)
{
    assert(dwords && dwords <= RL_PM4_MAX_DWORDS && buffer % 4 == 0);
    memset(slot + 1, 0, 15 * sizeof(*slot));
    slot[1] = rl_pm4_header(RL_OP_INDIRECT_BUFFER, 3, false);
    slot[2] = (uint32_t)buffer;
    slot[3] = (uint32_t)(buffer >> 32);
    slot[4] = RL_PM4(INDIRECT_BUFFER, IB_SIZE, dwords) | RL_PM4(INDIRECT_BUFFER, VALID, 1);
    slot[5] = VENDOR_DWORDS_LEFT;
    slot[14] = (uint32_t)completion;
    slot[15] = (uint32_t)(completion >> 32);
    return AQL_TYPE_VENDOR | AQL_BARRIER | AQL_ACQUIRE_SYSTEM | AQL_RELEASE_NONE | VENDOR_PM4_IB << 16;
}

/* ---- the table as arrays ---- */

enum rule { FREE, ZERO, NEVER };

struct packet {
    const char *name;
    uint32_t opcode, body_min, body_max;
};

struct named {
    const char *packet, *field, *name;
    uint32_t value;
};

struct field {
    const char *owner, *name;
    uint32_t dword; /* of a packet's body, from 1 */
    unsigned low, high, families;
};

struct reg {
    const char *name;
    uint32_t offset;
    unsigned families;
    enum rule rule;
};

#define AS_PACKET(name, opcode, body_min, body_max) { #name, opcode, body_min, body_max },
#define AS_PACKET_FIELD(packet, dword, name, low, high, families)                                            \
    { #packet, #name, dword, low, high, families },
#define AS_VALUE(packet, field, value, name) { #packet, #field, #name, value },
#define AS_REGISTER(name, offset, families, rule) { #name, offset, families, rule },
#define AS_REGISTER_FIELD(reg, name, low, high, families) { #reg, #name, 0, low, high, families },

static const struct packet packets[] = { RL_PM4_PACKETS(AS_PACKET, RL_PM4_NOTHING, RL_PM4_NOTHING) };

static const struct field packet_fields[] = { RL_PM4_PACKETS(RL_PM4_NOTHING, AS_PACKET_FIELD,
                                                             RL_PM4_NOTHING) };

static const struct named names[] = { RL_PM4_PACKETS(RL_PM4_NOTHING, RL_PM4_NOTHING, AS_VALUE) };

static const struct reg registers[] = { RL_PM4_REGISTERS(AS_REGISTER, RL_PM4_NOTHING, AS_REGISTER,
                                                         RL_PM4_NOTHING) };

static const struct field register_fields[] = { RL_PM4_REGISTERS(RL_PM4_NOTHING, AS_REGISTER_FIELD,
                                                                 RL_PM4_NOTHING, AS_REGISTER_FIELD) };

static uint32_t field_mask(const struct field *field)
{
    return UINT32_MAX >> (31 - field->high + field->low) << field->low;
}

static const struct reg *find_register(const struct rl_pm4_target *target, uint32_t offset)
{
    for (size_t i = 0; i < COUNT(registers); i++)
        if (registers[i].offset == offset && registers[i].families & target->family)
            return &registers[i];
    return NULL;
}

uint32_t rl_pm4_register_bits(const struct rl_pm4_target *target, uint32_t offset)
{
    const struct reg *reg = find_register(target, offset);
    uint32_t bits = 0;

    for (size_t i = 0; reg && i < COUNT(register_fields); i++)
        if (!strcmp(register_fields[i].owner, reg->name) && register_fields[i].families & target->family)
            bits |= field_mask(&register_fields[i]);
    return bits;
}

/* ---- decoder ---- */

struct printer {
    const struct rl_pm4_target *target;
    char *text;
    size_t size, length, findings;
};

__attribute__((format(printf, 2, 3))) static void put(struct printer *out, const char *format, ...)
{
    size_t room = out->length < out->size ? out->size - out->length : 0;
    va_list arguments;

    va_start(arguments, format);
    int wrote = vsnprintf(room ? out->text + out->length : NULL, room, format, arguments);

    va_end(arguments);
    out->length += wrote > 0 ? (size_t)wrote : 0;
}

static const char *name_of(const struct field *field, uint32_t value)
{
    for (size_t i = 0; i < COUNT(names); i++)
        if (names[i].value == value && !strcmp(names[i].packet, field->owner) &&
            !strcmp(names[i].field, field->name))
            return names[i].name;
    return NULL;
}

/* Fields of one dword that are not 0, and the bits that no field of this family covers. */
static void put_fields(struct printer *out, const struct field *fields, size_t count, const char *owner,
                       uint32_t dword, uint32_t word)
{
    uint32_t rest = word;

    for (size_t i = 0; i < count; i++) {
        const struct field *field = &fields[i];

        if (field->dword != dword || !(field->families & out->target->family) || strcmp(field->owner, owner))
            continue;
        uint32_t value = (word & field_mask(field)) >> field->low;
        const char *name = name_of(field, value);

        rest &= ~field_mask(field);
        if (name)
            put(out, " %s=%s", field->name, name);
        else if (value)
            put(out, value < 10 ? " %s=%u" : " %s=0x%x", field->name, value);
    }
    if (rest) {
        put(out, " !! reserved=0x%x", rest);
        out->findings++;
    }
}

static bool is_one_field(const struct rl_pm4_target *target, const struct reg *reg)
{
    for (size_t i = 0; i < COUNT(register_fields); i++)
        if (!strcmp(register_fields[i].owner, reg->name) && register_fields[i].families & target->family)
            return field_mask(&register_fields[i]) == UINT32_MAX;
    return false;
}

static void put_register(struct printer *out, uint32_t offset, uint32_t value)
{
    const struct reg *reg = find_register(out->target, offset);

    if (!reg) {
        put(out, "          %03x = 0x%08x !! no such register\n", offset, value);
        out->findings++;
        return;
    }
    put(out, "          %s = 0x%08x", reg->name, value);
    if (reg->rule == NEVER || (reg->rule == ZERO && value)) {
        put(out, " !! must not be written");
        out->findings++;
    } else if (!is_one_field(out->target, reg)) {
        put_fields(out, register_fields, COUNT(register_fields), reg->name, 0, value);
    }
    put(out, "\n");
}

static const struct packet *find_packet(uint32_t opcode)
{
    for (size_t i = 0; i < COUNT(packets); i++)
        if (packets[i].opcode == opcode)
            return &packets[i];
    return NULL;
}

/* Body of a packet of the table: fields, then data where the packet has any. */
static void put_body(struct printer *out, const struct packet *packet, const uint32_t *words, uint32_t body)
{
    uint32_t dword = 1;

    for (; dword < packet->body_min || (packet->body_max && dword <= body); dword++)
        put_fields(out, packet_fields, COUNT(packet_fields), packet->name, dword, words[dword]);
    if (packet->opcode == RL_OP_SET_SH_REG)
        put(out, "\n");
    for (uint32_t i = dword; i <= body; i++) {
        if (packet->opcode == RL_OP_SET_SH_REG)
            put_register(out, (words[1] & RL_PM4_MASK(SET_SH_REG, REG_OFFSET)) + i - dword, words[i]);
        else
            put(out, " 0x%08x", words[i]);
    }
    if (packet->opcode != RL_OP_SET_SH_REG)
        put(out, "\n");
}

/* One packet; returns the dwords that it takes. */
static size_t put_packet(struct printer *out, const uint32_t *words, size_t left)
{
    enum { NOP_ALONE = 0x4000 }; /* body that a NOP of one dword claims to have */
    uint32_t header = words[0], opcode = header >> 8 & 0xFF, body = (header >> 16 & 0x3FFF) + 1;
    const struct packet *packet = header >> 30 == 3 ? find_packet(opcode) : NULL;

    if (!packet) {
        put(out, "!! 0x%08x is not the header of a known packet\n", header);
        out->findings++;
        return header >> 30 == 3 && body < left ? 1 + body : 1;
    }
    put(out, "%s", packet->name);
    if (opcode == RL_OP_NOP && body == NOP_ALONE)
        body = 0;
    if (body >= left || body < packet->body_min || (packet->body_max && body > packet->body_max)) {
        put(out, " !! body of %u dwords, %zu are left\n", body, left - 1);
        out->findings++;
        return body < left ? 1 + body : left;
    }
    put(out, "%s%s", header & 1 ? " PREDICATE" : "", header & 2 ? " COMPUTE" : "");
    if (header & 0xFC) {
        put(out, " !! reserved=0x%x", header & 0xFC);
        out->findings++;
    }
    put_body(out, packet, words, body);
    return 1 + body;
}

size_t rl_pm4_print(const struct rl_pm4_target *target, const uint32_t *words, size_t count, char *text,
                    size_t size, size_t *findings)
{
    struct printer out = { .target = target, .text = text, .size = size };

    if (size)
        text[0] = 0;
    for (size_t at = 0; at < count;) {
        put(&out, "%6zu  ", at);
        at += put_packet(&out, words + at, count - at);
    }
    if (findings)
        *findings = out.findings;
    return out.length;
}

struct rl_pm4_dump rl_pm4_dump_header(const struct rl_pm4_target *target, uint32_t dwords)
{
    struct rl_pm4_dump header = { .dwords = dwords };

    memcpy(header.magic, RL_PM4_DUMP_MAGIC, sizeof(header.magic));
    memcpy(header.target, target->name, strlen(target->name));
    return header;
}
