/*
 * Wakes threads that sleep in ROCr on an event. libhsakmt's own callback sets the event without its lock, so a wake-up
 * can fall between a waiter's check and its sleep and be lost. The condition variable calls of ROCr are therefore led
 * through here, and the broadcast is made under the lock that the waiters use.
 */
#ifndef SOFTGPU_MODEL_EVENT_H
#define SOFTGPU_MODEL_EVENT_H

#include <stdatomic.h>
#include <stdint.h>

#include "abi.h"

/* Once per process, while ROCr opens the model. */
void sg_event_bind(void);

/* Sets event `id` (0: nothing to do). `in_callback` is nonzero while a callback of libhsakmt, which holds that lock,
 * waits for the caller. */
void sg_event_set(sg_set_event_fn set, void *data, uint32_t id, const _Atomic int *in_callback);

#endif
