/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The one table of PM4: packets, their fields, the compute registers that SET_SH_REG reaches, their fields,
 * named values. Encoder (constants in pm4.h) and decoder (arrays in pm4.c) are both made from it. docs/pm4.md
 * names the public source of each fact.
 *
 * RL_PM4_PACKETS(PACKET, FIELD, VALUE)
 *     PACKET(name, opcode, body_min, body_max)        body in dwords; max 0: data follows, as much as fits
 *     FIELD(packet, dword, name, low, high, families) dword 1 is the first of the body
 *     VALUE(packet, field, value, name)
 * RL_PM4_REGISTERS(REGISTER, FIELD, REGISTER_TOO, FIELD_TOO)
 *     REGISTER(name, offset, families, rule)          offset: dword address - 0x2C00
 *     FIELD(register, name, low, high, families)
 *     ..._TOO                                         a name again, as other families have it: only decoded
 *
 * Rules of a register: FREE, an AQL dispatch programs it anyway; ZERO, a buffer may write 0 and nothing else;
 * NEVER, it belongs to the queue (CU mask, scratch, counters, save area) and a buffer must not write it.
 */
#ifndef RL_PM4_TABLE_H
#define RL_PM4_TABLE_H

enum rl_pm4_family {
    RL_GFX10_1 = 1,
    RL_GFX10_3 = 2,
    RL_GFX11_0 = 4,
    RL_GFX11_5 = 8,
    RL_GFX12_0 = 16,
    RL_GFX10 = RL_GFX10_1 | RL_GFX10_3,
    RL_GFX11 = RL_GFX11_0 | RL_GFX11_5,
    RL_BELOW_GFX12 = RL_GFX10 | RL_GFX11,
    RL_FROM_GFX11 = RL_GFX11 | RL_GFX12_0,
    RL_ALL_FAMILIES = RL_GFX10 | RL_FROM_GFX11,
};

