/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rocprofiler_register_library_api_table(): what HIP and ROCr hand their dispatch tables to when they make them, where
 * AMD built them with rocprofiler-register. The call goes on to that library, which looks for tools. The names, and
 * what is returned, are those of its public header.
 *
 * HIP is in the middle of making the table and waits for the answer, on this thread; others wait for this one.
 */
#include <stdint.h>
#include <string.h>

#include "native/dispatch.h"
#include "native/native.h"
#include "native/object.h"
#include "native/tools.h"

enum { SUCCESS = 0, NO_TOOLS = 1 };

typedef int register_fn(const char *name, void *import, uint32_t version, void **tables, uint64_t count,
                        void *id);
register_fn rocprofiler_register_library_api_table;

struct next {
    register_fn *function;
    bool behind_us;
};

/* The first behind us, or if there is none the last before. */
static bool find_next(const struct rl_object *object, void *context)
{
    struct next *next = context;
    void *function;

    if (rl_object_has(object, (const void *)rl_hip_resolve)) {
        next->behind_us = true;
        return false;
    }
    function = rl_object_function(object, "rocprofiler_register_library_api_table", NULL);
    if (function)
        next->function = (register_fn *)function;
    return function && next->behind_us;
}

RL_EXPORT int rocprofiler_register_library_api_table(const char *name, void *import, uint32_t version,
                                                     void **tables, uint64_t count, void *id)
{
    const void *caller = __builtin_return_address(0);
    struct next next = { NULL, false };
    int status;

    rl_objects_walk(find_next, &next);
    status = next.function ? next.function(name, import, version, tables, count, id) : NO_TOOLS;
    if (!name || !tables || !count)
        return status;
    if (status == SUCCESS)
        rl_tools_registered();
    rl_dispatch_registered(name, tables[0]);
    if (!strcmp(name, rl_dispatch_layouts[RL_DISPATCH_HIP].registered))
        rl_hip_resolve(caller);
    return status;
}
