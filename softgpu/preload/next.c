/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

#include "hsa.h"

/* ROCr may have been opened privately (dlopen with RTLD_LOCAL, as Python does): then it is asked by its own
 * handle. */
void *sgp_next(void **cache, const char *name)
{
    void *found = __atomic_load_n(cache, __ATOMIC_ACQUIRE);

    if (found)
        return found;
    found = dlsym(RTLD_NEXT, name);
    if (!found) {
        void *rocr = dlopen("libhsa-runtime64.so.1", RTLD_LAZY | RTLD_NOLOAD);

        if (rocr)
            found = dlsym(rocr, name);
    }
    if (!found) {
        fprintf(stderr, "softgpu: %s is not in the loaded ROCr\n", name);
        abort();
    }
    __atomic_store_n(cache, found, __ATOMIC_RELEASE);
    return found;
}
