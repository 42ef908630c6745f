/* SPDX-License-Identifier: Apache-2.0 */
/* Runs one dispatch: checks it against what the kernel needs, then walks work-groups and work-items. */
#include "twin.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fiber.h"
#include "item.h"
#include "table.h"

/* Explicit arguments of the test kernels and the 256 bytes that may follow them. */
#define MOST_KERNARG 512u

/* What an earlier work-group leaves in local memory is nobody's: every group starts from this. */
#define LDS_GARBAGE 0xcd

__thread struct sg_item sg_item __attribute__((tls_model("initial-exec"), visibility("hidden")));

static int fail(char *error, size_t error_size, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

static int fail(char *error, size_t error_size, const char *format, ...)
{
    va_list list;

    va_start(list, format);
    vsnprintf(error, error_size, format, list);
    va_end(list);
    return -1;
}

static const struct sg_twin *find(const char *kernel)
{
    for (size_t i = 0; i < sg_twin_count; i++)
        if (!strcmp(sg_twins[i].layout.kernel, kernel))
            return &sg_twins[i];
    return NULL;
}

bool sg_twin_known(const char *kernel)
{
    return find(kernel) || sg_builtin_find(kernel);
}

const struct sg_twin_layout *sg_twin_layout(size_t index)
{
    return index < sg_twin_count ? &sg_twins[index].layout : NULL;
}

/* Fields of the hidden arguments: block counts at 0, block sizes at 12, remainders at 18, by dimension. */
#define HIDDEN_READ 24u

static uint32_t hidden_count(uint32_t d)
{
    uint32_t value;

    memcpy(&value, sg_item.hidden + 4 * d, sizeof(value));
    return value;
}

static uint32_t hidden_half(uint32_t offset, uint32_t d)
{
    uint16_t value;

    memcpy(&value, sg_item.hidden + offset + 2 * d, sizeof(value));
    return value;
}

static uint32_t packet_workgroup(uint32_t d)
{
    uint16_t value;

    memcpy(&value, sg_item.packet + 4 + 2 * d, sizeof(value));
    return value;
}

static uint32_t packet_grid(uint32_t d)
{
    uint32_t value;

    memcpy(&value, sg_item.packet + 12 + 4 * d, sizeof(value));
    return value;
}

uint32_t sg_item_local_size(uint32_t d)
{
    return sg_item.hidden ? hidden_half(12, d) : packet_workgroup(d);
}

uint32_t sg_item_global_size(uint32_t d)
{
    return sg_item.hidden ? hidden_count(d) * hidden_half(12, d) + hidden_half(18, d) : packet_grid(d);
}

void sg_item_barrier(void)
{
    if (!sg_fiber_yield() && !sg_item.error)
        sg_item.error = "has a barrier that its twin's table does not know of";
}

void *sg_item_lds(uint64_t offset, uint64_t bytes)
{
    if (offset <= sg_item.lds_bytes && bytes <= sg_item.lds_bytes - offset)
        return sg_item.lds + offset;
    if (!sg_item.error)
        sg_item.error = "uses more local memory than the dispatch gives it";
    return NULL;
}

uint64_t sg_item_global(const char *name)
{
    for (int i = 0; i < SG_TWIN_VARIABLES && sg_item.global_name[i]; i++)
        if (!strcmp(sg_item.global_name[i], name))
            return sg_item.global[i];
    abort(); /* the table of kernels.c lacks a variable that the kernel names */
}

/* One work-group whose size in x, y, z is `size`. */
struct group {
    const struct sg_twin *twin;
    const void *block;
    const uint32_t *size;
};

static void resume_item(void *context, uint32_t index)
{
    const struct group *group = context;

    sg_item.flat_local = index;
    sg_item.local[0] = index % group->size[0];
    sg_item.local[1] = index / group->size[0] % group->size[1];
    sg_item.local[2] = index / group->size[0] / group->size[1];
}

static void enter_item(void *context, uint32_t index)
{
    const struct group *group = context;

    (void)index;
    group->twin->item(group->block);
}

static void run_group(struct group *group, struct sg_fibers *fibers)
{
    const uint32_t *size = group->size;

    if (sg_item.lds)
        memset(sg_item.lds, LDS_GARBAGE, sg_item.lds_bytes);
    if (fibers) {
        sg_fibers_run(fibers, size[0] * size[1] * size[2], enter_item, resume_item, group);
        return;
    }
    sg_item.flat_local = 0;
    for (sg_item.local[2] = 0; sg_item.local[2] < size[2]; sg_item.local[2]++)
        for (sg_item.local[1] = 0; sg_item.local[1] < size[1]; sg_item.local[1]++)
            group->twin->row(group->block, size[0]);
}

static uint32_t group_size(const struct sg_dispatch *dispatch, int d)
{
    uint32_t left = dispatch->grid[d] - sg_item.group[d] * dispatch->workgroup[d];

    return left < dispatch->workgroup[d] ? left : dispatch->workgroup[d];
}

static uint32_t group_count(const struct sg_dispatch *dispatch, int d)
{
    return dispatch->grid[d] / dispatch->workgroup[d] + (dispatch->grid[d] % dispatch->workgroup[d] != 0);
}

static void run_groups(const struct sg_twin *twin, const struct sg_dispatch *dispatch, const void *block,
                       struct sg_fibers *fibers)
{
    uint32_t size[3];
    struct group group = { .twin = twin, .block = block, .size = size };
    uint32_t x = group_count(dispatch, 0), y = group_count(dispatch, 1), z = group_count(dispatch, 2);
    uint32_t *id = sg_item.group;

    for (id[2] = 0; id[2] < z; id[2]++)
        for (id[1] = 0; id[1] < y; id[1]++)
            for (id[0] = 0; id[0] < x && !sg_item.error; id[0]++) {
                for (int d = 0; d < 3; d++)
                    size[d] = group_size(dispatch, d);
                run_group(&group, fibers);
            }
}

static int check_shape(const struct sg_dispatch *dispatch, char *error, size_t error_size)
{
    uint64_t items = 1;

    for (int d = 0; d < 3; d++) {
        if (!dispatch->grid[d] || !dispatch->workgroup[d])
            return fail(error, error_size, "kernel %s: a grid or work-group size of 0", dispatch->kernel);
        items *= dispatch->workgroup[d];
    }
    if (items > 1024)
        return fail(error, error_size, "kernel %s: a work-group of %llu work-items, 1024 is the most",
                    dispatch->kernel, (unsigned long long)items);
    return 0;
}

static int check_needs(const struct sg_twin *twin, const struct sg_dispatch *dispatch, char *error,
                       size_t error_size)
{
    const struct sg_twin_layout *layout = &twin->layout;
    uint32_t kernarg = layout->hidden_offset ? layout->hidden_offset + HIDDEN_READ : layout->explicit_size;

    if (dispatch->kernarg_size < kernarg)
        return fail(error, error_size, "kernel %s: kernarg segment of %zu bytes, it reads %u", layout->kernel,
                    dispatch->kernarg_size, kernarg);
    if (dispatch->lds_bytes < layout->lds_static)
        return fail(error, error_size, "kernel %s: %u bytes of local memory, its static arrays need %u",
                    layout->kernel, dispatch->lds_bytes, layout->lds_static);
    if (dispatch->scratch_bytes < layout->scratch)
        return fail(error, error_size, "kernel %s: %u bytes of scratch a work-item, it needs %u",
                    layout->kernel, dispatch->scratch_bytes, layout->scratch);
    if (dispatch->wave_size != 32 && dispatch->wave_size != 64)
        return fail(error, error_size, "kernel %s: a wave of %u lanes", layout->kernel, dispatch->wave_size);
    if (twin->packet && !dispatch->dispatch_packet)
        return fail(error, error_size, "kernel %s reads its dispatch packet, and there is none",
                    layout->kernel);
    return 0;
}

static int resolve(const struct sg_twin *twin, const struct sg_dispatch *dispatch, uint64_t *global,
                   char *error, size_t error_size)
{
    for (int i = 0; i < SG_TWIN_VARIABLES && twin->variables[i]; i++) {
        global[i] = dispatch->global ? dispatch->global(dispatch->global_context, twin->variables[i]) : 0;
        if (!global[i])
            return fail(error, error_size, "kernel %s: its code object has no variable %s on this device",
                        twin->layout.kernel, twin->variables[i]);
    }
    return 0;
}

static int run_twin(const struct sg_twin *twin, const struct sg_dispatch *dispatch, char *error,
                    size_t error_size)
{
    _Alignas(16) uint8_t kernarg[MOST_KERNARG];
    uint64_t global[SG_TWIN_VARIABLES];
    struct sg_fibers *fibers = NULL;

    if (check_needs(twin, dispatch, error, error_size) || resolve(twin, dispatch, global, error, error_size))
        return -1;
    memcpy(kernarg, dispatch->kernarg,
           dispatch->kernarg_size < sizeof(kernarg) ? dispatch->kernarg_size : sizeof(kernarg));
    sg_item = (struct sg_item){
        .wave_size = dispatch->wave_size,
        .hidden = twin->layout.hidden_offset ? kernarg + twin->layout.hidden_offset : NULL,
        .packet = dispatch->dispatch_packet,
        .lds_bytes = dispatch->lds_bytes,
        .lds_static = twin->layout.lds_static,
        .global_name = twin->variables,
        .global = global,
    };
    if (dispatch->lds_bytes && !(sg_item.lds = malloc(dispatch->lds_bytes)))
        return fail(error, error_size, "kernel %s: no host memory for its local memory", dispatch->kernel);
    if (twin->barriers &&
        !(fibers = sg_fibers_new(dispatch->workgroup[0] * dispatch->workgroup[1] * dispatch->workgroup[2]))) {
        free(sg_item.lds);
        return fail(error, error_size, "kernel %s: no host memory for its work-items' stacks",
                    dispatch->kernel);
    }
    run_groups(twin, dispatch, kernarg, fibers);
    sg_fibers_free(fibers);
    free(sg_item.lds);
    if (sg_item.error)
        return fail(error, error_size, "kernel %s %s (work-group %u,%u,%u; earlier groups ran)",
                    dispatch->kernel, sg_item.error, sg_item.group[0], sg_item.group[1], sg_item.group[2]);
    return 0;
}

static int run_builtin(const struct sg_builtin *builtin, const struct sg_dispatch *dispatch, char *error,
                       size_t error_size)
{
    uint32_t hidden = (builtin->kernarg + 7u) & ~7u;
    uint32_t reads = builtin->hidden ? hidden + HIDDEN_READ : builtin->kernarg;

    if (dispatch->kernarg_size < reads)
        return fail(error, error_size, "kernel %s: kernarg segment of %zu bytes, it reads %u",
                    builtin->kernel, dispatch->kernarg_size, reads);
    for (int d = 0; builtin->hidden && d < 3; d++) {
        uint16_t size;
        memcpy(&size, (const uint8_t *)dispatch->kernarg + hidden + 12 + 2 * d, sizeof(size));
        if (size != dispatch->workgroup[d])
            return fail(error, error_size,
                        "kernel %s: hidden block size %u in dimension %d, dispatched with %u",
                        builtin->kernel, size, d, dispatch->workgroup[d]);
    }
    return builtin->run(dispatch, error, error_size);
}

int sg_twin_run(const struct sg_dispatch *dispatch, char *error, size_t error_size)
{
    const struct sg_twin *twin = find(dispatch->kernel);
    const struct sg_builtin *builtin = twin ? NULL : sg_builtin_find(dispatch->kernel);

    if (!twin && !builtin)
        return fail(error, error_size, "kernel %s has no twin on this host", dispatch->kernel);
    if (check_shape(dispatch, error, error_size))
        return -1;
    return twin ? run_twin(twin, dispatch, error, error_size)
                : run_builtin(builtin, dispatch, error, error_size);
}
