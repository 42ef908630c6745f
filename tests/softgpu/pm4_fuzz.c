/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fuzzes the PM4 executor under sanitizers: random words, packets with the right length and random bodies, and addresses
 * that often hit memory. Nothing may crash, read outside of memory or fail to end. usage: pm4_fuzz SEED ROUNDS
 */
#include "pm4/pm4.h"
#include "pm4/pm4_decode.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct machine;
struct machine *machine_new(bool fixed);
void machine_free(struct machine *machine);
struct sg_pm4_queue *machine_queue(struct machine *machine, const char *gfx);
int machine_steps(struct sg_pm4_queue *queue, unsigned patience);
void machine_run_waves(struct machine *machine);

/* The first two members of struct machine. */
struct memory {
    uint8_t *arena;
    uint64_t base;
};

enum { WORDS = 256, BUFFER = 0xA000, ARENA_MASK = 0xFFFC };

static uint64_t state;

static uint32_t next(void)
{
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return (uint32_t)(state >> 16);
}

/* A word that is often small, an address of the memory, or what packets like to hold. */
static uint32_t word(uint64_t base)
{
    switch (next() % 8) {
    case 0: return 0;
    case 1: return next() % 64;
    case 2:
    case 3: return (uint32_t)base + (next() & ARENA_MASK);
    case 4: return (uint32_t)(base >> 32);
    case 5: return UINT32_C(1) << next() % 32;
    case 6: return 0x200 + next() % 0x80;
    }
    return next();
}

/* A packet that may well pass: good control words, addresses in memory, indirect buffers that go on or round. */
static uint32_t tame(uint32_t *words, uint64_t base)
{
    uint32_t low = (uint32_t)base + (next() & ARENA_MASK & ~7u), high = (uint32_t)(base >> 32);
    uint32_t other = (uint32_t)base + (next() & ARENA_MASK & ~7u), size = 1 + next() % 32;
    uint32_t from = (uint32_t)base + BUFFER + 4 * (next() % (WORDS - 32)), chain = next() % 2;
    const uint32_t packets[][8] = {
        { 0xC0001000, 0 },
        { 0xC0004600, 0x407 },
        { 0xC0033700, 0x100500, low, high, next() },
        { 0xC0023F00, from, high, 1u << 23 | chain << 20 | size },
        { 0xC0044000, 0x110202, other, high, low, high },
        { 0xC0055000, 0xE0300000, other, high, low, high, 4 * size },
        { 0xC0064900, 0x200528, 1u << 29, low, high, size, 0, 0 },
        { 0xC0053C00, 0x13, low, high, size, ~0u, 4 },
        { 0xC0027600, 0x204 + next() % 16, 0, 0 },
    };
    const uint32_t *packet = packets[next() % (sizeof(packets) / sizeof(packets[0]))];
    uint32_t count = 1 + sg_header_body(packet[0]);

    memcpy(words, packet, 4 * (count < 8 ? count : 8));
    return count;
}

static void fill(const struct sg_target *target, uint32_t *words, uint64_t base)
{
    unsigned style = next() % 4;
    bool packets = style > 0;

    for (uint32_t i = 0; i < WORDS;) {
        if (style == 3 && i + 8 < WORDS && next() % 32) {
            i += tame(words + i, base);
            continue;
        }
        const struct sg_packet *packet = &target->packets[next() % target->packet_count];
        uint32_t body = packet->min_body == packet->max_body ? packet->max_body
                                                             : packet->min_body + next() % 8;
        if (!packets || next() % 64 == 0 || body == 0 || i + body >= WORDS) {
            words[i++] = next();
            continue;
        }
        words[i++] = 3u << 30 | (body - 1) << 16 | (uint32_t)packet->opcode << 8;
        for (uint32_t k = 0; k < body; k++)
            words[i++] = word(base);
        /* Half of the packets get rid of what would be refused at once. */
        for (unsigned k = 0; next() % 2 && k < packet->field_count; k++)
            if (packet->fields[k].field.kind == SG_ZERO && packet->fields[k].dword < body)
                words[i - body + packet->fields[k].dword] &= ~sg_field_mask(&packet->fields[k].field);
    }
}

int main(int argc, char **argv)
{
    uint64_t seed = argc > 1 ? strtoull(argv[1], NULL, 0) : 1;
    unsigned rounds = argc > 2 ? (unsigned)strtoul(argv[2], NULL, 0) : 1000;
    static char text[1 << 16];
    unsigned ended[3] = { 0 };

    for (unsigned round = 0; round < rounds; round++) {
        state = seed * UINT64_C(0x9E3779B97F4A7C15) + round * UINT64_C(0xD1B54A32D192ED03) + 1;
        const struct sg_target *target = &sg_targets[next() % sg_target_count];
        struct machine *machine = machine_new(false);
        const struct memory *memory = (const struct memory *)machine;
        uint32_t *words = (uint32_t *)(memory->arena + BUFFER);
        fill(target, words, memory->base);

        size_t needed = sg_pm4_print(target->gfx, words, WORDS, text, next() % sizeof(text));
        if (!needed)
            return 1;
        struct sg_pm4_queue *queue = machine_queue(machine, target->gfx);
        sg_pm4_set_strict(queue, next() % 2);
        if (sg_pm4_start(queue, memory->base + BUFFER, 1 + next() % WORDS))
            return 1;
        ended[machine_steps(queue, 3)]++;
        sg_pm4_left_behind(queue, text, next() % 256);
        machine_run_waves(machine);
        sg_pm4_queue_free(queue);
        machine_free(machine);
    }
    printf("done %u, blocked %u, failed %u\n", ended[SG_PM4_DONE], ended[SG_PM4_BLOCKED],
           ended[SG_PM4_FAILED]);
    return 0;
}
