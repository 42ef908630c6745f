#define _GNU_SOURCE
#include "host.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdlib.h>

static sgp_find_kernel_fn *find_kernel;
static sgp_descriptor_of_fn *descriptor_of;
static sgp_find_variable_fn *find_variable;
static sgp_registered_fn *registered;
static sgp_queue_error_fn *queue_error;
static struct sgp_doorbell *doorbell;

void sg_host_bind(void)
{
    *(void **)&find_kernel = dlsym(RTLD_DEFAULT, "softgpu_preload_find_kernel");
    *(void **)&descriptor_of = dlsym(RTLD_DEFAULT, "softgpu_preload_descriptor_of");
    *(void **)&find_variable = dlsym(RTLD_DEFAULT, "softgpu_preload_find_variable");
    *(void **)&registered = dlsym(RTLD_DEFAULT, "softgpu_preload_registered");
    *(void **)&queue_error = dlsym(RTLD_DEFAULT, "softgpu_preload_queue_error");
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

struct failure {
    uint64_t queue;
    int status;
};

static void *report(void *argument)
{
    struct failure failure = *(struct failure *)argument;

    free(argument);
    queue_error(failure.queue, failure.status);
    return NULL;
}

bool sg_host_queue_error(uint64_t queue, int status)
{
    pthread_t thread;
    struct failure *failure = queue_error ? malloc(sizeof *failure) : NULL;

    if (!failure)
        return false;
    *failure = (struct failure){queue, status};
    if (pthread_create(&thread, NULL, report, failure)) {
        free(failure);
        return false;
    }
    pthread_detach(thread);
    return true;
}
