/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Virtual memory (hsa_amd_vmem_*), which the model backend refuses: a handle is an anonymous file, a
 * reservation is address space without access, and mapping puts the one into the other. HIP's managed memory
 * and stream-ordered pools stand on it. Access is per process, as all agents share one address space here.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "hsa.h"
#include "preload.h"

enum { PAGE = 4096, FLAG_REGISTER = 1 };

struct handle {
    int file, references;
    size_t size;
    hsa_amd_memory_pool_t pool;
    uint32_t type;
};

struct mapping {
    uint64_t base, size;
    struct handle *handle;
    struct mapping *next;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct mapping *mappings;
SGP_HOLD_OVER_FORK(mutex, lock, lock)

static void put(struct handle *handle)
{
    if (--handle->references == 0) {
        close(handle->file);
        free(handle);
    }
}

/* Under `lock`: the mapping that holds `address`. */
static struct mapping **find(uint64_t address)
{
    struct mapping **at = &mappings;

    while (*at && address - (*at)->base >= (*at)->size)
        at = &(*at)->next;
    return at;
}

SGP_EXPORT hsa_status_t hsa_system_get_info(uint32_t attribute, void *value)
{
    hsa_status_t status = SGP_NEXT(hsa_status_t(uint32_t, void *), "hsa_system_get_info")(attribute, value);

    if (status == HSA_STATUS_SUCCESS && attribute == HSA_AMD_SYSTEM_INFO_VIRTUAL_MEM_API_SUPPORTED)
        *(bool *)value = true;
    return status;
}

SGP_EXPORT hsa_status_t hsa_amd_vmem_address_reserve_align(void **address, size_t size, uint64_t wish,
                                                           uint64_t align, uint64_t flags)
{
    if (!address || !size || size % PAGE || (align & (align - 1)))
        return HSA_STATUS_ERROR_INVALID_ARGUMENT;
    if (align < PAGE)
        align = PAGE;
    char *space = mmap((void *)wish, size + align, flags & FLAG_REGISTER ? PROT_READ | PROT_WRITE : PROT_NONE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

    if (space == MAP_FAILED)
        return HSA_STATUS_ERROR_OUT_OF_RESOURCES;
    char *start = (char *)(((uint64_t)space + align - 1) & ~(align - 1));

    if (start > space)
        munmap(space, (size_t)(start - space));
    munmap(start + size, (size_t)(space + size + align - (start + size)));
    *address = start;
    return HSA_STATUS_SUCCESS;
}

SGP_EXPORT hsa_status_t hsa_amd_vmem_address_reserve(void **address, size_t size, uint64_t wish,
                                                     uint64_t flags)
{
    return hsa_amd_vmem_address_reserve_align(address, size, wish, 0, flags);
}

SGP_EXPORT hsa_status_t hsa_amd_vmem_address_free(void *address, size_t size)
{
    return munmap(address, size) ? HSA_STATUS_ERROR_INVALID_ARGUMENT : HSA_STATUS_SUCCESS;
}

static hsa_status_t wrap(int file, size_t size, hsa_amd_memory_pool_t pool, uint32_t type,
                         hsa_amd_vmem_alloc_handle_t *out)
{
    struct handle *handle = file >= 0 ? malloc(sizeof *handle) : NULL;

    if (!handle) {
        if (file >= 0)
            close(file);
        return HSA_STATUS_ERROR_OUT_OF_RESOURCES;
    }
    *handle = (struct handle){ file, 1, size, pool, type };
    out->handle = (uint64_t)handle;
    return HSA_STATUS_SUCCESS;
}

SGP_EXPORT hsa_status_t hsa_amd_vmem_handle_create(hsa_amd_memory_pool_t pool, size_t size, uint32_t type,
                                                   uint64_t flags, hsa_amd_vmem_alloc_handle_t *handle)
{
    (void)flags;
    if (!handle || !size || size % PAGE)
        return HSA_STATUS_ERROR_INVALID_ARGUMENT;
    int file = memfd_create("softgpu-vmem", MFD_CLOEXEC);

    if (file >= 0 && ftruncate(file, (off_t)size)) {
        close(file);
        file = -1;
    }
    return wrap(file, size, pool, type, handle);
}

SGP_EXPORT hsa_status_t hsa_amd_vmem_handle_release(hsa_amd_vmem_alloc_handle_t handle)
{
    pthread_mutex_lock(&lock);
    put((struct handle *)handle.handle);
    pthread_mutex_unlock(&lock);
    return HSA_STATUS_SUCCESS;
}

SGP_EXPORT hsa_status_t hsa_amd_vmem_map(void *address, size_t size, size_t offset,
                                         hsa_amd_vmem_alloc_handle_t from, uint64_t flags)
{
    struct handle *handle = (struct handle *)from.handle;
    struct mapping *mapping = malloc(sizeof *mapping);

    (void)flags;
    if (!mapping)
        return HSA_STATUS_ERROR_OUT_OF_RESOURCES;
    if (offset > handle->size || size > handle->size - offset ||
        mmap(address, size, PROT_NONE, MAP_SHARED | MAP_FIXED, handle->file, (off_t)offset) == MAP_FAILED) {
        free(mapping);
        return HSA_STATUS_ERROR_INVALID_ARGUMENT;
    }
    pthread_mutex_lock(&lock);
    handle->references++;
    *mapping = (struct mapping){ (uint64_t)address, size, handle, mappings };
    mappings = mapping;
    pthread_mutex_unlock(&lock);
    return HSA_STATUS_SUCCESS;
}

SGP_EXPORT hsa_status_t hsa_amd_vmem_unmap(void *address, size_t size)
{
    pthread_mutex_lock(&lock);
    struct mapping **at = find((uint64_t)address), *gone = *at;

    if (gone) {
        *at = gone->next;
        put(gone->handle);
        free(gone);
    }
    pthread_mutex_unlock(&lock);
    if (!gone || mmap(address, size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1,
                      0) == MAP_FAILED)
        return HSA_STATUS_ERROR_INVALID_ALLOCATION;
    return HSA_STATUS_SUCCESS;
}

SGP_EXPORT hsa_status_t hsa_amd_vmem_set_access(void *address, size_t size,
                                                const hsa_amd_memory_access_desc_t *access, size_t count)
{
    uint32_t granted = HSA_ACCESS_PERMISSION_NONE;

    for (size_t i = 0; i < count; i++)
        granted |= access[i].permissions;
    int protection = granted == HSA_ACCESS_PERMISSION_NONE ? PROT_NONE : PROT_READ;

    if (granted & 2)
        protection |= PROT_WRITE;
    return mprotect(address, size, protection) ? HSA_STATUS_ERROR_INVALID_ALLOCATION : HSA_STATUS_SUCCESS;
}

SGP_EXPORT hsa_status_t hsa_amd_vmem_get_access(void *address, uint32_t *permission, hsa_agent_t agent)
{
    (void)agent;
    pthread_mutex_lock(&lock);
    *permission = *find((uint64_t)address) ? HSA_ACCESS_PERMISSION_RW : HSA_ACCESS_PERMISSION_NONE;
    pthread_mutex_unlock(&lock);
    return HSA_STATUS_SUCCESS;
}

SGP_EXPORT hsa_status_t hsa_amd_vmem_export_shareable_handle(int *file, hsa_amd_vmem_alloc_handle_t handle,
                                                             uint64_t flags)
{
    (void)flags;
    *file = dup(((struct handle *)handle.handle)->file);
    return *file < 0 ? HSA_STATUS_ERROR_OUT_OF_RESOURCES : HSA_STATUS_SUCCESS;
}

SGP_EXPORT hsa_status_t hsa_amd_vmem_import_shareable_handle(int file, hsa_amd_vmem_alloc_handle_t *handle)
{
    struct stat status;

    if (fstat(file, &status))
        return HSA_STATUS_ERROR_INVALID_ARGUMENT;
    return wrap(dup(file), (size_t)status.st_size, (hsa_amd_memory_pool_t){ 0 }, 0, handle);
}

SGP_EXPORT hsa_status_t hsa_amd_vmem_retain_alloc_handle(hsa_amd_vmem_alloc_handle_t *handle, void *address)
{
    hsa_status_t status = HSA_STATUS_ERROR_INVALID_ALLOCATION;

    pthread_mutex_lock(&lock);
    struct mapping *mapping = *find((uint64_t)address);

    if (mapping) {
        mapping->handle->references++;
        handle->handle = (uint64_t)mapping->handle;
        status = HSA_STATUS_SUCCESS;
    }
    pthread_mutex_unlock(&lock);
    return status;
}

SGP_EXPORT hsa_status_t hsa_amd_vmem_get_alloc_properties_from_handle(hsa_amd_vmem_alloc_handle_t handle,
                                                                      hsa_amd_memory_pool_t *pool,
                                                                      uint32_t *type)
{
    *pool = ((struct handle *)handle.handle)->pool;
    *type = ((struct handle *)handle.handle)->type;
    return HSA_STATUS_SUCCESS;
}

bool sgp_vmem_mapped(uint64_t address, uint64_t size)
{
    pthread_mutex_lock(&lock);
    const struct mapping *mapping = *find(address);
    bool inside = mapping && size <= mapping->size - (address - mapping->base);

    pthread_mutex_unlock(&lock);
    return inside;
}
