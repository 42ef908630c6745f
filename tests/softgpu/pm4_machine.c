/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A small machine around the PM4 executor, for tests: one block of GPU memory, three kernels with host twins, and waves
 * that run as late and as badly ordered as hardware may run them: nothing happens at dispatch; once the executor has asked
 * `delay` times in vain whether the waves are done, all of them run, the last one first. Also the mutation loop.
 */
#include "pm4/pm4.h"
#include "pm4/pm4_decode.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum {
    ARENA = 0x10000,
    DESCRIPTORS = 0x1000, /* 64 bytes each */
    CODE = 0x2000,        /* 256 bytes each */
    KERNELS = 4,
    PENDING = 64,
    TEXT = 1 << 16,
};

enum kernel { ACCUMULATE, REVERSE, COUNT };

struct machine {
    uint8_t *arena;
    uint64_t base;
    uint32_t read_only; /* bytes at the beginning that cannot be written */
    int delay, asked;
    struct sg_pm4_dispatch pending[PENDING], last;
    unsigned pending_count, dispatched, faults, interrupts, warnings;
    uint32_t interrupt;
    uint64_t clock;
    const char *refuse; /* sentence with which a dispatch is refused */
    bool fixed;
    char text[TEXT];
};

struct machine *machine_new(bool fixed)
{
    struct machine *machine = calloc(1, sizeof(*machine));
    /* A known address makes the outcome of every mutant repeatable; a block of the heap lets ASan see its end. */
    void *arena = fixed ? mmap((void *)0x7A0000000000, ARENA, PROT_READ | PROT_WRITE,
                               MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0)
                        : aligned_alloc(ARENA, ARENA);

    if (!machine || !arena || arena == MAP_FAILED)
        abort();
    memset(arena, 0, ARENA);
    machine->arena = arena;
    machine->base = (uint64_t)(uintptr_t)arena;
    machine->fixed = fixed;
    return machine;
}

void machine_free(struct machine *machine)
{
    if (machine->fixed)
        munmap(machine->arena, ARENA);
    else
        free(machine->arena);
    free(machine);
}

static bool inside(const struct machine *machine, uint64_t address, uint64_t size)
{
    return address >= machine->base && size <= ARENA && address - machine->base <= ARENA - size;
}

static bool readable(void *context, uint64_t address, uint64_t size)
{
    return inside(context, address, size);
}

static bool writable(void *context, uint64_t address, uint64_t size)
{
    const struct machine *machine = context;
    return inside(machine, address, size) && address - machine->base >= machine->read_only;
}

static uint64_t descriptor_of(void *context, uint64_t entry)
{
    const struct machine *machine = context;
    uint64_t code = machine->base + CODE;

    if (entry < code || entry >= code + KERNELS * 256 || (entry - code) % 256)
        return 0;
    return machine->base + DESCRIPTORS + (entry - code) / 256 * 64;
}

static void *at(struct machine *machine, uint64_t address, uint64_t size)
{
    if (!inside(machine, address, size) || address & 3) {
        machine->faults++;
        return NULL;
    }
    return (void *)(uintptr_t)address;
}

static uint64_t product(const uint32_t *three)
{
    return (uint64_t)three[0] * three[1] * three[2];
}

/* Copies a kernarg block of that size; all zero (and a fault) when it is not all in memory. */
static void read_kernarg(struct machine *machine, const struct sg_pm4_dispatch *dispatch, void *args,
                         size_t size)
{
    const void *from = at(machine, dispatch->kernarg, size);

    memset(args, 0, size);
    if (from)
        memcpy(args, from, size);
}

/* Every kernel also counts its work-items and mixes its shape in, so that none goes unseen. */
static void count_items(struct machine *machine, uint64_t address, const struct sg_pm4_dispatch *dispatch)
{
    uint64_t *counter = at(machine, address, 8);

    if (!counter || (uint64_t)(uintptr_t)counter & 7)
        return;
    for (unsigned axis = 0; axis < 3; axis++)
        *counter = *counter * 1000003 + dispatch->groups[axis] * UINT64_C(4099) + dispatch->workgroup[axis];
    *counter = *counter * 31 + product(dispatch->groups) * product(dispatch->workgroup);
}

/* out[i] += a[i] * b[i] + 1 */
static void accumulate(struct machine *machine, const struct sg_pm4_dispatch *dispatch)
{
    struct {
        uint64_t out, a, b, counter;
        uint32_t n, pad;
    } args;
    read_kernarg(machine, dispatch, &args, sizeof(args));
    uint64_t n = (uint64_t)dispatch->groups[0] * dispatch->workgroup[0];
    n = n < args.n ? n : args.n;
    uint32_t *out = at(machine, args.out, 4 * n), *a = at(machine, args.a, 4 * n),
             *b = at(machine, args.b, 4 * n);

    for (uint64_t i = 0; out && a && b && i < n; i++)
        out[i] += a[i] * b[i] + 1;
    count_items(machine, args.counter, dispatch);
}

