/* SPDX-License-Identifier: Apache-2.0 */
/* See executable.h. */
#include "kernels/executable.h"

#include <string.h>

#include "base/memory.h"

enum { LOADER_EXTENSION = 0x201, LOADER_VERSION = 1, MOST_NAME_BYTES = 1 << 16, KERNEL_SYMBOL = 1 };

/* hsa_ven_amd_loader.h */
enum { PART_AGENT = 3, PART_DELTA = 8, PART_BASE = 9, PART_SIZE = 10 };

bool rl_loader_find(const struct rl_hsa_table *hsa, struct rl_loader *loader)
{
    memset(loader, 0, sizeof(*loader));
    return hsa->hsa_system_get_major_extension_table && hsa->hsa_executable_iterate_agent_symbols &&
           hsa->hsa_executable_symbol_get_info &&
           hsa->hsa_system_get_major_extension_table(LOADER_EXTENSION, LOADER_VERSION, sizeof(*loader),
                                                     loader) == HSA_STATUS_SUCCESS &&
           loader->host_address && loader->code_objects && loader->code_object_info;
}

/* ---- where it is ---- */

struct location {
    const struct rl_loader *loader;
    struct rl_executable *executable;
    bool failed;
};

static hsa_status_t visit_part(hsa_executable_t handle, uint64_t code_object, void *context)
{
    struct location *location = context;
    struct rl_executable *executable = location->executable;
    struct rl_code_part part = { .code_object = code_object },
                        *larger = rl_allocate(executable->part_count + 1, sizeof(*larger));

    (void)handle;
    if (!larger || location->loader->code_object_info(code_object, PART_AGENT, &part.agent) ||
        location->loader->code_object_info(code_object, PART_DELTA, &part.delta) ||
        location->loader->code_object_info(code_object, PART_BASE, &part.base) ||
        location->loader->code_object_info(code_object, PART_SIZE, &part.size)) {
        location->failed = true;
        rl_release(larger);
        return HSA_STATUS_SUCCESS;
    }
    if (executable->part_count)
        memcpy(larger, executable->parts, executable->part_count * sizeof(*larger));
    larger[executable->part_count++] = part;
    rl_release(executable->parts);
    executable->parts = larger;
    return HSA_STATUS_SUCCESS;
}

bool rl_executable_locate(const struct rl_loader *loader, struct rl_executable *executable)
{
    struct location location = { loader, executable, false };

    if (executable->located)
        return true;
    executable->part_count = 0;
    executable->located = loader->code_objects((hsa_executable_t){ executable->handle }, visit_part,
                                               &location) == HSA_STATUS_SUCCESS &&
                          !location.failed;
    return executable->located;
}

bool rl_executable_has(const struct rl_executable *executable, uint64_t object)
{
    for (size_t i = 0; i < executable->part_count; i++)
        if (object - executable->parts[i].base < executable->parts[i].size)
            return true;
    return false;
}

/* ---- kernels ---- */

/* A kernel's symbol is its name and ".kd". */
static size_t name_length(const char *symbol, size_t length)
{
    static const char suffix[] = ".kd";
    size_t tail = sizeof(suffix) - 1;

    return length > tail && !memcmp(symbol + length - tail, suffix, tail) ? length - tail : length;
}

struct listing {
    const struct rl_hsa_table *hsa;
    struct rl_executable *executable;
    bool failed;
};

static bool grow(struct rl_executable *executable)
{
    size_t room = executable->kernel_room ? 2 * executable->kernel_room : 32;
    struct rl_kernel_entry *larger = rl_allocate(room, sizeof(*larger));

    if (!larger)
        return false;
    if (executable->kernel_count)
        memcpy(larger, executable->kernels, executable->kernel_count * sizeof(*larger));
    rl_release(executable->kernels);
    executable->kernels = larger;
    executable->kernel_room = room;
    return true;
}

static bool add_kernel(struct rl_executable *executable, uint64_t object, uint64_t agent, const char *symbol,
                       size_t length)
{
    if (executable->kernel_count == executable->kernel_room && !grow(executable))
        return false;
    length = name_length(symbol, length);
    executable->kernels[executable->kernel_count++] =
        (struct rl_kernel_entry){ .object = object,
                                  .agent = agent,
                                  .name = rl_name_hash(symbol, length),
                                  .builtin = rl_builtin_of(symbol, length),
                                  .executable = executable };
    return true;
}

