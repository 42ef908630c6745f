/* SPDX-License-Identifier: Apache-2.0 */
/* See observe.h. */
#include "proof/observe.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/fault.h"
#include "base/memory.h"
#include "pm4/descriptor.h"
#include "proof/watch.h"

enum { QUEUE_COOPERATIVE = 2 /* HSA_QUEUE_TYPE_COOPERATIVE */ };
enum { MOST_PACKETS = 1 << 20 };

_Thread_local enum rl_watch rl_watch __attribute__((tls_model("initial-exec"), visibility("hidden")));
static _Thread_local struct rl_observation *current __attribute__((tls_model("initial-exec")));

__attribute__((format(printf, 3, 4))) static void refuse(struct rl_observation *seen, enum rl_reason reason,
                                                         const char *detail, ...)
{
    va_list arguments;

    if (seen->reason != RL_REASON_NONE)
        return;
    seen->reason = reason;
    va_start(arguments, detail);
    vsnprintf(seen->detail, sizeof(seen->detail), detail, arguments);
    va_end(arguments);
}

void rl_observe_begin(struct rl_observation *seen, const struct rl_hsa_table *hsa)
{
    memset(seen, 0, sizeof(*seen));
    seen->hsa = hsa;
    current = seen;
    rl_watch = RL_WATCH_OBSERVE;
}

void rl_observe_free(struct rl_observation *seen)
{
    rl_release(seen->packets);
    rl_release(seen->codes);
    rl_release(seen->bytes);
    rl_release(seen->watched);
}

/* Room for `wanted` elements in all; false: none. */
static bool grow(struct rl_observation *seen, void **array, size_t *room, size_t wanted, size_t size)
{
    size_t larger = *room ? *room : 64;
    void *moved;

    if (wanted <= *room)
        return true;
    while (larger < wanted)
        larger *= 2;
    moved = rl_allocate(larger, size);
    if (!moved) {
        refuse(seen, RL_REASON_OUT_OF_MEMORY, "%zu bytes for the packets of a launch", larger * size);
        return false;
    }
    if (*array)
        memcpy(moved, *array, *room * size);
    rl_release(*array);
    *array = moved;
    *room = larger;
    return true;
}

/* Some targets and settings put rings there: a slot then needs fences of its own, and is slow to read. */
static bool is_in_device_memory(const struct rl_observation *seen, const hsa_queue_t *queue,
                                hsa_agent_t agent)
{
    hsa_amd_pointer_info_t info = { .size = sizeof(info) };

    return seen->hsa->hsa_amd_pointer_info &&
           seen->hsa->hsa_amd_pointer_info(queue->base_address, &info, NULL, NULL, NULL) ==
               HSA_STATUS_SUCCESS &&
           info.agentOwner.handle == agent.handle;
}

static bool queue_usable(struct rl_observation *seen, const hsa_queue_t *queue)
{
    hsa_agent_t agent = { 0 };

    if (queue->type == QUEUE_COOPERATIVE) {
        refuse(seen, RL_REASON_QUEUE, "a cooperative kernel");
        return false;
    }
    if (!queue->base_address || !queue->size || queue->size & (queue->size - 1) ||
        !seen->hsa->hsa_amd_queue_get_info ||
        seen->hsa->hsa_amd_queue_get_info((hsa_queue_t *)queue, HSA_AMD_QUEUE_INFO_AGENT, &agent) !=
            HSA_STATUS_SUCCESS) {
        refuse(seen, RL_REASON_QUEUE, "queue %llu", (unsigned long long)queue->id);
        return false;
    }
    if (is_in_device_memory(seen, queue, agent)) {
        refuse(seen, RL_REASON_QUEUE, "queue %llu is in the GPU's memory", (unsigned long long)queue->id);
        return false;
    }
    if (seen->agent && seen->agent != agent.handle) {
        refuse(seen, RL_REASON_DEVICES, "queue %llu is another GPU's", (unsigned long long)queue->id);
        return false;
    }
    seen->agent = agent.handle;
    return true;
}

static bool queue_position(struct rl_observation *seen, const hsa_queue_t *queue, uint32_t *position)
{
    for (uint32_t i = 0; i < seen->queue_count; i++)
        if (seen->queues[i] == queue) {
            *position = i;
            return true;
        }
    if (seen->queue_count == RL_SEEN_QUEUES) {
        refuse(seen, RL_REASON_QUEUE, "more than %d queues", RL_SEEN_QUEUES);
        return false;
    }
    if (!queue_usable(seen, queue))
        return false;
    *position = (uint32_t)seen->queue_count;
    seen->queues[seen->queue_count++] = queue;
    return true;
}

void rl_observe_reserved(const hsa_queue_t *queue, uint64_t index, uint64_t count)
{
    struct rl_observation *seen = current;
    uint32_t position;

    if (seen->reason != RL_REASON_NONE || !queue_position(seen, queue, &position))
        return;
    if (count >= queue->size || seen->count + count > MOST_PACKETS) {
        refuse(seen, RL_REASON_QUEUE, "%llu slots at once", (unsigned long long)count);
        return;
    }
    if (!grow(seen, (void **)&seen->packets, &seen->room, seen->count + count, sizeof(*seen->packets)))
        return;
    for (uint64_t i = 0; i < count; i++)
        seen->packets[seen->count++] = (struct rl_seen){ .index = index + i, .queue = position };
}

