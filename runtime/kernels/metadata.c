/* SPDX-License-Identifier: Apache-2.0 */
/* See metadata.h. */
#define _GNU_SOURCE
#include "kernels/metadata.h"

#include <elf.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

#include "base/memory.h"

enum { NOTE_METADATA = 32, MOST_LEVELS = 16, MOST_NOTE_BYTES = 256 << 20 };

/* ---- MessagePack ---- */

struct input {
    const unsigned char *at, *end;
    bool bad;
};

enum type { NIL, BOOLEAN, NUMBER, OTHER, STRING, ARRAY, MAP };

struct item {
    enum type type;
    uint64_t number; /* value, length in bytes, or count of elements */
    const char *text;
};

static uint64_t big_endian(struct input *input, unsigned bytes)
{
    uint64_t value = 0;

    if ((size_t)(input->end - input->at) < bytes) {
        input->bad = true;
        input->at = input->end;
        return 0;
    }
    while (bytes--)
        value = value << 8 | *input->at++;
    return value;
}

static void skip_bytes(struct input *input, uint64_t bytes)
{
    if (bytes > (uint64_t)(input->end - input->at)) {
        input->bad = true;
        input->at = input->end;
    } else {
        input->at += bytes;
    }
}

/* The head of the next item; a string is passed over whole, an array's or a map's elements follow. */
static struct item next(struct input *input)
{
    struct item item = { .type = OTHER };
    unsigned byte = (unsigned)big_endian(input, 1);

    if (input->bad)
        return item;
    if (byte < 0x80 || byte >= 0xe0)
        item = (struct item){ .type = NUMBER, .number = byte < 0x80 ? byte : byte - UINT64_C(0x100) };
    else if (byte < 0x90)
        item = (struct item){ .type = MAP, .number = byte & 0xf };
    else if (byte < 0xa0)
        item = (struct item){ .type = ARRAY, .number = byte & 0xf };
    else if (byte < 0xc0)
        item = (struct item){ .type = STRING, .number = byte & 0x1f };
    else if (byte == 0xc0)
        item.type = NIL;
    else if (byte == 0xc2 || byte == 0xc3)
        item = (struct item){ .type = BOOLEAN, .number = byte & 1 };
    else if (byte >= 0xc4 && byte <= 0xc6) /* bytes */
        skip_bytes(input, big_endian(input, 1u << (byte - 0xc4)));
    else if (byte == 0xca || byte == 0xcb) /* float, double */
        skip_bytes(input, byte == 0xca ? 4 : 8);
    else if (byte >= 0xcc && byte <= 0xcf)
        item = (struct item){ .type = NUMBER, .number = big_endian(input, 1u << (byte - 0xcc)) };
    else if (byte >= 0xd0 && byte <= 0xd3)
        item = (struct item){ .type = NUMBER, .number = big_endian(input, 1u << (byte - 0xd0)) };
    else if (byte >= 0xd9 && byte <= 0xdb)
        item = (struct item){ .type = STRING, .number = big_endian(input, 1u << (byte - 0xd9)) };
    else if (byte == 0xdc || byte == 0xdd)
        item = (struct item){ .type = ARRAY, .number = big_endian(input, byte == 0xdc ? 2 : 4) };
    else if (byte == 0xde || byte == 0xdf)
        item = (struct item){ .type = MAP, .number = big_endian(input, byte == 0xde ? 2 : 4) };
    else
        input->bad = true;
    if (item.type == STRING) {
        item.text = (const char *)input->at;
        skip_bytes(input, item.number);
    }
    return item;
}

static void skip_rest(struct input *input, const struct item *item, unsigned level)
{
    uint64_t elements = item->type == ARRAY ? item->number : item->type == MAP ? 2 * item->number : 0;

    if (level == MOST_LEVELS)
        input->bad = true;
    while (elements-- && !input->bad) {
        struct item element = next(input);

        skip_rest(input, &element, level + 1);
    }
}

static void skip(struct input *input)
{
    struct item item = next(input);

    skip_rest(input, &item, 0);
}

static bool is(const struct item *item, const char *text)
{
    return item->type == STRING && strlen(text) == item->number && !memcmp(item->text, text, item->number);
}

/* ---- kernels ---- */

static void read_argument(struct input *input, struct rl_layout *layout)
{
    static const char hidden[] = "hidden_";
    struct item map = next(input), kind = { .type = NIL };
    uint64_t offset = UINT64_MAX, size = UINT64_MAX;

    if (map.type != MAP)
        input->bad = true;
    for (uint64_t i = 0; i < map.number && !input->bad; i++) {
        struct item key = next(input), value = next(input);

        if (is(&key, ".offset") && value.type == NUMBER)
            offset = value.number;
        else if (is(&key, ".size") && value.type == NUMBER)
            size = value.number;
        else if (is(&key, ".value_kind"))
            kind = value;
        skip_rest(input, &value, 0);
    }
    if (is(&kind, "hidden_printf_buffer"))
        layout->prints = true;
    if (kind.type == STRING && kind.number >= sizeof(hidden) - 1 &&
        !memcmp(kind.text, hidden, sizeof(hidden) - 1))
        return;
    if (offset > UINT32_MAX || size > UINT32_MAX || layout->count == RL_MOST_ARGUMENTS) {
        layout->known = false;
        return;
    }
    layout->argument[layout->count].offset = (uint32_t)offset;
    layout->argument[layout->count++].size = (uint32_t)size;
}

