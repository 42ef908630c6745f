/* SPDX-License-Identifier: Apache-2.0 */
/* See dispatch.h. */
#include "native/dispatch.h"

#include <string.h>

#include "native/stub.h"
#include "native/unknown.h"

enum { MOST_CALLS = 4 }; /* bytes of a stub that may be the call of its getter, before it is certain which */

_Atomic(void *) *_Atomic rl_dispatch_launch;

static _Atomic(void *) registered[RL_DISPATCH_COUNT];
static _Atomic(const void *) hooked_getters[RL_DISPATCH_COUNT];

static void **member(struct rl_hip_table *table, const struct rl_native_entry *entry)
{
    return (void **)((char *)table + entry->offset);
}

static void *const *hook_of(const struct rl_native_entry *entry)
{
    return (void *const *)((const char *)&rl_hip_hooks + entry->offset);
}

void rl_dispatch_registered(const char *name, void *table)
{
    for (unsigned dispatch = RL_DISPATCH_NONE + 1; dispatch < RL_DISPATCH_COUNT; dispatch++)
        if (!strcmp(name, rl_dispatch_layouts[dispatch].registered))
            atomic_store(&registered[dispatch], table);
}

/* The functions to be hooked through one table, as far as the library has them. */
struct stubs {
    size_t count, highest;
    struct {
        struct rl_bytes code;
        size_t word;
    } of[sizeof(struct rl_hip_table) / sizeof(void *)];
};

static void gather(const struct rl_object *hip, unsigned dispatch, struct stubs *stubs)
{
    stubs->count = stubs->highest = 0;
    for (size_t i = 0; i < rl_hip_entry_count; i++) {
        const struct rl_native_entry *entry = &rl_hip_entries[i];
        struct rl_bytes code = { NULL, 0 };

        if (entry->exported && entry->dispatch == dispatch)
            code = rl_object_bytes(hip, entry->name, entry->node);
        if (!code.start)
            continue;
        stubs->of[stubs->count].code = code;
        stubs->of[stubs->count++].word = entry->word;
        stubs->highest = entry->word > stubs->highest ? entry->word : stubs->highest;
    }
}

/* How many of them go by the getter to their own word, or to another one. */
struct agreement {
    size_t right, wrong;
};

static struct agreement agreement_on(const struct stubs *stubs, const void *getter)
{
    struct agreement agreement = { 0, 0 };

    for (size_t i = 0; i < stubs->count; i++) {
        size_t word = rl_stub_word(stubs->of[i].code, getter);

        agreement.right += word == stubs->of[i].word;
        agreement.wrong += word && word != stubs->of[i].word;
    }
    return agreement;
}

/* The function that most of them call for their table. */
static struct agreement find_getter(const struct rl_object *hip, const struct stubs *stubs,
                                    const void **getter)
{
    struct agreement best = { 0, 0 };
    const void *called;

    *getter = NULL;
    for (size_t n = 0; n < MOST_CALLS && (called = rl_stub_call(stubs->of[0].code, n)); n++) {
        struct agreement agreement = { 0, 0 };

        if (rl_object_has(hip, called))
            agreement = agreement_on(stubs, called);
        if (agreement.right > best.right) {
            best = agreement;
            *getter = called;
        }
    }
    return best;
}

static size_t words_of(_Atomic(void *) *table)
{
    return (size_t)atomic_load_explicit(&table[0], memory_order_relaxed) / sizeof(*table);
}

static bool belongs(const struct rl_object *hip, void *table, size_t highest)
{
    size_t words;

    if (!table || (uintptr_t)table % sizeof(void *) || !rl_object_can_write(hip, table, sizeof(void *)))
        return false;
    words = words_of(table);
    return words > highest && words <= UINT16_MAX && rl_object_can_write(hip, table, words * sizeof(void *));
}

static bool find_one(const struct rl_object *hip, unsigned dispatch, struct rl_dispatch_tables *found)
{
    struct stubs stubs;
    struct agreement agreement;
    const void *getter;
    void *table = atomic_load(&registered[dispatch]);

    found->tables[dispatch] = NULL;
    found->getters[dispatch] = NULL;
    gather(hip, dispatch, &stubs);
    if (!stubs.count)
        return true;
    agreement = find_getter(hip, &stubs, &getter);
    if (!belongs(hip, table, stubs.highest))
        table = NULL;
    if (agreement.right ? agreement.right < stubs.count : !table)
        return false;
    if (!table)
        table = ((void *(*)(void))(uintptr_t)getter)();
    found->getters[dispatch] = getter;
    found->tables[dispatch] = belongs(hip, table, stubs.highest) ? table : NULL;
    return found->tables[dispatch];
}

bool rl_dispatch_find(const struct rl_object *hip, struct rl_dispatch_tables *found)
{
    for (unsigned dispatch = RL_DISPATCH_NONE + 1; dispatch < RL_DISPATCH_COUNT; dispatch++)
        if (!find_one(hip, dispatch, found))
            return false;
    return found->tables[RL_DISPATCH_HIP];
}

