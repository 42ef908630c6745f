/* SPDX-License-Identifier: Apache-2.0 */
/* See native.h. */
#define _GNU_SOURCE
#include "native/native.h"

#include <dlfcn.h>
#include <errno.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>

#include "base/fault.h"
#include "base/fork.h"
#include "native/binding.h"
#include "native/dispatch.h"
#include "native/object.h"
#include "native/process.h"
#include "native/tools.h"
#include "report/report.h"

enum { MOST_COPIES = 4, SLOTS = 16, STUB_SIZE = 96 };
enum slot_state { EMPTY, FILLING, READY };

_Atomic(const struct rl_hip_table *) rl_hip_current;
_Atomic(const struct rl_hsa_table *) rl_hsa_current;
_Atomic(const struct rl_hip_table *) rl_hip_saved;
struct rl_text_range rl_hip_text, rl_hsa_caller;

/* What shims call, then what the library itself has. A slot is written once and then stays as it is. */
static struct rl_hip_table hip_slots[SLOTS + 1][2]; /* the last one of both stays empty: nothing was found */
static struct rl_hsa_table hsa_slots[SLOTS + 1][2];
static _Atomic int hip_states[SLOTS], hsa_states[SLOTS];

static const struct library {
    const char *stem;
    const struct rl_native_entry *entries;
    const size_t *entry_count;
    size_t table_size;
    char *slots; /* of two tables each */
    _Atomic int *states;
} hip_library = { "libamdhip64",     rl_hip_entries, &rl_hip_entry_count, sizeof(struct rl_hip_table),
                  (char *)hip_slots, hip_states },
  hsa_library = { "libhsa-runtime64",          rl_hsa_entries,    &rl_hsa_entry_count,
                  sizeof(struct rl_hsa_table), (char *)hsa_slots, hsa_states };

#define LARGEST_TABLE sizeof(struct rl_hip_table)

/* One look at all loaded objects. */
struct search {
    const struct library *library;
    const void *caller;
    struct rl_object copies[MOST_COPIES];
    size_t copy_count;
    struct rl_object calling; /* the object that `caller` is in; no text: none */
    bool behind_us;
    char wrapper[256]; /* the first library that has one of those */
    /* by entry: the first function between us and the library */
    void *wrappers[LARGEST_TABLE / sizeof(void *)];
};

static void **member(void *table, const struct rl_native_entry *entry)
{
    return (void **)((char *)table + entry->offset);
}

static void *look_up(const struct rl_object *object, const struct rl_native_entry *entry)
{
    void *function = rl_fault(RL_FAULT_SYMBOL) ? NULL : rl_object_function(object, entry->name, entry->node);

    return function ? function : rl_object_function(object, entry->name, NULL);
}

/* Preloaded libraries that come after us wrap what we export; HIP's own needs are behind it in the order. */
static void note_wrappers(struct search *search, const struct rl_object *object)
{
    const struct library *library = search->library;

    for (size_t i = 0; i < *library->entry_count; i++) {
        if (!library->entries[i].exported || search->wrappers[i])
            continue;
        search->wrappers[i] = rl_object_function(object, library->entries[i].name, library->entries[i].node);
        if (search->wrappers[i] && !search->wrapper[0])
            strncpy(search->wrapper, object->path, sizeof(search->wrapper) - 1);
    }
}

static bool is_library(const struct library *library, const struct rl_object *object)
{
    return rl_object_is(object, library->stem) || (library == &hip_library && rl_binding_is_clr(object));
}

static bool has_any(const struct rl_object *object, const struct library *library)
{
    for (size_t i = 0; i < *library->entry_count; i++)
        if (rl_object_function(object, library->entries[i].name, library->entries[i].node))
            return true;
    return false;
}

static bool visit(const struct rl_object *object, void *context)
{
    struct search *search = context;

    if (search->caller && rl_object_has(object, search->caller))
        search->calling = *object;
    if (rl_object_has(object, (const void *)rl_hip_resolve)) {
        search->behind_us = true;
    } else if (is_library(search->library, object)) {
        if (search->copy_count < MOST_COPIES && has_any(object, search->library))
            search->copies[search->copy_count++] = *object;
    } else if (search->behind_us && !search->copy_count && object->position < rl_objects_at_start()) {
        note_wrappers(search, object);
    }
    return false;
}