static void read_arguments(struct input *input, struct rl_layout *layout)
{
    struct item list = next(input);

    if (list.type != ARRAY)
        input->bad = true;
    for (uint64_t i = 0; i < list.number && !input->bad; i++)
        read_argument(input, layout);
}

struct visitor {
    void (*visit)(const char *symbol, size_t length, const struct rl_layout *layout, void *context);
    void *context;
};

static void read_kernel(struct input *input, const struct visitor *visitor)
{
    struct item map = next(input), symbol = { .type = NIL };
    struct rl_layout layout = { .known = true };

    if (map.type != MAP)
        input->bad = true;
    for (uint64_t i = 0; i < map.number && !input->bad; i++) {
        struct item key = next(input);

        if (is(&key, ".args")) {
            read_arguments(input, &layout);
        } else if (is(&key, ".symbol")) {
            symbol = next(input);
            skip_rest(input, &symbol, 0);
        } else {
            skip(input);
        }
    }
    if (!input->bad && symbol.type == STRING)
        visitor->visit(symbol.text, symbol.number, &layout, visitor->context);
}

static bool read_metadata(const unsigned char *text, size_t size, const struct visitor *visitor)
{
    struct input input = { text, text + size, false };
    struct item map = next(&input);

    if (map.type != MAP)
        return false;
    for (uint64_t i = 0; i < map.number && !input.bad; i++) {
        struct item key = next(&input), list;

        if (!is(&key, "amdhsa.kernels")) {
            skip(&input);
            continue;
        }
        list = next(&input);
        if (list.type != ARRAY)
            return false;
        for (uint64_t k = 0; k < list.number && !input.bad; k++)
            read_kernel(&input, visitor);
    }
    return !input.bad;
}

/* ---- ELF ---- */

static size_t padded(size_t size)
{
    return (size + 3) & ~(size_t)3;
}

static bool read_notes(const unsigned char *notes, size_t size, const struct visitor *visitor)
{
    static const char owner[] = "AMDGPU";
    size_t at = 0;

    while (size - at >= sizeof(Elf64_Nhdr)) {
        Elf64_Nhdr head;
        size_t name = at + sizeof(head), text, next_note;

        memcpy(&head, notes + at, sizeof(head));
        text = name + padded(head.n_namesz);
        next_note = text + padded(head.n_descsz);
        if (text < name || next_note < text || text > size || head.n_descsz > size - text)
            return false;
        if (head.n_type == NOTE_METADATA && head.n_namesz == sizeof(owner) &&
            !memcmp(notes + name, owner, sizeof(owner)))
            return read_metadata(notes + text, head.n_descsz, visitor);
        if (next_note > size)
            return false;
        at = next_note;
    }
    return false;
}

static bool read_part(const struct rl_image *image, const Elf64_Phdr *part, const struct visitor *visitor)
{
    uint64_t at = image->loaded ? part->p_vaddr - image->first : part->p_offset;
    unsigned char *notes;
    bool good = false;

    if (part->p_type != PT_NOTE || part->p_filesz > MOST_NOTE_BYTES || at > image->size ||
        part->p_filesz > image->size - at)
        return false;
    notes = rl_allocate(1, part->p_filesz ? part->p_filesz : 1);
    if (notes && image->read(image, at, notes, part->p_filesz))
        good = read_notes(notes, part->p_filesz, visitor);
    rl_release(notes);
    return good;
}

bool rl_metadata_read(const struct rl_image *image,
                      void (*visit)(const char *symbol, size_t length, const struct rl_layout *layout,
                                    void *context),
                      void *context)
{
    const struct visitor visitor = { visit, context };
    Elf64_Ehdr head;

    if (image->size < sizeof(head) || !image->read(image, 0, &head, sizeof(head)) ||
        memcmp(head.e_ident, ELFMAG, SELFMAG) != 0 || head.e_ident[EI_CLASS] != ELFCLASS64 ||
        head.e_phentsize != sizeof(Elf64_Phdr) || head.e_phoff > image->size ||
        (image->size - head.e_phoff) / sizeof(Elf64_Phdr) < head.e_phnum)
        return false;
    for (unsigned i = 0; i < head.e_phnum; i++) {
        Elf64_Phdr part;

        if (!image->read(image, head.e_phoff + i * sizeof(part), &part, sizeof(part)))
            return false;
        if (read_part(image, &part, &visitor))
            return true;
    }
    return false;
}

bool rl_image_read_carefully(const struct rl_image *image, uint64_t offset, void *to, size_t bytes)
{
    struct iovec here = { to, bytes }, there = { (char *)(uintptr_t)image->memory + offset, bytes };

    return !bytes || process_vm_readv(getpid(), &here, 1, &there, 1, 0) == (ssize_t)bytes;
}
