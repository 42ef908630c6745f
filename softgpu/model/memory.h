/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What memory the GPUs of this process have: allocations that libhsakmt reports, and the most recent freed
 * ones for reports about use after free. GPU and host addresses are equal. Any thread may call; one lock
 * inside, held briefly.
 */
#ifndef SOFTGPU_MODEL_MEMORY_H
#define SOFTGPU_MODEL_MEMORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

void sg_memory_add(uint64_t base, uint64_t size, uint32_t flags);
void sg_memory_remove(uint64_t base, uint64_t size);

/* Every byte lies in live GPU memory (`write`: writable) or in host memory that was registered with ROCr. */
bool sg_memory_allows(uint64_t address, uint64_t size, bool write);

/* Every byte can be read by this process; no GPU allocation is asked for (pageable host memory counts). */
bool sg_memory_mapped(uint64_t address, uint64_t size);

/* A clause that says what `address` is or was: "in live GPU memory ...", "in GPU memory that was freed ...
 * ago". */
void sg_memory_describe(uint64_t address, char *text, size_t size);

/* After fork, in the child: the parent's memory is not ours. */
void sg_memory_forget(void);

/* In a forked child: `address` is within what was GPU memory of the parent. For signal handlers. */
bool sg_memory_was_parents(uint64_t address);

#endif
