/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include "trace.h"

#include <fcntl.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "clock.h"
#include "options.h"

enum { FIRST_ROOM = 4096 };

struct line {
    char *text;
    size_t used, room;
    bool short_of_memory; /* then the whole line is left out */
};

static pthread_once_t once = PTHREAD_ONCE_INIT;
static int file = -1;
static uint64_t start_ns;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct line line; /* under `lock` */

static void open_trace(void)
{
    const char *name = sg_options()->trace;

    start_ns = sg_now_ns();
    if (!name)
        return;
    line.room = FIRST_ROOM;
    line.text = malloc(line.room);
    file = !line.text ? -1 : open(name, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0644);
    if (file < 0)
        fprintf(stderr, "softgpu: cannot write the trace %s: %m\n", name);
}

bool sg_trace_on(void)
{
    pthread_once(&once, open_trace);
    return file >= 0;
}

void sg_trace_forget(void)
{
    pthread_mutex_init(&lock, NULL);
}

static bool grow(size_t need)
{
    size_t room = line.room;

    while (room < need)
        room *= 2;
    char *text = realloc(line.text, room);

    if (!text)
        return false;
    line.text = text;
    line.room = room;
    return true;
}

__attribute__((format(printf, 1, 2))) static void add(const char *format, ...)
{
    va_list arguments, again;

    va_start(arguments, format);
    va_copy(again, arguments);
    int wrote = vsnprintf(line.text + line.used, line.room - line.used, format, arguments);
    size_t need = line.used + (size_t)(wrote < 0 ? 0 : wrote);

    if (need >= line.room && grow(need + 1))
        vsnprintf(line.text + line.used, line.room - line.used, format, again);
    else if (need >= line.room)
        line.short_of_memory = true;
    if (!line.short_of_memory)
        line.used = need;
    va_end(again);
    va_end(arguments);
}

static void add_string(const char *text, size_t bytes)
{
    add("\"");
    for (size_t i = 0; i < bytes; i++) {
        unsigned char c = (unsigned char)text[i];

        if (c == '"' || c == '\\')
            add("\\%c", c);
        else if (c < 0x20 || c > 0x7e)
            add("\\u%04x", c);
        else
            add("%c", c);
    }
    add("\"");
}

static void begin(const struct sg_queue *queue, const char *kind, const char *place, uint64_t at)
{
    pthread_mutex_lock(&lock);
    line.used = 0;
    line.short_of_memory = false;
    add("{\"time_us\": %.1f, \"pid\": %d, \"gpu\": %d, \"queue\": %u, \"%s\": %" PRIu64 ", \"kind\": \"%s\"",
        (double)(sg_now_ns() - start_ns) / 1e3, (int)getpid(), queue->gpu->index, queue->id, place, at, kind);
}

static void end(void)
{
    add("}\n");
    if (!line.short_of_memory && write(file, line.text, line.used) < 0)
        fprintf(stderr, "softgpu: trace: %m\n");
    pthread_mutex_unlock(&lock);
}

uint64_t sg_trace_hash(const void *memory, size_t count)
{
    const uint8_t *bytes = memory;
    uint64_t value = UINT64_C(0xcbf29ce484222325);

    for (size_t i = 0; i < count; i++)
        value = (value ^ bytes[i]) * UINT64_C(0x100000001b3);
    return value;
}

static void add_dispatch(const struct sg_trace_dispatch *dispatch)
{
    add(", \"kernel\": ");
    add_string(dispatch->kernel, strlen(dispatch->kernel));
    add(", \"grid\": [%u, %u, %u], \"workgroup\": [%u, %u, %u], \"lds_bytes\": %u, \"scratch_bytes\": %u",
        dispatch->grid[0], dispatch->grid[1], dispatch->grid[2], dispatch->workgroup[0],
        dispatch->workgroup[1], dispatch->workgroup[2], dispatch->lds_bytes, dispatch->scratch_bytes);
    add(", \"kernarg_bytes\": %u", dispatch->kernarg_bytes);
    add(", \"delay_us\": %" PRIu64, dispatch->delay_us);
    if (dispatch->hashed)
        add(", \"kernarg_hash\": \"%016" PRIx64 "\"", dispatch->kernarg_hash);
}

