/* SPDX-License-Identifier: Apache-2.0 */
/* See code.h. The table holds every kernel that is loaded; it is filled again when a kernel is not in it. */
#include "kernels/code.h"

#include <pthread.h>
#include <stddef.h>
#include <string.h>

#include "base/fork.h"
#include "base/memory.h"
#include "kernels/aql.h"
#include "pm4/descriptor.h"

enum { LOADER_EXTENSION = 0x201, LOADER_VERSION = 1, MOST_NAME_BYTES = 1 << 16, KERNEL_SYMBOL = 1 };
enum {
    STORAGE_TYPE = 4,
    STORAGE_BASE = 5,
    STORAGE_SIZE = 6,
    STORAGE_IS_MEMORY = 2
}; /* hsa_ven_amd_loader.h */

/* hsa_ven_amd_loader_1_03_pfn_t: a release with an older table fills the part that it has. */
struct loader {
    hsa_status_t (*host_address)(const void *device, const void **host);
    void (*segments)(void), (*executable)(void);
    hsa_status_t (*code_objects)(hsa_executable_t, hsa_status_t (*visit)(hsa_executable_t, uint64_t, void *),
                                 void *);
    hsa_status_t (*code_object_info)(uint64_t code_object, int attribute, void *value);
    void (*reader_from_file)(void);
    hsa_status_t (*executables)(hsa_status_t (*visit)(hsa_executable_t, void *), void *context);
};

struct entry {
    uint64_t object, name;
    enum rl_builtin builtin;
};

/* By name. */
struct layouts {
    uint64_t name;
    struct rl_layout *layout;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct layouts *layouts; /* open addressing, name 0: free */
static size_t layout_count, layout_room;
static struct entry *entries; /* open addressing, object 0: free */
static size_t entry_count, entry_room;
static uint64_t *scanned; /* executables whose kernels are in the tables: one that is frozen never changes */
static size_t scanned_count, scanned_room;
static uint64_t agents_seen[16];
static size_t agent_count;

struct fill {
    const struct rl_hsa_table *hsa;
    const struct loader *loader;
    bool failed;
};

uint64_t rl_code_name_hash(const char *name, unsigned long length)
{
    uint64_t hash = UINT64_C(0xcbf29ce484222325);

    for (unsigned long i = 0; i < length; i++)
        hash = (hash ^ (unsigned char)name[i]) * UINT64_C(0x100000001b3);
    return hash | 1;
}

static enum rl_builtin builtin_of(const char *name, size_t length)
{
    static const char prefix[] = "__amd_rocclr_";
    static const struct {
        const char *name;
        enum rl_builtin builtin;
    } known[] = {
        { "fillBufferAligned", RL_BUILTIN_FILL },
        { "fillBufferAligned2D", RL_BUILTIN_FILL_2D },
        { "copyBuffer", RL_BUILTIN_COPY },
    };
    size_t skip = sizeof(prefix) - 1;

    if (length <= skip || memcmp(name, prefix, skip))
        return RL_BUILTIN_NONE;
    for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
        if (strlen(known[i].name) == length - skip && !memcmp(known[i].name, name + skip, length - skip))
            return known[i].builtin;
    return RL_BUILTIN_OTHER;
}

const char *rl_builtin_name(enum rl_builtin builtin)
{
    static const char *const names[] = {
        [RL_BUILTIN_NONE] = "kernel", [RL_BUILTIN_FILL] = "fill",           [RL_BUILTIN_FILL_2D] = "2-D fill",
        [RL_BUILTIN_COPY] = "copy",   [RL_BUILTIN_OTHER] = "kernel of HIP",
    };

    return names[builtin];
}

static struct entry *place_of(uint64_t object)
{
    size_t i = (size_t)(object * UINT64_C(0x9e3779b97f4a7c15) >> 20) & (entry_room - 1);

