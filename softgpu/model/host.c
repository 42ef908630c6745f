/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include "host.h"

#include <dlfcn.h>

static sgp_find_kernel_fn *find_kernel;
static sgp_descriptor_of_fn *descriptor_of;
static sgp_find_variable_fn *find_variable;
static sgp_registered_fn *registered;
static struct sgp_doorbell *doorbell;

void sg_host_bind(void)
{
    *(void **)&find_kernel = dlsym(RTLD_DEFAULT, "softgpu_preload_find_kernel");
    *(void **)&descriptor_of = dlsym(RTLD_DEFAULT, "softgpu_preload_descriptor_of");
    *(void **)&find_variable = dlsym(RTLD_DEFAULT, "softgpu_preload_find_variable");
    *(void **)&registered = dlsym(RTLD_DEFAULT, "softgpu_preload_registered");
    doorbell = dlsym(RTLD_DEFAULT, "softgpu_preload_doorbell");
}

bool sg_host_kernel(uint64_t kernel_object, struct sgp_kernel *kernel)
{
    return find_kernel && find_kernel(kernel_object, kernel);
}

uint64_t sg_host_descriptor_of(uint64_t entry)
{
    return descriptor_of ? descriptor_of(entry) : 0;
}

uint64_t sg_host_variable(uint64_t kernel_object, const char *name)
{
    return find_variable ? find_variable(kernel_object, name) : 0;
}

bool sg_host_registered(uint64_t address, uint64_t size)
{
    return registered && registered(address, size);
}

struct sgp_doorbell *sg_host_doorbell(void)
{
    return doorbell;
}
