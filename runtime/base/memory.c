/* SPDX-License-Identifier: Apache-2.0 */
/*
 * See memory.h. Blocks are powers of two, cut from chunks that are never given back and kept in a list for
 * each size; larger ones are mappings of their own.
 */
#define _GNU_SOURCE
#include "base/memory.h"

#include <errno.h>
#include <pthread.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>

#include "base/fault.h"
#include "base/fork.h"

enum { SMALLEST = 5, LARGEST = 16, CHUNK_BYTES = 1 << 20 };

/* Before each block. */
struct header {
    size_t bytes; /* of the block with this header */
    struct header *next;
};

_Static_assert(sizeof(struct header) == 16, "blocks stay aligned");

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct header *free_blocks[LARGEST + 1]; /* by binary logarithm of the size */
static char *fresh, *fresh_end;

static void *map(size_t bytes)
{
    int saved = errno;
    void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    errno = saved;
    return memory == MAP_FAILED ? NULL : memory;
}

static unsigned class_of(size_t bytes)
{
    unsigned class = SMALLEST;

    while ((size_t)1 << class < bytes)
        class++;
    return class;
}

static struct header *small_block(unsigned class)
{
    size_t bytes = (size_t)1 << class;
    struct header *block;

    pthread_mutex_lock(&lock);
    block = free_blocks[class];
    if (block) {
        free_blocks[class] = block->next;
    } else {
        if ((size_t)(fresh_end - fresh) < bytes) {
            fresh = map(CHUNK_BYTES);
            fresh_end = fresh ? fresh + CHUNK_BYTES : NULL;
        }
        block = (struct header *)fresh;
        fresh += block ? bytes : 0;
    }
    pthread_mutex_unlock(&lock);
    if (block) {
        memset(block, 0, bytes);
        block->bytes = bytes;
    }
    return block;
}

static struct header *large_block(size_t bytes)
{
    struct header *block = map(bytes);

    if (block)
        block->bytes = bytes;
    return block;
}

void *rl_allocate(size_t count, size_t size)
{
    size_t bytes;
    struct header *block;

    if (rl_fault(RL_FAULT_ALLOC) || __builtin_mul_overflow(count, size, &bytes) ||
        __builtin_add_overflow(bytes, sizeof(struct header), &bytes) || bytes > PTRDIFF_MAX)
        return NULL;
    block = bytes > (size_t)1 << LARGEST ? large_block(bytes) : small_block(class_of(bytes));
    return block ? block + 1 : NULL;
}

void rl_release(void *memory)
{
    struct header *block = memory ? (struct header *)memory - 1 : NULL;
    int saved = errno;

    if (!block)
        return;
    if (block->bytes > (size_t)1 << LARGEST) {
        munmap(block, block->bytes);
        errno = saved;
        return;
    }
    pthread_mutex_lock(&lock);
    block->next = free_blocks[class_of(block->bytes)];
    free_blocks[class_of(block->bytes)] = block;
    pthread_mutex_unlock(&lock);
}

/* The fork may have cut another thread in the middle of a list. */
static void in_child(void)
{
    pthread_mutex_init(&lock, NULL);
    memset(free_blocks, 0, sizeof(free_blocks));
    fresh = fresh_end = NULL;
}

RL_AT_FORK(NULL, NULL, in_child);
