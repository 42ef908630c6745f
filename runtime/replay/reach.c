/* SPDX-License-Identifier: Apache-2.0 */
/* See reach.h. */
#include "replay/reach.h"

#include <string.h>

#include "base/memory.h"
#include "kernels/metadata.h"
#include "kernels/segment.h"

enum {
    LOWEST = 1 << 16, /* no address is smaller: the kernel keeps those pages free */
    ADDRESS_BITS = 47,
    MOST_LOOKUPS = 1 << 20, /* about a second */
    MISSES = 1 << 16,       /* values kept that are no address */
    GPU = 1,                /* hsa.h: HSA_DEVICE_TYPE_GPU */
};

struct reach {
    struct rl_keep *keep;
    const struct rl_hip_table *hip;
    const struct rl_hsa_table *hsa;
    const struct rl_region *last; /* where the last address was */
    uint64_t *misses;
    unsigned lookups;
    enum rl_reach answer;
};

static bool stop(struct reach *reach, enum rl_reach answer)
{
    if (reach->answer == RL_REACH_ALL)
        reach->answer = answer;
    return false;
}

static bool is_gpu(const struct reach *reach, hsa_agent_t agent)
{
    uint32_t type = 0;

    return reach->hsa->hsa_agent_get_info(agent, HSA_AGENT_INFO_DEVICE, &type) == HSA_STATUS_SUCCESS &&
           type == GPU;
}

/* Where GPUs may use pageable memory, HIP knows every address as a part of one object without an end. */
static bool is_anything(size_t bytes)
{
    return bytes >> ADDRESS_BITS;
}

/* Whether the CPU could read it. */
static bool is_mapped(uint64_t address)
{
    const struct rl_image image = { .memory = (const void *)address, .size = 1 };
    unsigned char byte;

    return rl_image_read_carefully(&image, 0, &byte, 1);
}

/* HIP's answer, and ROCr's. */
struct asked {
    hipDeviceptr_t base; /* as kernels see it, or NULL for memory of the host that was registered */
    size_t bytes;
    hsa_amd_pointer_info_t info;
    bool known; /* to ROCr, too */
};

static bool ask(const struct reach *reach, uint64_t address, struct asked *asked)
{
    *asked = (struct asked){ .info = { .size = sizeof(asked->info) } };
    if (reach->hip->hipMemGetAddressRange(&asked->base, &asked->bytes, (hipDeviceptr_t)address) != hipSuccess)
        return false;
    asked->known = reach->hsa->hsa_amd_pointer_info((const void *)address, &asked->info, NULL, NULL, NULL) ==
                       HSA_STATUS_SUCCESS &&
                   asked->info.type != HSA_EXT_POINTER_TYPE_UNKNOWN && asked->info.agentOwner.handle;
    return true;
}

/* The place that HIP's answer means. host_shift: from an address of kernels to the CPU's. */
static bool find_range(const struct reach *reach, uint64_t address, const struct asked *asked,
                       uint64_t host_shift, struct rl_place *place)
{
    hipDeviceptr_t host = NULL;

    place->base = (uintptr_t)asked->base;
    place->bytes = asked->bytes;
    if (!asked->base && reach->hip->hipPointerGetAttribute &&
        reach->hip->hipPointerGetAttribute(&host, HIP_POINTER_ATTRIBUTE_RANGE_START_ADDR,
                                           (hipDeviceptr_t)address) == hipSuccess)
        place->base = (uintptr_t)host - host_shift;
    return address - place->base < place->bytes;
}

/* Memory that ROCr does not know is shared with the host page by page, at the same addresses. */
static bool find_shared(const struct reach *reach, uint64_t address, const struct asked *asked,
                        struct rl_place *place)
{
    if (!find_range(reach, address, asked, 0, place) || !is_mapped(place->base) ||
        !is_mapped(place->base + place->bytes - 1))
        return false;
    place->host = (unsigned char *)place->base;
    return true;
}

static bool find_allocated(const struct reach *reach, uint64_t address, const struct asked *asked,
                           struct rl_place *place)
{
    uint64_t start = (uintptr_t)asked->info.agentBaseAddress, end = start + asked->info.sizeInBytes;
    uint64_t host_shift = (uintptr_t)asked->info.hostBaseAddress - start;

    if (!find_range(reach, address, asked, host_shift, place))
        return false;
    start = start > place->base ? start : place->base;
    end = end < place->base + place->bytes ? end : place->base + place->bytes;
    place->base = start;
    place->bytes = end - start;
    if (is_gpu(reach, asked->info.agentOwner))
        place->agent = asked->info.agentOwner.handle;
    else if (asked->info.hostBaseAddress)
        place->host = (unsigned char *)(start + host_shift);
    return address - start < place->bytes && (place->agent || place->host);
}

/* What HIP calls the application's around the address. */
static bool find_place(struct reach *reach, uint64_t address, struct rl_place *place)
{
    struct asked asked;
    bool found;

    *place = (struct rl_place){ 0 };
    if (!ask(reach, address, &asked))
        return false;
    if (is_anything(asked.bytes))
        return asked.known || !is_mapped(address) ? false : stop(reach, RL_REACH_UNKNOWN_MEMORY);
    found = asked.known ? find_allocated(reach, address, &asked, place)
                        : find_shared(reach, address, &asked, place);
    return found || stop(reach, RL_REACH_UNKNOWN_MEMORY);
}

/* False: no more is to be looked for. */
static bool add(struct reach *reach, const struct rl_place *place, uint32_t dispatch)
{
    reach->last = NULL; /* regions move */
    return rl_keep_add(reach->keep, place, dispatch) || stop(reach, RL_REACH_NOT_KEPT);
}

