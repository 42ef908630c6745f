/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One kernel to be run: what an AQL packet or a PM4 dispatch asks for, checked against the kernel descriptor,
 * and the job that runs its native twin. The packet is copied: the kernel arguments are not, as the hardware
 * reads them late.
 */
#ifndef SOFTGPU_MODEL_KERNEL_H
#define SOFTGPU_MODEL_KERNEL_H

#include "../pm4/pm4.h"
#include "../twins/twin.h"
#include "gpu.h"
#include "trace.h"
#include "work.h"

struct sg_kernel_job {
    struct sg_job job;
    struct sg_kernel_job *chain; /* owner's list */
    uint64_t index;              /* packet that started it */
    char name[256];
    uint64_t object;               /* its descriptor */
    const _Atomic bool *cancelled; /* the queue goes away */
    struct sg_dispatch dispatch;
};

/* 0, or an error with one sentence in `text`. `packet_address` is what the kernel's dispatch pointer reads.
 */
enum sg_queue_error sg_kernel_from_packet(struct sg_kernel_job *job, const struct sg_packet_dispatch *packet,
                                          const void *packet_address, char *text, size_t size);
enum sg_queue_error sg_kernel_from_pm4(struct sg_kernel_job *job, const struct sg_pm4_dispatch *dispatch,
                                       char *text, size_t size);

void sg_kernel_trace(const struct sg_kernel_job *job, struct sg_trace_dispatch *out);

/* One sentence about a job that failed. */
void sg_kernel_report(const struct sg_kernel_job *job, char *text, size_t size);

#endif
