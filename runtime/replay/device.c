/* SPDX-License-Identifier: Apache-2.0 */
/* See device.h. */
#include "replay/device.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "base/fault.h"
#include "base/memory.h"
#include "replay/gate.h"

/* hsa_ext_amd.h: values of enumerations that no signature names. */
enum {
    AGENT_NUM_XCC = 0xA111,
    AGENT_NEAREST_CPU = 0xA113,
    POOL_SEGMENT_GLOBAL = 0,
    POOL_KERNARG = 1,
    POOL_FINE_GRAINED = 2,
    POOL_EXECUTABLE = 1 << 2,
    SMALLEST_CLASS = 14, /* 16 KiB */
    LARGEST_SPARE = 16 << 20,
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static _Atomic(struct rl_device *) devices[RL_DEVICES];

static void refuse(struct rl_device *device, enum rl_reason reason, const char *detail)
{
    if (device->reason != RL_REASON_NONE)
        return;
    device->reason = reason;
    snprintf(device->detail, sizeof(device->detail), "%s", detail);
}

struct pools {
    const struct rl_hsa_table *hsa;
    hsa_amd_memory_pool_t kernarg, fine;
};

static hsa_status_t visit_pool(hsa_amd_memory_pool_t pool, void *context)
{
    struct pools *pools = context;
    uint32_t segment = 1, flags = 0;

    if (pools->hsa->hsa_amd_memory_pool_get_info(pool, HSA_AMD_MEMORY_POOL_INFO_SEGMENT, &segment) ||
        pools->hsa->hsa_amd_memory_pool_get_info(pool, HSA_AMD_MEMORY_POOL_INFO_GLOBAL_FLAGS, &flags) ||
        segment != POOL_SEGMENT_GLOBAL || !(flags & POOL_FINE_GRAINED))
        return HSA_STATUS_SUCCESS;
    if (flags & POOL_KERNARG && !pools->kernarg.handle)
        pools->kernarg = pool;
    else if (!pools->fine.handle)
        pools->fine = pool;
    return HSA_STATUS_SUCCESS;
}

static void find_pool(const struct rl_hsa_table *hsa, struct rl_device *device)
{
    struct pools pools = { .hsa = hsa };
    hsa_agent_t cpu = { 0 };

    if (hsa->hsa_agent_get_info((hsa_agent_t){ device->agent }, (hsa_agent_info_t)AGENT_NEAREST_CPU, &cpu) !=
            HSA_STATUS_SUCCESS ||
        !cpu.handle || hsa->hsa_amd_agent_iterate_memory_pools(cpu, visit_pool, &pools) != HSA_STATUS_SUCCESS)
        refuse(device, RL_REASON_DEVICE_UNUSABLE, "its nearest CPU is not known");
    device->pool = pools.kernarg.handle ? pools.kernarg : pools.fine;
    if (!device->pool.handle)
        refuse(device, RL_REASON_DEVICE_UNUSABLE, "no host memory");
}

static void find_target(const struct rl_hsa_table *hsa, struct rl_device *device)
{
    char name[64] = ""; /* as long as ROCr's answer is */
    uint32_t partitions = 1;

    if (hsa->hsa_agent_get_info((hsa_agent_t){ device->agent }, HSA_AGENT_INFO_NAME, name) !=
        HSA_STATUS_SUCCESS)
        name[0] = 0;
    snprintf(device->gfx, sizeof(device->gfx), "%.15s", name);
    device->target = rl_pm4_find_target(name);
    if (!device->target)
        refuse(device, RL_REASON_TARGET_UNKNOWN, name);
    else if (!rl_gate_target(device->gfx))
        refuse(device, RL_REASON_TARGET_DENIED, device->gfx);
    if (hsa->hsa_agent_get_info((hsa_agent_t){ device->agent }, (hsa_agent_info_t)AGENT_NUM_XCC,
                                &partitions) == HSA_STATUS_SUCCESS &&
        partitions > 1)
        refuse(device, RL_REASON_DEVICE_UNUSABLE, "more than one XCC");
}

static bool has_functions(const struct rl_hsa_table *hsa)
{
    return hsa->hsa_agent_get_info && hsa->hsa_amd_agent_iterate_memory_pools &&
           hsa->hsa_amd_memory_pool_get_info && hsa->hsa_amd_memory_pool_allocate &&
           hsa->hsa_amd_memory_pool_free && hsa->hsa_amd_agents_allow_access && hsa->hsa_amd_signal_create &&
           hsa->hsa_signal_load_scacquire && hsa->hsa_signal_store_relaxed &&
           hsa->hsa_queue_load_read_index_scacquire;
}

static struct rl_device *make(const struct rl_hsa_table *hsa, uint64_t agent, int ordinal)
{
    struct rl_device *device = rl_allocate(1, sizeof(*device));