    while (entries[i].object && entries[i].object != object)
        i = (i + 1) & (entry_room - 1);
    return &entries[i];
}

static bool grow(void)
{
    size_t room = entry_room ? entry_room * 2 : 1024, before = entry_room;
    struct entry *old = entries, *larger = rl_allocate(room, sizeof(*larger));

    if (!larger)
        return false;
    entries = larger;
    entry_room = room;
    for (size_t i = 0; i < before; i++)
        if (old[i].object)
            *place_of(old[i].object) = old[i];
    rl_release(old);
    return true;
}

/* A kernel's symbol is its name and ".kd". */
static size_t name_length(const char *symbol, size_t length)
{
    static const char suffix[] = ".kd";
    size_t tail = sizeof(suffix) - 1;

    return length > tail && !memcmp(symbol + length - tail, suffix, tail) ? length - tail : length;
}

static bool insert(uint64_t object, const char *name, size_t length)
{
    struct entry *entry;

    if (entry_count * 2 >= entry_room && !grow())
        return false;
    length = name_length(name, length);
    entry = place_of(object);
    if (!entry->object)
        entry_count++;
    *entry = (struct entry){ object, rl_code_name_hash(name, length), builtin_of(name, length) };
    return true;
}

static hsa_status_t visit_symbol(hsa_executable_t executable, hsa_agent_t agent,
                                 hsa_executable_symbol_t symbol, void *context)
{
    struct fill *fill = context;
    hsa_status_t (*info)(hsa_executable_symbol_t, hsa_executable_symbol_info_t,
                         void *) = fill->hsa->hsa_executable_symbol_get_info;
    uint32_t type = 0, length = 0;
    uint64_t object = 0;
    char small[512], *name = small;

    (void)executable;
    (void)agent;
    if (info(symbol, HSA_EXECUTABLE_SYMBOL_INFO_TYPE, &type) || type != KERNEL_SYMBOL ||
        info(symbol, HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_OBJECT, &object) || !object ||
        info(symbol, HSA_EXECUTABLE_SYMBOL_INFO_NAME_LENGTH, &length) || length > MOST_NAME_BYTES)
        return HSA_STATUS_SUCCESS;
    if (length > sizeof(small))
        name = rl_allocate(1, length);
    if (!name || info(symbol, HSA_EXECUTABLE_SYMBOL_INFO_NAME, name) || !insert(object, name, length))
        fill->failed = true;
    if (name != small)
        rl_release(name);
    return HSA_STATUS_SUCCESS;
}

static struct layouts *layout_place(uint64_t name)
{
    size_t i = (size_t)(name * UINT64_C(0x9e3779b97f4a7c15) >> 20) & (layout_room - 1);

    while (layouts[i].name && layouts[i].name != name)
        i = (i + 1) & (layout_room - 1);
    return &layouts[i];
}

static bool grow_layouts(void)
{
    size_t room = layout_room ? layout_room * 2 : 1024, before = layout_room;
    struct layouts *old = layouts, *larger = rl_allocate(room, sizeof(*larger));

    if (!larger)
        return false;
    layouts = larger;
    layout_room = room;
    for (size_t i = 0; i < before; i++)
        if (old[i].name)
            *layout_place(old[i].name) = old[i];
    rl_release(old);
    return true;
}

static size_t layout_bytes(const struct rl_layout *layout)
{
    return offsetof(struct rl_layout, argument) + layout->count * sizeof(layout->argument[0]);
}

/* Two kernels of one name that differ in their layouts have none. */
static void visit_layout(const char *symbol, size_t length, const struct rl_layout *layout, void *context)
{
    struct fill *fill = context;
    size_t bytes = layout_bytes(layout);
    struct layouts *place;

    if (layout_count * 2 >= layout_room && !grow_layouts()) {
        fill->failed = true;
        return;
    }
    place = layout_place(rl_code_name_hash(symbol, name_length(symbol, length)));
    if (place->name) {
        if (place->layout->count != layout->count || memcmp(place->layout, layout, bytes) != 0)
            place->layout->known = false;
        place->layout->prints |= layout->prints;
        return;
    }
    place->layout = rl_allocate(1, bytes);
    if (!place->layout)
        return;
    memcpy(place->layout, layout, bytes);
    place->name = rl_code_name_hash(symbol, name_length(symbol, length));
    layout_count++;
}

static hsa_status_t visit_code_object(hsa_executable_t executable, uint64_t code_object, void *context)
{
    struct fill *fill = context;
    struct rl_image image = { .read = rl_image_read_carefully };
    uint64_t base = 0, size = 0;
    uint32_t type = 0;

    (void)executable;
    if (!fill->loader->code_object_info(code_object, STORAGE_TYPE, &type) && type == STORAGE_IS_MEMORY &&
        !fill->loader->code_object_info(code_object, STORAGE_BASE, &base) &&
        !fill->loader->code_object_info(code_object, STORAGE_SIZE, &size)) {
        image.memory = (const void *)base;
        image.size = size;
        rl_metadata_read(&image, visit_layout, fill);
    }
    return HSA_STATUS_SUCCESS;
}

/* False: it has been looked at before. */
static bool is_new(uint64_t executable)
{
    for (size_t i = 0; i < scanned_count; i++)
        if (scanned[i] == executable)
            return false;
    if (scanned_count == scanned_room) {
        size_t room = scanned_room ? 2 * scanned_room : 64;
        uint64_t *larger = rl_allocate(room, sizeof(*larger));

        if (!larger)
            return true;
        if (scanned)
            memcpy(larger, scanned, scanned_count * sizeof(*larger));
        rl_release(scanned);
        scanned = larger;
        scanned_room = room;
    }
    scanned[scanned_count++] = executable;
    return true;
}

static hsa_status_t visit_executable(hsa_executable_t executable, void *context)
{
    struct fill *fill = context;

    if (!is_new(executable.handle))
        return HSA_STATUS_SUCCESS;
    for (size_t i = 0; i < agent_count; i++)
        fill->hsa->hsa_executable_iterate_agent_symbols(executable, (hsa_agent_t){ agents_seen[i] },
                                                        visit_symbol, fill);
    if (fill->loader->code_objects && fill->loader->code_object_info)
        fill->loader->code_objects(executable, visit_code_object, fill);
    return HSA_STATUS_SUCCESS;
}

void rl_code_add_agent(uint64_t agent)
{
    size_t i = 0;

    pthread_mutex_lock(&lock);
    while (i < agent_count && agents_seen[i] != agent)
        i++;
    if (i == agent_count && agent_count < sizeof(agents_seen) / sizeof(agents_seen[0])) {
        agents_seen[agent_count++] = agent;
        scanned_count = 0; /* symbols are looked for by agent */
    }
    pthread_mutex_unlock(&lock);
}

static bool get_loader(const struct rl_hsa_table *hsa, struct loader *loader)
{
    memset(loader, 0, sizeof(*loader));
    return hsa->hsa_system_get_major_extension_table && hsa->hsa_executable_iterate_agent_symbols &&
           hsa->hsa_executable_symbol_get_info &&
           hsa->hsa_system_get_major_extension_table(LOADER_EXTENSION, LOADER_VERSION, sizeof(*loader),
                                                     loader) == HSA_STATUS_SUCCESS &&
           loader->host_address && loader->executables;
}

/* With the lock held, as the next two. */
static bool look_again(const struct rl_hsa_table *hsa, const struct loader *loader)
{
    struct fill fill = { .hsa = hsa, .loader = loader };

    return loader->executables(visit_executable, &fill) == HSA_STATUS_SUCCESS && !fill.failed;
}

static struct entry *find(const struct rl_hsa_table *hsa, const struct loader *loader, uint64_t object)
{
    struct entry *entry = entry_room ? place_of(object) : NULL;

