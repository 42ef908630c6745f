/* SPDX-License-Identifier: Apache-2.0 */
/* See transfer.h. */
#include "replay/transfer.h"

#include <string.h>
#include <time.h>

#include "base/fault.h"
#include "base/fork.h"

enum {
    STAGING_BYTES = 4 << 20, /* device.c keeps a block of that size for the next transfer */
    ALIGNMENT = 256,
    GAP = 64,
    MOST_MILLISECONDS = 10000,
    MILLISECOND = 1000000, /* nanoseconds */
};

static hsa_signal_t idle_signal; /* of the last transfer; the one that is under way has taken it */

static bool get_signal(struct rl_transfer *transfer)
{
    return idle_signal.handle ||
           (!rl_fault(RL_FAULT_NATIVE) &&
            transfer->hsa->hsa_amd_signal_create(0, 0, NULL, 0, &idle_signal) == HSA_STATUS_SUCCESS);
}

static bool get_host_agent(struct rl_transfer *transfer)
{
    hsa_amd_pointer_info_t info = { .size = sizeof(info) };

    if (transfer->hsa->hsa_amd_pointer_info(transfer->staging, &info, NULL, NULL, NULL) != HSA_STATUS_SUCCESS)
        return false;
    transfer->host_agent = info.agentOwner;
    return info.agentOwner.handle;
}

static bool wait_for_pieces(struct rl_transfer *transfer)
{
    hsa_signal_value_t value, wanted = RL_TRANSFER_PIECES - (hsa_signal_value_t)transfer->count;

    for (int tries = 0; tries < 10 * MOST_MILLISECONDS; tries++) {
        value = transfer->hsa->hsa_signal_load_scacquire(idle_signal);
        if (value <= wanted) /* a copy that fails makes it negative */
            return value == wanted;
        nanosleep(&(struct timespec){ 0, MILLISECOND / 10 }, NULL);
    }
    transfer->late = true;
    idle_signal.handle = 0;
    return false;
}

void rl_transfer_end(struct rl_transfer *transfer)
{
    if (transfer->count && !transfer->late)
        wait_for_pieces(transfer);
    if (!transfer->late && transfer->staging)
        rl_device_release(transfer->hsa, transfer->device, transfer->staging, STAGING_BYTES);
    transfer->count = 0;
    transfer->staging = NULL;
}

bool rl_transfer_begin(struct rl_transfer *transfer, const struct rl_hsa_table *hsa, struct rl_device *device)
{
    *transfer = (struct rl_transfer){ .hsa = hsa, .device = device };
    if (!hsa->hsa_amd_memory_async_copy || !hsa->hsa_amd_pointer_info || !get_signal(transfer))
        return false;
    transfer->staging = rl_device_allocate(hsa, device, STAGING_BYTES);
    if (transfer->staging && get_host_agent(transfer))
        return true;
    rl_transfer_end(transfer);
    return false;
}

bool rl_transfer_flush(struct rl_transfer *transfer)
{
    bool good = !transfer->count || (!transfer->late && wait_for_pieces(transfer));

    transfer->failed = transfer->failed || !good;
    for (unsigned i = 0; i < transfer->count && !transfer->failed; i++)
        if (transfer->pieces[i].take)
            transfer->pieces[i].take(transfer->pieces[i].context, transfer->pieces[i].offset,
                                     transfer->staging + transfer->pieces[i].at, transfer->pieces[i].bytes);
    transfer->count = 0;
    transfer->used = 0;
    return !transfer->failed;
}

/* Room in the staging memory; NULL: something has failed. */
static unsigned char *add_piece(struct rl_transfer *transfer, rl_transfer_take_fn *take, void *context,
                                size_t offset, size_t bytes)
{
    size_t room = (bytes + ALIGNMENT - 1) & ~(size_t)(ALIGNMENT - 1);

    if (transfer->count == RL_TRANSFER_PIECES || transfer->used + room > STAGING_BYTES)
        rl_transfer_flush(transfer);
    if (transfer->failed)
        return NULL;
    if (!transfer->count)
        transfer->hsa->hsa_signal_store_relaxed(idle_signal, RL_TRANSFER_PIECES);
    transfer->pieces[transfer->count].take = take;
    transfer->pieces[transfer->count].context = context;
    transfer->pieces[transfer->count].offset = offset;
    transfer->pieces[transfer->count].at = transfer->used;
    transfer->pieces[transfer->count].bytes = bytes;
    transfer->used += room;
    return transfer->staging + transfer->pieces[transfer->count].at;
}

/* The piece that was added counts from here on, unless its copy could not be started. */
static void start(struct rl_transfer *transfer, void *to, hsa_agent_t to_agent, const void *from,
                  hsa_agent_t from_agent)
{
    size_t bytes = transfer->pieces[transfer->count].bytes;

    if (!rl_fault(RL_FAULT_NATIVE) &&
        transfer->hsa->hsa_amd_memory_async_copy(to, to_agent, from, from_agent, bytes, 0, NULL,
                                                 idle_signal) == HSA_STATUS_SUCCESS) {
        transfer->count++;
        return;
    }
    rl_transfer_flush(transfer);
    transfer->failed = true;
}

void rl_transfer_get(struct rl_transfer *transfer, const struct rl_place *place, rl_transfer_take_fn *take,
                     void *context)
{
    for (size_t offset = 0; offset < place->bytes && !transfer->failed; offset += RL_TRANSFER_PIECE) {
        size_t left = place->bytes - offset, bytes = left < RL_TRANSFER_PIECE ? left : RL_TRANSFER_PIECE;
        unsigned char *staging;

        if (place->host) {
            take(context, offset, place->host + offset, bytes);
            continue;
        }
        staging = add_piece(transfer, take, context, offset, bytes);
        if (staging)
            start(transfer, staging, transfer->host_agent, (const void *)(place->base + offset),
                  (hsa_agent_t){ place->agent });
    }
}

static void put_on_host(unsigned char *to, const unsigned char *wanted, const unsigned char *present,
                        size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (wanted[i] != present[i])
            to[i] = wanted[i];
}

static void put_run(struct rl_transfer *transfer, const struct rl_place *place, size_t offset,
                    const unsigned char *wanted, size_t count)
{
    unsigned char *staging = add_piece(transfer, NULL, NULL, offset, count);

    if (!staging)
        return;
    memcpy(staging, wanted, count);
    start(transfer, (void *)(place->base + offset), (hsa_agent_t){ place->agent }, staging,
          transfer->host_agent);
}

/* From a byte that differs to the last one before GAP bytes that do not. */
static size_t length_of_run(const unsigned char *wanted, const unsigned char *present, size_t count)
{
    size_t length = 1;

    for (size_t i = 1; i < count && i < length + GAP; i++)
        if (wanted[i] != present[i])
            length = i + 1;
    return length;
}

void rl_transfer_put(struct rl_transfer *transfer, const struct rl_place *place, size_t offset,
                     const unsigned char *wanted, const unsigned char *present, size_t count)
{
    size_t at = 0;

    if (place->host) {
        put_on_host(place->host + offset, wanted, present, count);
        return;
    }
    while (at < count) {
        size_t length = wanted[at] == present[at] ? 0 : length_of_run(wanted + at, present + at, count - at);

        if (length)
            put_run(transfer, place, offset + at, wanted + at, length);
        at += length ? length : 1;
    }
}

/* The child of a fork has none of the GPU's signals. */
static void in_child(void)
{
    idle_signal.handle = 0;
}

RL_AT_FORK(NULL, NULL, in_child);
