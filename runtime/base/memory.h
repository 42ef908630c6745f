/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An allocator of our own, on pages of our own. malloc() is not used for two reasons: the application may have
 * replaced it by one that calls HIP, and HIP's objects live in its heap, which has to give out the same addresses
 * with and without this library.
 *
 * Threads: any; a lock is held for a few instructions. Failure: NULL, errno is kept. The child of a fork
 * starts with no free blocks and may release what its parent allocated.
 */
#ifndef REDLINE_MEMORY_H
#define REDLINE_MEMORY_H

#include <stddef.h>

/* Zeroed, aligned to 16 bytes. For a count or size of 0 a block that can be released. */
void *rl_allocate(size_t count, size_t size);

void rl_release(void *memory); /* NULL: nothing */

#endif