static bool follow(struct reach *reach, uint64_t value, uint32_t dispatch)
{
    uint64_t *miss = &reach->misses[rl_topology_mix(value) & (MISSES - 1)];
    struct rl_place place;

    if (value < LOWEST || value >> ADDRESS_BITS || *miss == value)
        return true;
    if (reach->last && value - reach->last->place.base < reach->last->place.bytes)
        return true;
    reach->last = rl_keep_find(reach->keep, value);
    if (reach->last)
        return true;
    if (++reach->lookups > MOST_LOOKUPS)
        return stop(reach, RL_REACH_TOO_MANY);
    if (find_place(reach, value, &place))
        return add(reach, &place, dispatch);
    *miss = value;
    return reach->answer == RL_REACH_ALL;
}

static bool follow_all(struct reach *reach, const unsigned char *bytes, size_t count, size_t step,
                       uint32_t dispatch)
{
    uint64_t value;

    for (size_t at = 0; at + sizeof(value) <= count; at += step) {
        memcpy(&value, bytes + at, sizeof(value));
        if (!follow(reach, value, dispatch))
            return false;
    }
    return true;
}

/* What the application gave, if that is known: a pointer, or a struct with pointers in it. */
static bool follow_arguments(struct reach *reach, const struct rl_observation *seen,
                             const struct rl_seen *packet, uint32_t dispatch)
{
    const struct rl_code *code = &seen->codes[packet->code];
    const unsigned char *block = seen->bytes + packet->arguments;

    if (!code->layout.known)
        return follow_all(reach, block, code->kernarg_bytes, sizeof(uint32_t), dispatch);
    for (uint32_t i = 0; i < code->layout.count; i++) {
        size_t offset = code->layout.argument[i].offset, bytes = code->layout.argument[i].size;

        if (bytes <= code->kernarg_bytes && offset <= code->kernarg_bytes - bytes &&
            !follow_all(reach, block + offset, bytes, sizeof(uint32_t), dispatch))
            return false;
    }
    return true;
}

struct variables {
    struct reach *reach;
    uint64_t agent;
    uint32_t dispatch;
};

static bool add_variables(uint64_t base, size_t bytes, void *context)
{
    const struct variables *variables = context;
    const struct rl_place place = { .base = base, .bytes = bytes, .agent = variables->agent };

    return rl_keep_find(variables->reach->keep, base) || add(variables->reach, &place, variables->dispatch);
}

/* HIP's own kernels have no variables. */
static bool follow_code(struct reach *reach, const struct rl_observation *seen, const struct rl_proof *proof,
                        uint32_t code)
{
    struct variables variables = { .reach = reach, .agent = seen->agent };

    while (variables.dispatch < proof->count &&
           seen->packets[proof->packets[variables.dispatch]].code != code)
        variables.dispatch++;
    return variables.dispatch == proof->count || seen->codes[code].builtin != RL_BUILTIN_NONE ||
           rl_segments_visit(reach->hsa, seen->codes[code].object, add_variables, &variables) ||
           stop(reach, RL_REACH_UNKNOWN_MEMORY);
}

/* Code first: a variable that HIP knows by itself is then a part of it. */
static bool follow_dispatches(struct reach *reach, const struct rl_observation *seen,
                              const struct rl_proof *proof)
{
    for (uint32_t i = 0; i < seen->code_count; i++)
        if (!follow_code(reach, seen, proof, i))
            return false;
    for (uint32_t i = 0; i < proof->count; i++)
        if (!follow_arguments(reach, seen, &seen->packets[proof->packets[i]], i))
            return false;
    return true;
}

static bool follow_memory(struct reach *reach)
{
    for (size_t i = 0; i < reach->keep->count; i++) {
        struct rl_region region;

        if (!reach->keep->regions[i].before && !rl_keep_read(reach->keep))
            return stop(reach, RL_REACH_NOT_KEPT);
        region = reach->keep->regions[i];
        if (!follow_all(reach, region.before, region.place.bytes, sizeof(uint64_t), region.dispatch))
            return false;
    }
    return true;
}

enum rl_reach rl_reach(struct rl_keep *keep, const struct rl_hip_table *hip,
                       const struct rl_observation *seen, const struct rl_proof *proof)
{
    struct reach reach = { .keep = keep, .hip = hip, .hsa = seen->hsa, .answer = RL_REACH_ALL };

    if (!hip->hipMemGetAddressRange || !reach.hsa->hsa_amd_pointer_info)
        return RL_REACH_UNKNOWN_MEMORY;
    reach.misses = rl_allocate(MISSES, sizeof(*reach.misses));
    if (!reach.misses) {
        keep->why = RL_KEEP_NO_MEMORY;
        return RL_REACH_NOT_KEPT;
    }
    if (follow_dispatches(&reach, seen, proof))
        follow_memory(&reach);
    rl_release(reach.misses);
    return reach.answer;
}

bool rl_reach_names(const struct rl_observation *seen, const struct rl_proof *proof, uint32_t dispatch,
                    const struct rl_place *place)
{
    const struct rl_seen *packet = &seen->packets[proof->packets[dispatch]];
    uint64_t value;

    for (size_t at = 0; at + sizeof(value) <= seen->codes[packet->code].kernarg_bytes;
         at += sizeof(uint32_t)) {
        memcpy(&value, seen->bytes + packet->arguments + at, sizeof(value));
        if (value - place->base < place->bytes)
            return true;
    }
    return false;
}
