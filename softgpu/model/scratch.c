/* SPDX-License-Identifier: Apache-2.0 */
#include "scratch.h"

#include "kfd.h"
#include "memory.h"

enum { INSUFFICIENT_WAVE64 = 0x1, INSUFFICIENT_WAVE32 = 0x400 };

/* COMPUTE_TMPRING_SIZE: waves in bits 0 to 11, then the size of a wave's scratch, whose width and unit grew.
 */
static bool enough(const struct sg_queue *queue, uint64_t wave_bytes)
{
    unsigned major = queue->gpu->major, bits = major >= 12 ? 18 : major == 11 ? 15 : 13;
    uint32_t ring = queue->hsa->compute_tmpring_size;
    uint64_t unit = major >= 11 ? 256 : 1024, size = (ring >> 12 & ((1u << bits) - 1)) * unit;

    return (ring & 0xfff) && size >= wave_bytes;
}

enum sg_scratch sg_scratch_prepare(struct sg_queue *queue, uint32_t bytes_per_item, uint32_t wave_size,
                                   bool *asked)
{
    struct sg_signal *signal = (struct sg_signal *)queue->hsa->inactive_signal;

    if (!bytes_per_item || !signal)
        return SG_SCRATCH_READY;
    if (*asked && atomic_load(&signal->value) > 0)
        return SG_SCRATCH_WAIT;
    if (enough(queue, (uint64_t)bytes_per_item * wave_size)) {
        *asked = false;
        return SG_SCRATCH_READY;
    }
    if (*asked)
        return SG_SCRATCH_REFUSED;
    *asked = true;
    atomic_store(&signal->value, wave_size == 32 ? INSUFFICIENT_WAVE32 : INSUFFICIENT_WAVE64);
    sg_kfd_set_event(queue->gpu->set_event, queue->gpu->event_data, signal->event_id);
    return SG_SCRATCH_WAIT;
}
