/*
 * Strict interpreter of PM4 indirect buffers on one compute queue.
 *
 * One struct sg_pm4_queue holds what the hardware keeps per queue: the SH registers, and which of them were ever written.
 * sg_pm4_start() hands over an indirect buffer, sg_pm4_step() executes packets until the buffer ends (SG_PM4_DONE), a
 * wait is not satisfied yet (SG_PM4_BLOCKED: call again later) or something is wrong (SG_PM4_FAILED: the report says
 * packet offset and decoded text; the queue accepts nothing more). A dispatch is only *started* by the interpreter: it is handed to the host
 * interface, which may run it later; EVENT_WRITE partial flush and end-of-pipe events ask the host whether all is done.
 * Not thread-safe per queue; different queues are independent.
 */
#ifndef SOFTGPU_PM4_H
#define SOFTGPU_PM4_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum sg_pm4_status { SG_PM4_DONE, SG_PM4_BLOCKED, SG_PM4_FAILED };

/* What a DISPATCH_DIRECT starts, taken from the registers and already checked against the kernel descriptor. */
struct sg_pm4_dispatch {
    uint64_t entry;              /* GPU address of the first instruction: PGM << 8 */
    uint64_t descriptor;         /* GPU address of the kernel descriptor that the host found for `entry` */
    uint32_t groups[3];          /* work-groups */
    uint32_t workgroup[3];       /* work-items of a work-group */
    uint32_t lds_bytes;
    uint32_t wave_size;
    uint32_t user_sgpr_count;
    uint32_t user_sgpr[32];      /* USER_DATA_0.. as the wave starts with them */
    uint64_t kernarg;            /* decoded from the user SGPRs by the descriptor's properties, 0 if none */
    uint64_t dispatch_packet;    /* likewise */
    uint64_t dispatch_id;        /* likewise */
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
    bool (*waves_done)(void *context);      /* of everything this queue has started */
    uint64_t (*clock)(void *context);       /* GPU timestamp */
    void (*interrupt)(void *context, uint32_t value);
    /* A finding that does not stop the queue: a register that belongs to the queue was written, state was left behind. */
    void (*warn)(void *context, const char *sentence);
};

struct sg_pm4_queue;

/* NULL when `gfx` (an exact target such as "gfx1100") is not known or memory is short. */
struct sg_pm4_queue *sg_pm4_queue_new(const char *gfx, const struct sg_pm4_host *host);
void sg_pm4_queue_free(struct sg_pm4_queue *queue);

int sg_pm4_start(struct sg_pm4_queue *queue, uint64_t buffer, uint32_t dwords);
enum sg_pm4_status sg_pm4_step(struct sg_pm4_queue *queue);

/* One sentence or several lines about the failure; valid until the next call. */
const char *sg_pm4_report(const struct sg_pm4_queue *queue);

/* An AQL dispatch programs these registers itself; what a buffer left in others reaches it. Appends a sentence for each
 * register left different from its reset value and returns how many there are. */
int sg_pm4_left_behind(const struct sg_pm4_queue *queue, char *text, size_t size);

/* Decoded text of a buffer, one line a packet, for traces; never fails, marks what it does not know. */
size_t sg_pm4_print(const char *gfx, const uint32_t *words, uint32_t dwords, char *text, size_t size);

#endif