static void search_for(struct search *search, const struct library *library, const void *caller)
{
    memset(search, 0, sizeof(*search));
    search->library = library;
    search->caller = caller;
    rl_objects_walk(visit, search);
}

/* `copy` NULL: no such library is loaded, but its functions may be, from an object with another name. */
static bool fill(const struct search *search, const struct rl_object *copy, char *tables)
{
    const struct library *library = search->library;
    char *next = tables, *own = tables + library->table_size;
    bool found = false;

    memset(tables, 0, 2 * library->table_size);
    for (size_t i = 0; i < *library->entry_count; i++) {
        const struct rl_native_entry *entry = &library->entries[i];
        void *function = copy ? look_up(copy, entry) : dlsym(RTLD_NEXT, entry->name);

        *member(own, entry) = function;
        *member(next, entry) = function && search->wrappers[i] ? search->wrappers[i] : function;
        found = found || function;
    }
    return found;
}

static char *slot_at(const struct library *library, size_t index)
{
    return library->slots + index * 2 * library->table_size;
}

/* The slot with these tables; `tables` NULL: the empty one. */
static const void *keep(const struct library *library, const char *tables)
{
    if (!tables)
        return slot_at(library, SLOTS);
    for (;;) {
        for (size_t i = 0; i < SLOTS; i++) {
            char *slot = slot_at(library, i);
            int state = EMPTY;

            if (atomic_compare_exchange_strong(&library->states[i], &state, FILLING)) {
                memcpy(slot, tables, 2 * library->table_size);
                atomic_store(&library->states[i], READY);
                return slot;
            }
            if (state == READY && !memcmp(slot, tables, 2 * library->table_size))
                return slot;
        }
        /* Sixteen different places for one library: the oldest was unloaded long ago, and nobody can be in
         * it. */
        atomic_store(&library->states[0], EMPTY);
        sched_yield();
    }
}

static const struct rl_object *copy_with(const struct search *search, const void *address)
{
    for (size_t i = 0; i < search->copy_count; i++)
        if (address && rl_object_has(&search->copies[i], address))
            return &search->copies[i];
    return NULL;
}

/* The copy that the caller would have been bound to without us: its own, the global one, or one it brought
 * along. */
static const struct rl_object *copy_of_caller(const struct search *search)
{
    const char *name = search->library->entries[0].name;
    const struct rl_object *copy = copy_with(search, search->caller);
    void *handle;

    for (size_t i = 0; i < search->copy_count && !copy; i++)
        if (search->copies[i].position < rl_objects_at_start())
            copy = &search->copies[i];
    if (!copy)
        copy = copy_with(search, dlsym(RTLD_NEXT, name));
    if (!copy && search->calling.text_size) {
        handle = dlopen(search->calling.path, RTLD_LAZY | RTLD_NOLOAD);
        if (handle) {
            copy = copy_with(search, dlsym(handle, name));
            dlclose(handle);
        }
    }
    return copy ? copy : &search->copies[0];
}

/* Whether code jumps through a slot of its object's linkage table. */
static bool is_linkage(const unsigned char *code)
{
    static const unsigned char branch_target[] = { 0xf3, 0x0f, 0x1e, 0xfa }, jump[] = { 0xff, 0x25 };

    if (!memcmp(code, branch_target, sizeof(branch_target)))
        code += sizeof(branch_target);
    code += *code == 0xf2;
    return !memcmp(code, jump, sizeof(jump));
}

/* Whether the call before the return address is one of a function by its name. */
bool rl_called_by_name(const void *caller)
{
    const unsigned char *next = caller;
    int32_t distance;

    if (next[-6] == 0xff && next[-5] == 0x15) /* call *slot(%rip) */
        return true;
    if (next[-5] != 0xe8)
        return false;
    memcpy(&distance, next - sizeof(distance), sizeof(distance));
    next += distance;
    return rl_text_has(&rl_hip_text, next) &&
           (is_linkage(next) || rl_dispatch_leads((struct rl_bytes){ next, STUB_SIZE }));
}

