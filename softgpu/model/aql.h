/* SPDX-License-Identifier: Apache-2.0 */
/*
 * State of one AQL queue, shared by the packet processor (aql.c) and the vendor PM4 packet (buffer.c). All of
 * it belongs to the command processor, which holds the GPU's lock.
 */
#ifndef SOFTGPU_MODEL_AQL_H
#define SOFTGPU_MODEL_AQL_H

#include "gpu.h"
#include "kernel.h"

enum { SG_REPORT_BYTES = 2048 };

/* A launched packet, from launch until the read index has passed it. */
struct sg_flight {
    struct sg_flight *next;
    uint64_t index, completion;
    struct sg_kernel_job *kernel; /* of a dispatch packet, until it is done */
    bool complete;
};

struct sg_aql {
    struct sg_queue queue;
    uint64_t slots;
    uint64_t head;                   /* next packet to launch */
    bool look;                       /* a doorbell has been rung since there was nothing at `head` */
    bool scratch_asked;              /* the packet at `head` waits for scratch memory */
    unsigned seen_dependencies;      /* of the barrier packet at `head` */
    struct sg_flight *first, **last; /* launched and not retired, in order */
    struct sg_kernel_job *waves;     /* dispatches that PM4 buffers started */
    struct sg_pm4_queue *pm4;
    bool parsing; /* the packet at `head` is a buffer under way */
    uint64_t parse_start_ns;
    bool state_reported; /* register state left behind: said once until the next buffer */
};

static inline union sg_packet *sg_aql_slot(const struct sg_aql *aql, uint64_t index)
{
    return (union sg_packet *)aql->queue.ring + index % aql->slots;
}

/* Takes the packet at `head` off the ring. NULL, and the queue has failed, when memory is short. */
struct sg_flight *sg_aql_launch(struct sg_aql *aql, uint64_t completion);
void sg_aql_complete(struct sg_aql *aql, struct sg_flight *flight, uint64_t start_ns, uint64_t end_ns,
                     int64_t error);

/* Says when the job is due and returns how late that is, in microseconds. */
uint64_t sg_aql_delay(struct sg_aql *aql, struct sg_kernel_job *job, struct sg_range otherwise);

/* Executes what it can of the buffer that the packet at `head` carries. */
enum sg_progress sg_aql_run_buffer(struct sg_aql *aql, uint16_t header);

/* A finding about the packet at `head` that does not stop the queue; `context` is the struct sg_aql. */
void sg_aql_warn(void *context, const char *sentence);

#endif
