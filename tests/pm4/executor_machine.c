/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A machine around the software GPU's PM4 executor that runs a buffer and writes down what it starts: each dispatch with
 * all that its waves begin with, and how often all waves before it were known to be done. Waves finish only when the
 * executor has asked a few times. One block of memory, laid out by the caller; nothing outside of it is readable.
 */
#include "pm4/pm4.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum { ARENA = 0x40000, DESCRIPTORS = 0x1000, CODE = 0x10000, ENTRY_STRIDE = 256, LOG = 64, PATIENCE = 4096 };
enum outcome { SAME, DIFFERS, REPORTED };

struct run {
    struct sg_pm4_dispatch dispatch[LOG];
    uint32_t epoch[LOG]; /* waves were done this often before it */
    uint32_t count, epochs;
};

struct machine {
    uint8_t *arena;
    uint64_t base;
    uint32_t kernels; /* descriptors, 64 bytes each; kernel i's code is at CODE + i * ENTRY_STRIDE */
    uint32_t asked, pending;
    struct run run;
    char text[4096];
};

static bool inside(void *context, uint64_t address, uint64_t size)
{
    struct machine *machine = context;

    return address >= machine->base && size <= ARENA && address - machine->base <= ARENA - size;
}

static uint64_t descriptor_of(void *context, uint64_t entry)
{
    struct machine *machine = context;
    uint64_t offset = entry - machine->base - CODE;

    return offset % ENTRY_STRIDE == 0 && offset / ENTRY_STRIDE < machine->kernels
               ? machine->base + DESCRIPTORS + offset / ENTRY_STRIDE * 64
               : 0;
}

static int dispatch(void *context, const struct sg_pm4_dispatch *started, char *error, size_t error_size)
{
    struct machine *machine = context;
    struct run *run = &machine->run;

    if (run->count == LOG) {
        strncpy(error, "too many dispatches", error_size);
        return -1;
    }
    run->dispatch[run->count] = *started;
    run->epoch[run->count++] = run->epochs;
    machine->pending++;
    machine->asked = 0;
    return 0;
}

static bool waves_done(void *context)
{
    struct machine *machine = context;

    if (!machine->pending)
        return true;
    if (++machine->asked < 3)
        return false;
    machine->pending = 0;
    machine->run.epochs++;
    return true;
}

static uint64_t now(void *context)
{
    (void)context;
    return 1;
}

static void interrupt(void *context, uint32_t value)
{
    (void)context, (void)value;
}

static void warn(void *context, const char *sentence)
{
    struct machine *machine = context;

    strncpy(machine->text, sentence, sizeof(machine->text) - 1);
}

struct machine *machine_new(void)
{
    struct machine *machine = calloc(1, sizeof(*machine));
    void *arena = mmap((void *)0x7A0000000000, ARENA, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);

    if (!machine || arena == MAP_FAILED)
        abort();
    machine->arena = arena;
    machine->base = (uint64_t)(uintptr_t)arena;
    return machine;
}

void machine_free(struct machine *machine)
{
    munmap(machine->arena, ARENA);
    free(machine);
}

/* 0 when the buffer ran to its end and left nothing behind; else the report is in machine->text. */
int machine_run(struct machine *machine, const char *gfx, uint32_t offset, uint32_t dwords)
{
    const struct sg_pm4_host host = {
        .context = machine,
        .readable = inside,
        .writable = inside,
        .descriptor_of = descriptor_of,
        .dispatch = dispatch,
        .waves_done = waves_done,
        .clock = now,
        .interrupt = interrupt,
        .warn = warn,
    };
    struct sg_pm4_queue *queue = sg_pm4_queue_new(gfx, &host);
    enum sg_pm4_status status = SG_PM4_BLOCKED;
    int result = -1;

    memset(&machine->run, 0, sizeof(machine->run));
    machine->pending = machine->asked = 0;
    machine->text[0] = 0;
    if (!queue) {
        strcpy(machine->text, "the software GPU does not know this target");
        return -1;
    }
    sg_pm4_set_strict(queue, true);
    if (sg_pm4_start(queue, machine->base + offset, dwords) == 0) {
        for (int i = 0; i < PATIENCE && status == SG_PM4_BLOCKED; i++)
            status = sg_pm4_step(queue);
        if (status == SG_PM4_DONE && !machine->pending && !sg_pm4_left_behind(queue, machine->text, 4096))
            result = 0;
        else if (status == SG_PM4_DONE && machine->pending)
            strcpy(machine->text, "the buffer ended before its last waves");
        else if (status == SG_PM4_BLOCKED)
            strcpy(machine->text, "the buffer waits for ever");
    }
    if (result && !machine->text[0])
        strncpy(machine->text, sg_pm4_report(queue), sizeof(machine->text) - 1);
    sg_pm4_queue_free(queue);
    return result;
}

/* Runs the buffer with each bit of each dword flipped; outcomes has dwords * 32 entries. `fence`: a word to reset. */
int machine_mutants(struct machine *machine, const char *gfx, uint32_t offset, uint32_t dwords,
                    uint32_t fence, uint8_t *outcomes)
{
    uint32_t *words = (uint32_t *)(machine->arena + offset);
    uint8_t *saved = malloc(ARENA);
    struct run *right = malloc(sizeof(*right));

    if (!saved || !right || machine_run(machine, gfx, offset, dwords))
        return -1;
    *right = machine->run;
    memcpy(saved, machine->arena, ARENA);
    for (uint32_t i = 0; i < dwords * 32; i++) {
        words[i / 32] ^= 1u << i % 32;
        int failed = machine_run(machine, gfx, offset, dwords);
        bool same = !memcmp(right, &machine->run, sizeof(*right)) && machine->run.epochs == right->epochs;
        words[i / 32] ^= 1u << i % 32;
        *(uint32_t *)(saved + fence) = *(uint32_t *)(machine->arena + fence);
        same = same && !memcmp(saved, machine->arena, ARENA);
        memcpy(machine->arena, saved, ARENA);
        outcomes[i] = failed ? REPORTED : same ? SAME : DIFFERS;
    }
    free(saved);
    free(right);
    return 0;
}
