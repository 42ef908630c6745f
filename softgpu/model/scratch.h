/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Scratch memory of a queue, as the packet processor sees it: a dispatch that needs more than the queue has
 * raises "insufficient scratch" in the inactive signal and waits; ROCr then gives the queue a larger block,
 * usually elsewhere, frees the old one and clears the signal. Twins keep their scratch themselves and never
 * touch the block.
 */
#ifndef SOFTGPU_MODEL_SCRATCH_H
#define SOFTGPU_MODEL_SCRATCH_H

#include "gpu.h"

enum sg_scratch { SG_SCRATCH_READY, SG_SCRATCH_WAIT, SG_SCRATCH_REFUSED };

/* `asked` is the caller's, false before the first call for a packet. Only for the packet at the read index,
 * which is the one that ROCr looks at. Queues without an inactive signal have no scratch to ask for and are
 * always ready. */
enum sg_scratch sg_scratch_prepare(struct sg_queue *queue, uint32_t bytes_per_item, uint32_t wave_size,
                                   bool *asked);

#endif
