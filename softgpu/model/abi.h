/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Layouts that the software GPU shares with ROCr: AQL packets (HSA Platform System Architecture 1.2,
 * section 2.9), the AMD queue and signal objects behind hsa_queue_t and hsa_signal_t, and the model interface
 * 0.4 of libhsakmt. Written down here so that the library builds without the ROCm headers; the assertions
 * below are the contract.
 */
#ifndef SOFTGPU_MODEL_ABI_H
#define SOFTGPU_MODEL_ABI_H

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

enum { SG_AQL_PACKET_BYTES = 64, SG_AQL_DEPENDENCIES = 5 };

enum sg_packet_type {
    SG_PACKET_VENDOR = 0,
    SG_PACKET_INVALID = 1,
    SG_PACKET_DISPATCH = 2,
    SG_PACKET_BARRIER_AND = 3,
    SG_PACKET_AGENT_DISPATCH = 4,
    SG_PACKET_BARRIER_OR = 5,
};

enum sg_vendor_format { SG_VENDOR_PM4_IB = 1, SG_VENDOR_BARRIER_VALUE = 2 };

/* hsa_signal_condition_t, as the barrier-value packet carries it. */
enum sg_condition { SG_CONDITION_EQ = 0, SG_CONDITION_NE = 1, SG_CONDITION_LT = 2, SG_CONDITION_GTE = 3 };

static inline unsigned sg_header_type(uint16_t header)
{
    return header & 0xff;
}
static inline unsigned sg_header_barrier(uint16_t header)
{
    return header >> 8 & 1;
}
static inline unsigned sg_header_acquire(uint16_t header)
{
    return header >> 9 & 3;
}
static inline unsigned sg_header_release(uint16_t header)
{
    return header >> 11 & 3;
}

struct sg_packet_dispatch {
    uint16_t header, setup;
    uint16_t workgroup[3], reserved0;
    uint32_t grid[3];
    uint32_t private_bytes, group_bytes;
    uint64_t kernel_object, kernarg, reserved2, completion;
};

struct sg_packet_barrier {
    uint16_t header, reserved0;
    uint32_t reserved1;
    uint64_t dependency[SG_AQL_DEPENDENCIES];
    uint64_t reserved2, completion;
};

struct sg_packet_pm4 {
    uint16_t header;
    uint8_t format, reserved0;
    uint32_t jump[4];   /* INDIRECT_BUFFER: header, address low, address high, dwords and VALID */
    uint32_t remaining; /* dwords of the packet body after this one */
    uint32_t reserved1[8];
    uint64_t completion;
};

struct sg_packet_barrier_value {
    uint16_t header;
    uint8_t format, reserved0;
    uint32_t reserved1;
    uint64_t signal;
    int64_t value, mask;
    uint32_t condition, reserved2;
    uint64_t reserved3, reserved4, completion;
};

union sg_packet {
    _Atomic uint16_t header;
    struct sg_packet_dispatch dispatch;
    struct sg_packet_barrier barrier;
    struct sg_packet_pm4 pm4;
    struct sg_packet_barrier_value barrier_value;
    uint32_t word[16];
};

_Static_assert(sizeof(union sg_packet) == SG_AQL_PACKET_BYTES, "AQL packet size");
_Static_assert(offsetof(struct sg_packet_dispatch, kernel_object) == 32, "kernel object");
_Static_assert(offsetof(struct sg_packet_pm4, completion) == 56, "PM4 completion signal");
_Static_assert(offsetof(struct sg_packet_barrier_value, completion) == 56, "barrier-value completion signal");

enum { SG_SIGNAL_USER = 1, SG_SIGNAL_DOORBELL = -1 };

struct sg_signal {
    int64_t kind;
    union {
        _Atomic int64_t value;
        _Atomic uint64_t *doorbell;
    };
    uint64_t mailbox;
    uint32_t event_id, reserved1;
    uint64_t start_ts, end_ts;
    uint64_t queue;
    uint32_t reserved3[2];
};

_Static_assert(sizeof(struct sg_signal) == 64, "amd_signal_t");

/* Memory behind an hsa_queue_t handle, up to the last field that is used here. */
struct sg_hsa_queue {
    uint32_t type, features;
    uint64_t base_address;
    uint64_t doorbell_signal;
    uint32_t size, reserved1;
    uint64_t id;
    uint32_t caps, reserved2[3];
    _Atomic uint64_t write_dispatch_id;
    uint32_t group_aperture_hi, private_aperture_hi, max_cu_id, max_wave_id;
    uint64_t legacy_doorbell;
    uint32_t legacy_lock, reserved3[9];
    _Atomic uint64_t read_dispatch_id;
    uint32_t read_offset, compute_tmpring_size;
    uint32_t scratch_descriptor[4];
    uint64_t scratch_base;
    uint32_t reserved4[2];
    uint32_t scratch_wave64_lane_bytes, properties;
    uint32_t reserved5[2];
    uint64_t inactive_signal;
};

_Static_assert(offsetof(struct sg_hsa_queue, write_dispatch_id) == 56, "write index");
_Static_assert(offsetof(struct sg_hsa_queue, read_dispatch_id) == 128, "read index");
_Static_assert(offsetof(struct sg_hsa_queue, inactive_signal) == 192, "inactive signal");

/* Kernel descriptor (LLVM AMDGPU backend guide, code object v3 and later). */
struct sg_kernel_descriptor {
    uint32_t group_bytes, private_bytes, kernarg_bytes;
    uint8_t reserved0[4];
    int64_t entry_offset;
    uint8_t reserved1[20];
    uint32_t rsrc3, rsrc1, rsrc2;
    uint16_t properties, preload;
    uint8_t reserved2[4];
};

_Static_assert(sizeof(struct sg_kernel_descriptor) == 64, "kernel descriptor");

enum { SG_KERNEL_WAVE32 = 1 << 10, SG_KERNEL_DISPATCH_PTR = 1 << 1 };

/* Queue types of the KFD interface. */
enum { SG_KFD_QUEUE_SDMA = 1, SG_KFD_QUEUE_COMPUTE_AQL = 2, SG_KFD_QUEUE_SDMA_XGMI = 3 };

/* Flags of alloced_memory(): KFD_IOC_ALLOC_MEM_FLAGS_*. */
enum {
    SG_KFD_MEMORY_VRAM = 1 << 0,
    SG_KFD_MEMORY_DOORBELL = 1 << 3,
    SG_KFD_MEMORY_MMIO_REMAP = 1 << 4,
    SG_KFD_MEMORY_WRITABLE = 1u << 31
};

struct sg_model_queue_info {
    uint64_t ring, write_pointer, read_pointer; /* relative to the aperture */
    uint64_t *doorbell;                         /* libhsakmt leaves it NULL */
    uint32_t ring_bytes, type;
};

typedef void (*sg_set_event_fn)(void *data, unsigned event_id);

struct sg_model_functions {
    uint32_t version_major, version_minor;
    void *(*create)(void);
    void (*destroy)(void *model);
    void (*set_global_aperture)(void *model, void *base, uint64_t size);
    void (*alloced_memory)(void *model, void *base, uint64_t size, uint32_t flags);
    void (*freed_memory)(void *model, void *base, uint64_t size);
    void (*set_notify_event)(void *model, void (*callback)(void *data), void *data);
    void (*set_wait_event)(void *model, void (*callback)(void *data, uint64_t address, uint64_t age),
                           void *data);
    void *(*register_queue)(void *model, struct sg_model_queue_info *info);
    void (*set_set_event)(void *model, sg_set_event_fn fn, void *data);
    void (*destroy_queue)(void *model, void *queue);
};

#endif
