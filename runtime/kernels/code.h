/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Kernels as HSA's loader knows them: descriptor and name of a kernel object, where its arguments lie, and
 * which of HIP's built-in kernels it is.
 *
 * Descriptors are read through the loader's own host copy, never through the GPU's address. What was found is
 * kept until rl_code_forget(), which an unload of code calls.
 *
 * Threads: any; a mutex of its own, with which loader functions are called. Failure: false.
 */
#ifndef REDLINE_CODE_H
#define REDLINE_CODE_H

#include <stdbool.h>
#include <stdint.h>

#include "kernels/metadata.h"
#include "native_table.h"

enum rl_builtin { RL_BUILTIN_NONE, RL_BUILTIN_FILL, RL_BUILTIN_FILL_2D, RL_BUILTIN_COPY, RL_BUILTIN_OTHER };

struct rl_code {
    uint64_t object; /* as in a dispatch packet */
    uint64_t name;   /* rl_code_name_hash() of its name; 0: the loader does not tell */
    enum rl_builtin builtin;
    uint32_t kernarg_bytes;
    unsigned char descriptor[64];
    struct rl_layout layout;
};

bool rl_code_find(const struct rl_hsa_table *hsa, uint64_t object, struct rl_code *code);
/* Of any kernel of that name: not known if several of them have different ones. */
bool rl_code_layout(const struct rl_hsa_table *hsa, uint64_t name, struct rl_layout *layout);

void rl_code_add_agent(uint64_t agent); /* whose kernels are looked for */
void rl_code_forget(void);

const char *rl_builtin_name(enum rl_builtin builtin); /* for people */

uint64_t rl_code_name_hash(const char *name, unsigned long length);

#endif
