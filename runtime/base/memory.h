/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Memory of our own, from pages of our own: the application's heap looks the same with and without us. HIP's
 * objects come from that heap, so an address that comes back comes back all the same; an allocator that the
 * application brings, and that may call HIP, is never entered.
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
