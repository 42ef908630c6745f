/* SPDX-License-Identifier: Apache-2.0 */
/* See dispatch.h. */
#include "native/dispatch.h"

#include <stdlib.h>
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

static bool is_hooked_through(const struct rl_native_entry *entry, unsigned dispatch)
{
    return entry->exported && entry->dispatch == dispatch;
}

void rl_dispatch_registered(const char *name, void *table)
{
    for (unsigned dispatch = RL_DISPATCH_NONE + 1; dispatch < RL_DISPATCH_COUNT; dispatch++)
        if (!strcmp(name, rl_dispatch_layouts[dispatch].registered))
            atomic_store(&registered[dispatch], table);
}

/* How many of the functions to be hooked the library has, and how many of those go by the getter to their own word
 * or to another one. */
struct agreement {
    size_t functions, right, wrong, highest;
};

static struct agreement agreement_on(const struct rl_object *hip, unsigned dispatch, const void *getter)
{
    struct agreement agreement = { 0, 0, 0, 0 };

    for (size_t i = 0; i < rl_hip_entry_count; i++) {
        const struct rl_native_entry *entry = &rl_hip_entries[i];
        struct rl_bytes code = { NULL, 0 };
        size_t word;

        if (is_hooked_through(entry, dispatch))
            code = rl_object_bytes(hip, entry->name, entry->node);
        if (!code.start)
            continue;
        word = rl_stub_word(code, getter);
        agreement.functions++;
        agreement.right += word == entry->word;
        agreement.wrong += word && word != entry->word;
        agreement.highest = entry->word > agreement.highest ? entry->word : agreement.highest;
    }
    return agreement;
}

static struct rl_bytes first_stub(const struct rl_object *hip, unsigned dispatch)
{
    struct rl_bytes code = { NULL, 0 };

    for (size_t i = 0; i < rl_hip_entry_count && !code.start; i++)
        if (is_hooked_through(&rl_hip_entries[i], dispatch))
            code = rl_object_bytes(hip, rl_hip_entries[i].name, rl_hip_entries[i].node);
    return code;
}

/* The function that most of them call for their table. */
static struct agreement find_getter(const struct rl_object *hip, unsigned dispatch, const void **getter)
{
    struct rl_bytes code = first_stub(hip, dispatch);
    struct agreement best = agreement_on(hip, dispatch, NULL);

    *getter = NULL;
    for (size_t n = 0; n < MOST_CALLS; n++) {
        const void *called = rl_stub_call(code, n);
        struct agreement agreement;

        if (!called)
            break;
        if (!rl_object_has(hip, called))
            continue;
        agreement = agreement_on(hip, dispatch, called);
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
    const void *getter;
    struct agreement agreement = find_getter(hip, dispatch, &getter);
    void *handed_out = atomic_load(&registered[dispatch]), *table;

    found->tables[dispatch] = NULL;
    found->getters[dispatch] = getter;
    if (!agreement.functions)
        return true;
    if (!belongs(hip, handed_out, agreement.highest))
        handed_out = NULL;
    if (agreement.wrong || (agreement.right && agreement.right < agreement.functions) ||
        (!agreement.right && !handed_out))
        return false;
    table = handed_out ? handed_out : ((void *(*)(void))(uintptr_t)getter)();
    found->tables[dispatch] = belongs(hip, table, agreement.highest) ? table : NULL;
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

static int compare(const void *name, const void *known)
{
    return strcmp(name, *(const char *const *)known);
}

static bool is_known(const char *name)
{
    return bsearch(name, rl_hip_known, rl_hip_known_count, sizeof(rl_hip_known[0]), compare);
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
