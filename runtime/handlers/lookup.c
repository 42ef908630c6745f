/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Looking functions up by name through HIP, which searches its own library, past every preload: HIP answers,
 * and where its answer is a function that we export, ours takes its place, so that a program which compares it with
 * the address that it is linked to sees what it would see without us. Not where another library wraps the function:
 * what HIP gives out leads past that one. Comparing addresses follows HIP's own choice of release and of the
 * per-thread form.
 */
#include "handlers.h"
#include "native/native.h"
#include "native/process.h"

static void *member(const struct rl_hip_table *table, const struct rl_native_entry *entry)
{
    return *(void *const *)((const char *)table + entry->offset);
}

static void replace(void **function)
{
    const struct rl_hip_table *table = atomic_load_explicit(&rl_hip_current, memory_order_acquire);

    if (!table)
        return;
    for (size_t i = 0; i < rl_hip_entry_count; i++) {
        const struct rl_native_entry *entry = &rl_hip_entries[i];

        if (entry->exported && member(table, entry) == *function) {
            *function = member(&rl_hip_shims, entry);
            return;
        }
    }
}

static hipError_t found(hipError_t status, const void *caller, void **function)
{
    if (status == hipSuccess && rl_active() && !rl_called_by_hip(caller) && function && *function)
        replace(function);
    return status;
}

hipError_t rl_get_proc_address(rl_hipGetProcAddress_fn *native, const void *caller, const char *symbol,
                               void **pfn, int hipVersion, uint64_t flags,
                               hipDriverProcAddressQueryResult *symbolStatus)
{
    return found(native(symbol, pfn, hipVersion, flags, symbolStatus), caller, pfn);
}

hipError_t rl_get_driver_entry_point(rl_hipGetDriverEntryPoint_fn *native, const void *caller,
                                     const char *symbol, void **funcPtr, unsigned long long flags,
                                     hipDriverEntryPointQueryResult *driverStatus)
{
    return found(native(symbol, funcPtr, flags, driverStatus), caller, funcPtr);
}

hipError_t rl_get_driver_entry_point_spt(rl_hipGetDriverEntryPoint_spt_fn *native, const void *caller,
                                         const char *symbol, void **funcPtr, unsigned long long flags,
                                         hipDriverEntryPointQueryResult *status)
{
    return found(native(symbol, funcPtr, flags, status), caller, funcPtr);
}
