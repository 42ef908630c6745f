/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The variables of a code object: the GPU's memory that ROCr has loaded its writable segments into.
 *
 * ROCr tells where a code object lies and where its ELF image is, which is not believed: what does not fit ends the
 * reading. Threads: any; nothing is kept. An answer holds as long as the code object is not unloaded.
 */
#ifndef REDLINE_SEGMENT_H
#define REDLINE_SEGMENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "native_table.h"

/* Calls `visit` for each writable segment of the code object that this address of the GPU is in. False: it is in none,
 * ROCr does not tell, the image cannot be read, or a visit was false. */
bool rl_segments_visit(const struct rl_hsa_table *hsa, uint64_t address,
                       bool (*visit)(uint64_t base, size_t bytes, void *context), void *context);

#endif
