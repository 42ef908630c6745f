/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Stands in for the library preloaded below HIP: the model library finds these symbols by name and asks them
 * which kernels are loaded. Built and loaded globally by model_lib.py; not thread-safe against its own
 * setters.
 */
#include <stdio.h>
#include <string.h>

#include "../../softgpu/preload/preload.h"

enum { KERNELS = 64 };

struct sgp_doorbell softgpu_preload_doorbell;
static struct sgp_kernel kernels[KERNELS];
static int kernel_count;

void host_add_kernel(const char *name, uint64_t object, uint32_t kernarg_bytes)
{
    struct sgp_kernel *kernel = &kernels[kernel_count++ % KERNELS];

    snprintf(kernel->name, sizeof kernel->name, "%s", name);
    kernel->object = object;
    kernel->entry = object + 256;
    kernel->kernarg_bytes = kernarg_bytes;
}

void host_forget_kernels(void)
{
    kernel_count = 0;
    memset(kernels, 0, sizeof kernels);
}

bool softgpu_preload_find_kernel(uint64_t object, struct sgp_kernel *kernel)
{
    for (int i = 0; i < KERNELS; i++) {
        if (object && kernels[i].object == object) {
            *kernel = kernels[i];
            return true;
        }
    }
    return false;
}

uint64_t softgpu_preload_descriptor_of(uint64_t entry)
{
    return entry - 256;
}

uint64_t softgpu_preload_find_variable(uint64_t object, const char *name)
{
    (void)object, (void)name;
    return 0;
}

bool softgpu_preload_registered(uint64_t address, uint64_t size)
{
    (void)address, (void)size;
    return false;
}
