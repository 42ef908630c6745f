/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The arguments of a kernel node as one block, laid out as its kernel wants them, from the pointers that HIP
 * gives for the node. How many pointers there are is known by the kernel alone: where it is not certain which
 * one that is, there is no block. Threads: any.
 */
#ifndef REDLINE_ARGUMENTS_H
#define REDLINE_ARGUMENTS_H

#include <stdbool.h>
#include <stddef.h>

#include "kernels/functions.h"
#include "kernels/metadata.h"

/* A block of `*bytes`, which the caller releases; no arguments: NULL and 0. False: not known which kernel it is,
 * and then `pointers` is not looked at, or no memory. */
bool rl_arguments_copy(struct rl_function function, void *const *pointers, void **block, size_t *bytes);

/* Writes the values of `block` into that of a dispatch. False: it has no room for them, and nothing is
 * written. */
bool rl_arguments_write(const struct rl_layout *layout, const void *block, size_t bytes, void *dispatched,
                        size_t dispatched_bytes);
/* Whether the argument block of a dispatch has the values of `block`; holes between arguments do not count. */
bool rl_arguments_match(const struct rl_layout *layout, const void *block, size_t bytes,
                        const void *dispatched, size_t dispatched_bytes);

#endif
