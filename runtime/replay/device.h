/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A GPU that plans run on: its exact gfx target, the host memory that buffers and arguments live in, and the
 * completions of its replays.
 *
 * Devices are made when the first launch on one is observed and stay for ever. A device that cannot be used
 * says why.
 *
 * Threads: any.
 */
#ifndef REDLINE_DEVICE_H
#define REDLINE_DEVICE_H

#include <stdatomic.h>

#include "native_table.h"
#include "pm4/pm4.h"
#include "replay/completion.h"
#include "report/reasons.h"

enum { RL_DEVICES = 16, RL_DEVICE_DETAIL = 64 };

/* Memory that plans have given back, for the next ones: by the power of two that its size is. */
enum { RL_SPARE_CLASSES = 40, RL_SPARE_BLOCKS = 4 };
struct rl_spare {
    void *blocks[RL_SPARE_BLOCKS];
    unsigned count;
};

struct rl_device {
    uint64_t agent;
    int ordinal; /* HIP's number */
    char gfx[16];
    const struct rl_pm4_target *target;
    hsa_amd_memory_pool_t pool;
    enum rl_reason reason;
    char detail[RL_DEVICE_DETAIL];
    _Atomic bool failed; /* HIP reported an error of the GPU: everything there is native from now on */
    struct rl_spare spare[RL_SPARE_CLASSES]; /* under the lock of device.c */
    struct rl_completions completions;
};

/* The device whose agent this is, which HIP calls `ordinal`. NULL: no memory, or more devices than
 * RL_DEVICES. */
struct rl_device *rl_device_find(const struct rl_hsa_table *hsa, uint64_t agent, int ordinal);

/* GPU-readable, executable host memory; NULL: none. Released with the same number of bytes. */
void *rl_device_allocate(const struct rl_hsa_table *hsa, struct rl_device *device, size_t bytes);
void rl_device_release(const struct rl_hsa_table *hsa, struct rl_device *device, void *memory, size_t bytes);

/* On all devices: lets go of what replays that are done have used. */
void rl_devices_reap(const struct rl_hsa_table *hsa);

/* Whether a replay that is not known to be done, on a device that has not failed, uses one of those. */
bool rl_devices_have(const struct rl_hsa_table *hsa,
                     bool (*is)(const struct rl_use *use, const void *context), const void *context);

/* All devices have failed if this is a status that HIP answers with for ever after an error of a GPU: it
 * does not say of which one. */
void rl_devices_note_error(hipError_t status);

#endif
