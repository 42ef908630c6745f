/* SPDX-License-Identifier: Apache-2.0 */
/* Another library that is preloaded: wraps hipGraphLaunch and hipMalloc and counts. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>

#include "exported.h"

static int launches;

__attribute__((visibility("default"))) hipError_t hipGraphLaunch(hipGraphExec_t exec, hipStream_t stream)
{
    hipError_t (*next)(hipGraphExec_t, hipStream_t) = (hipError_t (*)(hipGraphExec_t, hipStream_t))dlsym(
        RTLD_NEXT, "hipGraphLaunch");

    launches++;
    return next(exec, stream);
}

__attribute__((visibility("default"))) long hipMalloc(void **pointer, size_t size)
{
    long (*next)(void **, size_t) = (long (*)(void **, size_t))dlsym(RTLD_NEXT, "hipMalloc");

    return next(pointer, size);
}

__attribute__((destructor)) static void say(void)
{
    printf("wrapper saw %d\n", launches);
}
