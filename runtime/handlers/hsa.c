/* SPDX-License-Identifier: Apache-2.0 */
/* What HIP does with HSA's queues and signals. Every call is forwarded; a thread that watches hears of it. */
#include "handlers.h"
#include "kernels/code.h"
#include "kernels/functions.h"
#include "native/native.h"
#include "native/process.h"
#include "proof/observe.h"
#include "proof/watch.h"
#include "replay/inject.h"
#include "replay/retired_code.h"

static bool watching(enum rl_watch what)
{
    return __builtin_expect(rl_watch == what, 0);
}

hsa_status_t rl_hsa_init(rl_hsa_init_fn *native, const void *caller)
{
    rl_hip_begins(caller);
    return native();
}

void rl_hsa_signal_store_screlease(rl_hsa_signal_store_screlease_fn *native, const void *caller,
                                   hsa_signal_t signal, hsa_signal_value_t value)
{
    (void)caller;
    if (watching(RL_WATCH_OBSERVE))
        rl_observe_doorbell(signal, value);
    else if (watching(RL_WATCH_INJECT))
        rl_inject_doorbell(signal, value);
    native(signal, value);
}

hsa_signal_value_t rl_hsa_signal_wait_scacquire(rl_hsa_signal_wait_scacquire_fn *native, const void *caller,
                                                hsa_signal_t signal, hsa_signal_condition_t condition,
                                                hsa_signal_value_t compare_value, uint64_t timeout_hint,
                                                hsa_wait_state_t wait_state_hint)
{
    (void)caller;
    if (watching(RL_WATCH_INJECT))
        rl_inject_before_wait();
    return native(signal, condition, compare_value, timeout_hint, wait_state_hint);
}

uint64_t rl_hsa_queue_add_write_index_screlease(rl_hsa_queue_add_write_index_screlease_fn *native,
                                                const void *caller, const hsa_queue_t *queue, uint64_t value)
{
    uint64_t index;

    (void)caller;
    if (watching(RL_WATCH_INJECT))
        return rl_inject_reserve(native, queue, value);
    index = native(queue, value);
    if (watching(RL_WATCH_OBSERVE))
        rl_observe_reserved(queue, index, value);
    return index;
}

hsa_status_t rl_hsa_amd_signal_async_handler(rl_hsa_amd_signal_async_handler_fn *native, const void *caller,
                                             hsa_signal_t signal, hsa_signal_condition_t cond,
                                             hsa_signal_value_t value, hsa_amd_signal_handler handler,
                                             void *arg)
{
    (void)caller;
    if (watching(RL_WATCH_OBSERVE))
        rl_observe_handler(signal);
    return native(signal, cond, value, handler, arg);
}

hsa_status_t rl_hsa_amd_memory_async_copy(rl_hsa_amd_memory_async_copy_fn *native, const void *caller,
                                          void *dst, hsa_agent_t dst_agent, const void *src,
                                          hsa_agent_t src_agent, size_t size, uint32_t num_dep_signals,
                                          const hsa_signal_t *dep_signals, hsa_signal_t completion_signal)
{
    (void)caller;
    if (watching(RL_WATCH_OBSERVE))
        rl_observe_copy();
    return native(dst, dst_agent, src, src_agent, size, num_dep_signals, dep_signals, completion_signal);
}

hsa_status_t rl_hsa_amd_memory_async_copy_on_engine(rl_hsa_amd_memory_async_copy_on_engine_fn *native,
                                                    const void *caller, void *dst, hsa_agent_t dst_agent,
                                                    const void *src, hsa_agent_t src_agent, size_t size,
                                                    uint32_t num_dep_signals, const hsa_signal_t *dep_signals,
                                                    hsa_signal_t completion_signal,
                                                    hsa_amd_sdma_engine_id_t engine_id,
                                                    bool force_copy_on_sdma)
{
    (void)caller;
    if (watching(RL_WATCH_OBSERVE))
        rl_observe_copy();
    return native(dst, dst_agent, src, src_agent, size, num_dep_signals, dep_signals, completion_signal,
                  engine_id, force_copy_on_sdma);
}

hsa_status_t rl_hsa_amd_memory_async_copy_rect(rl_hsa_amd_memory_async_copy_rect_fn *native,
                                               const void *caller, const hsa_pitched_ptr_t *dst,
                                               const hsa_dim3_t *dst_offset, const hsa_pitched_ptr_t *src,
                                               const hsa_dim3_t *src_offset, const hsa_dim3_t *range,
                                               hsa_agent_t copy_agent, hsa_amd_copy_direction_t dir,
                                               uint32_t num_dep_signals, const hsa_signal_t *dep_signals,
                                               hsa_signal_t completion_signal)
{
    (void)caller;
    if (watching(RL_WATCH_OBSERVE))
        rl_observe_copy();
    return native(dst, dst_offset, src, src_offset, range, copy_agent, dir, num_dep_signals, dep_signals,
                  completion_signal);
}

/* From the first load on: HIP may have code loaded before it is called through a shim. */
hsa_status_t rl_hsa_executable_freeze(rl_hsa_executable_freeze_fn *native, const void *caller,
                                      hsa_executable_t executable, const char *options)
{
    hsa_status_t status = native(executable, options);

    (void)caller;
    if (status == HSA_STATUS_SUCCESS)
        rl_code_loaded(executable.handle, rl_loading());
    return status;
}

hsa_status_t rl_hsa_executable_destroy(rl_hsa_executable_destroy_fn *native, const void *caller,
                                       hsa_executable_t executable)
{
    const struct rl_hsa_table *hsa = atomic_load_explicit(&rl_hsa_current, memory_order_acquire);

    (void)caller;
    if (hsa && rl_process_lives())
        return rl_unload(native, hsa, executable);
    rl_code_unloaded(executable.handle);
    return native(executable);
}
