/* SPDX-License-Identifier: Apache-2.0 */
/* See segment.h. */
#include "kernels/segment.h"

#include <elf.h>

#include "base/memory.h"
#include "kernels/metadata.h"

enum { LOADER_EXTENSION = 0x201, LOADER_VERSION = 1, STORAGE_IS_MEMORY = 2, MOST_TRIES = 4 };

/* hsa_ven_amd_loader_segment_descriptor_t: all segments of a code object in one piece. */
struct loaded {
    hsa_agent_t agent;
    hsa_executable_t executable;
    int storage_type;
    const void *storage;
    size_t storage_bytes, storage_offset;
    uint64_t base;
    size_t bytes;
};

/* The beginning of hsa_ven_amd_loader_1_00_pfn_t. */
struct loader {
    void (*host_address)(void);
    hsa_status_t (*loaded)(struct loaded *loaded, size_t *count);
};

/* All of them; NULL: none, no memory, or other threads load code all the time. */
static struct loaded *list(const struct loader *loader, size_t *count)
{
    for (int tries = 0; tries < MOST_TRIES; tries++) {
        struct loaded *loaded;

        *count = 0;
        if (loader->loaded(NULL, count) != HSA_STATUS_SUCCESS || !*count)
            return NULL;
        loaded = rl_allocate(*count, sizeof(*loaded));
        if (!loaded || loader->loaded(loaded, count) == HSA_STATUS_SUCCESS)
            return loaded;
        rl_release(loaded); /* their number has changed */
    }
    return NULL;
}

static bool find(const struct rl_hsa_table *hsa, uint64_t address, struct loaded *found)
{
    struct loader loader = { 0 };
    struct loaded *all;
    size_t count = 0, i = 0;

    if (!hsa->hsa_system_get_major_extension_table ||
        hsa->hsa_system_get_major_extension_table(LOADER_EXTENSION, LOADER_VERSION, sizeof(loader),
                                                  &loader) != HSA_STATUS_SUCCESS ||
        !loader.loaded)
        return false;
    all = list(&loader, &count);
    while (all && i < count && address - all[i].base >= all[i].bytes)
        i++;
    if (all && i < count)
        *found = all[i];
    rl_release(all);
    return all && i < count;
}

static bool read_at(const struct rl_image *image, uint64_t offset, void *to, size_t bytes)
{
    return offset <= image->size && bytes <= image->size - offset && image->read(image, offset, to, bytes);
}

static bool read_header(const struct rl_image *image, Elf64_Ehdr *header)
{
    return read_at(image, 0, header, sizeof(*header)) && header->e_ident[EI_CLASS] == ELFCLASS64 &&
           header->e_phentsize == sizeof(Elf64_Phdr);
}

bool rl_segments_visit(const struct rl_hsa_table *hsa, uint64_t address,
                       bool (*visit)(uint64_t base, size_t bytes, void *context), void *context)
{
    struct rl_image image = { .read = rl_image_read_carefully };
    struct loaded loaded = { 0 };
    Elf64_Ehdr header;
    Elf64_Phdr segment;
    uint64_t first = UINT64_MAX;

    if (!find(hsa, address, &loaded) || loaded.storage_type != STORAGE_IS_MEMORY)
        return false;
    image.memory = loaded.storage;
    image.size = loaded.storage_bytes;
    if (!read_header(&image, &header))
        return false;
    for (unsigned i = 0; i < header.e_phnum; i++) {
        uint64_t offset;

        if (!read_at(&image, header.e_phoff + i * sizeof(segment), &segment, sizeof(segment)))
            return false;
        if (segment.p_type != PT_LOAD)
            continue;
        if (first == UINT64_MAX)
            first = segment.p_vaddr;
        offset = segment.p_vaddr - first;
        if (offset > loaded.bytes || segment.p_memsz > loaded.bytes - offset)
            return false;
        if (segment.p_flags & PF_W && segment.p_memsz &&
            !visit(loaded.base + offset, segment.p_memsz, context))
            return false;
    }
    return true;
}
