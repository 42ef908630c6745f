/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The function that a kernel's descriptor enters, by the symbol table of its code object. A kernel is what its
 * code is: where two modules give one name to different kernels, the twin is that of the code.
 */
#define _GNU_SOURCE
#include <elf.h>
#include <string.h>

#include "hsa.h"
#include "preload.h"

enum { LOADER_EXTENSION = 0x201, LOADER_VERSION = 1 };
enum { STORAGE_TYPE = 4, STORAGE_BASE = 5, STORAGE_SIZE = 6, LOAD_DELTA = 8, STORAGE_IS_MEMORY = 2 };

/* The first part of hsa_ven_amd_loader_1_01_pfn_t. */
struct loader {
    void (*host_address)(void), (*segments)(void), (*executable)(void);
    hsa_status_t (*code_objects)(hsa_executable_t, hsa_status_t (*visit)(hsa_executable_t, uint64_t, void *),
                                 void *);
    hsa_status_t (*info)(uint64_t code_object, uint32_t attribute, void *value);
};

struct search {
    struct loader loader;
    struct sgp_kernel *kernel;
};

static void name_kernel(struct sgp_kernel *kernel, const uint8_t *image, const Elf64_Shdr *table,
                        const Elf64_Shdr *strings, int64_t delta)
{
    const Elf64_Sym *symbols = (const Elf64_Sym *)(image + table->sh_offset);

    for (size_t i = 0; i < table->sh_size / sizeof(*symbols); i++)
        if (ELF64_ST_TYPE(symbols[i].st_info) == STT_FUNC && symbols[i].st_name < strings->sh_size &&
            symbols[i].st_value + (uint64_t)delta == kernel->entry) {
            strncpy(kernel->name, (const char *)image + strings->sh_offset + symbols[i].st_name,
                    sizeof kernel->name - 1);
            return;
        }
}

static bool inside(const Elf64_Shdr *section, uint64_t size)
{
    return section->sh_offset <= size && section->sh_size <= size - section->sh_offset;
}

static void search_image(struct sgp_kernel *kernel, const uint8_t *image, uint64_t size, int64_t delta)
{
    const Elf64_Ehdr *head = (const Elf64_Ehdr *)image;
    const Elf64_Shdr *sections;

    if (size < sizeof(*head) || memcmp(head->e_ident, ELFMAG, SELFMAG) != 0 || head->e_shoff > size ||
        (size - head->e_shoff) / sizeof(*sections) < head->e_shnum)
        return;
    sections = (const Elf64_Shdr *)(image + head->e_shoff);
    for (unsigned i = 0; i < head->e_shnum; i++)
        if (sections[i].sh_type == SHT_SYMTAB && sections[i].sh_link < head->e_shnum &&
            inside(&sections[i], size) && inside(&sections[sections[i].sh_link], size))
            name_kernel(kernel, image, &sections[i], &sections[sections[i].sh_link], delta);
}

static hsa_status_t visit(hsa_executable_t executable, uint64_t code_object, void *context)
{
    struct search *search = context;
    uint64_t base = 0, size = 0;
    int64_t delta = 0;
    uint32_t type = 0;

    (void)executable;
    if (!search->loader.info(code_object, STORAGE_TYPE, &type) && type == STORAGE_IS_MEMORY &&
        !search->loader.info(code_object, STORAGE_BASE, &base) &&
        !search->loader.info(code_object, STORAGE_SIZE, &size) &&
        !search->loader.info(code_object, LOAD_DELTA, &delta))
        search_image(search->kernel, (const uint8_t *)base, size, delta);
    return HSA_STATUS_SUCCESS;
}

void sgp_name_by_code(uint64_t executable, struct sgp_kernel *kernel)
{
    typedef hsa_status_t table_fn(uint16_t, uint16_t, size_t, void *);
    struct search search = { .kernel = kernel };

    if (!SGP_NEXT(table_fn, "hsa_system_get_major_extension_table")(LOADER_EXTENSION, LOADER_VERSION,
                                                                    sizeof search.loader, &search.loader))
        search.loader.code_objects((hsa_executable_t){ executable }, visit, &search);
}
