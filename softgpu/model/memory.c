/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include "memory.h"

#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "abi.h"
#include "clock.h"
#include "host.h"

struct block {
    uint64_t base, size;
    uint32_t flags;
};

enum { FREED = 1024, PAGE = 4096 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct block *live; /* sorted by base */
static size_t live_count, live_room;
static struct {
    struct block block;
    uint64_t when_ns;
} freed[FREED];
static uint64_t freed_count;
static uint64_t parents_low, parents_high; /* in a forked child: what the parent had */

/* First live block whose base is above `address`. */
static size_t above(uint64_t address)
{
    size_t low = 0, high = live_count;

    while (low < high) {
        size_t middle = (low + high) / 2;

        if (live[middle].base > address)
            high = middle;
        else
            low = middle + 1;
    }
    return low;
}

void sg_memory_add(uint64_t base, uint64_t size, uint32_t flags)
{
    pthread_mutex_lock(&lock);
    if (live_count == live_room) {
        size_t room = live_room ? live_room * 2 : 256;
        struct block *grown = realloc(live, room * sizeof *live);

        if (!grown) {
            pthread_mutex_unlock(&lock);
            return;
        }
        live = grown;
        live_room = room;
    }
    size_t at = above(base);

    memmove(live + at + 1, live + at, (live_count - at) * sizeof *live);
    live[at] = (struct block){ base, size, flags };
    live_count++;
    pthread_mutex_unlock(&lock);
}

void sg_memory_remove(uint64_t base, uint64_t size)
{
    pthread_mutex_lock(&lock);
    size_t at = above(base);

    if (at && live[at - 1].base == base) {
        memmove(live + at - 1, live + at, (live_count - at) * sizeof *live);
        live_count--;
    }
    freed[freed_count % FREED].block = (struct block){ base, size, 0 };
    freed[freed_count++ % FREED].when_ns = sg_now_ns();
    pthread_mutex_unlock(&lock);
}

/* Bytes from `address` that one live block covers, 0 when none does. */
static uint64_t covered(uint64_t address, bool write)
{
    size_t at = above(address);

    if (!at)
        return 0;
    const struct block *block = &live[at - 1];

    if (address - block->base >= block->size || (write && !(block->flags & SG_KFD_MEMORY_WRITABLE)))
        return 0;
    return block->size - (address - block->base);
}

bool sg_memory_allows(uint64_t address, uint64_t size, bool write)
{
    if (!size || address + size < address)
        return false;
    pthread_mutex_lock(&lock);
    uint64_t at = address, left = size;

    while (left) {
        uint64_t got = covered(at, write);

        if (!got)
            break;
        got = got < left ? got : left;
        at += got;
        left -= got;
    }
    pthread_mutex_unlock(&lock);
    if (!left)
        return sg_memory_mapped(address, size);
    return sg_host_registered(at, left) && sg_memory_mapped(address, size);
}

bool sg_memory_mapped(uint64_t address, uint64_t size)
{
    enum { NO_SUCH_CHANGE = -1, SET_BYTES = 8 };

    if (!size || address + size < address)
        return false;
    for (uint64_t page = address & ~(uint64_t)(PAGE - 1); page < address + size; page += PAGE) {
        uint64_t probe = (page < address ? address : page) & ~(uint64_t)(SET_BYTES - 1);

        /* The kernel reads the set before it finds that the change makes no sense: EFAULT or EINVAL. */
        if (!syscall(SYS_rt_sigprocmask, NO_SUCH_CHANGE, probe, NULL, SET_BYTES) || errno == EFAULT)
            return false;
    }
    return true;
}

void sg_memory_describe(uint64_t address, char *text, size_t size)
{
    pthread_mutex_lock(&lock);
    size_t at = above(address);

    if (at && address - live[at - 1].base < live[at - 1].size) {
        snprintf(text, size,
                 "offset 0x%" PRIx64 " of the live allocation 0x%" PRIx64 " (0x%" PRIx64 " bytes)",
                 address - live[at - 1].base, live[at - 1].base, live[at - 1].size);
        pthread_mutex_unlock(&lock);
        return;
    }
    uint64_t oldest = freed_count > FREED ? freed_count - FREED : 0;

    for (uint64_t i = freed_count; i-- > oldest;) {
        const struct block *block = &freed[i % FREED].block;

        if (address - block->base < block->size) {
            snprintf(text, size,
                     "use after free: offset 0x%" PRIx64 " of GPU memory 0x%" PRIx64 " (0x%" PRIx64
                     " bytes) that was freed %.3f ms earlier",
                     address - block->base, block->base, block->size,
                     (double)(sg_now_ns() - freed[i % FREED].when_ns) / 1e6);
            pthread_mutex_unlock(&lock);
            return;
        }
    }
    pthread_mutex_unlock(&lock);
    snprintf(text, size, "not GPU memory");
}

void sg_memory_forget(void)
{
    pthread_mutex_init(&lock, NULL);
    if (live_count) {
        parents_low = live[0].base;
        parents_high = live[live_count - 1].base + live[live_count - 1].size;
    }
    live_count = 0;
    freed_count = 0;
}

bool sg_memory_was_parents(uint64_t address)
{
    return address >= parents_low && address < parents_high;
}
