/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Redirects calls inside one loaded library, ROCr, while it starts: an imported function by its slot in the
 * global offset table, or an internal function at each place that calls it. Files stay as they are; pages are
 * made writable for the one store.
 */
#ifndef SOFTGPU_MODEL_IMAGE_H
#define SOFTGPU_MODEL_IMAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct sg_image {
    uintptr_t base;           /* load bias */
    uintptr_t low;            /* of its first segment */
    uintptr_t text, text_end; /* executable segment */
    uintptr_t data, data_end; /* writable segment */
    const void *dynamic;
    const uint8_t *unwind; /* .eh_frame_hdr, NULL if it has none */
};

/* The loaded library whose file name starts with `name`; false when there is none. */
bool sg_image_find(const char *name, struct sg_image *image);

/* Stores `function` into the slot(s) of `symbol` and returns the old value, NULL when the library does not
 * import it. */
void *sg_image_replace_import(const struct sg_image *image, const char *symbol, void *function);

/* First address of the function that holds `pc`, by the library's unwind table; 0 when that cannot be told.
 */
uintptr_t sg_image_function(const struct sg_image *image, uintptr_t pc);

/* Leads every direct call of, and every jump to, the function at `from` to `to`; returns how many there were.
 * The function itself is untouched and may still be called by its address. */
int sg_image_redirect(const struct sg_image *image, uintptr_t from, void *to);

#endif
