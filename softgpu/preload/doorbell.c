/* SPDX-License-Identifier: Apache-2.0 */
/* Doorbells rung through the HSA interface wake the command processor at once; it polls for all others. */
#define _GNU_SOURCE
#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "hsa.h"
#include "preload.h"

SGP_EXPORT struct sgp_doorbell softgpu_preload_doorbell;

static void ring(void)
{
    atomic_fetch_add(&softgpu_preload_doorbell.value, 1);
    if (atomic_load(&softgpu_preload_doorbell.sleepers))
        syscall(SYS_futex, &softgpu_preload_doorbell.value, FUTEX_WAKE_PRIVATE, 1 << 30, NULL, NULL, 0);
}

SGP_EXPORT void hsa_signal_store_relaxed(hsa_signal_t signal, hsa_signal_value_t value)
{
    SGP_NEXT(void(hsa_signal_t, hsa_signal_value_t), "hsa_signal_store_relaxed")(signal, value);
    ring();
}

SGP_EXPORT void hsa_signal_store_screlease(hsa_signal_t signal, hsa_signal_value_t value)
{
    SGP_NEXT(void(hsa_signal_t, hsa_signal_value_t), "hsa_signal_store_screlease")(signal, value);
    ring();
}