static hsa_status_t visit_symbol(hsa_executable_t executable, hsa_agent_t agent,
                                 hsa_executable_symbol_t symbol, void *context)
{
    struct listing *listing = context;
    rl_hsa_executable_symbol_get_info_fn *info = listing->hsa->hsa_executable_symbol_get_info;
    uint32_t type = 0, length = 0;
    uint64_t object = 0;
    char small[512], *name = small;

    (void)executable;
    if (info(symbol, HSA_EXECUTABLE_SYMBOL_INFO_TYPE, &type) || type != KERNEL_SYMBOL ||
        info(symbol, HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_OBJECT, &object) || !object ||
        info(symbol, HSA_EXECUTABLE_SYMBOL_INFO_NAME_LENGTH, &length) || length > MOST_NAME_BYTES)
        return HSA_STATUS_SUCCESS;
    if (length > sizeof(small))
        name = rl_allocate(1, length);
    if (!name || info(symbol, HSA_EXECUTABLE_SYMBOL_INFO_NAME, name) ||
        !add_kernel(listing->executable, object, agent.handle, name, length))
        listing->failed = true;
    if (name != small)
        rl_release(name);
    return HSA_STATUS_SUCCESS;
}

static bool agent_is_new(const struct rl_executable *executable, size_t part)
{
    for (size_t i = 0; i < part; i++)
        if (executable->parts[i].agent == executable->parts[part].agent)
            return false;
    return true;
}

bool rl_executable_list(const struct rl_hsa_table *hsa, struct rl_executable *executable)
{
    struct listing listing = { hsa, executable, false };

    if (executable->listed || !executable->located)
        return executable->listed;
    executable->kernel_count = 0;
    for (size_t i = 0; i < executable->part_count; i++)
        if (agent_is_new(executable, i) &&
            hsa->hsa_executable_iterate_agent_symbols((hsa_executable_t){ executable->handle },
                                                      (hsa_agent_t){ executable->parts[i].agent },
                                                      visit_symbol, &listing) != HSA_STATUS_SUCCESS)
            listing.failed = true;
    executable->listed = !listing.failed;
    return executable->listed;
}

/* ---- arguments ---- */

/* Positions of the kernels, by name: open addressing, 0: free. */
struct reading {
    struct rl_executable *executable;
    uint64_t agent;
    uint32_t *index;
    size_t mask;
    bool failed;
};

static size_t slot_of(const struct reading *reading, uint64_t name)
{
    return (size_t)(name * UINT64_C(0x9e3779b97f4a7c15) >> 20) & reading->mask;
}

static bool make_index(struct reading *reading)
{
    const struct rl_executable *executable = reading->executable;
    size_t room = 16;

    while (room < 2 * executable->kernel_count)
        room *= 2;
    reading->index = rl_allocate(room, sizeof(*reading->index));
    reading->mask = room - 1;
    for (size_t i = 0; reading->index && i < executable->kernel_count; i++) {
        size_t at = slot_of(reading, executable->kernels[i].name);

        while (reading->index[at])
            at = (at + 1) & reading->mask;
        reading->index[at] = (uint32_t)i + 1;
    }
    return reading->index;
}

static struct rl_kernel_entry *kernel_named(const struct reading *reading, uint64_t name)
{
    for (size_t at = slot_of(reading, name); reading->index[at]; at = (at + 1) & reading->mask) {
        struct rl_kernel_entry *kernel = &reading->executable->kernels[reading->index[at] - 1];

        if (kernel->name == name && kernel->agent == reading->agent)
            return kernel;
    }
    return NULL;
}

static void visit_layout(const char *symbol, size_t length, const struct rl_layout *layout, void *context)
{
    struct reading *reading = context;
    uint64_t name = rl_name_hash(symbol, name_length(symbol, length));
    struct rl_kernel_entry *kernel = kernel_named(reading, name);

    if (!kernel || kernel->layout)
        return;
    kernel->layout = rl_allocate(1, rl_layout_bytes(layout));
    if (kernel->layout)
        memcpy(kernel->layout, layout, rl_layout_bytes(layout));
    else
        reading->failed = true;
}

/* The first of the loaded segments holds the ELF header and the notes. The loader's copy of them is looked at,
 * and not the file's bytes: whoever loaded them may have used that memory for something else since. */
static void read_part(const struct rl_loader *loader, const struct rl_code_part *part,
                      struct reading *reading)
{
    struct rl_image image = { .read = rl_image_read_carefully,
                              .size = part->size,
                              .loaded = true,
                              .first = part->base - (uint64_t)part->delta };

    reading->agent = part->agent;
    if (loader->host_address((const void *)part->base, &image.memory) == HSA_STATUS_SUCCESS && image.memory)
        rl_metadata_read(&image, visit_layout, reading);
}

bool rl_executable_read(const struct rl_loader *loader, struct rl_executable *executable)
{
    struct reading reading = { .executable = executable };

    if (executable->read || !executable->listed)
        return executable->read;
    if (!make_index(&reading))
        return false;
    for (size_t i = 0; i < executable->part_count; i++)
        read_part(loader, &executable->parts[i], &reading);
    rl_release(reading.index);
    executable->read = !reading.failed;
    return executable->read;
}

void rl_executable_free(struct rl_executable *executable)
{
    for (size_t i = 0; i < executable->kernel_count; i++)
        rl_release(executable->kernels[i].layout);
    rl_release(executable->kernels);
    rl_release(executable->parts);
    rl_release(executable);
}
