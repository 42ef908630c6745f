/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Kernels and variables of loaded executables, noted when an executable is frozen and forgotten before it is
 * destroyed, so that a kernel object at a reused address is never taken for the old one. The table has its
 * own lock and is asked by command processors: asking ROCr's loader from there could wait for a freeze that
 * itself waits for a copy.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "../model/abi.h"
#include "hsa.h"
#include "preload.h"

struct known {
    struct sgp_kernel kernel; /* of a variable: its name, and its address as `object` */
    uint64_t executable;
    uint32_t kind; /* HSA_SYMBOL_KIND_* */
};

static pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;
static struct known *known;
static size_t count, room;
SGP_HOLD_OVER_FORK(rwlock, wrlock, lock)

static void forget(uint64_t executable)
{
    size_t kept = 0;

    pthread_rwlock_wrlock(&lock);
    for (size_t i = 0; i < count; i++)
        if (known[i].executable != executable)
            known[kept++] = known[i];
    count = kept;
    pthread_rwlock_unlock(&lock);
}

static void add(const struct known *one)
{
    pthread_rwlock_wrlock(&lock);
    if (count == room) {
        struct known *grown = realloc(known, (room ? 2 * room : 64) * sizeof *known);

        if (grown) {
            known = grown;
            room = room ? 2 * room : 64;
        }
    }
    if (count < room)
        known[count++] = *one;
    pthread_rwlock_unlock(&lock);
}

static hsa_status_t note(hsa_executable_t executable, hsa_executable_symbol_t symbol, void *data)
{
    hsa_status_t (*info)(hsa_executable_symbol_t, uint32_t, void *) = SGP_NEXT(
        hsa_status_t(hsa_executable_symbol_t, uint32_t, void *), "hsa_executable_symbol_get_info");
    struct known one = { .executable = executable.handle };
    uint32_t length = 0;
    char *name;

    (void)data;
    if (info(symbol, HSA_EXECUTABLE_SYMBOL_INFO_TYPE, &one.kind) ||
        info(symbol, HSA_EXECUTABLE_SYMBOL_INFO_NAME_LENGTH, &length) || !(name = calloc(1, length + 1)))
        return HSA_STATUS_SUCCESS;
    bool named = !info(symbol, HSA_EXECUTABLE_SYMBOL_INFO_NAME, name), whole = false;

    if (one.kind == HSA_SYMBOL_KIND_KERNEL) {
        if (length > 3 && !strcmp(name + length - 3, ".kd"))
            name[length - 3] = 0;
        whole = !info(symbol, HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_OBJECT, &one.kernel.object) &&
                !info(symbol, HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_KERNARG_SEGMENT_SIZE,
                      &one.kernel.kernarg_bytes);
    } else if (one.kind == HSA_SYMBOL_KIND_VARIABLE) {
        whole = !info(symbol, HSA_EXECUTABLE_SYMBOL_INFO_VARIABLE_ADDRESS, &one.kernel.object);
    }
    if (named && whole && one.kernel.object) {
        strncpy(one.kernel.name, name, sizeof one.kernel.name - 1);
        if (one.kind == HSA_SYMBOL_KIND_KERNEL) {
            one.kernel.entry =
                one.kernel.object +
                (uint64_t)((const struct sg_kernel_descriptor *)one.kernel.object)->entry_offset;
            sgp_name_by_code(executable.handle, &one.kernel);
        }
        add(&one);
    }
    free(name);
    return HSA_STATUS_SUCCESS;
}

SGP_EXPORT hsa_status_t hsa_executable_freeze(hsa_executable_t executable, const char *options)
{
    typedef hsa_status_t visit_fn(hsa_executable_t, hsa_executable_symbol_t, void *);
    hsa_status_t status = SGP_NEXT(hsa_status_t(hsa_executable_t, const char *),
                                   "hsa_executable_freeze")(executable, options);

    if (status == HSA_STATUS_SUCCESS)
        SGP_NEXT(hsa_status_t(hsa_executable_t, visit_fn *, void *), "hsa_executable_iterate_symbols")
    (executable, note, NULL);
    return status;
}

SGP_EXPORT hsa_status_t hsa_executable_destroy(hsa_executable_t executable)
{
    forget(executable.handle);
    return SGP_NEXT(hsa_status_t(hsa_executable_t), "hsa_executable_destroy")(executable);
}

/* Under `lock`. */
static const struct known *kernel_at(uint64_t object)
{
    for (size_t i = 0; i < count; i++)
        if (known[i].kind == HSA_SYMBOL_KIND_KERNEL && known[i].kernel.object == object)
            return &known[i];
    return NULL;
}

SGP_EXPORT bool softgpu_preload_find_kernel(uint64_t object, struct sgp_kernel *kernel)
{
    pthread_rwlock_rdlock(&lock);
    const struct known *found = kernel_at(object);

    if (found)
        *kernel = found->kernel;
    pthread_rwlock_unlock(&lock);
    return found != NULL;
}

SGP_EXPORT uint64_t softgpu_preload_descriptor_of(uint64_t entry)
{
    uint64_t object = 0;

    pthread_rwlock_rdlock(&lock);
    for (size_t i = 0; i < count && !object; i++)
        if (known[i].kind == HSA_SYMBOL_KIND_KERNEL && known[i].kernel.entry == entry)
            object = known[i].kernel.object;
    pthread_rwlock_unlock(&lock);
    return object;
}

SGP_EXPORT uint64_t softgpu_preload_find_variable(uint64_t object, const char *name)
{
    uint64_t address = 0;

    pthread_rwlock_rdlock(&lock);
    const struct known *kernel = kernel_at(object);

    for (size_t i = 0; kernel && i < count && !address; i++)
        if (known[i].kind == HSA_SYMBOL_KIND_VARIABLE && known[i].executable == kernel->executable &&
            !strcmp(known[i].kernel.name, name))
            address = known[i].kernel.object;
    pthread_rwlock_unlock(&lock);
    return address;
}
