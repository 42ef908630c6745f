/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Runs a function that touches GPU memory on behalf of a kernel or a copy, and survives its faults. Faults of
 * all other code go to whatever handler was there before.
 */
#ifndef SOFTGPU_MODEL_FAULT_H
#define SOFTGPU_MODEL_FAULT_H

#include <stdint.h>

/* Puts the handler in front of whatever the application has set; cheap, to be called now and then. */
void sg_fault_prepare(void);

/* 0 when `function` returned, else the signal, with the faulting address in `address`. */
int sg_fault_guard(void (*function)(void *), void *argument, uint64_t *address);

#endif
