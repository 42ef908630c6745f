/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Kernels as HSA's loader has them now: which executable holds a kernel object, and its descriptor, name and
 * arguments. A kernel is its object; names may be those of several kernels.
 *
 * Executables are known from their loads: rl_code_loaded() when one is frozen and rl_code_unloaded() before it
 * is destroyed, so that nothing is ever found in one that is gone, whatever has its addresses. What stands in one
 * is read when it is asked for, from the loader's own copy of the code object, which lives as long as it.
 *
 * Threads: any; a mutex of its own, with which loader functions are called. Failure: false.
 */
#ifndef REDLINE_CODE_H
#define REDLINE_CODE_H

#include <stdbool.h>
#include <stdint.h>

#include "kernels/metadata.h"
#include "kernels/name.h"
#include "native_table.h"

struct rl_code {
    uint64_t object;     /* as in a dispatch packet */
    uint64_t executable; /* number of the executable that holds it */
    uint64_t module;     /* number of the module or library that it was loaded for; 0: none that was seen */
    uint64_t name;       /* rl_name_hash() of its name */
    enum rl_builtin builtin;
    uint32_t kernarg_bytes;
    unsigned char descriptor[64];
    struct rl_layout layout;
};

/* `executable`: the handle. It gets a number, which no other one ever has. */
void rl_code_loaded(uint64_t executable, uint64_t module);
uint64_t rl_code_unloaded(uint64_t executable); /* its number; 0: it had none */
bool rl_code_is_loaded(uint64_t number);
unsigned rl_code_generation(void); /* changes with each one that is unloaded */

bool rl_code_find(const struct rl_hsa_table *hsa, uint64_t object, struct rl_code *code);

bool rl_code_has_module(uint64_t module); /* something is loaded for it */

/* Of the kernels of that name among those that were loaded for `module`, or 0: among all. Not known where they differ
 * in it. */
bool rl_code_layout(const struct rl_hsa_table *hsa, uint64_t module, uint64_t name, struct rl_layout *layout);

#endif