#define RL_PM4_PACKETS(PACKET, FIELD, VALUE)                                                                 \
    PACKET(NOP, 0x10, 0, 0)                                                                                  \
    PACKET(DISPATCH_DIRECT, 0x15, 4, 4)                                                                      \
    FIELD(DISPATCH_DIRECT, 1, DIM_X, 0, 31, RL_ALL_FAMILIES)                                                 \
    FIELD(DISPATCH_DIRECT, 2, DIM_Y, 0, 31, RL_ALL_FAMILIES)                                                 \
    FIELD(DISPATCH_DIRECT, 3, DIM_Z, 0, 31, RL_ALL_FAMILIES)                                                 \
    FIELD(DISPATCH_DIRECT, 4, COMPUTE_SHADER_EN, 0, 0, RL_ALL_FAMILIES)                                      \
    FIELD(DISPATCH_DIRECT, 4, PARTIAL_TG_EN, 1, 1, RL_ALL_FAMILIES)                                          \
    FIELD(DISPATCH_DIRECT, 4, FORCE_START_AT_000, 2, 2, RL_ALL_FAMILIES)                                     \
    FIELD(DISPATCH_DIRECT, 4, ORDERED_APPEND_ENBL, 3, 3, RL_ALL_FAMILIES)                                    \
    FIELD(DISPATCH_DIRECT, 4, ORDERED_APPEND_MODE, 4, 4, RL_ALL_FAMILIES)                                    \
    FIELD(DISPATCH_DIRECT, 4, USE_THREAD_DIMENSIONS, 5, 5, RL_ALL_FAMILIES)                                  \
    FIELD(DISPATCH_DIRECT, 4, ORDER_MODE, 6, 6, RL_ALL_FAMILIES)                                             \
    FIELD(DISPATCH_DIRECT, 4, SCALAR_L1_INV_VOL, 10, 10, RL_ALL_FAMILIES)                                    \
    FIELD(DISPATCH_DIRECT, 4, VECTOR_L1_INV_VOL, 11, 11, RL_ALL_FAMILIES)                                    \
    FIELD(DISPATCH_DIRECT, 4, PING_PONG_EN, 12, 12, RL_GFX12_0)                                              \
    FIELD(DISPATCH_DIRECT, 4, TUNNEL_ENABLE, 13, 13, RL_ALL_FAMILIES)                                        \
    FIELD(DISPATCH_DIRECT, 4, RESTORE, 14, 14, RL_ALL_FAMILIES)                                              \
    FIELD(DISPATCH_DIRECT, 4, CS_W32_EN, 15, 15, RL_ALL_FAMILIES)                                            \
    FIELD(DISPATCH_DIRECT, 4, AMP_SHADER_EN, 16, 16, RL_FROM_GFX11)                                          \
    FIELD(DISPATCH_DIRECT, 4, DISABLE_DISP_PREMPT_EN, 17, 17, RL_FROM_GFX11)                                 \
    FIELD(DISPATCH_DIRECT, 4, INTERLEAVE_2D_EN, 18, 18, RL_GFX12_0)                                          \
    PACKET(WRITE_DATA, 0x37, 4, 0)                                                                           \
    FIELD(WRITE_DATA, 1, DST_SEL, 8, 11, RL_ALL_FAMILIES)                                                    \
    VALUE(WRITE_DATA, DST_SEL, 2, TC_L2)                                                                     \
    VALUE(WRITE_DATA, DST_SEL, 5, MEMORY)                                                                    \
    FIELD(WRITE_DATA, 1, ADDR_INCR, 16, 16, RL_ALL_FAMILIES)                                                 \
    FIELD(WRITE_DATA, 1, WR_CONFIRM, 20, 20, RL_ALL_FAMILIES)                                                \
    FIELD(WRITE_DATA, 1, CACHE_POLICY, 25, 26, RL_BELOW_GFX12)                                               \
    FIELD(WRITE_DATA, 1, TEMPORAL, 25, 26, RL_GFX12_0)                                                       \
    FIELD(WRITE_DATA, 2, DST_MEM_ADDR_LO, 2, 31, RL_ALL_FAMILIES)                                            \
    FIELD(WRITE_DATA, 3, DST_MEM_ADDR_HI, 0, 31, RL_ALL_FAMILIES)                                            \
    PACKET(WAIT_REG_MEM, 0x3C, 6, 6)                                                                         \
    FIELD(WAIT_REG_MEM, 1, FUNCTION, 0, 2, RL_ALL_FAMILIES)                                                  \
    VALUE(WAIT_REG_MEM, FUNCTION, 3, EQUAL)                                                                  \
    VALUE(WAIT_REG_MEM, FUNCTION, 5, GREATER_OR_EQUAL)                                                       \
    FIELD(WAIT_REG_MEM, 1, MEM_SPACE, 4, 5, RL_ALL_FAMILIES)                                                 \
    VALUE(WAIT_REG_MEM, MEM_SPACE, 1, MEMORY)                                                                \
    FIELD(WAIT_REG_MEM, 1, OPERATION, 6, 7, RL_ALL_FAMILIES)                                                 \
    FIELD(WAIT_REG_MEM, 1, CACHE_POLICY, 25, 26, RL_BELOW_GFX12)                                             \
    FIELD(WAIT_REG_MEM, 1, TEMPORAL, 25, 26, RL_GFX12_0)                                                     \
    FIELD(WAIT_REG_MEM, 2, MEM_POLL_ADDR_LO, 2, 31, RL_ALL_FAMILIES)                                         \
    FIELD(WAIT_REG_MEM, 3, MEM_POLL_ADDR_HI, 0, 31, RL_ALL_FAMILIES)                                         \
    FIELD(WAIT_REG_MEM, 4, REFERENCE, 0, 31, RL_ALL_FAMILIES)                                                \
    FIELD(WAIT_REG_MEM, 5, MASK, 0, 31, RL_ALL_FAMILIES)                                                     \
    FIELD(WAIT_REG_MEM, 6, POLL_INTERVAL, 0, 15, RL_ALL_FAMILIES)                                            \
    FIELD(WAIT_REG_MEM, 6, OPTIMIZE_ACE_OFFLOAD_MODE, 31, 31, RL_ALL_FAMILIES)                               \
    PACKET(INDIRECT_BUFFER, 0x3F, 3, 3)                                                                      \
    FIELD(INDIRECT_BUFFER, 1, IB_BASE_LO, 2, 31, RL_ALL_FAMILIES)                                            \
    FIELD(INDIRECT_BUFFER, 2, IB_BASE_HI, 0, 31, RL_ALL_FAMILIES)                                            \
    FIELD(INDIRECT_BUFFER, 3, IB_SIZE, 0, 19, RL_ALL_FAMILIES)                                               \
    FIELD(INDIRECT_BUFFER, 3, CHAIN, 20, 20, RL_ALL_FAMILIES)                                                \
    FIELD(INDIRECT_BUFFER, 3, OFFLOAD_POLLING, 21, 21, RL_ALL_FAMILIES)                                      \
    FIELD(INDIRECT_BUFFER, 3, VALID, 23, 23, RL_ALL_FAMILIES)                                                \
    FIELD(INDIRECT_BUFFER, 3, VMID, 24, 27, RL_ALL_FAMILIES)                                                 \
    FIELD(INDIRECT_BUFFER, 3, CACHE_POLICY, 28, 29, RL_BELOW_GFX12)                                          \
    FIELD(INDIRECT_BUFFER, 3, TEMPORAL, 28, 29, RL_GFX12_0)                                                  \
    PACKET(EVENT_WRITE, 0x46, 1, 1)                                                                          \
    FIELD(EVENT_WRITE, 1, EVENT_TYPE, 0, 5, RL_ALL_FAMILIES)                                                 \
    VALUE(EVENT_WRITE, EVENT_TYPE, 7, CS_PARTIAL_FLUSH)                                                      \
    FIELD(EVENT_WRITE, 1, EVENT_INDEX, 8, 11, RL_ALL_FAMILIES)                                               \
    VALUE(EVENT_WRITE, EVENT_INDEX, 4, CS_PARTIAL_FLUSH)                                                     \
    PACKET(RELEASE_MEM, 0x49, 7, 7)                                                                          \
    FIELD(RELEASE_MEM, 1, EVENT_TYPE, 0, 5, RL_ALL_FAMILIES)                                                 \
    VALUE(RELEASE_MEM, EVENT_TYPE, 40, BOTTOM_OF_PIPE_TS)                                                    \
    FIELD(RELEASE_MEM, 1, EVENT_INDEX, 8, 11, RL_ALL_FAMILIES)                                               \
    VALUE(RELEASE_MEM, EVENT_INDEX, 5, END_OF_PIPE)                                                          \
    FIELD(RELEASE_MEM, 1, GLM_WB, 12, 12, RL_BELOW_GFX12)                                                    \
    FIELD(RELEASE_MEM, 1, GLM_INV, 13, 13, RL_BELOW_GFX12)                                                   \
    FIELD(RELEASE_MEM, 1, GLV_INV, 14, 14, RL_ALL_FAMILIES)                                                  \
    FIELD(RELEASE_MEM, 1, GL1_INV, 15, 15, RL_BELOW_GFX12)                                                   \
    FIELD(RELEASE_MEM, 1, GL2_US, 16, 16, RL_ALL_FAMILIES)                                                   \
    FIELD(RELEASE_MEM, 1, GL2_RANGE, 17, 18, RL_ALL_FAMILIES)                                                \
    FIELD(RELEASE_MEM, 1, GL2_DISCARD, 19, 19, RL_ALL_FAMILIES)                                              \
    FIELD(RELEASE_MEM, 1, GL2_INV, 20, 20, RL_ALL_FAMILIES)                                                  \
    FIELD(RELEASE_MEM, 1, GL2_WB, 21, 21, RL_ALL_FAMILIES)                                                   \
    FIELD(RELEASE_MEM, 1, SEQ, 22, 23, RL_ALL_FAMILIES)                                                      \
    FIELD(RELEASE_MEM, 1, GLK_WB, 24, 24, RL_FROM_GFX11)                                                     \
    FIELD(RELEASE_MEM, 1, CACHE_POLICY, 25, 26, RL_BELOW_GFX12)                                              \
    FIELD(RELEASE_MEM, 1, TEMPORAL, 25, 26, RL_GFX12_0)                                                      \
    FIELD(RELEASE_MEM, 1, GLK_INV, 30, 30, RL_FROM_GFX11)                                                    \
    FIELD(RELEASE_MEM, 2, DST_SEL, 16, 17, RL_ALL_FAMILIES)                                                  \
    VALUE(RELEASE_MEM, DST_SEL, 0, MEMORY)                                                                   \
    VALUE(RELEASE_MEM, DST_SEL, 1, TC_L2)                                                                    \
    FIELD(RELEASE_MEM, 2, INT_SEL, 24, 26, RL_ALL_FAMILIES)                                                  \
    VALUE(RELEASE_MEM, INT_SEL, 3, DATA_AFTER_WRITE_CONFIRM)                                                 \
    FIELD(RELEASE_MEM, 2, DATA_SEL, 29, 31, RL_ALL_FAMILIES)                                                 \
    VALUE(RELEASE_MEM, DATA_SEL, 1, 32_BIT_LOW)                                                              \
    FIELD(RELEASE_MEM, 3, ADDRESS_LO, 2, 31, RL_ALL_FAMILIES)                                                \
    FIELD(RELEASE_MEM, 4, ADDRESS_HI, 0, 31, RL_ALL_FAMILIES)                                                \
    FIELD(RELEASE_MEM, 5, DATA_LO, 0, 31, RL_ALL_FAMILIES)                                                   \
    FIELD(RELEASE_MEM, 6, DATA_HI, 0, 31, RL_ALL_FAMILIES)                                                   \
    FIELD(RELEASE_MEM, 7, INT_CTXID, 0, 31, RL_ALL_FAMILIES)                                                 \
    PACKET(ACQUIRE_MEM, 0x58, 7, 7)                                                                          \
    FIELD(ACQUIRE_MEM, 2, COHER_SIZE, 0, 31, RL_ALL_FAMILIES)                                                \
    FIELD(ACQUIRE_MEM, 3, COHER_SIZE_HI, 0, 7, RL_ALL_FAMILIES)                                              \
    FIELD(ACQUIRE_MEM, 4, COHER_BASE_LO, 0, 31, RL_ALL_FAMILIES)                                             \
    FIELD(ACQUIRE_MEM, 5, COHER_BASE_HI, 0, 23, RL_ALL_FAMILIES)                                             \
    FIELD(ACQUIRE_MEM, 6, POLL_INTERVAL, 0, 15, RL_ALL_FAMILIES)                                             \
    FIELD(ACQUIRE_MEM, 7, GLI_INV, 0, 1, RL_ALL_FAMILIES)                                                    \
    FIELD(ACQUIRE_MEM, 7, GL1_RANGE, 2, 3, RL_BELOW_GFX12)                                                   \
    FIELD(ACQUIRE_MEM, 7, GLM_WB, 4, 4, RL_BELOW_GFX12)                                                      \
    FIELD(ACQUIRE_MEM, 7, GLM_INV, 5, 5, RL_BELOW_GFX12)                                                     \
    FIELD(ACQUIRE_MEM, 7, GLK_WB, 6, 6, RL_ALL_FAMILIES)                                                     \
    FIELD(ACQUIRE_MEM, 7, GLK_INV, 7, 7, RL_ALL_FAMILIES)                                                    \
    FIELD(ACQUIRE_MEM, 7, GLV_INV, 8, 8, RL_ALL_FAMILIES)                                                    \
    FIELD(ACQUIRE_MEM, 7, GL1_INV, 9, 9, RL_BELOW_GFX12)                                                     \
    FIELD(ACQUIRE_MEM, 7, GL2_US, 10, 10, RL_ALL_FAMILIES)                                                   \
    FIELD(ACQUIRE_MEM, 7, GL2_RANGE, 11, 12, RL_ALL_FAMILIES)                                                \
    FIELD(ACQUIRE_MEM, 7, GL2_DISCARD, 13, 13, RL_ALL_FAMILIES)                                              \
    FIELD(ACQUIRE_MEM, 7, GL2_INV, 14, 14, RL_ALL_FAMILIES)                                                  \
    FIELD(ACQUIRE_MEM, 7, GL2_WB, 15, 15, RL_ALL_FAMILIES)                                                   \
    FIELD(ACQUIRE_MEM, 7, SEQ, 16, 17, RL_ALL_FAMILIES)                                                      \
    VALUE(ACQUIRE_MEM, SEQ, 1, FORWARD)                                                                      \
    FIELD(ACQUIRE_MEM, 7, RANGE_IS_PA, 18, 18, RL_ALL_FAMILIES)                                              \
    PACKET(SET_SH_REG, 0x76, 2, 0)                                                                           \
    FIELD(SET_SH_REG, 1, REG_OFFSET, 0, 15, RL_ALL_FAMILIES)

