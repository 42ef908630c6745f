/* SPDX-License-Identifier: Apache-2.0 */
/* See binding.h. */
#define _GNU_SOURCE
#include "native/binding.h"

#include <elf.h>
#include <string.h>

#include "native/process.h"
#include "native_table.h"
#include "report/options.h"

/* AMD's clr has it since 4.5, in a version node; other libraries of that name have no debugger interface. */
static const char clr_mark[] = "amd_dbgapi_get_build_name", clr_mark_node[] = "hip_4.5";

static const void *shim_of(const struct rl_native_entry *entry)
{
    return *(void *const *)((const char *)&rl_hip_shims + entry->offset);
}

static const struct rl_native_entry *entry_named(const char *name)
{
    for (size_t i = 0; i < rl_hip_entry_count; i++)
        if (!strcmp(rl_hip_entries[i].name, name))
            return &rl_hip_entries[i];
    return NULL;
}

/* What a newer release may have added: a function of graphs, nodes, execs, captures or user objects. */
static bool concerns_graphs(const char *name)
{
    const char *graph = strstr(name, "Graph");

    if (strncmp(name, "hip", 3))
        return false;
    while (graph && !strncmp(graph, "Graphics", 8))
        graph = strstr(graph + 1, "Graph");
    return graph || strstr(name, "Capture") || strstr(name, "UserObject");
}

static const char *unknown_function(const struct rl_object *hip)
{
    size_t count = rl_object_symbol_count(hip);

    for (size_t n = 1; n < count; n++) {
        const char *name = rl_object_function_name(hip, n);

        if (name && concerns_graphs(name) && !entry_named(name))
            return name;
    }
    return NULL;
}

struct binding {
    const struct rl_object *hip;
    bool ours_seen;
    const char *name; /* of a function that is bound elsewhere */
    char path[256];
};

static bool bound_elsewhere(struct binding *binding, const struct rl_object *object, const char *name)
{
    binding->name = name;
    strncpy(binding->path, object->path[0] ? object->path : "the program itself", sizeof(binding->path) - 1);
    return true;
}

static bool ours(const struct rl_object *object)
{
    return rl_object_has(object, (const void *)rl_binding_check);
}

/* Before us in the global scope. */
static bool defines_one(const struct rl_object *object, void *context)
{
    struct binding *binding = context;

    if (ours(object)) {
        binding->ours_seen = object->position < rl_objects_at_start();
        return true;
    }
    for (size_t i = 0; i < rl_hip_entry_count; i++) {
        const struct rl_native_entry *entry = &rl_hip_entries[i];

        if (entry->exported && rl_object_function(object, entry->name, entry->node) &&
            rl_object_function(binding->hip, entry->name, entry->node))
            return bound_elsewhere(binding, object, entry->name);
    }
    return false;
}

static const char *bypassed_by(const struct rl_object *object, const ElfW(Rela) * relocation,
                               const struct rl_object *hip)
{
    unsigned type = ELF64_R_TYPE(relocation->r_info);
    const ElfW(Sym) *symbol = &object->symbols[ELF64_R_SYM(relocation->r_info)];
    const char *name = object->strings + symbol->st_name;
    const struct rl_native_entry *entry;
    const void *bound;

    if (type != R_X86_64_JUMP_SLOT && type != R_X86_64_GLOB_DAT && type != R_X86_64_64)
        return NULL;
    if (symbol->st_shndx != SHN_UNDEF || (strncmp(name, "hip", 3) && strncmp(name, "__hip", 5)))
        return NULL;
    bound = *(void *const *)(object->base + relocation->r_offset);
    entry = rl_object_has(hip, bound) ? entry_named(name) : NULL;
    return entry && entry->exported && bound != shim_of(entry) ? entry->name : NULL;
}

/* Bound to the library directly, past the global scope. */
static bool bypasses(const struct rl_object *object, void *context)
{
    struct binding *binding = context;

    if (object->base == binding->hip->base || ours(object))
        return false;
    for (int kind = 0; kind < 2; kind++)
        for (size_t i = 0; i < object->relocation_counts[kind]; i++) {
            const char *name = bypassed_by(object, &object->relocations[kind][i], binding->hip);

            if (name)
                return bound_elsewhere(binding, object, name);
        }
    return false;
}

void rl_binding_check(const struct rl_object *hip)
{
    struct binding binding = { .hip = hip };
    const char *unknown;

    if (!rl_options()->enabled) {
        rl_process_forward(RL_REASON_SWITCHED_OFF, NULL);
    } else if (!hip || !hip->definitions || !rl_object_function(hip, clr_mark, clr_mark_node)) {
        rl_process_forward(RL_REASON_NOT_CLR, "%s", hip ? hip->path : "no library of that name is loaded");
    } else if ((unknown = unknown_function(hip))) {
        rl_process_forward(RL_REASON_UNKNOWN_FUNCTION, "%s", unknown);
    } else if (rl_objects_walk(defines_one, &binding) && binding.name) {
        rl_process_forward(RL_REASON_NOT_BOUND, "%s is bound to %s", binding.name, binding.path);
    } else if (!binding.ours_seen) {
        rl_process_forward(RL_REASON_NOT_BOUND, "the library was not loaded when the program started");
    } else if (rl_objects_walk(bypasses, &binding)) {
        rl_process_forward(RL_REASON_NOT_BOUND, "%s calls %s past it", binding.path, binding.name);
    } else {
        rl_process_work();
    }
}
