/*
 * Times. The model backend answers every clock query with zero, so ROCr cannot translate the times in a signal; they
 * are ticks of the software GPU's 100 MHz counter, and the system clock is CLOCK_MONOTONIC in nanoseconds.
 */
#include <stdatomic.h>

#include "../model/abi.h"
#include "../model/clock.h"
#include "hsa.h"

static hsa_status_t times(hsa_signal_t handle, hsa_amd_profiling_time_t *time)
{
    const struct sg_signal *signal = (const struct sg_signal *)handle.handle;

    if (!signal || !time)
        return HSA_STATUS_ERROR_INVALID_ARGUMENT;
    time->start = signal->start_ts * SG_NS_PER_TICK;
    time->end = signal->end_ts * SG_NS_PER_TICK;
    return HSA_STATUS_SUCCESS;
}

SGP_EXPORT hsa_status_t hsa_amd_profiling_get_dispatch_time(hsa_agent_t agent, hsa_signal_t signal,
                                                            hsa_amd_profiling_time_t *time)
{
    (void)agent;
    return times(signal, time);
}

SGP_EXPORT hsa_status_t hsa_amd_profiling_get_async_copy_time(hsa_signal_t signal, hsa_amd_profiling_time_t *time)
{
    return times(signal, time);
}

SGP_EXPORT hsa_status_t hsa_amd_profiling_convert_tick_to_system_domain(hsa_agent_t agent, uint64_t tick,
                                                                        uint64_t *system_tick)
{
    (void)agent;
    if (!system_tick)
        return HSA_STATUS_ERROR_INVALID_ARGUMENT;
    *system_tick = tick * SG_NS_PER_TICK;
    return HSA_STATUS_SUCCESS;
}

SGP_EXPORT hsa_status_t hsa_system_get_info(uint32_t attribute, void *value)
{
    hsa_status_t status = SGP_NEXT(hsa_status_t(uint32_t, void *), "hsa_system_get_info")(attribute, value);

    if (status != HSA_STATUS_SUCCESS)
        return status;
    if (attribute == HSA_SYSTEM_INFO_TIMESTAMP)
        *(uint64_t *)value = sg_now_ns();
    else if (attribute == HSA_SYSTEM_INFO_TIMESTAMP_FREQUENCY)
        *(uint64_t *)value = 1000000000u;
    else if (attribute == HSA_AMD_SYSTEM_INFO_VIRTUAL_MEM_API_SUPPORTED)
        *(bool *)value = true;           /* served by vmem.c */
    return status;
}
