/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A kernel descriptor: 64 bytes in front of each kernel's code. Offsets in bytes and bits as LLVM's AMDGPU usage
 * guide has them ("Kernel Descriptor").
 */
#ifndef REDLINE_DESCRIPTOR_H
#define REDLINE_DESCRIPTOR_H

enum rl_descriptor_offset {
    RL_DESCRIPTOR_GROUP_BYTES = 0,   /* 32 bits: LDS that the kernel always has */
    RL_DESCRIPTOR_PRIVATE_BYTES = 4, /* 32 bits: scratch of a work item */
    RL_DESCRIPTOR_KERNARG_BYTES = 8, /* 32 bits */
    RL_DESCRIPTOR_ENTRY = 16,        /* 64 bits: the code's address less the descriptor's */
    RL_DESCRIPTOR_RSRC3 = 44,        /* 32 bits each: COMPUTE_PGM_RSRC3, 1, 2 */
    RL_DESCRIPTOR_RSRC1 = 48,
    RL_DESCRIPTOR_RSRC2 = 52,
    RL_DESCRIPTOR_PROPERTIES = 56, /* 16 bits of enum rl_descriptor_property */
    RL_DESCRIPTOR_PRELOAD = 58,    /* 16 bits: arguments that are loaded into registers */
    RL_DESCRIPTOR_BYTES = 64,
};

enum rl_descriptor_property {
    RL_PROPERTY_PRIVATE_SEGMENT_BUFFER = 1 << 0,
    RL_PROPERTY_DISPATCH_POINTER = 1 << 1,
    RL_PROPERTY_QUEUE_POINTER = 1 << 2,
    RL_PROPERTY_KERNARG_POINTER = 1 << 3,
    RL_PROPERTY_DISPATCH_ID = 1 << 4,
    RL_PROPERTY_WAVE32 = 1 << 10,
    RL_PROPERTY_DYNAMIC_STACK = 1 << 11,
};

#endif