/* Each work-group turns its part of data round, through LDS. */
static void reverse(struct machine *machine, const struct sg_pm4_dispatch *dispatch)
{
    struct {
        uint64_t data, counter;
        uint32_t n, pad;
    } args;
    read_kernarg(machine, dispatch, &args, sizeof(args));
    uint32_t size = dispatch->workgroup[0], *data = at(machine, args.data, 4 * (uint64_t)args.n);
    uint32_t lds[1024];

    if (4 * size > dispatch->lds_bytes)
        machine->faults++;
    for (uint64_t group = 0; data && group < dispatch->groups[0] && (group + 1) * size <= args.n; group++) {
        memcpy(lds, data + group * size, 4 * size);
        for (uint32_t i = 0; i < size; i++)
            data[group * size + i] = lds[size - 1 - i] + 1;
    }
    count_items(machine, args.counter, dispatch);
}

/* out[z][y][x] = 2 * out[z][y][x] + 1 in a cube of 4 */
static void count(struct machine *machine, const struct sg_pm4_dispatch *dispatch)
{
    struct {
        uint64_t out, counter;
    } args;
    read_kernarg(machine, dispatch, &args, sizeof(args));
    uint32_t *out = at(machine, args.out, 256);
    uint64_t end[3];

    for (unsigned axis = 0; axis < 3; axis++) {
        end[axis] = (uint64_t)dispatch->groups[axis] * dispatch->workgroup[axis];
        end[axis] = end[axis] < 4 ? end[axis] : 4;
    }
    for (uint64_t z = 0; out && z < end[2]; z++)
        for (uint64_t y = 0; y < end[1]; y++)
            for (uint64_t x = 0; x < end[0]; x++)
                out[z * 16 + y * 4 + x] = 2 * out[z * 16 + y * 4 + x] + 1;
    count_items(machine, args.counter, dispatch);
}

static void run_one(struct machine *machine, const struct sg_pm4_dispatch *dispatch)
{
    switch ((dispatch->entry - machine->base - CODE) / 256) {
    case ACCUMULATE: accumulate(machine, dispatch); break;
    case REVERSE: reverse(machine, dispatch); break;
    case COUNT: count(machine, dispatch); break;
    }
}

void machine_run_waves(struct machine *machine)
{
    while (machine->pending_count)
        run_one(machine, &machine->pending[--machine->pending_count]);
    machine->asked = 0;
}

static int dispatch(void *context, const struct sg_pm4_dispatch *started, char *error, size_t error_size)
{
    struct machine *machine = context;

    if (machine->refuse) {
        snprintf(error, error_size, "%s", machine->refuse);
        return -1;
    }
    if (machine->pending_count == PENDING)
        machine_run_waves(machine);
    machine->pending[machine->pending_count++] = machine->last = *started;
    machine->dispatched++;
    return 0;
}

static bool waves_done(void *context)
{
    struct machine *machine = context;

    if (machine->pending_count) {
        if (machine->asked++ < machine->delay)
            return false;
        machine_run_waves(machine);
    }
    return true;
}

static uint64_t gpu_clock(void *context)
{
    struct machine *machine = context;
    return machine->clock += 100;
}

static void interrupt(void *context, uint32_t value)
{
    struct machine *machine = context;
    machine->interrupt = machine->interrupt * 31 + value;
    machine->interrupts++;
}

static void warn(void *context, const char *sentence)
{
    struct machine *machine = context;
    size_t used = strlen(machine->text);

    snprintf(machine->text + used, TEXT - used, "%s\n", sentence);
    machine->warnings++;
}

struct sg_pm4_queue *machine_queue(struct machine *machine, const char *gfx)
{
    struct sg_pm4_host host = { machine,    readable,  writable,  descriptor_of, dispatch,
                                waves_done, gpu_clock, interrupt, warn };
    return sg_pm4_queue_new(gfx, &host);
}

/* Steps until the buffer is done, has failed, or has blocked `patience` times. */
int machine_steps(struct sg_pm4_queue *queue, unsigned patience)
{
    int status;

    do
        status = sg_pm4_step(queue);
    while (status == SG_PM4_BLOCKED && patience--);
    return status;
}

static void reset(struct machine *machine, const uint8_t *image)
{
    memcpy(machine->arena, image, ARENA);
    machine->pending_count = machine->dispatched = machine->faults = machine->interrupts = machine->warnings =
        0;
    machine->asked = 0;
    machine->interrupt = 0;
    machine->clock = 0;
    machine->text[0] = '\0';
}

enum outcome { SAME, DIFFERS, WARNED, FAILED, HANGS };

