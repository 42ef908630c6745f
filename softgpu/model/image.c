/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include "image.h"

#include <elf.h>
#include <link.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

struct query {
    const char *name;
    struct sg_image *image;
    bool found;
};

static int visit(struct dl_phdr_info *info, size_t size, void *argument)
{
    struct query *query = argument;
    const char *slash = info->dlpi_name ? strrchr(info->dlpi_name, '/') : NULL;
    const char *file = slash ? slash + 1 : info->dlpi_name;

    (void)size;
    if (!file || strncmp(file, query->name, strlen(query->name)))
        return 0;
    struct sg_image image = { .base = info->dlpi_addr, .low = UINTPTR_MAX };

    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *segment = &info->dlpi_phdr[i];
        uintptr_t start = info->dlpi_addr + segment->p_vaddr, end = start + segment->p_memsz;

        if (segment->p_type == PT_DYNAMIC)
            image.dynamic = (const void *)start;
        if (segment->p_type == PT_GNU_EH_FRAME)
            image.unwind = (const uint8_t *)start;
        if (segment->p_type != PT_LOAD)
            continue;
        if (start < image.low)
            image.low = start;
        if (segment->p_flags & PF_X) {
            image.text = start;
            image.text_end = end;
        }
        if (segment->p_flags & PF_W) {
            image.data = start;
            image.data_end = end;
        }
    }
    *query->image = image;
    query->found = image.dynamic != NULL;
    return query->found;
}

bool sg_image_find(const char *name, struct sg_image *image)
{
    struct query query = { name, image, false };

    dl_iterate_phdr(visit, &query);
    return query.found;
}

/* Writes bytes into pages that have `protection` before and after. */
static bool store(void *to, const void *bytes, size_t count, int protection)
{
    uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE), start = (uintptr_t)to & ~(page - 1);
    size_t length = ((uintptr_t)to + count - start + page - 1) & ~(page - 1);

    if (mprotect((void *)start, length, protection | PROT_READ | PROT_WRITE))
        return false;
    memcpy(to, bytes, count);
    mprotect((void *)start, length, protection);
    return true;
}

void *sg_image_replace_import(const struct sg_image *image, const char *symbol, void *function)
{
    const ElfW(Sym) *symbols = NULL;
    const char *strings = NULL;
    struct {
        const ElfW(Rela) * first;
        size_t bytes;
    } tables[2] = { { NULL, 0 }, { NULL, 0 } };
    void *old = NULL;

    for (const ElfW(Dyn) *entry = image->dynamic; entry->d_tag != DT_NULL; entry++) {
        switch (entry->d_tag) {
        case DT_SYMTAB: symbols = (const void *)entry->d_un.d_ptr; break;
        case DT_STRTAB: strings = (const void *)entry->d_un.d_ptr; break;
        case DT_JMPREL: tables[0].first = (const void *)entry->d_un.d_ptr; break;
        case DT_PLTRELSZ: tables[0].bytes = entry->d_un.d_val; break;
        case DT_RELA: tables[1].first = (const void *)entry->d_un.d_ptr; break;
        case DT_RELASZ: tables[1].bytes = entry->d_un.d_val; break;
        }
    }
    if (!symbols || !strings)
        return NULL;
    for (int t = 0; t < 2; t++) {
        const ElfW(Rela) *end = tables[t].first + tables[t].bytes / sizeof(ElfW(Rela));

        for (const ElfW(Rela) *r = tables[t].first; r && r < end; r++) {
            unsigned type = ELF64_R_TYPE(r->r_info);
            void **slot = (void **)(image->base + r->r_offset);

            if ((type != R_X86_64_JUMP_SLOT && type != R_X86_64_GLOB_DAT) ||
                strcmp(strings + symbols[ELF64_R_SYM(r->r_info)].st_name, symbol) || *slot == function)
                continue;
            void *before = *slot;

            if (store(slot, &function, sizeof function, PROT_READ) && !old)
                old = before;
        }
    }
    return old;
}

uintptr_t sg_image_function(const struct sg_image *image, uintptr_t pc)
{
    /* Header of the binary search table (LSB, "Exception Frames"): version 1, and the encodings that every
     * linker writes: count as udata4, entries as pairs of sdata4 relative to the header. */
    enum { VERSION = 1, COUNT_UDATA4 = 0x03, TABLE_DATAREL_SDATA4 = 0x3b, TABLE_AT = 12 };
    const uint8_t *header = image->unwind;
    uint32_t count;
    uintptr_t best = 0;

    if (!header || header[0] != VERSION || header[2] != COUNT_UDATA4 || header[3] != TABLE_DATAREL_SDATA4)
        return 0;
    memcpy(&count, header + 8, sizeof count);
    for (uint32_t i = 0; i < count; i++) {
        int32_t offset;

        memcpy(&offset, header + TABLE_AT + 8 * (size_t)i, sizeof offset);
        uintptr_t start = (uintptr_t)header + (uintptr_t)(intptr_t)offset;

        if (start > pc)
            break;
        best = start;
    }
    return best;
}

/* A jump to `to` that a 32-bit displacement from the library's code can reach. */
static uint8_t *place_jump(const struct sg_image *image, void *to)
{
    enum { STEP = 1 << 16, STEPS = 1 << 13 };
    uint8_t jump[14] = { 0xff, 0x25, 0, 0, 0, 0 };
    size_t page = (size_t)sysconf(_SC_PAGESIZE);

    memcpy(jump + 6, &to, sizeof to);
    for (uintptr_t i = 1; i < STEPS && i * STEP < image->low; i++) {
        uint8_t *at = mmap((void *)((image->low - i * STEP) & ~(uintptr_t)(page - 1)), page,
                           PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);

        if (at == MAP_FAILED)
            continue;
        memcpy(at, jump, sizeof jump);
        mprotect(at, page, PROT_READ | PROT_EXEC);
        return at;
    }
    return NULL;
}

int sg_image_redirect(const struct sg_image *image, uintptr_t from, void *to)
{
    enum { CALL = 0xe8, JUMP = 0xe9 };
    uint8_t *near = place_jump(image, to);
    int count = 0;

    for (uintptr_t at = image->text; near && at + 5 <= image->text_end; at++) {
        int32_t displacement;

        if (*(const uint8_t *)at != CALL && *(const uint8_t *)at != JUMP)
            continue;
        memcpy(&displacement, (const void *)(at + 1), sizeof displacement);
        if (at + 5 + (uintptr_t)(intptr_t)displacement != from)
            continue;
        displacement = (int32_t)((uintptr_t)near - (at + 5));
        count += store((void *)(at + 1), &displacement, sizeof displacement, PROT_READ | PROT_EXEC);
    }
    return count;
}
