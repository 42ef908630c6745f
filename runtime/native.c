/*
 * Finding the real functions.
 *
 * A program linked to HIP, a Python module that brings it by dlopen(RTLD_LOCAL) and a wheel with a renamed copy all have
 * one thing in common: the library is among the loaded objects. It is found there by its name and looked up on its own
 * handle, with the version node that the generator read, so neither the search order nor other preloads matter.
 * RTLD_NEXT serves only where no such object is loaded, e.g. a stand-in under another name.
 *
 * Several threads may resolve at once: all find the same library and store the same values.
 */
#define _GNU_SOURCE
#include "native.h"

#include <dlfcn.h>
#include <link.h>
#include <stdio.h>
#include <string.h>

_Atomic(const struct rl_hip_table *) rl_hip_current;
_Atomic(const struct rl_hsa_table *) rl_hsa_current;

struct wanted {
    const char *stem; /* file name up to a `.` or, in wheels, a `-` */
    char path[4096];
};

static int match_object(struct dl_phdr_info *info, size_t size, void *data)
{
    struct wanted *wanted = data;
    const char *slash = strrchr(info->dlpi_name, '/');
    const char *name = slash ? slash + 1 : info->dlpi_name;
    size_t length = strlen(wanted->stem);
    (void)size;
    if (strncmp(name, wanted->stem, length) || !strchr(".-", name[length]))
        return 0;
    snprintf(wanted->path, sizeof wanted->path, "%s", info->dlpi_name);
    return 1;
}

/* Handle of the loaded library, NULL when none is. The reference is kept: the table must stay callable. */
static void *loaded_library(const char *stem)
{
    struct wanted wanted = {.stem = stem};
    if (!dl_iterate_phdr(match_object, &wanted))
        return NULL;
    return dlopen(wanted.path, RTLD_LAZY | RTLD_NOLOAD);
}

static void *look_up(void *handle, const struct rl_native_entry *entry)
{
    void *function = entry->node[0] ? dlvsym(handle, entry->name, entry->node) : NULL;
    return function ? function : dlsym(handle, entry->name);
}

/* Fills `table`, whose members `entries` describes; false when nothing was found at all. */
static bool fill(const char *stem, const struct rl_native_entry *entries, size_t count, void *table)
{
    void *handle = loaded_library(stem);
    bool found = false;
    for (size_t i = 0; i < count; i++) {
        void *function = look_up(handle ? handle : RTLD_NEXT, &entries[i]);
        __atomic_store_n((void **)((char *)table + entries[i].offset), function, __ATOMIC_RELAXED);
        found = found || function;
    }
    return found;
}

const struct rl_hip_table *rl_hip_resolve(void)
{
    static struct rl_hip_table table;
    if (fill("libamdhip64", rl_hip_entries, rl_hip_entry_count, &table))
        atomic_store_explicit(&rl_hip_current, &table, memory_order_release);
    return &table;
}

const struct rl_hsa_table *rl_hsa_resolve(void)
{
    static struct rl_hsa_table table;
    if (fill("libhsa-runtime64", rl_hsa_entries, rl_hsa_entry_count, &table))
        atomic_store_explicit(&rl_hsa_current, &table, memory_order_release);
    return &table;
}
