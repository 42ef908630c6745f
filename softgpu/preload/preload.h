/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the library preloaded below HIP tells the model library. The model looks these symbols up by name
 * (softgpu_preload_*), so that neither library needs the other to be loaded. All functions are thread-safe
 * and take no lock of ROCr's.
 */
#ifndef SOFTGPU_PRELOAD_H
#define SOFTGPU_PRELOAD_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct sgp_kernel {
    char name[256];  /* of the function that the descriptor enters */
    uint64_t object; /* address of the kernel descriptor */
    uint64_t entry;  /* first instruction */
    uint32_t kernarg_bytes;
};

/* Rung by hsa_signal_store_*; the command processor sleeps on `value` and says so in `sleepers`. */
struct sgp_doorbell {
    _Atomic uint32_t value;
    _Atomic uint32_t sleepers;
};

/* Kernel of a loaded executable whose descriptor is at `object`; false once the executable is destroyed. */
typedef bool sgp_find_kernel_fn(uint64_t object, struct sgp_kernel *kernel);
typedef uint64_t sgp_descriptor_of_fn(uint64_t entry);
/* Address of the variable `name` in the executable that holds the kernel at `object`, 0 if there is none. */
typedef uint64_t sgp_find_variable_fn(uint64_t object, const char *name);
/* `size` bytes at `address` are host memory registered through hsa_amd_memory_lock*, or mapped virtual
 * memory. */
typedef bool sgp_registered_fn(uint64_t address, uint64_t size);
sgp_find_kernel_fn softgpu_preload_find_kernel;
sgp_descriptor_of_fn softgpu_preload_descriptor_of;
sgp_find_variable_fn softgpu_preload_find_variable;
sgp_registered_fn softgpu_preload_registered;
extern struct sgp_doorbell softgpu_preload_doorbell;

/* Inside the preloaded library. Locks are held over a fork, so that the child finds whole tables and no lock
 * that one of the parent's threads holds. */
#define SGP_HOLD_OVER_FORK(kind, take, lock)                                                                 \
    static void hold_for_fork(void)                                                                          \
    {                                                                                                        \
        pthread_##kind##_##take(&(lock));                                                                    \
    }                                                                                                        \
    static void release_in_parent(void)                                                                      \
    {                                                                                                        \
        pthread_##kind##_unlock(&(lock));                                                                    \
    }                                                                                                        \
    static void renew_in_child(void)                                                                         \
    {                                                                                                        \
        pthread_##kind##_init(&(lock), NULL);                                                                \
    }                                                                                                        \
    __attribute__((constructor)) static void watch_forks(void)                                               \
    {                                                                                                        \
        pthread_atfork(hold_for_fork, release_in_parent, renew_in_child);                                    \
    }

bool sgp_vmem_mapped(uint64_t address, uint64_t size);

/* Replaces the name, which the executable's symbol gave, where the code object has a function at the entry. */
void sgp_name_by_code(uint64_t executable, struct sgp_kernel *kernel);

#endif
