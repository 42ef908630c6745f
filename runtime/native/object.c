/* SPDX-License-Identifier: Apache-2.0 */
/* See object.h. */
#define _GNU_SOURCE
#include "native/object.h"

#include <pthread.h>
#include <stdatomic.h>
#include <string.h>

#include "base/fork.h"

enum { HIDDEN_VERSION = 0x8000, FIRST_DEFINED_VERSION = 2 };

/* glibc relocates the pointers of the dynamic section in place, other loaders leave offsets there. */
static const void *pointer(uintptr_t base, ElfW(Addr) value)
{
    return (const void *)(value < base ? base + value : value);
}

static bool read_dynamic(struct rl_object *object, const ElfW(Dyn) * dynamic)
{
    size_t sizes[2] = { 0 }, soname = 0;

    for (; dynamic->d_tag != DT_NULL; dynamic++) {
        const void *target = pointer(object->base, dynamic->d_un.d_ptr);

        switch (dynamic->d_tag) {
        case DT_SYMTAB: object->symbols = target; break;
        case DT_STRTAB: object->strings = target; break;
        case DT_VERSYM: object->versions = target; break;
        case DT_VERDEF: object->definitions = target; break;
        case DT_GNU_HASH: object->gnu_hash = target; break;
        case DT_HASH: object->sysv_hash = target; break;
        case DT_RELA: object->relocations[0] = target; break;
        case DT_JMPREL: object->relocations[1] = target; break;
        case DT_SONAME: soname = dynamic->d_un.d_val; break;
        case DT_RELASZ: sizes[0] = dynamic->d_un.d_val; break;
        case DT_PLTRELSZ: sizes[1] = dynamic->d_un.d_val; break;
        }
    }
    for (int i = 0; i < 2; i++)
        object->relocation_counts[i] = object->relocations[i] ? sizes[i] / sizeof(ElfW(Rela)) : 0;
    object->soname = soname && object->strings ? object->strings + soname : "";
    return object->symbols && object->strings && (object->gnu_hash || object->sysv_hash);
}

static bool read_object(const struct dl_phdr_info *info, struct rl_object *object)
{
    const ElfW(Dyn) *dynamic = NULL;
    uintptr_t low = UINTPTR_MAX, high = 0;

    *object = (struct rl_object){ .path = info->dlpi_name,
                                  .base = info->dlpi_addr,
                                  .segments = info->dlpi_phdr,
                                  .segment_count = info->dlpi_phnum };
    for (unsigned i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *segment = &info->dlpi_phdr[i];
        uintptr_t start = info->dlpi_addr + segment->p_vaddr;

        if (segment->p_type == PT_DYNAMIC)
            dynamic = (const ElfW(Dyn) *)start;
        if (segment->p_type == PT_LOAD && segment->p_flags & PF_X) {
            low = start < low ? start : low;
            high = start + segment->p_memsz > high ? start + segment->p_memsz : high;
        }
    }
    object->text = low;
    object->text_size = high > low ? high - low : 0;
    return dynamic && read_dynamic(object, dynamic);
}

struct walk {
    bool (*visit)(const struct rl_object *, void *);
    void *context;
    size_t position;
};

static int visit_one(struct dl_phdr_info *info, size_t size, void *data)
{
    struct walk *walk = data;
    struct rl_object object;
    size_t position = walk->position++;

    (void)size;
    if (!read_object(info, &object))
        return 0;
    object.position = position;
    return walk->visit(&object, walk->context);
}

/* The loader's lock is not made new in the child of a fork: no thread of ours may be inside while one
 * forks. */
static pthread_mutex_t inside = PTHREAD_MUTEX_INITIALIZER;

static int iterate(int (*callback)(struct dl_phdr_info *, size_t, void *), void *data)
{
    int result;

    pthread_mutex_lock(&inside);
    result = dl_iterate_phdr(callback, data);
    pthread_mutex_unlock(&inside);
    return result;
}

static void before_fork(void)
{
    pthread_mutex_lock(&inside);
}

static void after_fork(void)
{
    pthread_mutex_unlock(&inside);
}

RL_AT_FORK(before_fork, after_fork, after_fork);

bool rl_objects_walk(bool (*visit)(const struct rl_object *object, void *context), void *context)
{
    struct walk walk = { visit, context, 0 };

    return iterate(visit_one, &walk);
}

static int take_count(struct dl_phdr_info *info, size_t size, void *count)
{
    (void)size;
    *(unsigned long long *)count = info->dlpi_adds;
    return 1;
}

unsigned long long rl_objects_loaded(void)
{
    unsigned long long count = 0;

    iterate(take_count, &count);
    return count;
}

static _Atomic size_t at_start = SIZE_MAX;

size_t rl_objects_at_start(void)
{
    return atomic_load_explicit(&at_start, memory_order_relaxed);
}

struct order {
    size_t count, ours, libc;
};

static bool note_position(const struct rl_object *object, void *context)
{
    struct order *order = context;

    if (rl_object_has(object, (const void *)rl_objects_at_start))
        order->ours = object->position;
    if (rl_object_has(object, (const void *)dl_iterate_phdr))
        order->libc = object->position;
    order->count = object->position + 1;
    return false;
}

/* When our constructor runs, all objects of the start are mapped. What is loaded later stands behind libc:
 * then we were not there when callers were bound, and count ourselves out. */
__attribute__((constructor)) static void count_objects(void)
{
    struct order order = { 0, 0, SIZE_MAX };

    rl_objects_walk(note_position, &order);
    atomic_store_explicit(&at_start, order.ours < order.libc ? order.count : order.ours,
                          memory_order_relaxed);
}

