/* SPDX-License-Identifier: Apache-2.0 */
/*
 * PM4 for the compute queues of RDNA GPUs: targets, packets, registers; an encoder that costs a few stores,
 * and a decoder. Both come from pm4_table.h. Nothing here allocates, locks or keeps state; any thread may
 * call it.
 *
 *     uint32_t *at = words;
 *     at = rl_pm4_acquire(at, target->level_gcr);
 *     at = rl_pm4_set(at, RL_REG_COMPUTE_PGM_LO, values, 2);
 *     at = rl_pm4_dispatch(at, groups, initiator);
 *
 * Every encoder function writes one packet at `at`, whose room the caller has reserved, and returns its end.
 */
#ifndef RL_PM4_H
#define RL_PM4_H

#include "pm4/pm4_table.h"

#include <assert.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* One exact gfx target. */
struct rl_pm4_target {
    const char *name;
    enum rl_pm4_family family;
    uint32_t level_gcr;  /* ACQUIRE_MEM between dependent dispatches, and first of every buffer */
    uint32_t system_gcr; /* the same, and L2 written back and invalidated */
    uint32_t exit_gcr;   /* agent release after the last wave; 0: the wait alone is one */
    uint32_t rsrc1_set;  /* what an AQL dispatch adds to the descriptor's words, and a buffer must */
    uint32_t rsrc2_set;
};

/* NULL unless `gfx` is exactly the name of a target that the table has. */
const struct rl_pm4_target *rl_pm4_find_target(const char *gfx);

/* EVENT_WRITE CS_PARTIAL_FLUSH may return before the waves are done. cp_feature_version: 0 if not known. */
bool rl_pm4_partial_flush_returns_early(const struct rl_pm4_target *target, uint32_t cp_feature_version);

/* Bits of a register that are fields on this target; 0 for a register that it has not. */
uint32_t rl_pm4_register_bits(const struct rl_pm4_target *target, uint32_t offset);

/* ---- constants of the table: RL_OP_, RL_REG_, RL_LOW_ (bit), RL_HIGH_ (bit), RL_VALUE_ ---- */

#define RL_PM4_NOTHING(...)
#define RL_PM4_OP(name, opcode, body_min, body_max) RL_OP_##name = (opcode),
#define RL_PM4_PACKET_FIELD(packet, dword, name, low, high, families)                                        \
    RL_LOW_##packet##_##name = (low), RL_HIGH_##packet##_##name = (high),
#define RL_PM4_NAMED(packet, field, value, name) RL_VALUE_##packet##_##field##_##name = (value),
#define RL_PM4_OFFSET(name, offset, families, rule) RL_REG_##name = (offset),
#define RL_PM4_REGISTER_FIELD(name, field, low, high, families)                                              \
    RL_LOW_##name##_##field = (low), RL_HIGH_##name##_##field = (high),

enum rl_pm4_constant {
    RL_PM4_PACKETS(RL_PM4_OP, RL_PM4_PACKET_FIELD, RL_PM4_NAMED)
        RL_PM4_REGISTERS(RL_PM4_OFFSET, RL_PM4_REGISTER_FIELD, RL_PM4_NOTHING, RL_PM4_NOTHING)
            RL_SH_REG_BASE = 0x200,
    RL_USER_SGPRS = 16,
    RL_PM4_MAX_DWORDS = 0xFFFFF, /* INDIRECT_BUFFER.IB_SIZE has 20 bits */
};

