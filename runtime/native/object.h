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

/* The code of a function; size 0: there is none. */
struct rl_bytes {
    const unsigned char *start;
    size_t size;
};

struct rl_object {
    const char *path;   /* as the loader spells it; "" for the program itself */
    const char *soname; /* "": none */
    /* in the order of loading: the program is 0, then preloaded objects, then what they need */
    size_t position;
    uintptr_t base;
    uintptr_t text, text_size; /* address range of the executable segments */
    const ElfW(Phdr) * segments;
    size_t segment_count;
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

/* The same function's bytes, as far as they lie in the object's executable segments. */
struct rl_bytes rl_object_bytes(const struct rl_object *object, const char *name, const char *node);

/* Whether the object has `size` bytes of data there that can be written to. */
bool rl_object_can_write(const struct rl_object *object, const void *address, size_t size);

/* Whether the object refers to a function of this name in another one. */
bool rl_object_needs(const struct rl_object *object, const char *name);

/* The name of the n-th function that the object defines and exports, NULL for other symbols; ends at the
 * count. */
size_t rl_object_symbol_count(const struct rl_object *object);
const char *rl_object_function_name(const struct rl_object *object, size_t n);

/* Whether the file name, or the soname, is `stem` followed by `.`, or by `-` as in the libraries inside wheels. */
bool rl_object_is(const struct rl_object *object, const char *stem);

static inline bool rl_object_has(const struct rl_object *object, const void *address)
{
    return (uintptr_t)address - object->text < object->text_size;
}

#endif