    if (!device)
        return NULL;
    device->agent = agent;
    device->ordinal = ordinal;
    if (!has_functions(hsa)) {
        refuse(device, RL_REASON_HIP_UNKNOWN, "ROCr lacks a function");
        return device;
    }
    find_target(hsa, device);
    find_pool(hsa, device);
    if (device->reason == RL_REASON_NONE && !rl_completions_make(hsa, &device->completions))
        refuse(device, RL_REASON_DEVICE_UNUSABLE, "no signals");
    return device;
}

struct rl_device *rl_device_find(const struct rl_hsa_table *hsa, uint64_t agent, int ordinal)
{
    struct rl_device *device = NULL;

    pthread_mutex_lock(&lock);
    for (size_t i = 0; i < RL_DEVICES; i++) {
        device = atomic_load_explicit(&devices[i], memory_order_relaxed);
        if (!device) {
            device = make(hsa, agent, ordinal);
            atomic_store_explicit(&devices[i], device, memory_order_release);
            break;
        }
        if (device->agent == agent && device->ordinal == ordinal)
            break;
        device = NULL;
    }
    pthread_mutex_unlock(&lock);
    return device;
}

static unsigned class_of(size_t bytes)
{
    unsigned class = SMALLEST_CLASS;

    while (class < RL_SPARE_CLASSES - 1 && (size_t)1 << class < bytes)
        class++;
    return class;
}

static void *take_spare(struct rl_device *device, unsigned class)
{
    struct rl_spare *spare = &device->spare[class];
    void *memory;

    pthread_mutex_lock(&lock);
    memory = spare->count ? spare->blocks[--spare->count] : NULL;
    pthread_mutex_unlock(&lock);
    return memory;
}

void *rl_device_allocate(const struct rl_hsa_table *hsa, struct rl_device *device, size_t bytes)
{
    unsigned class = class_of(bytes);
    hsa_agent_t agent = { device->agent };
    void *memory = (size_t)1 << class < bytes || rl_fault(RL_FAULT_ALLOC) ? NULL : take_spare(device, class);

    if (memory || (size_t)1 << class < bytes || rl_fault(RL_FAULT_ALLOC) ||
        hsa->hsa_amd_memory_pool_allocate(device->pool, (size_t)1 << class, POOL_EXECUTABLE, &memory) !=
            HSA_STATUS_SUCCESS)
        return memory;
    if (hsa->hsa_amd_agents_allow_access(1, &agent, NULL, memory) == HSA_STATUS_SUCCESS)
        return memory;
    hsa->hsa_amd_memory_pool_free(memory);
    return NULL;
}

void rl_device_release(const struct rl_hsa_table *hsa, struct rl_device *device, void *memory, size_t bytes)
{
    struct rl_spare *spare = &device->spare[class_of(bytes)];
    bool kept;

    pthread_mutex_lock(&lock);
    kept = spare->count < RL_SPARE_BLOCKS && bytes <= LARGEST_SPARE;
    if (kept)
        spare->blocks[spare->count++] = memory;
    pthread_mutex_unlock(&lock);
    if (!kept)
        hsa->hsa_amd_memory_pool_free(memory);
}

void rl_devices_reap(const struct rl_hsa_table *hsa)
{
    for (size_t i = 0; i < RL_DEVICES; i++) {
        struct rl_device *device = atomic_load_explicit(&devices[i], memory_order_acquire);

        if (device)
            rl_completions_reap(hsa, &device->completions);
    }
}

bool rl_devices_have(const struct rl_hsa_table *hsa,
                     bool (*is)(const struct rl_use *use, const void *context), const void *context)
{
    for (size_t i = 0; i < RL_DEVICES; i++) {
        struct rl_device *device = atomic_load_explicit(&devices[i], memory_order_acquire);

        if (device && !atomic_load_explicit(&device->failed, memory_order_relaxed) &&
            rl_completions_have(hsa, &device->completions, is, context))
            return true;
    }
    return false;
}

static bool is_for_ever(hipError_t status)
{
    return status == hipErrorIllegalAddress || status == hipErrorLaunchTimeOut ||
           status == hipErrorLaunchFailure || status == hipErrorAssert || status == hipErrorECCNotCorrectable;
}

void rl_devices_note_error(hipError_t status)
{
    for (size_t i = 0; i < RL_DEVICES && is_for_ever(status); i++) {
        struct rl_device *device = atomic_load_explicit(&devices[i], memory_order_acquire);

        if (device)
            atomic_store_explicit(&device->failed, true, memory_order_relaxed);
    }
}