static void set_range(struct rl_text_range *range, const struct rl_object *object)
{
    atomic_store_explicit(&range->size, 0, memory_order_relaxed);
    atomic_store_explicit(&range->start, object ? object->text : 0, memory_order_relaxed);
    atomic_store_explicit(&range->size, object ? object->text_size : 0, memory_order_relaxed);
}

/*
 * Who was bound to what, by the caller's code, as long as nothing new is loaded. One writer at a time, others
 * do without; a reader that meets a line in the middle of a change takes it for a miss.
 */
enum { CACHE_LINES = 16 };
static struct cache {
    struct {
        _Atomic uintptr_t start, size;
        _Atomic(const void *) table;
    } lines[CACHE_LINES];
    _Atomic unsigned long long loaded;
    _Atomic bool busy;
    unsigned next;
} hip_cache, hsa_cache;

static const void *cached(struct cache *cache, const void *caller, unsigned long long loaded)
{
    if (atomic_load(&cache->loaded) != loaded)
        return NULL;
    for (unsigned i = 0; i < CACHE_LINES; i++) {
        uintptr_t start = atomic_load(&cache->lines[i].start), size = atomic_load(&cache->lines[i].size);
        const void *table = atomic_load(&cache->lines[i].table);

        if ((uintptr_t)caller - start < size && atomic_load(&cache->lines[i].start) == start &&
            atomic_load(&cache->lines[i].size) == size)
            return table;
    }
    return NULL;
}

static void cache_binding(struct cache *cache, const struct rl_object *calling, const void *table,
                          unsigned long long loaded)
{
    unsigned i;

    if (!calling->text_size || atomic_exchange(&cache->busy, true))
        return;
    for (i = 0; i < CACHE_LINES && atomic_load(&cache->loaded) != loaded; i++)
        atomic_store(&cache->lines[i].size, 0);
    atomic_store(&cache->loaded, loaded);
    i = cache->next++ % CACHE_LINES;
    atomic_store(&cache->lines[i].size, 0);
    atomic_store(&cache->lines[i].start, calling->text);
    atomic_store(&cache->lines[i].table, table);
    atomic_store(&cache->lines[i].size, calling->text_size);
    atomic_store(&cache->busy, false);
}

/* Number of objects ever loaded at the last look, so that the next one is not needed before it changes. */
static _Atomic unsigned long long hip_seen;

static void report_found(const struct rl_object *copy, bool has_tables)
{
    char path[4096];
    const char *version;

    if (!realpath(copy->path, path))
        return;
    version = strstr(path, ".so.");
    rl_report_hip(path, version ? version + 4 : "", has_tables);
}

static void use_hip(const struct rl_object *copy, const struct rl_hip_table *table, bool has_tables)
{
    const struct rl_hip_table *before = atomic_load(&rl_hip_current);

    if (before == table)
        return;
    if (before)
        rl_start_over();
    set_range(&rl_hip_text, copy);
    if (copy) {
        report_found(copy, has_tables);
        rl_tools_watch_hip(copy);
    }
    atomic_store_explicit(&rl_hip_current, table, memory_order_release);
}

/* The only copy, or none with such a name. Whether we work with it, and by which way in, is decided before it becomes
 * the current one, so that the first call is treated like any other. */
static const struct rl_hip_table *begin_with(const struct search *search, struct rl_hip_table tables[2])
{
    const struct rl_object *copy = search->copy_count ? &search->copies[0] : NULL;
    const struct rl_hip_table *table, *saved = atomic_load(&rl_hip_saved);
    struct rl_dispatch_tables found;
    bool has_tables = false;
    const char *taken = NULL;

    if (!rl_start())
        rl_process_forward(RL_REASON_OUT_OF_MEMORY, NULL);
    if (rl_binding_may_work(copy) || (copy && saved))
        has_tables = rl_dispatch_find(copy, &found); /* rule: tables-are-used */
    if (has_tables)
        taken = rl_dispatch_read(copy, &found, saved, &tables[1]);
    rl_binding_check(copy, has_tables ? &found : NULL, taken, search->wrapper);
    table = keep(&hip_library, (const char *)tables);
    if (has_tables && rl_active()) {
        atomic_store_explicit(&rl_hip_saved, rl_hip_own(table), memory_order_release);
        rl_dispatch_install(&found, rl_hip_own(table));
    } else if (!has_tables) {
        rl_dispatch_forget();
    }
    use_hip(copy, table, has_tables);
    return table;
}