    if (entry && entry->object)
        return entry;
    /* What is new first; then all of them, for an executable may have got the handle of one that is gone. */
    for (int pass = 0; pass < 2; pass++) {
        if (!look_again(hsa, loader) || !entry_room)
            return NULL;
        entry = place_of(object);
        if (entry->object)
            return entry;
        scanned_count = 0;
    }
    return NULL;
}

static void find_layout(uint64_t name, struct rl_layout *layout)
{
    const struct layouts *place = layout_room && name ? layout_place(name) : NULL;

    layout->known = false;
    if (place && place->name)
        memcpy(layout, place->layout, layout_bytes(place->layout));
}

bool rl_code_layout(const struct rl_hsa_table *hsa, uint64_t name, struct rl_layout *layout)
{
    struct loader loader;

    layout->known = false;
    if (!get_loader(hsa, &loader))
        return false;
    pthread_mutex_lock(&lock);
    find_layout(name, layout);
    if (!layout->known && look_again(hsa, &loader))
        find_layout(name, layout);
    pthread_mutex_unlock(&lock);
    return layout->known; /* rule: layouts-tell-nodes-apart */
}

bool rl_code_find(const struct rl_hsa_table *hsa, uint64_t object, struct rl_code *code)
{
    const void *descriptor = NULL;
    struct loader loader;
    struct entry *entry;

    if (!get_loader(hsa, &loader))
        return false;
    pthread_mutex_lock(&lock);
    entry = find(hsa, &loader, object);
    if (entry) {
        *code = (struct rl_code){ .object = object, .name = entry->name, .builtin = entry->builtin };
        find_layout(entry->name, &code->layout);
    }
    pthread_mutex_unlock(&lock);
    if (!entry || loader.host_address((const void *)object, &descriptor) != HSA_STATUS_SUCCESS || !descriptor)
        return false;
    memcpy(code->descriptor, descriptor, RL_DESCRIPTOR_BYTES);
    memcpy(&code->kernarg_bytes, code->descriptor + RL_DESCRIPTOR_KERNARG_BYTES, sizeof(code->kernarg_bytes));
    return true;
}

void rl_code_forget(void)
{
    pthread_mutex_lock(&lock);
    if (entries)
        memset(entries, 0, entry_room * sizeof(*entries));
    entry_count = scanned_count = 0;
    for (size_t i = 0; i < layout_room; i++)
        rl_release(layouts[i].layout);
    if (layouts)
        memset(layouts, 0, layout_room * sizeof(*layouts));
    layout_count = 0;
    pthread_mutex_unlock(&lock);
}

static void in_child(void)
{
    pthread_mutex_init(&lock, NULL);
}

RL_AT_FORK(NULL, NULL, in_child);