static const char *kind_of(const union sg_packet *packet, uint16_t header)
{
    switch (sg_header_type(header)) {
    case SG_PACKET_DISPATCH: return "dispatch";
    case SG_PACKET_BARRIER_AND: return "barrier_and";
    case SG_PACKET_BARRIER_OR: return "barrier_or";
    case SG_PACKET_AGENT_DISPATCH: return "agent_dispatch";
    case SG_PACKET_VENDOR:
        if (packet->pm4.format == SG_VENDOR_PM4_IB)
            return "pm4_ib";
        if (packet->pm4.format == SG_VENDOR_BARRIER_VALUE)
            return "barrier_value";
    }
    return "unknown";
}

static void add_lines(const char *name, const char *text)
{
    const char *separator = "";

    add(", \"%s\": [", name);
    while (*text) {
        size_t length = strcspn(text, "\n");

        add("%s", separator);
        add_string(text, length);
        separator = ", ";
        text += length + (text[length] == '\n');
    }
    add("]");
}

void sg_trace_aql(const struct sg_queue *queue, uint64_t index, const union sg_packet *slot, uint16_t header,
                  const struct sg_trace_dispatch *dispatch, const char *text)
{
    static const char *const scope[4] = { "none", "agent", "system", "reserved" };

    if (!sg_trace_on())
        return;
    /* The ring may go away at any time, and a fault under the lock would leave it locked. */
    const union sg_packet copy = *slot, *packet = &copy;
    const char *kind = kind_of(packet, header);

    begin(queue, kind, "index", index);
    add(", \"header\": {\"word\": \"0x%04x\", \"barrier\": %u, \"acquire\": \"%s\", \"release\": \"%s\"}",
        header, sg_header_barrier(header), scope[sg_header_acquire(header)],
        scope[sg_header_release(header)]);
    add(", \"completion\": \"0x%" PRIx64 "\"", packet->dispatch.completion);
    if (!strncmp(kind, "barrier_", 8) && strcmp(kind, "barrier_value")) {
        int count = 0;

        for (int i = 0; i < SG_AQL_DEPENDENCIES; i++)
            count += packet->barrier.dependency[i] != 0;
        add(", \"dependencies\": %d", count);
    } else if (!strcmp(kind, "barrier_value")) {
        add(", \"signal\": \"0x%" PRIx64 "\", \"value\": %" PRId64 ", \"mask\": %" PRId64
            ", \"condition\": %u",
            packet->barrier_value.signal, packet->barrier_value.value, packet->barrier_value.mask,
            packet->barrier_value.condition);
    } else if (!strcmp(kind, "pm4_ib")) {
        add(", \"buffer\": \"0x%" PRIx64 "\", \"dwords\": %u",
            packet->pm4.jump[1] | (uint64_t)packet->pm4.jump[2] << 32, packet->pm4.jump[3] & 0xfffff);
    }
    if (dispatch)
        add_dispatch(dispatch);
    if (text)
        add_lines("pm4", text);
    end();
}

void sg_trace_wave(const struct sg_queue *queue, uint64_t index, const struct sg_trace_dispatch *dispatch)
{
    if (!sg_trace_on())
        return;
    begin(queue, "pm4_dispatch", "index", index);
    add_dispatch(dispatch);
    end();
}

void sg_trace_sdma(const struct sg_queue *queue, uint64_t offset, const char *kind, const char *text,
                   uint64_t delay_us)
{
    if (!sg_trace_on())
        return;
    begin(queue, kind, "offset", offset);
    add(", \"delay_us\": %" PRIu64 ", \"sdma\": ", delay_us);
    add_string(text, strlen(text));
    end();
}

void sg_trace_text(const struct sg_queue *queue, uint64_t index, const char *kind, const char *text)
{
    if (!sg_trace_on())
        return;
    begin(queue, kind, "index", index);
    add(", \"text\": ");
    add_string(text, strlen(text));
    end();
}
