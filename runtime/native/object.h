/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A loaded shared object and the symbols that it defines, read from its own dynamic section.
 *
 * No function of dl*() but dl_iterate_phdr() is used: nothing is allocated, dlerror() keeps the application's
 * text, and the loader's main lock, which a thread that runs constructors holds, is not needed. Any thread; a
 * walk within a walk is not possible. Objects must stay loaded while they are looked at; a walk sees to that
 * for the time of its callback.
 */
#ifndef REDLINE_OBJECT_H
#define REDLINE_OBJECT_H

#include <link.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct rl_object {
    const char *path; /* as the loader spells it; "" for the program itself */
    /* in the order of loading: the program is 0, then preloaded objects, then what they need */
    size_t position;
    uintptr_t base;
    uintptr_t text, text_size; /* address range of the executable segments */
    const ElfW(Sym) * symbols;
    const char *strings;
    const ElfW(Versym) * versions; /* NULL: the object has no symbol versions */
    const ElfW(Verdef) * definitions;
    const uint32_t *gnu_hash, *sysv_hash;
    const ElfW(Rela) * relocations[2]; /* data, then calls */
    size_t relocation_counts[2];
};

/* Calls `visit` for each object of this namespace until it returns true; false when none did. */
bool rl_objects_walk(bool (*visit)(const struct rl_object *object, void *context), void *context);

/* How many objects were ever loaded into the process: changes exactly when something new may be found. */
unsigned long long rl_objects_loaded(void);

/* How many of them were loaded when the program started; SIZE_MAX while that is still going on. */
size_t rl_objects_at_start(void);

/*
 * Address of the function `name` that the object defines: in version node `node`, or unversioned, which the
 * loader takes for any node. `node` NULL or "": the default version. NULL when there is none.
 */
void *rl_object_function(const struct rl_object *object, const char *name, const char *node);

/* The name of the n-th function that the object defines and exports, NULL for other symbols; ends at the
 * count. */
size_t rl_object_symbol_count(const struct rl_object *object);
const char *rl_object_function_name(const struct rl_object *object, size_t n);

/* Whether the file name is `stem` followed by `.`, or by `-` as in the libraries inside wheels. */
bool rl_object_is(const struct rl_object *object, const char *stem);

static inline bool rl_object_has(const struct rl_object *object, const void *address)
{
    return (uintptr_t)address - object->text < object->text_size;
}

#endif
