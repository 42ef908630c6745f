/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fibers: the work-items of one work-group that wait for each other at barriers, on one host thread.
 *
 * sg_fibers_run() starts `count` fibers one after the other and goes round until each has returned from
 * `entry`. A fiber gives way with sg_fiber_yield(), which returns when all others have yielded or ended too;
 * `resume` is called before a fiber goes on, to set what belongs to it. One set of fibers per thread at a
 * time; sets of different threads are independent. Stacks are SG_FIBER_STACK bytes, so a twin keeps its
 * locals small.
 */
#ifndef SOFTGPU_FIBER_H
#define SOFTGPU_FIBER_H

#include <stdbool.h>
#include <stdint.h>

#define SG_FIBER_STACK 32768u

struct sg_fibers;

/* NULL when memory is short. */
struct sg_fibers *sg_fibers_new(uint32_t most);
void sg_fibers_free(struct sg_fibers *fibers);

void sg_fibers_run(struct sg_fibers *fibers, uint32_t count, void (*entry)(void *context, uint32_t index),
                   void (*resume)(void *context, uint32_t index), void *context);

/* False when the caller is not a fiber. */
bool sg_fiber_yield(void);

#endif