#define RL_PM4_WHOLE(REGISTER, FIELD, name, offset, families, rule, field)                                   \
    REGISTER(name, offset, families, rule)                                                                   \
    FIELD(name, field, 0, 31, families)

#define RL_PM4_REGISTERS(R, F, R2, F2)                                                                       \
    R(COMPUTE_DISPATCH_INITIATOR, 0x200, RL_ALL_FAMILIES, NEVER)                                             \
    R(COMPUTE_DIM_X, 0x201, RL_ALL_FAMILIES, NEVER)                                                          \
    R(COMPUTE_DIM_Y, 0x202, RL_ALL_FAMILIES, NEVER)                                                          \
    R(COMPUTE_DIM_Z, 0x203, RL_ALL_FAMILIES, NEVER)                                                          \
    RL_PM4_WHOLE(R, F, COMPUTE_START_X, 0x204, RL_ALL_FAMILIES, ZERO, START)                                 \
    RL_PM4_WHOLE(R, F, COMPUTE_START_Y, 0x205, RL_ALL_FAMILIES, ZERO, START)                                 \
    RL_PM4_WHOLE(R, F, COMPUTE_START_Z, 0x206, RL_ALL_FAMILIES, ZERO, START)                                 \
    R(COMPUTE_NUM_THREAD_X, 0x207, RL_ALL_FAMILIES, FREE)                                                    \
    F(COMPUTE_NUM_THREAD_X, NUM_THREAD_FULL, 0, 15, RL_BELOW_GFX12)                                          \
    F2(COMPUTE_NUM_THREAD_X, NUM_THREAD_FULL, 0, 12, RL_GFX12_0)                                             \
    F(COMPUTE_NUM_THREAD_X, INTERLEAVE_BITS_X, 13, 15, RL_GFX12_0)                                           \
    F(COMPUTE_NUM_THREAD_X, NUM_THREAD_PARTIAL, 16, 31, RL_ALL_FAMILIES)                                     \
    R(COMPUTE_NUM_THREAD_Y, 0x208, RL_ALL_FAMILIES, FREE)                                                    \
    F(COMPUTE_NUM_THREAD_Y, NUM_THREAD_FULL, 0, 15, RL_BELOW_GFX12)                                          \
    F2(COMPUTE_NUM_THREAD_Y, NUM_THREAD_FULL, 0, 12, RL_GFX12_0)                                             \
    F(COMPUTE_NUM_THREAD_Y, INTERLEAVE_BITS_Y, 13, 15, RL_GFX12_0)                                           \
    F(COMPUTE_NUM_THREAD_Y, NUM_THREAD_PARTIAL, 16, 31, RL_ALL_FAMILIES)                                     \
    R(COMPUTE_NUM_THREAD_Z, 0x209, RL_ALL_FAMILIES, FREE)                                                    \
    F(COMPUTE_NUM_THREAD_Z, NUM_THREAD_FULL, 0, 15, RL_ALL_FAMILIES)                                         \
    F(COMPUTE_NUM_THREAD_Z, NUM_THREAD_PARTIAL, 16, 31, RL_ALL_FAMILIES)                                     \
    R(COMPUTE_PIPELINESTAT_ENABLE, 0x20A, RL_ALL_FAMILIES, NEVER)                                            \
    R(COMPUTE_PERFCOUNT_ENABLE, 0x20B, RL_ALL_FAMILIES, NEVER)                                               \
    RL_PM4_WHOLE(R, F, COMPUTE_PGM_LO, 0x20C, RL_ALL_FAMILIES, FREE, DATA)                                   \
    R(COMPUTE_PGM_HI, 0x20D, RL_ALL_FAMILIES, FREE)                                                          \
    F(COMPUTE_PGM_HI, DATA, 0, 7, RL_ALL_FAMILIES)                                                           \
    R(COMPUTE_DISPATCH_PKT_ADDR_LO, 0x20E, RL_ALL_FAMILIES, NEVER)                                           \
    R(COMPUTE_DISPATCH_PKT_ADDR_HI, 0x20F, RL_ALL_FAMILIES, NEVER)                                           \
    R(COMPUTE_DISPATCH_SCRATCH_BASE_LO, 0x210, RL_ALL_FAMILIES, NEVER)                                       \
    R(COMPUTE_DISPATCH_SCRATCH_BASE_HI, 0x211, RL_ALL_FAMILIES, NEVER)                                       \
    R(COMPUTE_PGM_RSRC1, 0x212, RL_ALL_FAMILIES, FREE)                                                       \
    F(COMPUTE_PGM_RSRC1, VGPRS, 0, 5, RL_ALL_FAMILIES)                                                       \
    F(COMPUTE_PGM_RSRC1, SGPRS, 6, 9, RL_ALL_FAMILIES)                                                       \
    F(COMPUTE_PGM_RSRC1, PRIORITY, 10, 11, RL_ALL_FAMILIES)                                                  \
    F(COMPUTE_PGM_RSRC1, FLOAT_MODE, 12, 19, RL_ALL_FAMILIES)                                                \
    F(COMPUTE_PGM_RSRC1, PRIV, 20, 20, RL_ALL_FAMILIES)                                                      \
    F(COMPUTE_PGM_RSRC1, DX10_CLAMP, 21, 21, RL_BELOW_GFX12)                                                 \
    F(COMPUTE_PGM_RSRC1, WG_RR_EN, 21, 21, RL_GFX12_0)                                                       \
    F(COMPUTE_PGM_RSRC1, IEEE_MODE, 23, 23, RL_BELOW_GFX12)                                                  \
    F(COMPUTE_PGM_RSRC1, DISABLE_PERF, 23, 23, RL_GFX12_0)                                                   \
    F(COMPUTE_PGM_RSRC1, BULKY, 24, 24, RL_ALL_FAMILIES)                                                     \
    F(COMPUTE_PGM_RSRC1, FP16_OVFL, 26, 26, RL_ALL_FAMILIES)                                                 \
    F(COMPUTE_PGM_RSRC1, WGP_MODE, 29, 29, RL_ALL_FAMILIES)                                                  \
    F(COMPUTE_PGM_RSRC1, MEM_ORDERED, 30, 30, RL_ALL_FAMILIES)                                               \
    F(COMPUTE_PGM_RSRC1, FWD_PROGRESS, 31, 31, RL_ALL_FAMILIES)                                              \
    R(COMPUTE_PGM_RSRC2, 0x213, RL_ALL_FAMILIES, FREE)                                                       \
    F(COMPUTE_PGM_RSRC2, SCRATCH_EN, 0, 0, RL_ALL_FAMILIES)                                                  \
    F(COMPUTE_PGM_RSRC2, USER_SGPR, 1, 5, RL_ALL_FAMILIES)                                                   \
    F(COMPUTE_PGM_RSRC2, TRAP_PRESENT, 6, 6, RL_BELOW_GFX12)                                                 \
    F(COMPUTE_PGM_RSRC2, DYNAMIC_VGPR, 6, 6, RL_GFX12_0)                                                     \
    F(COMPUTE_PGM_RSRC2, TGID_X_EN, 7, 7, RL_ALL_FAMILIES)                                                   \
    F(COMPUTE_PGM_RSRC2, TGID_Y_EN, 8, 8, RL_ALL_FAMILIES)                                                   \
    F(COMPUTE_PGM_RSRC2, TGID_Z_EN, 9, 9, RL_ALL_FAMILIES)                                                   \
    F(COMPUTE_PGM_RSRC2, TG_SIZE_EN, 10, 10, RL_ALL_FAMILIES)                                                \
    F(COMPUTE_PGM_RSRC2, TIDIG_COMP_CNT, 11, 12, RL_ALL_FAMILIES)                                            \
    F(COMPUTE_PGM_RSRC2, EXCP_EN_MSB, 13, 14, RL_ALL_FAMILIES)                                               \
    F(COMPUTE_PGM_RSRC2, LDS_SIZE, 15, 23, RL_ALL_FAMILIES)                                                  \
    F(COMPUTE_PGM_RSRC2, EXCP_EN, 24, 30, RL_ALL_FAMILIES)                                                   \
    F(COMPUTE_PGM_RSRC2, WGP_TAKEOVER, 31, 31, RL_GFX12_0)                                                   \
    R(COMPUTE_VMID, 0x214, RL_ALL_FAMILIES, NEVER)                                                           \
    R(COMPUTE_RESOURCE_LIMITS, 0x215, RL_ALL_FAMILIES, NEVER)                                                \
    R(COMPUTE_STATIC_THREAD_MGMT_SE0, 0x216, RL_ALL_FAMILIES, NEVER)                                         \
    R(COMPUTE_STATIC_THREAD_MGMT_SE1, 0x217, RL_ALL_FAMILIES, NEVER)                                         \
    R(COMPUTE_TMPRING_SIZE, 0x218, RL_ALL_FAMILIES, NEVER)                                                   \
    R(COMPUTE_STATIC_THREAD_MGMT_SE2, 0x219, RL_ALL_FAMILIES, NEVER)                                         \
    R(COMPUTE_STATIC_THREAD_MGMT_SE3, 0x21A, RL_ALL_FAMILIES, NEVER)                                         \
    RL_PM4_WHOLE(R, F, COMPUTE_RESTART_X, 0x21B, RL_ALL_FAMILIES, ZERO, RESTART)                             \
    RL_PM4_WHOLE(R, F, COMPUTE_RESTART_Y, 0x21C, RL_ALL_FAMILIES, ZERO, RESTART)                             \
    RL_PM4_WHOLE(R, F, COMPUTE_RESTART_Z, 0x21D, RL_ALL_FAMILIES, ZERO, RESTART)                             \
    R(COMPUTE_THREAD_TRACE_ENABLE, 0x21E, RL_ALL_FAMILIES, NEVER)                                            \
    R(COMPUTE_MISC_RESERVED, 0x21F, RL_ALL_FAMILIES, NEVER)                                                  \
    R(COMPUTE_DISPATCH_ID, 0x220, RL_ALL_FAMILIES, NEVER)                                                    \
    R(COMPUTE_THREADGROUP_ID, 0x221, RL_ALL_FAMILIES, NEVER)                                                 \
    R(COMPUTE_REQ_CTRL, 0x222, RL_ALL_FAMILIES, NEVER)                                                       \
    R(COMPUTE_STATIC_THREAD_MGMT_SE8, 0x223, RL_GFX12_0, NEVER)                                              \
    R(COMPUTE_USER_ACCUM_0, 0x224, RL_ALL_FAMILIES, NEVER)                                                   \
    R(COMPUTE_USER_ACCUM_1, 0x225, RL_ALL_FAMILIES, NEVER)                                                   \
    R(COMPUTE_USER_ACCUM_2, 0x226, RL_ALL_FAMILIES, NEVER)                                                   \
    R(COMPUTE_USER_ACCUM_3, 0x227, RL_ALL_FAMILIES, NEVER)                                                   \
    R(COMPUTE_PGM_RSRC3, 0x228, RL_ALL_FAMILIES, FREE)                                                       \
    F(COMPUTE_PGM_RSRC3, SHARED_VGPR_CNT, 0, 3, RL_ALL_FAMILIES)                                             \
    F(COMPUTE_PGM_RSRC3, INST_PREF_SIZE, 4, 9, RL_GFX11)                                                     \
    F2(COMPUTE_PGM_RSRC3, INST_PREF_SIZE, 4, 11, RL_GFX12_0)                                                 \
    F(COMPUTE_PGM_RSRC3, TRAP_ON_START, 10, 10, RL_GFX11)                                                    \
    F(COMPUTE_PGM_RSRC3, TRAP_ON_END, 11, 11, RL_GFX11)                                                      \
    F(COMPUTE_PGM_RSRC3, GLG_EN, 13, 13, RL_GFX12_0)                                                         \
    F(COMPUTE_PGM_RSRC3, IMAGE_OP, 31, 31, RL_FROM_GFX11)                                                    \
    R(COMPUTE_DDID_INDEX, 0x229, RL_ALL_FAMILIES, NEVER)                                                     \
    R(COMPUTE_SHADER_CHKSUM, 0x22A, RL_ALL_FAMILIES, NEVER)                                                  \
    R(COMPUTE_RELAUNCH, 0x22B, RL_GFX10, NEVER)                                                              \
    R(COMPUTE_WAVE_RESTORE_ADDR_LO, 0x22C, RL_GFX10, NEVER)                                                  \
    R(COMPUTE_WAVE_RESTORE_ADDR_HI, 0x22D, RL_GFX10, NEVER)                                                  \
    R(COMPUTE_RELAUNCH2, 0x22E, RL_GFX10, NEVER)                                                             \
    R(COMPUTE_STATIC_THREAD_MGMT_SE4, 0x22B, RL_FROM_GFX11, NEVER)                                           \
    R(COMPUTE_STATIC_THREAD_MGMT_SE5, 0x22C, RL_FROM_GFX11, NEVER)                                           \
    R(COMPUTE_STATIC_THREAD_MGMT_SE6, 0x22D, RL_FROM_GFX11, NEVER)                                           \
    R(COMPUTE_STATIC_THREAD_MGMT_SE7, 0x22E, RL_FROM_GFX11, NEVER)                                           \
    R(COMPUTE_DISPATCH_INTERLEAVE, 0x22F, RL_FROM_GFX11, NEVER)                                              \
    R2(COMPUTE_RELAUNCH, 0x230, RL_FROM_GFX11, NEVER)                                                        \
    R2(COMPUTE_WAVE_RESTORE_ADDR_LO, 0x231, RL_FROM_GFX11, NEVER)                                            \
    R2(COMPUTE_WAVE_RESTORE_ADDR_HI, 0x232, RL_FROM_GFX11, NEVER)                                            \
    R2(COMPUTE_RELAUNCH2, 0x233, RL_FROM_GFX11, NEVER)                                                       \
    R(COMPUTE_PRESCALED_DIM_X, 0x235, RL_GFX12_0, NEVER)                                                     \
    R(COMPUTE_PRESCALED_DIM_Y, 0x236, RL_GFX12_0, NEVER)                                                     \
    R(COMPUTE_PRESCALED_DIM_Z, 0x237, RL_GFX12_0, NEVER)                                                     \
    RL_PM4_WHOLE(R, F, COMPUTE_USER_DATA_0, 0x240, RL_ALL_FAMILIES, FREE, DATA)                              \
    RL_PM4_WHOLE(R, F, COMPUTE_USER_DATA_1, 0x241, RL_ALL_FAMILIES, FREE, DATA)                              \
    RL_PM4_WHOLE(R, F, COMPUTE_USER_DATA_2, 0x242, RL_ALL_FAMILIES, FREE, DATA)                              \
    RL_PM4_WHOLE(R, F, COMPUTE_USER_DATA_3, 0x243, RL_ALL_FAMILIES, FREE, DATA)                              \
    RL_PM4_WHOLE(R, F, COMPUTE_USER_DATA_4, 0x244, RL_ALL_FAMILIES, FREE, DATA)                              \
    RL_PM4_WHOLE(R, F, COMPUTE_USER_DATA_5, 0x245, RL_ALL_FAMILIES, FREE, DATA)                              \
    RL_PM4_WHOLE(R, F, COMPUTE_USER_DATA_6, 0x246, RL_ALL_FAMILIES, FREE, DATA)                              \
    RL_PM4_WHOLE(R, F, COMPUTE_USER_DATA_7, 0x247, RL_ALL_FAMILIES, FREE, DATA)                              \
    RL_PM4_WHOLE(R, F, COMPUTE_USER_DATA_8, 0x248, RL_ALL_FAMILIES, FREE, DATA)                              \
    RL_PM4_WHOLE(R, F, COMPUTE_USER_DATA_9, 0x249, RL_ALL_FAMILIES, FREE, DATA)                              \
    RL_PM4_WHOLE(R, F, COMPUTE_USER_DATA_10, 0x24A, RL_ALL_FAMILIES, FREE, DATA)                             \
    RL_PM4_WHOLE(R, F, COMPUTE_USER_DATA_11, 0x24B, RL_ALL_FAMILIES, FREE, DATA)                             \
    RL_PM4_WHOLE(R, F, COMPUTE_USER_DATA_12, 0x24C, RL_ALL_FAMILIES, FREE, DATA)                             \
    RL_PM4_WHOLE(R, F, COMPUTE_USER_DATA_13, 0x24D, RL_ALL_FAMILIES, FREE, DATA)                             \
    RL_PM4_WHOLE(R, F, COMPUTE_USER_DATA_14, 0x24E, RL_ALL_FAMILIES, FREE, DATA)                             \
    RL_PM4_WHOLE(R, F, COMPUTE_USER_DATA_15, 0x24F, RL_ALL_FAMILIES, FREE, DATA)                             \
    R(COMPUTE_DISPATCH_TUNNEL, 0x27D, RL_ALL_FAMILIES, NEVER)                                                \
    R(COMPUTE_DISPATCH_END, 0x27E, RL_ALL_FAMILIES, NEVER)                                                   \
    R(COMPUTE_NOWHERE, 0x27F, RL_ALL_FAMILIES, NEVER)

#endif
