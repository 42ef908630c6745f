/* SPDX-License-Identifier: Apache-2.0 */
/*
 * State of one PM4 queue, and what the parts of the executor share. Internal to softgpu/pm4.
 *
 * Waits are counted, not timed: `dispatches` counts what was started, `waited` how many of these a wait in
 * the buffer stands behind, `invalidated` how many were waited for when the caches were last invalidated. So
 * a missing wait is found even when the waves happen to be done.
 */
#ifndef SOFTGPU_PM4_QUEUE_H
#define SOFTGPU_PM4_QUEUE_H

#include "pm4.h"
#include "pm4_decode.h"

enum {
    SG_REGISTERS = 0x80, /* compute window of the SH registers: 0x200..0x27F */
    SG_REGISTER_BASE = 0x200,
    SG_IB_DEPTH = 2,          /* the packet processor knows IB1 and IB2 */
    SG_IB_LIMIT = 0xFFFFF,    /* dwords: 20 bits in the packet */
    SG_IB_COUNT_LIMIT = 1024, /* indirect buffers chained or nested in one: a loop ends here */
    SG_RELEASES = 16,
    SG_REPORT_SIZE = 4096,
    SG_POLL_LIMIT = 16, /* longest poll interval that Mesa, PAL, ROCr or aqlprofile use */
};

enum sg_outcome { SG_NEXT, SG_JUMP, SG_BLOCK, SG_FAIL };

struct sg_frame {
    uint64_t address;
    const uint32_t *words;
    uint32_t dwords, position;
};

/* A RELEASE_MEM whose waves may still run. */
struct sg_release {
    uint64_t address, data;
    uint64_t dispatches; /* started before it */
    uint32_t data_select, interrupt, context;
};

struct sg_pm4_queue {
    const struct sg_target *target;
    struct sg_pm4_host host;
    uint32_t registers[SG_REGISTERS];
    bool known[SG_REGISTERS];   /* written by a buffer, and not by an AQL dispatch since */
    bool written[SG_REGISTERS]; /* ever written by a buffer */
    struct sg_frame frames[SG_IB_DEPTH];
    unsigned depth;   /* 0: idle */
    unsigned buffers; /* entered since sg_pm4_start */
    bool failed, strict, retrying, acquired;
    uint64_t dispatches, waited, invalidated;
    struct sg_release releases[SG_RELEASES];
    unsigned release_count;
    struct sg_release released; /* the last one that was written */
    char report[SG_REPORT_SIZE];
};

/* Stops the queue with a report of place, sentence and decoded packet. Returns SG_FAIL. */
enum sg_outcome sg_fail(struct sg_pm4_queue *queue, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Reports without stopping; false when the queue is strict and has failed. Silent while a blocked packet is
 * retried. */
bool sg_warn(struct sg_pm4_queue *queue, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Writes what pending releases owe if the waves are done; false while any is owed. */
bool sg_drain_releases(struct sg_pm4_queue *queue);

bool sg_readable(const struct sg_pm4_queue *queue, uint64_t address, uint64_t size);
bool sg_writable(const struct sg_pm4_queue *queue, uint64_t address, uint64_t size);

static inline uint64_t sg_join(uint32_t low, uint32_t high)
{
    return low | (uint64_t)high << 32;
}

/* `body` is checked: length, reserved bits, must-be-zero fields. */
enum sg_outcome sg_dispatch_direct(struct sg_pm4_queue *queue, const uint32_t *body);
enum sg_outcome sg_set_sh_reg(struct sg_pm4_queue *queue, const uint32_t *body, uint32_t count);
enum sg_outcome sg_event_write(struct sg_pm4_queue *queue, const uint32_t *body);
enum sg_outcome sg_acquire_mem(struct sg_pm4_queue *queue, const uint32_t *body);
enum sg_outcome sg_release_mem(struct sg_pm4_queue *queue, const uint32_t *body);
enum sg_outcome sg_wait_reg_mem(struct sg_pm4_queue *queue, const uint32_t *body);
enum sg_outcome sg_write_data(struct sg_pm4_queue *queue, const uint32_t *body, uint32_t count);
enum sg_outcome sg_copy_data(struct sg_pm4_queue *queue, const uint32_t *body);
enum sg_outcome sg_dma_data(struct sg_pm4_queue *queue, const uint32_t *body);

#endif
