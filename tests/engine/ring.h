/* SPDX-License-Identifier: Apache-2.0 */
/* A queue of eight slots and a GPU of our own, behind ROCr's functions: for programs linked with the library's
 * objects. Checks are functions without arguments; each runs in a process of its own. */
#ifndef RING_H
#define RING_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/aql.h"
#include "replay/device.h"

#define CHECK(condition)                                                                                     \
    do {                                                                                                     \
        if (!(condition)) {                                                                                  \
            fprintf(stderr, "%s:%d: %s is false\n", __FILE__, __LINE__, #condition);                         \
            exit(1);                                                                                         \
        }                                                                                                    \
    } while (0)

enum { SLOTS = 8, EXECUTABLE = 1 << 2, BARRIER_BIT = 1 << 8, TYPE_MASK = 0xff };
enum { AGENT_NAME = 0, AGENT_XCCS = 0xA111, AGENT_CPU = 0xA113 };

/* ---- one queue ---- */

static union rl_aql ring[SLOTS];
static hsa_queue_t queue = { .base_address = ring, .size = SLOTS, .doorbell_signal = { 77 } };
static uint64_t write_index, read_index, adds, waited, rings;
static hsa_signal_value_t rung[64];

static uint64_t add(const hsa_queue_t *of, uint64_t count)
{
    uint64_t index = write_index;

    CHECK(of == &queue);
    adds++;
    write_index += count;
    return index;
}

static uint64_t load_write_index(const hsa_queue_t *of)
{
    CHECK(of == &queue);
    return write_index;
}

/* A full ring: the packet processor takes one packet each time that somebody looks. */
static uint64_t load_read_index(const hsa_queue_t *of)
{
    if (of != &queue)
        return 0;
    if (write_index - read_index > SLOTS) {
        waited++;
        return read_index++;
    }
    return read_index;
}

/* A doorbell rung for a slot whose packet is not valid would be lost. */
static void ring_doorbell(hsa_signal_t signal, hsa_signal_value_t index)
{
    CHECK(signal.handle == queue.doorbell_signal.handle && rings < sizeof(rung) / sizeof(rung[0]));
    CHECK((ring[index % SLOTS].barrier.header & 0xff) != RL_AQL_INVALID);
    rung[rings++] = index;
}

static hsa_status_t queue_info(hsa_queue_t *of, hsa_queue_info_attribute_t attribute, void *value)
{
    CHECK(of == &queue && attribute == HSA_AMD_QUEUE_INFO_AGENT);
    ((hsa_agent_t *)value)->handle = 5;
    return HSA_STATUS_SUCCESS;
}

/* ---- one GPU ---- */

static uint64_t ring_owner = 6; /* the agent in whose memory the ring is */

static hsa_status_t pointer_info(const void *address, hsa_amd_pointer_info_t *info, void *(*allocate)(size_t),
                                 uint32_t *agents, hsa_agent_t **accessible)
{
    (void)allocate;
    (void)agents;
    (void)accessible;
    CHECK(address == ring);
    info->agentOwner.handle = ring_owner;
    return HSA_STATUS_SUCCESS;
}

static const char *agent_name = "gfx1100";
static uint32_t agent_xccs = 1;

static hsa_status_t agent_info(hsa_agent_t agent, hsa_agent_info_t attribute, void *value)
{
    CHECK(agent.handle == 5);
    switch ((int)attribute) {
    case AGENT_NAME: strcpy(value, agent_name); return HSA_STATUS_SUCCESS;
    case AGENT_XCCS: *(uint32_t *)value = agent_xccs; return HSA_STATUS_SUCCESS;
    case AGENT_CPU: ((hsa_agent_t *)value)->handle = 6; return HSA_STATUS_SUCCESS;
    default: return HSA_STATUS_ERROR;
    }
}

static hsa_status_t pool_info(hsa_amd_memory_pool_t pool, hsa_amd_memory_pool_info_t attribute, void *value)
{
    CHECK(pool.handle == 9);
    *(uint32_t *)value = attribute == HSA_AMD_MEMORY_POOL_INFO_GLOBAL_FLAGS ? 3 : 0;
    return HSA_STATUS_SUCCESS;
}

static hsa_status_t pools(hsa_agent_t agent, hsa_status_t (*visit)(hsa_amd_memory_pool_t, void *),
                          void *context)
{
    CHECK(agent.handle == 6);
    return visit((hsa_amd_memory_pool_t){ 9 }, context);
}

static hsa_amd_memory_pool_t pool_asked;
static uint32_t flags_asked;

static hsa_status_t allocate(hsa_amd_memory_pool_t pool, size_t size, uint32_t flags, void **memory)
{
    pool_asked = pool;
    flags_asked = flags;
    *memory = malloc(size);
    return HSA_STATUS_SUCCESS;
}

static hsa_status_t release(void *memory)
{
    free(memory);
    return HSA_STATUS_SUCCESS;
}

static hsa_status_t allow(uint32_t count, const hsa_agent_t *agents, const uint32_t *flags,
                          const void *memory)
{
    (void)count;
    (void)agents;
    (void)flags;
    (void)memory;
    return HSA_STATUS_SUCCESS;
}

enum { MOST_SIGNALS = RL_COMPLETIONS + 8 }; /* those of a GPU's replays, and a few more */
static hsa_signal_value_t signals[MOST_SIGNALS + 1];

static hsa_status_t create_signal(hsa_signal_value_t value, uint32_t consumers, const hsa_agent_t *agents,
                                  uint64_t attributes, hsa_signal_t *signal)
{
    static uint64_t made;

    (void)consumers;
    (void)agents;
    (void)attributes;
    CHECK(made < MOST_SIGNALS);
    signal->handle = ++made;
    signals[made] = value;
    return HSA_STATUS_SUCCESS;
}

static hsa_signal_value_t load_signal(hsa_signal_t signal)
{
    return signals[signal.handle];
}

static void store_signal(hsa_signal_t signal, hsa_signal_value_t value)
{
    signals[signal.handle] = value;
}

static const struct rl_hsa_table hsa = {
    .hsa_agent_get_info = agent_info,
    .hsa_amd_agent_iterate_memory_pools = pools,
    .hsa_amd_memory_pool_get_info = pool_info,
    .hsa_amd_memory_pool_allocate = allocate,
    .hsa_amd_memory_pool_free = release,
    .hsa_amd_agents_allow_access = allow,
    .hsa_amd_signal_create = create_signal,
    .hsa_signal_load_scacquire = load_signal,
    .hsa_signal_store_relaxed = store_signal,
    .hsa_signal_store_screlease = ring_doorbell,
    .hsa_queue_add_write_index_screlease = add,
    .hsa_queue_load_read_index_scacquire = load_read_index,
    .hsa_queue_load_write_index_relaxed = load_write_index,
    .hsa_amd_queue_get_info = queue_info,
    .hsa_amd_pointer_info = pointer_info,
};

/* ---- checks ---- */

struct check {
    const char *name;
    void (*run)(void);
};

static int run_check(const struct check *checks, size_t count, const char *name)
{
    for (size_t i = 0; name && i < count; i++)
        if (!strcmp(name, checks[i].name)) {
            checks[i].run();
            return 0;
        }
    for (size_t i = 0; i < count; i++)
        puts(checks[i].name);
    return 2;
}

#endif
