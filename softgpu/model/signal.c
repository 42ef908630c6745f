/* SPDX-License-Identifier: Apache-2.0 */
#include "clock.h"
#include "gpu.h"
#include "kfd.h"

int64_t sg_signal_value(uint64_t handle)
{
    return atomic_load(&((struct sg_signal *)handle)->value);
}

void sg_signal_complete(struct sg_gpu *gpu, uint64_t handle, uint64_t start_ns, uint64_t end_ns,
                        int64_t error)
{
    if (!handle)
        return;
    struct sg_signal *signal = (struct sg_signal *)handle;

    signal->start_ts = start_ns / SG_NS_PER_TICK;
    signal->end_ts = end_ns / SG_NS_PER_TICK;
    uint64_t mailbox = signal->mailbox;
    uint32_t event = signal->event_id;

    if (error)
        atomic_store(&signal->value, error);
    else
        atomic_fetch_sub(&signal->value, 1);
    if (mailbox)
        atomic_store((_Atomic uint64_t *)mailbox, event);
    sg_kfd_set_event(gpu->set_event, gpu->event_data, event);
}
