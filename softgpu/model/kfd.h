/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The driver interface that libhsakmt's model backend answers itself, where its answers do not hold: events
 * (a wake-up can be lost, taken by another waiter, or abort the process when the event is gone), clocks
 * (always zero), and requests that it does not know and aborts on (queue priority, CU mask, global wave sync,
 * trap handler, SVM attributes). Those are answered here as the kernel driver does; all others go on to the
 * backend. Any thread may call.
 */
#ifndef SOFTGPU_MODEL_KFD_H
#define SOFTGPU_MODEL_KFD_H

#include <stdint.h>

#include "abi.h"

/* From a callback of libhsakmt: puts this layer in front of the backend's ioctl function, which holds
 * `return_address`. Does its work once. */
void sg_kfd_bind(uintptr_t return_address);

/* Signals event `id`; 0 is no event. `set` and `data` are libhsakmt's own way, used when the layer could not
 * be put in. */
void sg_kfd_set_event(sg_set_event_fn set, void *data, uint32_t id);

/* After fork, in the child: no event exists and nobody waits. */
void sg_kfd_forget(void);

#endif