static bool is_function(const struct rl_object *object, size_t n)
{
    const ElfW(Sym) *symbol = &object->symbols[n];
    unsigned binding = ELF64_ST_BIND(symbol->st_info);

    return symbol->st_shndx != SHN_UNDEF && symbol->st_value && ELF64_ST_TYPE(symbol->st_info) == STT_FUNC &&
           (binding == STB_GLOBAL || binding == STB_WEAK);
}

static const char *version_name(const struct rl_object *object, unsigned version)
{
    const ElfW(Verdef) *definition = object->definitions;

    while (definition) {
        if (definition->vd_ndx == version) {
            const ElfW(Verdaux) *name = (const void *)((const char *)definition + definition->vd_aux);

            return object->strings + name->vda_name;
        }
        if (!definition->vd_next)
            break;
        definition = (const void *)((const char *)definition + definition->vd_next);
    }
    return "";
}

static bool version_fits(const struct rl_object *object, size_t n, const char *node)
{
    unsigned version = object->versions ? object->versions[n] : 1;

    if (!node || !*node)
        return !(version & HIDDEN_VERSION);
    return version < FIRST_DEFINED_VERSION || !strcmp(version_name(object, version & ~HIDDEN_VERSION), node);
}

static bool fits(const struct rl_object *object, size_t n, const char *name, const char *node)
{
    return is_function(object, n) && !strcmp(object->strings + object->symbols[n].st_name, name) &&
           version_fits(object, n, node);
}

static size_t find_by_gnu_hash(const struct rl_object *object, const char *name, const char *node)
{
    const uint32_t *header = object->gnu_hash;
    uint32_t buckets = header[0], first = header[1], bloom_words = header[2];
    const uint32_t *bucket = (const uint32_t *)((const ElfW(Addr) *)&header[4] + bloom_words);
    const uint32_t *chain = bucket + buckets;
    uint32_t hash = 5381;

    for (const unsigned char *c = (const unsigned char *)name; *c; c++)
        hash = hash * 33 + *c;
    if (!buckets)
        return 0;
    for (uint32_t n = bucket[hash % buckets]; n >= first && n; n++) {
        uint32_t entry = chain[n - first];

        if ((entry | 1) == (hash | 1) && fits(object, n, name, node))
            return n;
        if (entry & 1)
            break;
    }
    return 0;
}

static size_t find_by_sysv_hash(const struct rl_object *object, const char *name, const char *node)
{
    for (size_t n = 1; n < object->sysv_hash[1]; n++)
        if (fits(object, n, name, node))
            return n;
    return 0;
}

static size_t find(const struct rl_object *object, const char *name, const char *node)
{
    return object->gnu_hash ? find_by_gnu_hash(object, name, node) : find_by_sysv_hash(object, name, node);
}

void *rl_object_function(const struct rl_object *object, const char *name, const char *node)
{
    size_t n = find(object, name, node);

    return n ? (void *)(object->base + object->symbols[n].st_value) : NULL;
}

struct rl_bytes rl_object_bytes(const struct rl_object *object, const char *name, const char *node)
{
    size_t n = find(object, name, node), size;
    uintptr_t start;

    if (!n)
        return (struct rl_bytes){ NULL, 0 };
    start = object->base + object->symbols[n].st_value;
    size = object->symbols[n].st_size;
    if (start - object->text >= object->text_size)
        size = 0;
    else if (size > object->text + object->text_size - start)
        size = object->text + object->text_size - start;
    return (struct rl_bytes){ (const unsigned char *)start, size };
}

bool rl_object_can_write(const struct rl_object *object, const void *address, size_t size)
{
    for (size_t i = 0; i < object->segment_count; i++) {
        const ElfW(Phdr) *segment = &object->segments[i];
        uintptr_t offset = (uintptr_t)address - (object->base + segment->p_vaddr);

        if (segment->p_type == PT_LOAD && segment->p_flags & PF_W && offset < segment->p_memsz &&
            size <= segment->p_memsz - offset)
            return true;
    }
    return false;
}

/* Undefined symbols stand in front of those that the hash table covers. */
bool rl_object_needs(const struct rl_object *object, const char *name)
{
    size_t end = object->gnu_hash ? object->gnu_hash[1] : object->sysv_hash[1];

    for (size_t n = 1; n < end; n++)
        if (object->symbols[n].st_shndx == SHN_UNDEF &&
            !strcmp(object->strings + object->symbols[n].st_name, name))
            return true;
    return false;
}

size_t rl_object_symbol_count(const struct rl_object *object)
{
    const uint32_t *header = object->gnu_hash, *bucket, *chain;
    uint32_t last = 0;

    if (!header)
        return object->sysv_hash[1];
    bucket = (const uint32_t *)((const ElfW(Addr) *)&header[4] + header[2]);
    chain = bucket + header[0];
    for (uint32_t i = 0; i < header[0]; i++)
        last = bucket[i] > last ? bucket[i] : last;
    if (last < header[1])
        return header[1];
    while (!(chain[last - header[1]] & 1))
        last++;
    return last + 1;
}

const char *rl_object_function_name(const struct rl_object *object, size_t n)
{
    return is_function(object, n) ? object->strings + object->symbols[n].st_name : NULL;
}

static bool begins(const char *name, const char *stem)
{
    size_t length = strlen(stem);

    return !strncmp(name, stem, length) && (name[length] == '.' || name[length] == '-');
}

bool rl_object_is(const struct rl_object *object, const char *stem)
{
    const char *slash = strrchr(object->path, '/');

    return begins(slash ? slash + 1 : object->path, stem) || begins(object->soname, stem);
}
