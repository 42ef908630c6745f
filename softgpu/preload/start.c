/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ROCr's start in model mode. hsaKmtOpenKFD allocates tables by a node count that it never sets there: what
 * the stack holds at that place, which costs gigabytes or, when it is zero, overruns a table. The last thing
 * ROCr does before the call is to allocate its driver object; at that moment the stack below is filled with a
 * small node count.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdio.h>

#include "../model/image.h"
#include "hsa.h"

enum { STACK_WORDS = 8192, NODES = 64 };

static void *(*real_new)(size_t size);

__attribute__((noinline)) static void fill_stack(void)
{
    uint32_t words[STACK_WORDS];

    for (int i = 0; i < STACK_WORDS; i++)
        words[i] = NODES;
    __asm__ volatile("" : : "r"(words) : "memory"); /* the stores have a reader */
}

static void *filling_new(size_t size)
{
    void *memory = real_new(size);

    fill_stack();
    return memory;
}

SGP_EXPORT hsa_status_t hsa_init(void)
{
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    static bool done;
    hsa_status_t (*next)(void) = SGP_NEXT(hsa_status_t(void), "hsa_init");
    struct sg_image rocr;

    pthread_mutex_lock(&lock);
    bool first = !done && sg_image_find("libhsa-runtime64.so", &rocr);

    if (first) {
        *(void **)&real_new = sg_image_replace_import(&rocr, "_Znwm", (void *)filling_new);
        if (!real_new)
            fprintf(stderr, "softgpu: ROCr's allocation call was not found; its start may be slow or fail\n");
    }
    hsa_status_t status = next();

    if (first && real_new)
        sg_image_replace_import(&rocr, "_Znwm", *(void **)&real_new);
    done |= status == HSA_STATUS_SUCCESS;
    pthread_mutex_unlock(&lock);
    return status;
}
