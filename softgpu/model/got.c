#define _GNU_SOURCE
#include "got.h"

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
    struct sg_image image = {.base = info->dlpi_addr, .low = UINTPTR_MAX};

    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *segment = &info->dlpi_phdr[i];
        uintptr_t start = info->dlpi_addr + segment->p_vaddr;

        if (segment->p_type == PT_DYNAMIC)
            image.dynamic = (const void *)start;
        if (segment->p_type != PT_LOAD)
            continue;
        if (start < image.low)
            image.low = start;
        if (start + segment->p_memsz > image.high)
            image.high = start + segment->p_memsz;
        if (segment->p_flags & PF_W) {
            image.data = start;
            image.data_end = start + segment->p_memsz;
        }
    }
    *query->image = image;
    query->found = image.dynamic != NULL;
    return query->found;
}

bool sg_image_find(const char *name, struct sg_image *image)
{
    struct query query = {name, image, false};

    dl_iterate_phdr(visit, &query);
    return query.found;
}

static bool store(void **slot, void *value)
{
    uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE), start = (uintptr_t)slot & ~(page - 1);

    if (mprotect((void *)start, page, PROT_READ | PROT_WRITE))
        return false;
    *slot = value;
    mprotect((void *)start, page, PROT_READ);
    return true;
}

void *sg_got_replace(const struct sg_image *image, const char *symbol, void *function)
{
    const ElfW(Sym) *symbols = NULL;
    const char *strings = NULL;
    struct { const ElfW(Rela) *first; size_t bytes; } tables[2] = {{NULL, 0}, {NULL, 0}};
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

            if (store(slot, function) && !old)
                old = before;
        }
    }
    return old;
}
