/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The part of the HSA interface that is interposed, in ROCr's own binary layout; written down here so that
 * the library builds without the ROCm headers. tests/softgpu compares it with them.
 */
#ifndef SOFTGPU_PRELOAD_HSA_H
#define SOFTGPU_PRELOAD_HSA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef uint32_t hsa_status_t;
typedef struct {
    uint64_t handle;
} hsa_agent_t, hsa_signal_t, hsa_executable_t, hsa_executable_symbol_t, hsa_amd_memory_pool_t,
    hsa_amd_vmem_alloc_handle_t;
typedef int64_t hsa_signal_value_t;

enum {
    HSA_STATUS_SUCCESS = 0,
    HSA_STATUS_ERROR = 0x1000,
    HSA_STATUS_ERROR_INVALID_ARGUMENT = 0x1001,
    HSA_STATUS_ERROR_INVALID_ALLOCATION = 0x1003,
    HSA_STATUS_ERROR_OUT_OF_RESOURCES = 0x1008,
};

enum { HSA_AMD_SYSTEM_INFO_VIRTUAL_MEM_API_SUPPORTED = 0x205 };

enum {
    HSA_EXECUTABLE_SYMBOL_INFO_TYPE = 0,
    HSA_EXECUTABLE_SYMBOL_INFO_NAME_LENGTH = 1,
    HSA_EXECUTABLE_SYMBOL_INFO_NAME = 2,
    HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_KERNARG_SEGMENT_SIZE = 11,
    HSA_EXECUTABLE_SYMBOL_INFO_VARIABLE_ADDRESS = 21,
    HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_OBJECT = 22,
    HSA_SYMBOL_KIND_VARIABLE = 0,
    HSA_SYMBOL_KIND_KERNEL = 1,
};

enum { HSA_ACCESS_PERMISSION_NONE = 0, HSA_ACCESS_PERMISSION_RW = 3 };

typedef struct {
    uint32_t permissions;
    hsa_agent_t agent_handle;
} hsa_amd_memory_access_desc_t;

#define SGP_EXPORT __attribute__((visibility("default")))

/* The definition after ours in the look-up order, resolved once. */
void *sgp_next(void **cache, const char *name);
#define SGP_NEXT(type, name)                                                                                 \
    ({                                                                                                       \
        static void *cache_;                                                                                 \
        (__typeof__(type) *)sgp_next(&cache_, name);                                                         \
    })

#endif
