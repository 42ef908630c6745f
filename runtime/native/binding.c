/* SPDX-License-Identifier: Apache-2.0 */
/* See binding.h. */
#define _GNU_SOURCE
#include "native/binding.h"

#include <elf.h>
#include <string.h>

#include "native/process.h"
#include "native/tools.h"
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

static bool is_ours(const struct rl_object *object, void *context)
{
    ((struct binding *)context)->ours_seen = ours(object) && object->position < rl_objects_at_start();
    return ours(object);
}

/* Before us in the global scope. */
static bool defines_one(const struct rl_object *object, void *context)
{
    struct binding *binding = context;

    if (ours(object))
        return true;
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

/* HIP's own libraries look functions up, but none of HIP that would change a graph. The C library has the functions and
 * does not refer to them. */
static bool comes_with_hip(const struct rl_object *object)
{
    return rl_object_is(object, "libhsa-runtime64") || rl_object_is(object, "libamd_comgr") ||
           rl_object_is(object, "libhsakmt") || rl_object_is(object, "libdrm");
}

static bool looks_up(const struct rl_object *object, void *context)
{
    static const char *const lookers[] = { "dlsym", "dlvsym", "dlopen", "dlmopen" };
    struct binding *binding = context;

    if (object->base == binding->hip->base || ours(object) || comes_with_hip(object))
        return false;
    for (size_t i = 0; i < sizeof(lookers) / sizeof(lookers[0]); i++)
        if (rl_object_needs(object, lookers[i]))
            return bound_elsewhere(binding, object, lookers[i]);
    return false;
}

bool rl_binding_is_clr(const struct rl_object *object)
{
    return object->definitions && rl_object_function(object, clr_mark, clr_mark_node);
}

bool rl_binding_may_work(const struct rl_object *hip)
{
    struct binding binding = { .hip = hip };

    if (!rl_options()->enabled)
        rl_process_forward(RL_REASON_SWITCHED_OFF, NULL);
    else if (!hip || !rl_binding_is_clr(hip))
        rl_process_forward(RL_REASON_NOT_CLR, "%s", hip ? hip->path : "no library of that name is loaded");
    else if (rl_objects_walk(is_ours, &binding) && !binding.ours_seen)
        rl_process_forward(RL_REASON_NOT_BOUND, "the library was not loaded when the program started");
    else
        return rl_process_may_work();
    return false;
}

/* Without dispatch tables. */
static bool all_is_bound(struct binding *binding, const char *wrapper)
{
    if (rl_objects_walk(defines_one, binding) && binding->name)
        rl_process_forward(RL_REASON_NOT_BOUND, "%s is bound to %s", binding->name, binding->path);
    else if (rl_objects_walk(bypasses, binding))
        rl_process_forward(RL_REASON_NOT_BOUND, "%s calls %s past it", binding->path, binding->name);
    else if (wrapper[0])
        rl_process_forward(RL_REASON_WRAPPED, "%s", wrapper);
    else if (rl_objects_walk(looks_up, binding))
        rl_process_forward(RL_REASON_NOT_BOUND, "%s can look it up with %s()", binding->path, binding->name);
    else
        return true;
    return false;
}

void rl_binding_check(const struct rl_object *hip, const struct rl_dispatch_tables *dispatch,
                      const char *taken, const char *wrapper)
{
    struct binding binding = { .hip = hip };
    const char *unknown;

    if (!rl_process_may_work())
        return;
    unknown = rl_dispatch_unknown(hip, dispatch);
    if (rl_tools_have_registered())
        rl_process_forward(RL_REASON_TOOL, "rocprofiler-register has found a tool");
    else if (taken)
        rl_process_forward(RL_REASON_TOOL, "HIP's dispatch table has another function for %s", taken);
    else if (unknown)
        rl_process_forward(RL_REASON_UNKNOWN_FUNCTION, "%s", unknown);
    else if (dispatch || all_is_bound(&binding, wrapper))
        rl_process_work();
}