static bool find_code(struct rl_observation *seen, uint64_t object, uint32_t *position)
{
    for (size_t i = seen->code_count; i-- > 0;)
        if (seen->codes[i].object == object) {
            *position = (uint32_t)i;
            return true;
        }
    if (!grow(seen, (void **)&seen->codes, &seen->code_room, seen->code_count + 1, sizeof(*seen->codes)))
        return false;
    if (!rl_code_find(seen->hsa, object, &seen->codes[seen->code_count])) {
        refuse(seen, RL_REASON_CODE_UNKNOWN, "kernel object 0x%llx", (unsigned long long)object);
        return false;
    }
    *position = (uint32_t)seen->code_count++;
    return true;
}

static bool keep_bytes(struct rl_observation *seen, const void *from, size_t size, size_t *offset)
{
    if (!grow(seen, (void **)&seen->bytes, &seen->byte_room, seen->byte_count + size, 1))
        return false;
    *offset = seen->byte_count;
    if (size)
        memcpy(seen->bytes + *offset, from, size);
    seen->byte_count += size;
    return true;
}

static bool take_dispatch(struct rl_observation *seen, struct rl_seen *packet)
{
    const struct rl_aql_dispatch *dispatch = &packet->packet.dispatch;
    const struct rl_code *code;
    uint16_t properties;

    packet->dispatch = true;
    if (!find_code(seen, dispatch->kernel_object, &packet->code))
        return false;
    code = &seen->codes[packet->code];
    if (code->layout.prints) {
        refuse(seen, RL_REASON_HOST_WORK,
               "a kernel prints, and HIP writes that out only after launches of its own");
        return false;
    }
    memcpy(&properties, code->descriptor + RL_DESCRIPTOR_PROPERTIES, sizeof(properties));
    /* Old code objects do not say how long their arguments are. */
    if ((properties & RL_PROPERTY_KERNARG_POINTER && !code->kernarg_bytes) ||
        (code->kernarg_bytes && !dispatch->kernarg)) {
        refuse(seen, RL_REASON_CODE_UNKNOWN, "kernel object 0x%llx has arguments of unknown size",
               (unsigned long long)dispatch->kernel_object);
        return false;
    }
    if (!keep_bytes(seen, (const void *)dispatch->kernarg, code->kernarg_bytes, &packet->arguments))
        return false;
    if (code->builtin == RL_BUILTIN_NONE)
        return true;
    if (!rl_builtin_read(code->builtin, seen->bytes + packet->arguments, code->kernarg_bytes, dispatch,
                         &packet->use)) {
        refuse(seen, RL_REASON_PACKET_UNKNOWN, "a built-in kernel of HIP with unknown arguments");
        return false;
    }
    return keep_bytes(seen, (const void *)packet->use.pattern, packet->use.pattern_bytes, &packet->pattern);
}

static void take(struct rl_observation *seen, struct rl_seen *packet)
{
    const hsa_queue_t *queue = seen->queues[packet->queue];

    packet->taken = true;
    memcpy(&packet->packet, rl_aql_slot(queue, packet->index), sizeof(packet->packet));
    if (seen->hsa->hsa_queue_load_write_index_relaxed(queue) - packet->index > queue->size)
        refuse(seen, RL_REASON_QUEUE, "a slot was used again before it was read");
    else if (rl_aql_is_dispatch(&packet->packet))
        take_dispatch(seen, packet);
    else if (rl_aql_barrier_signals(&packet->packet) < 0)
        refuse(seen, RL_REASON_PACKET_UNKNOWN, "packet 0x%08x 0x%08x", packet->packet.words[0],
               packet->packet.words[1]);
}

static void take_until(struct rl_observation *seen, uint32_t queue, uint64_t index)
{
    for (size_t i = seen->first_untaken; i < seen->count && seen->reason == RL_REASON_NONE; i++) {
        struct rl_seen *packet = &seen->packets[i];

        if (!packet->taken && packet->queue == queue && packet->index <= index)
            take(seen, packet);
        if (packet->taken && i == seen->first_untaken)
            seen->first_untaken++;
    }
}

void rl_observe_doorbell(hsa_signal_t signal, hsa_signal_value_t index)
{
    struct rl_observation *seen = current;

    for (uint32_t i = 0; i < seen->queue_count; i++)
        if (seen->queues[i]->doorbell_signal.handle == signal.handle)
            take_until(seen, i, (uint64_t)index);
}

void rl_observe_handler(hsa_signal_t signal)
{
    struct rl_observation *seen = current;

    if (grow(seen, (void **)&seen->watched, &seen->watched_room, seen->watched_count + 1,
             sizeof(*seen->watched)))
        seen->watched[seen->watched_count++] = signal.handle;
}

void rl_observe_copy(void)
{
    refuse(current, RL_REASON_COPY_ENGINE, "%s", "");
}

void rl_observe_end(struct rl_observation *seen)
{
    rl_watch = RL_WATCH_NOTHING;
    current = NULL;
    for (uint32_t i = 0; i < seen->queue_count; i++)
        take_until(seen, i, UINT64_MAX);
    /* rule: a-launch-without-packets-is-refused */
    if (seen->reason == RL_REASON_NONE && !seen->count)
        refuse(seen, RL_REASON_NO_PACKETS, "%s", "");
}
