/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which kernel a function handle of HIP means: a hipFunction_t, a hipKernel_t, or the host function of a
 * compiled-in kernel.
 *
 * A module or library is known by its handle, from the call that made it to the one that unloads it, and has a
 * number that no other one ever has. What HIP has HSA load while one of its calls is under way is loaded for it
 * (rl_loading_begin()); a function that it hands out is a name in it. Of all other functions only the name is
 * known, which may be that of several kernels.
 *
 * Threads: any. Out of memory means "not known".
 */
#ifndef REDLINE_FUNCTIONS_H
#define REDLINE_FUNCTIONS_H

#include <stdbool.h>
#include <stdint.h>

#include "native_table.h"

struct rl_function {
    uint64_t module; /* number of the module or library; 0: not known */
    uint64_t name;   /* rl_name_hash(); 0: not known */
};

/* `hip` NULL: HIP cannot be asked now; else within rl_quiet_begin() and rl_quiet_end(). */
struct rl_function rl_function_find(const struct rl_hip_table *hip, void *handle);

/* HIP hands out `handle`, a function of the module. */
void rl_function_made(const void *handle, const void *module, const char *name);

/* What this thread has loaded from here on is for `number`, or again for what it was before. */
uint64_t rl_loading_begin(uint64_t number);
void rl_loading_end(uint64_t before);
uint64_t rl_loading(void); /* 0: for nobody that is known */

/* A library of hipLibrary* is a module here. */
uint64_t rl_module_number(void); /* a new one */
void rl_module_made(const void *module, uint64_t number);
uint64_t rl_module_find(const void *module); /* its number, 0: not known */

/* Before the native call that unloads it, or anything that is no module here: from then on any handle may come
 * back and mean another kernel. */
void rl_module_gone(const void *module);
unsigned rl_function_generation(void); /* changes with each one that is unloaded */

bool rl_functions_define(void); /* before the first record is made; any number of times */

#endif
