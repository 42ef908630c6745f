/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Trace of every packet: one JSON object a line, appended to the file of SOFTGPU_TRACE with one write each,
 * so that a killed program leaves whole lines. Callers: command processors. Does nothing when no trace was
 * asked for.
 */
#ifndef SOFTGPU_MODEL_TRACE_H
#define SOFTGPU_MODEL_TRACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "gpu.h"

struct sg_trace_dispatch {
    const char *kernel;
    const uint32_t *grid; /* work-items */
    const uint32_t *workgroup;
    uint32_t lds_bytes, scratch_bytes;
    uint32_t kernarg_bytes;
    bool hashed; /* false when the arguments cannot be read */
    uint64_t kernarg_hash;
    uint64_t delay_us; /* it starts so late */
};

bool sg_trace_on(void);

/* FNV-1a of kernel arguments. Reads the application's memory, so never to be called under a lock. */
uint64_t sg_trace_hash(const void *bytes, size_t count);

/* An AQL packet as it leaves the ring; `text` is decoded PM4 or NULL, `dispatch` of a kernel or NULL. */
void sg_trace_aql(const struct sg_queue *queue, uint64_t index, const union sg_packet *slot, uint16_t header,
                  const struct sg_trace_dispatch *dispatch, const char *text);
/* A dispatch started by a PM4 buffer that the packet `index` carries. */
void sg_trace_wave(const struct sg_queue *queue, uint64_t index, const struct sg_trace_dispatch *dispatch);
/* A copy engine's packet; `delay_us` is 0 for one that moves no data. */
void sg_trace_sdma(const struct sg_queue *queue, uint64_t offset, const char *kind, const char *text,
                   uint64_t delay_us);
/* A finding: "error", "warning". */
void sg_trace_text(const struct sg_queue *queue, uint64_t index, const char *kind, const char *text);

void sg_trace_forget(void);

#endif
