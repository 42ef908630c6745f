/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where a kernel's arguments lie in its argument block: from the notes of its code object (LLVM's AMDGPU
 * usage guide, "Code Object Metadata").
 *
 * The bytes are not believed: whatever is cut off, nested too deeply or contradictory ends the reading.
 * Nothing is kept; any thread may call it.
 */
#ifndef REDLINE_METADATA_H
#define REDLINE_METADATA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { RL_MOST_ARGUMENTS = 64 };

/* The arguments that an application gives, in its order. */
struct rl_layout {
    bool known;  /* false: the code object does not say, or there are more of them */
    bool prints; /* into a buffer that HIP reads behind a launch of its own */
    uint32_t count;
    struct {
        uint32_t offset, size;
    } argument[RL_MOST_ARGUMENTS];
};

struct rl_image {
    bool (*read)(const struct rl_image *image, uint64_t offset, void *to, size_t bytes);
    const void *memory;
    size_t size;
    bool
        loaded; /* laid out as the program headers want it, from the address `first` on; else as in the file */
    uint64_t first;
};

static inline size_t rl_layout_bytes(const struct rl_layout *layout)
{
    return offsetof(struct rl_layout, argument) + layout->count * sizeof(layout->argument[0]);
}

/* Calls `visit` for each kernel of the ELF image, with its symbol (`name.kd`). False: no metadata, or
 * damaged. */
bool rl_metadata_read(const struct rl_image *image,
                      void (*visit)(const char *symbol, size_t length, const struct rl_layout *layout,
                                    void *context),
                      void *context);

/* For images in memory that somebody else may have unmapped: bytes that are not there are a failure, not a
 * crash. */
bool rl_image_read_carefully(const struct rl_image *image, uint64_t offset, void *to, size_t bytes);

#endif
