/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Copies between memory of the application and memory of ours: on the host by the CPU, on a GPU by ROCr, many at
 * once, with a limit on every wait and no stream of the application's in between.
 *
 *     struct rl_transfer transfer;
 *     if (rl_transfer_begin(&transfer, hsa, device)) {
 *         rl_transfer_get(...); rl_transfer_put(...);      any number of both
 *         good = rl_transfer_flush(&transfer);             all of them are done
 *         rl_transfer_end(&transfer);
 *     }
 *
 * What fails once fails until the end. After a copy that was not done in time, memory and signal that it may still
 * use are left to it for ever.
 *
 * Threads: one transfer at a time in the process, whoever makes it.
 */
#ifndef REDLINE_TRANSFER_H
#define REDLINE_TRANSFER_H

#include "replay/device.h"

enum { RL_TRANSFER_PIECE = 256 << 10, RL_TRANSFER_PIECES = 64 };

/* A piece of the application's memory. */
struct rl_place {
    uint64_t base; /* as kernels see it */
    size_t bytes;
    unsigned char *host; /* the same as the CPU sees it; NULL: a GPU's */
    uint64_t agent;      /* that GPU */
};

/* Called with each part of what is read, which is valid meanwhile; parts begin at multiples of RL_TRANSFER_PIECE. */
typedef void rl_transfer_take_fn(void *context, size_t offset, const unsigned char *bytes, size_t count);

struct rl_transfer {
    const struct rl_hsa_table *hsa;
    struct rl_device *device;
    unsigned char *staging;
    hsa_agent_t host_agent; /* whose memory that is */
    struct {
        rl_transfer_take_fn *take; /* NULL: written */
        void *context;
        size_t offset, at, bytes; /* at: in the staging memory */
    } pieces[RL_TRANSFER_PIECES];
    unsigned count; /* of pieces under way */
    size_t used;    /* of the staging memory */
    bool failed, late;
};

bool rl_transfer_begin(struct rl_transfer *transfer, const struct rl_hsa_table *hsa,
                       struct rl_device *device);
void rl_transfer_end(struct rl_transfer *transfer);

void rl_transfer_get(struct rl_transfer *transfer, const struct rl_place *place, rl_transfer_take_fn *take,
                     void *context);

/* Writes what `wanted` says over what is `present` at the offset, at most RL_TRANSFER_PIECE bytes. Bytes that are the
 * same in both are left alone, but for a few between others in a GPU's memory: somebody else may have written there. */
void rl_transfer_put(struct rl_transfer *transfer, const struct rl_place *place, size_t offset,
                     const unsigned char *wanted, const unsigned char *present, size_t count);

bool rl_transfer_flush(struct rl_transfer *transfer);

#endif
