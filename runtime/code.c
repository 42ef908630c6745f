/* See code.h. The table holds every kernel that is loaded; it is filled again when a kernel is not in it. */
#include "code.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "aql.h"

enum { LOADER_EXTENSION = 0x201, LOADER_VERSION = 1, MOST_NAME_BYTES = 1 << 16, KERNEL_SYMBOL = 1 };
enum { KERNARG_BYTES_AT = 8, DESCRIPTOR_BYTES = 64 };

/* hsa_ven_amd_loader_1_03_pfn_t: a release with an older table fills the part that it has. */
struct loader {
    hsa_status_t (*host_address)(const void *device, const void **host);
    void (*segments)(void), (*executable)(void), (*loaded_code_objects)(void), (*loaded_code_object_info)(void);
    void (*reader_from_file)(void);
    hsa_status_t (*executables)(hsa_status_t (*visit)(hsa_executable_t, void *), void *context);
};

struct entry {
    uint64_t object, name;
    enum rl_builtin builtin;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct entry *entries; /* open addressing, object 0: free */
static size_t entry_count, entry_room;
static uint64_t agents_seen[16];
static size_t agent_count;

struct fill {
    const struct rl_hsa_table *hsa;
    hsa_agent_t agent;
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
    struct entry *old = entries, *larger = calloc(room, sizeof(*larger));

    if (!larger)
        return false;
    entries = larger;
    entry_room = room;
    for (size_t i = 0; i < before; i++)
        if (old[i].object)
            *place_of(old[i].object) = old[i];
    free(old);
    return true;
}

static bool insert(uint64_t object, const char *name, size_t length)
{
    static const char suffix[] = ".kd";
    struct entry *entry;

    if (entry_count * 2 >= entry_room && !grow())
        return false;
    if (length > sizeof(suffix) - 1 && !memcmp(name + length - 3, suffix, 3))
        length -= 3;
    entry = place_of(object);
    if (!entry->object)
        entry_count++;
    *entry = (struct entry){ object, rl_code_name_hash(name, length), builtin_of(name, length) };
    return true;
}

static hsa_status_t visit_symbol(hsa_executable_t executable, hsa_agent_t agent, hsa_executable_symbol_t symbol,
                                 void *context)
{
    struct fill *fill = context;
    hsa_status_t (*info)(hsa_executable_symbol_t, hsa_executable_symbol_info_t, void *) =
        fill->hsa->hsa_executable_symbol_get_info;
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
        name = malloc(length);
    if (!name || info(symbol, HSA_EXECUTABLE_SYMBOL_INFO_NAME, name) || !insert(object, name, length))
        fill->failed = true;
    if (name != small)
        free(name);
    return HSA_STATUS_SUCCESS;
}

static hsa_status_t visit_executable(hsa_executable_t executable, void *context)
{
    struct fill *fill = context;

    for (size_t i = 0; i < agent_count; i++)
        fill->hsa->hsa_executable_iterate_agent_symbols(executable, (hsa_agent_t){ agents_seen[i] }, visit_symbol, fill);
    return HSA_STATUS_SUCCESS;
}

void rl_code_add_agent(uint64_t agent)
{
    size_t i = 0;

    pthread_mutex_lock(&lock);
    while (i < agent_count && agents_seen[i] != agent)
        i++;
    if (i == agent_count && agent_count < sizeof(agents_seen) / sizeof(agents_seen[0]))
        agents_seen[agent_count++] = agent;
    pthread_mutex_unlock(&lock);
}

static bool get_loader(const struct rl_hsa_table *hsa, struct loader *loader)
{
    memset(loader, 0, sizeof(*loader));
    return hsa->hsa_system_get_major_extension_table && hsa->hsa_executable_iterate_agent_symbols &&
           hsa->hsa_executable_symbol_get_info &&
           hsa->hsa_system_get_major_extension_table(LOADER_EXTENSION, LOADER_VERSION, sizeof(*loader), loader) ==
               HSA_STATUS_SUCCESS &&
           loader->host_address && loader->executables;
}

/* With the lock held. */
static struct entry *find(const struct rl_hsa_table *hsa, const struct loader *loader, uint64_t object)
{
    struct fill fill = { .hsa = hsa };
    struct entry *entry = entry_room ? place_of(object) : NULL;

    if (entry && entry->object)
        return entry;
    if (loader->executables(visit_executable, &fill) != HSA_STATUS_SUCCESS || fill.failed || !entry_room)
        return NULL;
    entry = place_of(object);
    return entry->object ? entry : NULL;
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
    if (entry)
        *code = (struct rl_code){ .object = object, .name = entry->name, .builtin = entry->builtin };
    pthread_mutex_unlock(&lock);
    if (!entry || loader.host_address((const void *)object, &descriptor) != HSA_STATUS_SUCCESS || !descriptor)
        return false;
    memcpy(code->descriptor, descriptor, DESCRIPTOR_BYTES);
    memcpy(&code->kernarg_bytes, code->descriptor + KERNARG_BYTES_AT, sizeof(code->kernarg_bytes));
    return true;
}

void rl_code_forget(void)
{
    pthread_mutex_lock(&lock);
    if (entries)
        memset(entries, 0, entry_room * sizeof(*entries));
    entry_count = 0;
    pthread_mutex_unlock(&lock);
}

static void start_again(void)
{
    pthread_mutex_init(&lock, NULL);
}

__attribute__((constructor)) static void watch_forks(void)
{
    pthread_atfork(NULL, NULL, start_again);
}
