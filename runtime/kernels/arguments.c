/* SPDX-License-Identifier: Apache-2.0 */
/* See arguments.h. */
#include "kernels/arguments.h"

#include <string.h>

#include "base/memory.h"
#include "kernels/code.h"
#include "native/native.h"

enum { MOST_BLOCK_BYTES = 64 << 10 };

static size_t block_bytes(const struct rl_layout *layout)
{
    size_t bytes = 0;

    for (uint32_t i = 0; i < layout->count; i++) {
        size_t end = (size_t)layout->argument[i].offset + layout->argument[i].size;

        bytes = end > bytes ? end : bytes;
    }
    return bytes;
}

bool rl_arguments_copy(struct rl_function function, void *const *pointers, void **block, size_t *bytes)
{
    const struct rl_hsa_table *hsa = atomic_load_explicit(&rl_hsa_current, memory_order_acquire);
    struct rl_layout layout;
    char *made;

    *block = NULL;
    *bytes = 0;
    if (!hsa || !rl_code_layout(hsa, function.module, function.name, &layout))
        return false;
    *bytes = block_bytes(&layout);
    if (!*bytes)
        return true;
    made = pointers && *bytes <= MOST_BLOCK_BYTES ? rl_allocate(1, *bytes) : NULL;
    for (uint32_t i = 0; made && i < layout.count; i++)
        memcpy(made + layout.argument[i].offset, pointers[i], layout.argument[i].size);
    if (!made)
        *bytes = 0;
    *block = made;
    return made;
}

static bool fits(const struct rl_layout *layout, size_t bytes, size_t dispatched_bytes)
{
    size_t wanted = block_bytes(layout);

    return layout->known && wanted <= bytes && wanted <= dispatched_bytes;
}

bool rl_arguments_write(const struct rl_layout *layout, const void *block, size_t bytes, void *dispatched,
                        size_t dispatched_bytes)
{
    if (!fits(layout, bytes, dispatched_bytes))
        return false;
    for (uint32_t i = 0; i < layout->count; i++)
        memcpy((char *)dispatched + layout->argument[i].offset,
               (const char *)block + layout->argument[i].offset, layout->argument[i].size);
    return true;
}

bool rl_arguments_match(const struct rl_layout *layout, const void *block, size_t bytes,
                        const void *dispatched, size_t dispatched_bytes)
{
    if (!fits(layout, bytes, dispatched_bytes))
        return false;
    for (uint32_t i = 0; i < layout->count; i++) {
        size_t offset = layout->argument[i].offset, size = layout->argument[i].size;

        if (memcmp((const char *)block + offset, (const char *)dispatched + offset, size) != 0)
            return false;
    }
    return true;
}
