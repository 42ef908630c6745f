/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The arguments of a kernel node as one block, laid out as its kernel wants them, from the pointers that HIP
 * gives for the node. Where nobody knows the layout there is no block.
 *
 * Functions of HIP are called within rl_quiet_begin() and rl_quiet_end(). Threads: any.
 */
#ifndef REDLINE_ARGUMENTS_H
#define REDLINE_ARGUMENTS_H

#include <stdbool.h>
#include <stddef.h>

#include "kernels/code.h"

/* rl_code_name_hash() of the kernel's name; 0: HIP does not tell. `function`: as in hipKernelNodeParams. */
uint64_t rl_function_name(const struct rl_hip_table *hip, void *function);

/* A block of `*bytes`, which the caller releases; no arguments: NULL and 0. False: not known, or no memory.
 */
bool rl_arguments_copy(const struct rl_hip_table *hip, void *function, void *const *pointers, void **block,
                       size_t *bytes);

/* Whether the argument block of a dispatch has the values of `block`; holes between arguments do not count.
 */
/* Writes the values of `block` into that of a dispatch. False: it has no room for them, and nothing is
 * written. */
bool rl_arguments_write(const struct rl_layout *layout, const void *block, size_t bytes, void *dispatched,
                        size_t dispatched_bytes);
bool rl_arguments_match(const struct rl_layout *layout, const void *block, size_t bytes,
                        const void *dispatched, size_t dispatched_bytes);

#endif