static const struct rl_hip_table *resolve_hip(const void *caller)
{
    unsigned long long loaded = rl_objects_loaded();
    const struct rl_hip_table *table = cached(&hip_cache, caller, loaded);
    struct rl_hip_table tables[2];
    struct search search;

    if (table)
        return table;
    search_for(&search, &hip_library, caller);
    if (search.copy_count > 1) {
        rl_process_forward(RL_REASON_TWO_HIPS, "%s and %s", search.copies[0].path, search.copies[1].path);
        atomic_store(&rl_hip_current, NULL);
        fill(&search, copy_of_caller(&search), (char *)tables);
        table = keep(&hip_library, (char *)tables);
        cache_binding(&hip_cache, &search.calling, table, loaded);
        return table;
    }
    if (!fill(&search, search.copy_count ? &search.copies[0] : NULL, (char *)tables))
        return keep(&hip_library, NULL);
    table = begin_with(&search, tables);
    atomic_store_explicit(&hip_seen, loaded, memory_order_release);
    return table;
}

static bool is_calling_hip(const struct rl_object *object, void *caller)
{
    return rl_object_has(object, caller) && is_library(&hip_library, object);
}

/* By its own first call it has its tables. Of others that call HSA nobody knows how far HIP is. */
void rl_hip_begins(const void *caller)
{
    if (rl_objects_walk(is_calling_hip, (void *)(uintptr_t)caller))
        rl_hip_anew(caller);
}

const struct rl_hip_table *rl_hip_resolve(const void *caller)
{
    int saved = errno;
    const struct rl_hip_table *table = resolve_hip(caller);

    errno = saved;
    return table;
}

/* For calls that may be an application's first to a library loaded since the last look. */
const struct rl_hip_table *rl_hip_anew(const void *caller)
{
    const struct rl_hip_table *table = atomic_load_explicit(&rl_hip_current, memory_order_acquire);

    if (table && atomic_load_explicit(&hip_seen, memory_order_acquire) == rl_objects_loaded())
        return table;
    return rl_hip_resolve(caller);
}

static const struct rl_hsa_table *resolve_hsa(const void *caller)
{
    unsigned long long loaded = rl_objects_loaded();
    const struct rl_hsa_table *table = cached(&hsa_cache, caller, loaded);
    char tables[2 * LARGEST_TABLE];
    struct search search;

    if (table)
        return table;
    search_for(&search, &hsa_library, caller);
    if (!fill(&search, search.copy_count ? copy_of_caller(&search) : NULL, tables))
        return keep(&hsa_library, NULL);
    table = keep(&hsa_library, tables);
    cache_binding(&hsa_cache, &search.calling, table, loaded);
    if (search.copy_count < 2 && search.calling.text_size && is_library(&hip_library, &search.calling))
        set_range(&rl_hsa_caller, &search.calling);
    if (search.copy_count == 1)
        rl_tools_watch_hsa(&search.copies[0]);
    atomic_store_explicit(&rl_hsa_current, search.copy_count < 2 ? table : NULL, memory_order_release);
    return table;
}

const struct rl_hsa_table *rl_hsa_resolve(const void *caller)
{
    int saved = errno;
    const struct rl_hsa_table *table = resolve_hsa(caller);

    errno = saved;
    return table;
}

/* The child of a fork looks again when it uses HIP, so that it is judged and reported as a process of its
 * own. */
static void in_child(void)
{
    atomic_store(&rl_hip_current, NULL);
    atomic_store(&rl_hsa_current, NULL);
    for (size_t i = 0; i < SLOTS; i++) {
        if (atomic_load(&hip_states[i]) == FILLING)
            atomic_store(&hip_states[i], EMPTY);
        if (atomic_load(&hsa_states[i]) == FILLING)
            atomic_store(&hsa_states[i], EMPTY);
    }
}

RL_AT_FORK(NULL, NULL, in_child);