/* Field `field` of packet or register `owner` holding `value`. */
#define RL_PM4(owner, field, value)                                                                          \
    rl_pm4_field((uint32_t)(value), RL_LOW_##owner##_##field, RL_HIGH_##owner##_##field)
#define RL_PM4_NAME(packet, field, name) RL_PM4(packet, field, RL_VALUE_##packet##_##field##_##name)

/* Bits of the whole field; usable in initialisers. */
#define RL_PM4_MASK(owner, field)                                                                            \
    (UINT32_MAX >> (31 - RL_HIGH_##owner##_##field + RL_LOW_##owner##_##field) << RL_LOW_##owner##_##field)

static inline uint32_t rl_pm4_field(uint32_t value, unsigned low, unsigned high)
{
    assert(value <= UINT32_MAX >> (31 - high + low));
    (void)high;
    return value << low;
}

/* ---- encoder ---- */

enum rl_pm4_size {
    RL_PM4_SET_DWORDS = 2, /* and one a register */
    RL_PM4_DISPATCH_DWORDS = 5,
    RL_PM4_FLUSH_DWORDS = 2,
    RL_PM4_ACQUIRE_DWORDS = 8,
    RL_PM4_RELEASE_DWORDS = 8,
    RL_PM4_WAIT_DWORDS = 7,
    RL_PM4_WRITE_DWORDS = 5,
    RL_PM4_POLL = 10, /* interval of CP's own polls, in its clocks; what PAL and tinygrad use */
};

/* Registers that the rule of the table lets a buffer write: bit (offset - RL_SH_REG_BASE). */
#define RL_PM4_RULE_FREE 1
#define RL_PM4_RULE_ZERO 0
#define RL_PM4_RULE_NEVER 0
#define RL_PM4_FREE_BIT(name, offset, families, rule)                                                        \
    | (RL_PM4_RULE_##rule ? (unsigned __int128)1 << ((offset) - RL_SH_REG_BASE) : 0)

static inline bool rl_pm4_is_free(uint32_t offset)
{
    const unsigned __int128 free_registers = 0 RL_PM4_REGISTERS(RL_PM4_FREE_BIT, RL_PM4_NOTHING,
                                                                RL_PM4_NOTHING, RL_PM4_NOTHING);

    return offset - RL_SH_REG_BASE < 128 && free_registers >> (offset - RL_SH_REG_BASE) & 1;
}

/* PACKET3; body in dwords. `compute`: shader type, set by PAL and Mesa for SH registers and dispatches. */
static inline uint32_t rl_pm4_header(uint32_t opcode, uint32_t body, bool compute)
{
    return 3u << 30 | (body - 1) << 16 | opcode << 8 | (uint32_t)compute << 1;
}

static inline uint32_t *rl_pm4_set(uint32_t *at, uint32_t offset, const uint32_t *values, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        assert(rl_pm4_is_free(offset + i));
    at[0] = rl_pm4_header(RL_OP_SET_SH_REG, 1 + count, true);
    at[1] = offset;
    memcpy(at + 2, values, count * sizeof(*values));
    return at + RL_PM4_SET_DWORDS + count;
}

/* The first work-group of every grid; the registers are the queue's and stay 0. */
static inline uint32_t *rl_pm4_set_start(uint32_t *at)
{
    at[0] = rl_pm4_header(RL_OP_SET_SH_REG, 4, true);
    at[1] = RL_REG_COMPUTE_START_X;
    at[2] = at[3] = at[4] = 0;
    return at + RL_PM4_SET_DWORDS + 3;
}

static inline uint32_t *rl_pm4_dispatch(uint32_t *at, const uint32_t groups[3], uint32_t initiator)
{
    at[0] = rl_pm4_header(RL_OP_DISPATCH_DIRECT, 4, true);
    memcpy(at + 1, groups, 3 * sizeof(*groups));
    at[4] = initiator;
    return at + RL_PM4_DISPATCH_DWORDS;
}

/* Waits until the waves of earlier dispatches are done. */
static inline uint32_t *rl_pm4_partial_flush(uint32_t *at)
{
    at[0] = rl_pm4_header(RL_OP_EVENT_WRITE, 1, false);
    at[1] = RL_PM4_NAME(EVENT_WRITE, EVENT_TYPE, CS_PARTIAL_FLUSH) |
            RL_PM4_NAME(EVENT_WRITE, EVENT_INDEX, CS_PARTIAL_FLUSH);
    return at + RL_PM4_FLUSH_DWORDS;
}

/* Cache operations over all addresses: base 0, every bit of the size. */
static inline uint32_t *rl_pm4_acquire(uint32_t *at, uint32_t gcr)
{
    at[0] = rl_pm4_header(RL_OP_ACQUIRE_MEM, 7, false);
    at[1] = 0;
    at[2] = RL_PM4_MASK(ACQUIRE_MEM, COHER_SIZE);
    at[3] = RL_PM4_MASK(ACQUIRE_MEM, COHER_SIZE_HI);
    at[4] = at[5] = 0;
    at[6] = RL_PM4(ACQUIRE_MEM, POLL_INTERVAL, RL_PM4_POLL);
    at[7] = gcr;
    return at + RL_PM4_ACQUIRE_DWORDS;
}

/* Writes 32 bits once earlier waves are done and L2 is written back; the packets behind it do not wait. */
static inline uint32_t *rl_pm4_release(uint32_t *at, uint64_t address, uint32_t value)
{
    assert(address % 4 == 0);
    at[0] = rl_pm4_header(RL_OP_RELEASE_MEM, 7, false);
    at[1] = RL_PM4_NAME(RELEASE_MEM, EVENT_TYPE, BOTTOM_OF_PIPE_TS) |
            RL_PM4_NAME(RELEASE_MEM, EVENT_INDEX, END_OF_PIPE) | RL_PM4(RELEASE_MEM, GL2_WB, 1);
    at[2] = RL_PM4_NAME(RELEASE_MEM, DST_SEL, TC_L2) |
            RL_PM4_NAME(RELEASE_MEM, INT_SEL, DATA_AFTER_WRITE_CONFIRM) |
            RL_PM4_NAME(RELEASE_MEM, DATA_SEL, 32_BIT_LOW);
    at[3] = (uint32_t)address;
    at[4] = (uint32_t)(address >> 32);
    at[5] = value;
    at[6] = at[7] = 0;
    return at + RL_PM4_RELEASE_DWORDS;
}

/* Waits until the 32 bits at `address` equal `value`. */
static inline uint32_t *rl_pm4_wait(uint32_t *at, uint64_t address, uint32_t value)
{
    assert(address % 4 == 0);
    at[0] = rl_pm4_header(RL_OP_WAIT_REG_MEM, 6, false);
    at[1] = RL_PM4_NAME(WAIT_REG_MEM, FUNCTION, EQUAL) | RL_PM4_NAME(WAIT_REG_MEM, MEM_SPACE, MEMORY);
    at[2] = (uint32_t)address;
    at[3] = (uint32_t)(address >> 32);
    at[4] = value;
    at[5] = UINT32_MAX;
    at[6] = RL_PM4(WAIT_REG_MEM, POLL_INTERVAL, RL_PM4_POLL);
    return at + RL_PM4_WAIT_DWORDS;
}

/* Writes 32 bits and waits until the write is confirmed. */
static inline uint32_t *rl_pm4_write(uint32_t *at, uint64_t address, uint32_t value)
{
    assert(address % 4 == 0);
    at[0] = rl_pm4_header(RL_OP_WRITE_DATA, 4, false);
    at[1] = RL_PM4_NAME(WRITE_DATA, DST_SEL, TC_L2) | RL_PM4(WRITE_DATA, WR_CONFIRM, 1);
    at[2] = (uint32_t)address;
    at[3] = (uint32_t)(address >> 32);
    at[4] = value;
    return at + RL_PM4_WRITE_DWORDS;
}

/*
 * The vendor-specific AQL packet that runs a buffer: barrier bit, system acquire, no release (HIP's barrier
 * behind it releases). Fills words 1 to 15 of the 64-byte slot and returns word 0, which the caller stores
 * last, with release order: it makes the packet valid. `completion` is an hsa_signal_t handle or 0.
 * 1 <= dwords <= RL_PM4_MAX_DWORDS; buffer is aligned to 4.
 */
uint32_t rl_pm4_vendor_packet(uint32_t slot[16], uint64_t buffer, uint32_t dwords, uint64_t completion);

/* ---- decoder ---- */

/*
 * Decoded text: a line a packet with the fields that are not 0, and below a SET_SH_REG a line a register.
 * What the table does not know, reserved bits, registers that a buffer must not write and a cut-off packet
 * are marked with "!!" and counted in *findings (may be NULL). Never fails. Returns the length of the whole
 * text, as snprintf does.
 */
size_t rl_pm4_print(const struct rl_pm4_target *target, const uint32_t *words, size_t count, char *text,
                    size_t size, size_t *findings);

/* A file of REDLINE_DUMP: this header, then `dwords` words of the buffer, little endian. */
struct rl_pm4_dump {
    char magic[8]; /* RL_PM4_DUMP_MAGIC without its end */
    char target[16];
    uint32_t dwords;
    uint32_t reserved;
};

#define RL_PM4_DUMP_MAGIC "RLPM4IB1"

struct rl_pm4_dump rl_pm4_dump_header(const struct rl_pm4_target *target, uint32_t dwords);

#endif
