/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Strict interpreter of PM4 indirect buffers on one compute queue.
 *
 * One struct sg_pm4_queue holds what the hardware keeps per queue: the SH registers, and which of them were
 * ever written. sg_pm4_start() hands over an indirect buffer, sg_pm4_step() executes packets until it ends
 * (SG_PM4_DONE), a wait is not satisfied yet (SG_PM4_BLOCKED: call again later) or something is wrong
 * (SG_PM4_FAILED: the report says packet offset and decoded text; the queue accepts nothing more). A dispatch
 * is only *started* by the interpreter: it is handed to the host interface, which may run it later.
 * EVENT_WRITE CS_PARTIAL_FLUSH blocks until host.waves_done. RELEASE_MEM does what hardware does: it writes
 * once the waves are done, while later packets go on, so only a WAIT_REG_MEM behind it is a wait; a buffer is
 * not SG_PM4_DONE before its releases are written. Not thread-safe per queue; different queues are
 * independent.
 */
#ifndef SOFTGPU_PM4_H
#define SOFTGPU_PM4_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum sg_pm4_status { SG_PM4_DONE, SG_PM4_BLOCKED, SG_PM4_FAILED };

/* What a DISPATCH_DIRECT starts, taken from the registers and already checked against the kernel descriptor.
 */
struct sg_pm4_dispatch {
    uint64_t entry;        /* GPU address of the first instruction: PGM << 8 */
    uint64_t descriptor;   /* GPU address of the kernel descriptor that the host found for `entry` */
    uint32_t groups[3];    /* work-groups */
    uint32_t workgroup[3]; /* work-items of a work-group */
    uint32_t lds_bytes;
    uint32_t wave_size;
    uint32_t user_sgpr_count;
    uint32_t user_sgpr[32];   /* USER_DATA_0.. as the wave starts with them */
    uint64_t kernarg;         /* decoded from the user SGPRs by the descriptor's properties, 0 if none */
    uint64_t dispatch_packet; /* likewise */
    uint64_t dispatch_id;     /* likewise */
};

/* What the interpreter needs from the machine around it. GPU addresses are host addresses once checked. */
struct sg_pm4_host {
    void *context;
    bool (*readable)(void *context, uint64_t address, uint64_t size);
    bool (*writable)(void *context, uint64_t address, uint64_t size);
    /* Kernel descriptor whose code entry is `entry`, 0 if there is none. */
    uint64_t (*descriptor_of)(void *context, uint64_t entry);
    /* 0, or -1 with one sentence in `error`. The waves may run later. */
    int (*dispatch)(void *context, const struct sg_pm4_dispatch *dispatch, char *error, size_t error_size);
    bool (*waves_done)(void *context); /* of everything this queue has started */
    uint64_t (*clock)(void *context);  /* GPU timestamp */
    void (*interrupt)(void *context, uint32_t value);
    /* A finding that does not stop the queue: a register that belongs to the queue was written, state was
     * left behind. */
    void (*warn)(void *context, const char *sentence);
};

struct sg_pm4_queue;

/* NULL when `gfx` (an exact target such as "gfx1100") is not known or memory is short. */
struct sg_pm4_queue *sg_pm4_queue_new(const char *gfx, const struct sg_pm4_host *host);
void sg_pm4_queue_free(struct sg_pm4_queue *queue);

/* Strict: what would be a warning stops the queue as an error does. Off in a new queue. */
void sg_pm4_set_strict(struct sg_pm4_queue *queue, bool strict);

/* An AQL dispatch ran on this queue: the registers that it programs itself (program, resources, work-group
 * size, user data) no longer hold what a buffer wrote, so a later buffer that relies on them is refused. */
void sg_pm4_aql_dispatched(struct sg_pm4_queue *queue);

/* 0, or -1: a buffer is still being executed, the queue has failed, or the buffer is not readable, not
 * aligned to 4, empty or longer than an indirect buffer can be (0xFFFFF dwords); sg_pm4_report() says which.
 */
int sg_pm4_start(struct sg_pm4_queue *queue, uint64_t buffer, uint32_t dwords);
enum sg_pm4_status sg_pm4_step(struct sg_pm4_queue *queue);

/* One sentence or several lines about the failure; valid until the next call. */
const char *sg_pm4_report(const struct sg_pm4_queue *queue);

/* An AQL dispatch programs program, resources, work-group size and user data itself; what a buffer left in
 * other registers reaches it. Writes a sentence for each register left different from its reset value (or
 * written at all, where the queue's own value is not known) and returns how many there are. */
int sg_pm4_left_behind(const struct sg_pm4_queue *queue, char *text, size_t size);

/* Decoded text of a buffer, one line a packet, for traces; never fails, marks what it does not know. Returns
 * the length that the whole text has, as snprintf does. */
size_t sg_pm4_print(const char *gfx, const uint32_t *words, uint32_t dwords, char *text, size_t size);

#endif
