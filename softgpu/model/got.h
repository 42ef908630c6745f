/*
 * Redirects one imported function of one loaded library, by its slot in the global offset table. Used on ROCr alone,
 * while it starts: the slots are read-only after relocation and are made writable for the one store.
 */
#ifndef SOFTGPU_MODEL_GOT_H
#define SOFTGPU_MODEL_GOT_H

#include <stdbool.h>
#include <stdint.h>

struct sg_image {
    uintptr_t base;              /* load bias */
    uintptr_t low, high;         /* address range of all its segments */
    uintptr_t data, data_end;    /* of its writable segment */
    const void *dynamic;
};

/* The loaded library whose file name starts with `name`; false when there is none. */
bool sg_image_find(const char *name, struct sg_image *image);

/* Stores `function` into the slot(s) of `symbol` and returns the old value, NULL when the library does not import it. */
void *sg_got_replace(const struct sg_image *image, const char *symbol, void *function);

#endif
