/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One executable of HSA's loader: the memory of the code objects in it, its kernels, where their arguments lie.
 *
 * The three steps are made once each, in this order, when somebody needs them; a step that fails may be made
 * again. Threads: the caller sees to it that the executable is not destroyed meanwhile.
 */
#ifndef REDLINE_EXECUTABLE_H
#define REDLINE_EXECUTABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "kernels/metadata.h"
#include "kernels/name.h"
#include "native_table.h"

struct rl_executable;

struct rl_kernel_entry {
    uint64_t object, agent, name;
    enum rl_builtin builtin;
    struct rl_layout
        *layout; /* only as long as it has arguments; NULL: not read, or the code object has none */
    struct rl_executable *executable;
    struct rl_kernel_entry *next; /* the caller's */
};

/* A code object, as it was loaded for one GPU. */
struct rl_code_part {
    uint64_t code_object, agent, base, size;
    int64_t delta; /* address - the ELF file's address */
};

struct rl_executable {
    uint64_t handle, number, module;
    struct rl_executable *next; /* the caller's */
    struct rl_code_part *parts;
    size_t part_count;
    struct rl_kernel_entry *kernels;
    size_t kernel_count, kernel_room;
    bool located, listed, read;
};

/* hsa_ven_amd_loader_1_03_pfn_t: a release with an older table fills the part that it has. */
struct rl_loader {
    hsa_status_t (*host_address)(const void *device, const void **host);
    void (*segments)(void), (*executable)(void);
    hsa_status_t (*code_objects)(hsa_executable_t, hsa_status_t (*visit)(hsa_executable_t, uint64_t, void *),
                                 void *);
    hsa_status_t (*code_object_info)(uint64_t code_object, int attribute, void *value);
};

bool rl_loader_find(const struct rl_hsa_table *hsa, struct rl_loader *loader);

bool rl_executable_locate(const struct rl_loader *loader, struct rl_executable *executable);
bool rl_executable_list(const struct rl_hsa_table *hsa, struct rl_executable *executable);
bool rl_executable_read(const struct rl_loader *loader, struct rl_executable *executable);

bool rl_executable_has(const struct rl_executable *executable, uint64_t object); /* when it is located */
void rl_executable_free(struct rl_executable *executable);

#endif