static enum outcome judge(struct machine *machine, const char *gfx, uint32_t buffer, uint32_t dwords,
                          uint8_t *expected, unsigned faults, unsigned interrupts, uint32_t value)
{
    struct sg_pm4_queue *queue = machine_queue(machine, gfx);
    int status = sg_pm4_start(queue, machine->base + buffer, dwords);
    enum outcome outcome;
    char left[4096];

    status = status ? (int)SG_PM4_FAILED : machine_steps(queue, 64);
    machine_run_waves(machine);
    if (status == SG_PM4_FAILED)
        outcome = FAILED;
    else if (machine->warnings || sg_pm4_left_behind(queue, left, sizeof(left)))
        outcome = WARNED;
    else if (status == SG_PM4_BLOCKED)
        outcome = HANGS;
    else
        outcome = memcmp(machine->arena, expected, ARENA) || machine->faults != faults ||
                          machine->interrupts != interrupts || machine->interrupt != value
                      ? DIFFERS
                      : SAME;
    sg_pm4_queue_free(queue);
    return outcome;
}

/*
 * Runs the buffer (byte offset in the memory of the machine as it is now) once as it is and then with each bit of each of
 * the `count` words at `mutated` (a byte offset too) flipped. Returns the outcome of the buffer itself.
 */
int machine_mutate(struct machine *machine, const char *gfx, uint32_t buffer, uint32_t dwords,
                   uint32_t mutated, uint32_t count, uint8_t *outcomes)
{
    uint8_t *image = malloc(ARENA), *expected = malloc(ARENA);

    memcpy(image, machine->arena, ARENA);
    memcpy(expected, image, ARENA);
    reset(machine, image);
    judge(machine, gfx, buffer, dwords, expected, 0, 0, 0);
    memcpy(expected, machine->arena, ARENA);
    unsigned interrupts = machine->interrupts;
    uint32_t value = machine->interrupt;
    reset(machine, image);
    int good = judge(machine, gfx, buffer, dwords, expected, 0, interrupts, value);
    for (uint32_t i = 0; i < 32 * count; i++) {
        reset(machine, image);
        uint32_t *word = (uint32_t *)(machine->arena + mutated) + i / 32;
        uint32_t *same = (uint32_t *)(expected + mutated) + i / 32;
        *word ^= UINT32_C(1) << i % 32;
        *same ^= UINT32_C(1) << i % 32;
        outcomes[i] = (uint8_t)judge(machine, gfx, buffer, dwords, expected, 0, interrupts, value);
        *same ^= UINT32_C(1) << i % 32;
    }
    reset(machine, image);
    free(image);
    free(expected);
    return good;
}

static const struct sg_field *field_of_bit(const struct sg_register *reg, unsigned bit)
{
    for (unsigned i = 0; reg && i < reg->field_count; i++)
        if (bit >= reg->fields[i].low && bit <= reg->fields[i].high)
            return &reg->fields[i];
    return NULL;
}

static void say(char *text, size_t size, const char *packet, const char *reg, const struct sg_field *field)
{
    snprintf(text, size, "%s %s%s%s|%s", packet, reg, *reg ? "." : "", field ? field->name : "reserved",
             field && field->kind == SG_FREE && field->note ? field->note : "");
}

/* What bit `bit` of word `dword` of a buffer is, and after a '|' the table's reason why it cannot change a result. */
void machine_name_bit(const char *gfx, const uint32_t *words, uint32_t dwords, uint32_t dword, unsigned bit,
                      char *text, size_t size)
{
    const struct sg_target *target = sg_target_find(gfx);

    for (uint32_t i = 0; i < dwords; i += 1 + sg_header_body(words[i])) {
        const struct sg_packet *packet = sg_packet_find(target, words[i]);
        if (!packet || dword > i + sg_header_body(words[i]))
            continue;
        snprintf(text, size, "%s data|", packet->name);
        if (dword == i) {
            snprintf(text, size, "%s header|%s", packet->name,
                     bit == 1 ? "the shader type: a compute queue takes both, drivers write both" : "");
        } else if (packet->opcode == SG_OP_NOP) {
            snprintf(text, size, "NOP body|the body of a NOP is skipped");
        } else if (!strcmp(packet->name, "SET_SH_REG") && dword > i + 1) {
            const struct sg_register *reg = sg_register_find(target, (words[i + 1] & 0xFFFF) + dword - i - 2);
            say(text, size, packet->name, reg ? reg->name : "?", field_of_bit(reg, bit));
        } else {
            for (unsigned k = 0; k < packet->field_count; k++) {
                const struct sg_packet_field *entry = &packet->fields[k];
                if (entry->dword != dword - i - 1 || bit < entry->field.low || bit > entry->field.high)
                    continue;
                if (strcmp(entry->field.name, "dispatch_initiator"))
                    say(text, size, packet->name, "", &entry->field);
                else
                    say(text, size, packet->name, "initiator",
                        field_of_bit(sg_register_find(target, 0x200), bit));
            }
        }
        return;
    }
}
