/* SPDX-License-Identifier: Apache-2.0 */
/* See builtin.h. */
#include "kernels/builtin.h"

#include <stddef.h>
#include <string.h>

#include "kernels/fill.h"

/* __amd_rocclr_copyBuffer of HIP 7.2, rocclr/device/blitcl.cpp in clr. */
struct copy_arguments {
    uint64_t source, destination, bytes;
    uint32_t remainder, unit; /* bytes behind the last whole unit; bytes of a unit */
    uint64_t end;             /* of the whole units at the destination */
    uint32_t stride, workgroup;
};

_Static_assert(sizeof(struct copy_arguments) == 48, "the argument block of 7.2.4");

static bool read_copy(const void *arguments, uint32_t bytes, const struct rl_aql_dispatch *dispatch,
                      struct rl_builtin_use *use)
{
    struct copy_arguments copy;

    if (bytes < sizeof(copy)) /* hidden arguments may follow */
        return false;
    memcpy(&copy, arguments, sizeof(copy));
    *use = (struct rl_builtin_use){
        .to = copy.destination, .from = copy.source, .bytes = copy.bytes, .rows = 1
    };
    return copy.source && copy.destination && copy.bytes && (copy.unit == 4 || copy.unit == 16) &&
           copy.remainder < copy.bytes + 1 && copy.workgroup == dispatch->workgroup[0] &&
           copy.end == copy.destination + copy.bytes - copy.remainder;
}

static bool read_fill(const char *kernel, const void *arguments, uint32_t bytes,
                      const struct rl_aql_dispatch *dispatch, struct rl_builtin_use *use)
{
    uint32_t grid[3];
    uint16_t workgroup[3];
    struct rl_fill fill;

    memcpy(grid, dispatch->grid, sizeof(grid));
    memcpy(workgroup, dispatch->workgroup, sizeof(workgroup));
    if (!rl_fill_read(&fill, kernel, bytes, arguments, grid, workgroup))
        return false;
    *use = (struct rl_builtin_use){
        .to = fill.destination,
        .bytes = fill.row_bytes,
        .rows = fill.rows,
        .pitch = fill.pitch,
        .pattern = fill.pattern,
        .pattern_at = fill.pattern_at,
        .pattern_bytes = fill.pattern_bytes,
    };
    return true;
}

bool rl_builtin_read(enum rl_builtin builtin, const void *arguments, uint32_t argument_bytes,
                     const struct rl_aql_dispatch *dispatch, struct rl_builtin_use *use)
{
    switch (builtin) {
    case RL_BUILTIN_FILL:
        return read_fill("__amd_rocclr_fillBufferAligned", arguments, argument_bytes, dispatch, use);
    case RL_BUILTIN_FILL_2D:
        return read_fill("__amd_rocclr_fillBufferAligned2D", arguments, argument_bytes, dispatch, use);
    case RL_BUILTIN_COPY: return read_copy(arguments, argument_bytes, dispatch, use);
    default: return false;
    }
}
