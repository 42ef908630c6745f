/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How long it takes, once in a process, to find the dispatch tables of a libamdhip64, to compare them with what is known
 * and to put the hooks into their entries, in nanoseconds. Holds the runtime itself. See shim.py.
 */
#define _GNU_SOURCE
#include <stdio.h>
#include <time.h>

#include "native/dispatch.h"
#include "native/object.h"

static double now(void)
{
    struct timespec time;

    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec * 1e9 + (double)time.tv_nsec;
}

static bool is_hip(const struct rl_object *object, void *context)
{
    *(struct rl_object *)context = *object;
    return rl_object_is(object, "libamdhip64");
}

int main(void)
{
    static struct rl_hip_table own;
    struct rl_dispatch_tables found;
    struct rl_object hip;
    double start;

    if (!rl_objects_walk(is_hip, &hip))
        return 1;
    for (size_t i = 0; i < rl_hip_entry_count; i++)
        *(void **)((char *)&own + rl_hip_entries[i].offset) = rl_object_function(&hip, rl_hip_entries[i].name,
                                                                                 rl_hip_entries[i].node);
    start = now();
    if (!rl_dispatch_find(&hip, &found) || rl_dispatch_read(&hip, &found, NULL, &own) ||
        rl_dispatch_unknown(&hip, &found))
        return 1;
    rl_dispatch_install(&found, &own);
    printf("installation in HIP's dispatch tables, once\t%.2f\n", now() - start);
    return 0;
}
