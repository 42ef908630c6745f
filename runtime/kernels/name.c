/* SPDX-License-Identifier: Apache-2.0 */
/* See name.h. */
#include "kernels/name.h"

#include <string.h>

uint64_t rl_name_hash(const char *name, size_t length)
{
    uint64_t hash = UINT64_C(0xcbf29ce484222325);

    for (size_t i = 0; i < length; i++)
        hash = (hash ^ (unsigned char)name[i]) * UINT64_C(0x100000001b3);
    return hash | 1;
}

const char *rl_builtin_name(enum rl_builtin builtin)
{
    static const char *const texts[] = {
        [RL_BUILTIN_NONE] = "kernel", [RL_BUILTIN_FILL] = "fill",           [RL_BUILTIN_FILL_2D] = "2-D fill",
        [RL_BUILTIN_COPY] = "copy",   [RL_BUILTIN_OTHER] = "kernel of HIP",
    };

    return texts[builtin];
}

enum rl_builtin rl_builtin_of(const char *name, size_t length)
{
    static const char prefix[] = "__amd_rocclr_";
    static const struct {
        const char *name;
        enum rl_builtin builtin;
    } known[] = {
        { "fillBufferAligned", RL_BUILTIN_FILL },
        { "fillBufferAligned2D", RL_BUILTIN_FILL_2D },
        { "copyBuffer", RL_BUILTIN_COPY },
    };
    size_t skip = sizeof(prefix) - 1;

    if (length <= skip || memcmp(name, prefix, skip))
        return RL_BUILTIN_NONE;
    for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
        if (strlen(known[i].name) == length - skip && !memcmp(known[i].name, name + skip, length - skip))
            return known[i].builtin;
    return RL_BUILTIN_OTHER;
}
