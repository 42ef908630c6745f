/* See arguments.h. */
#include "arguments.h"

#include <string.h>

#include "memory.h"
#include "native.h"

enum { MOST_BLOCK_BYTES = 64 << 10 };

/* As HIP itself tells a host function of a compiled-in kernel from a hipFunction_t: by looking for the former. */
uint64_t rl_function_name(const struct rl_hip_table *hip, void *function)
{
    hipFunction_t kernel = NULL;
    const char *name;

    if (!hip->hipGetFuncBySymbol || !hip->hipKernelNameRef || !function)
        return 0;
    if (hip->hipGetFuncBySymbol(&kernel, function) != hipSuccess || !kernel)
        kernel = function;
    name = hip->hipKernelNameRef(kernel);
    return name ? rl_code_name_hash(name, strlen(name)) : 0;
}

static size_t block_bytes(const struct rl_layout *layout)
{
    size_t bytes = 0;

    for (uint32_t i = 0; i < layout->count; i++) {
        size_t end = (size_t)layout->argument[i].offset + layout->argument[i].size;

        bytes = end > bytes ? end : bytes;
    }
    return bytes;
}

void *rl_arguments_copy(const struct rl_hip_table *hip, void *function, void *const *pointers, size_t *bytes)
{
    const struct rl_hsa_table *hsa = atomic_load_explicit(&rl_hsa_current, memory_order_acquire);
    struct rl_layout layout;
    char *block;

    if (!pointers || !hsa || !rl_code_layout(hsa, rl_function_name(hip, function), &layout))
        return NULL;
    *bytes = block_bytes(&layout);
    if (!*bytes || *bytes > MOST_BLOCK_BYTES)
        return NULL;
    block = rl_allocate(1, *bytes);
    for (uint32_t i = 0; block && i < layout.count; i++)
        memcpy(block + layout.argument[i].offset, pointers[i], layout.argument[i].size);
    return block;
}

bool rl_arguments_match(const struct rl_layout *layout, const void *block, size_t bytes, const void *dispatched,
                        size_t dispatched_bytes)
{
    for (uint32_t i = 0; i < layout->count; i++) {
        size_t offset = layout->argument[i].offset, size = layout->argument[i].size;

        if (offset + size > bytes || offset + size > dispatched_bytes ||
            memcmp((const char *)block + offset, (const char *)dispatched + offset, size) != 0)
            return false;
    }
    return true;
}