static bool is_installed(const struct rl_dispatch_tables *found)
{
    _Atomic(void *) *launch = atomic_load(&rl_dispatch_launch), *table = found->tables[RL_DISPATCH_HIP];

    return launch && launch > table && launch < table + words_of(table);
}

const char *rl_dispatch_read(const struct rl_object *hip, const struct rl_dispatch_tables *found,
                             const struct rl_hip_table *saved, struct rl_hip_table *own)
{
    const char *taken = NULL;
    bool installed = is_installed(found);

    for (size_t i = 0; i < rl_hip_entry_count; i++) {
        const struct rl_native_entry *entry = &rl_hip_entries[i];
        _Atomic(void *) *table = entry->dispatch ? found->tables[entry->dispatch] : NULL;
        void **function = member(own, entry), *there;

        if (!*function || !table || entry->word >= words_of(table))
            continue;
        there = atomic_load_explicit(&table[entry->word], memory_order_relaxed);
        if (!there) /* 7.2.4 has exported functions that jump to nowhere */
            continue;
        if (rl_object_has(hip, there)) {
            *function = there;
        } else if (entry->exported) {
            if (installed || there == *hook_of(entry))
                *function = *member((struct rl_hip_table *)saved, entry);
            if (there != *hook_of(entry))
                taken = entry->name;
        }
    }
    return taken;
}

static uint32_t hash_of(const char *name)
{
    uint32_t hash = 5381;

    for (; *name; name++)
        hash = hash * 33 + (unsigned char)*name;
    return hash;
}

static bool is_known(const char *name)
{
    uint32_t hash = hash_of(name);
    size_t low = 0, high = rl_hip_known_count;

    while (low < high) {
        size_t middle = (low + high) / 2;

        if (rl_hip_known[middle].hash < hash)
            low = middle + 1;
        else
            high = middle;
    }
    for (; low < rl_hip_known_count && rl_hip_known[low].hash == hash; low++)
        if (!strcmp(rl_hip_known[low].name, name))
            return true;
    return false;
}

/* Whether a call of the function reaches an entry that has a hook or a thunk, or needs none. */
static bool is_covered(struct rl_bytes code, const struct rl_dispatch_tables *found, const char *name)
{
    for (unsigned dispatch = RL_DISPATCH_NONE + 1; dispatch < RL_DISPATCH_COUNT; dispatch++) {
        size_t word = found->getters[dispatch] ? rl_stub_word(code, found->getters[dispatch]) : 0;

        if (word)
            return word < rl_dispatch_layouts[dispatch].words || rl_unknown_name(dispatch, word, name);
    }
    return false;
}

const char *rl_dispatch_unknown(const struct rl_object *hip, const struct rl_dispatch_tables *found)
{
    size_t count = rl_object_symbol_count(hip);

    for (size_t n = 1; n < count; n++) {
        const char *name = rl_object_function_name(hip, n);

        if (!name || (strncmp(name, "hip", 3) && strncmp(name, "__hip", 5)) || is_known(name))
            continue;
        if (!found || !is_covered(rl_object_bytes(hip, name, NULL), found, name))
            return name;
    }
    return NULL;
}

static size_t launch_word(void)
{
    size_t i = 0;

    while (strcmp(rl_hip_entries[i].name, "hipGraphLaunch") != 0)
        i++;
    return rl_hip_entries[i].word;
}

void rl_dispatch_install(const struct rl_dispatch_tables *found, const struct rl_hip_table *own)
{
    for (size_t i = 0; i < rl_hip_entry_count; i++) {
        const struct rl_native_entry *entry = &rl_hip_entries[i];
        _Atomic(void *) *table = entry->dispatch ? found->tables[entry->dispatch] : NULL;

        void *function = *member((struct rl_hip_table *)own, entry);

        if (table && function && entry->exported && entry->word < words_of(table))
            atomic_compare_exchange_strong(&table[entry->word], &function, *hook_of(entry));
    }
    for (unsigned dispatch = RL_DISPATCH_NONE + 1; dispatch < RL_DISPATCH_COUNT; dispatch++) {
        if (found->tables[dispatch])
            rl_unknown_install(dispatch, found->tables[dispatch], words_of(found->tables[dispatch]));
        atomic_store(&hooked_getters[dispatch], found->getters[dispatch]);
    }
    atomic_store(&rl_dispatch_launch, &found->tables[RL_DISPATCH_HIP][launch_word()]);
}

void rl_dispatch_forget(void)
{
    atomic_store(&rl_dispatch_launch, NULL);
    for (unsigned dispatch = 0; dispatch < RL_DISPATCH_COUNT; dispatch++)
        atomic_store(&hooked_getters[dispatch], NULL);
}

bool rl_dispatch_leads(struct rl_bytes code)
{
    for (unsigned dispatch = RL_DISPATCH_NONE + 1; dispatch < RL_DISPATCH_COUNT; dispatch++) {
        const void *getter = atomic_load_explicit(&hooked_getters[dispatch], memory_order_relaxed);

        if (getter && rl_stub_word(code, getter))
            return true;
    }
    return false;
}
