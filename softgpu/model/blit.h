/*
 * ROCr's own copy and fill shaders. They are raw code without a symbol, so no name can be found; what they are asked to
 * do is recognised by their argument block (KernelArgs of amd_blit_kernel.h): addresses in phases that must fit
 * together, and the number of work-items, which is the grid.
 */
#ifndef SOFTGPU_MODEL_BLIT_H
#define SOFTGPU_MODEL_BLIT_H

#include <stdbool.h>
#include <stdint.h>

enum sg_blit_kind { SG_BLIT_NONE, SG_BLIT_COPY, SG_BLIT_FILL };

struct sg_blit {
    enum sg_blit_kind kind;
    uint64_t source, target, bytes;
    uint32_t value;
};

/* `arguments`: 96 readable bytes. */
struct sg_blit sg_blit_recognise(const uint64_t *arguments, uint32_t grid_x);
const char *sg_blit_name(const struct sg_blit *blit);
void sg_blit_run(const struct sg_blit *blit);

enum { SG_BLIT_ARGUMENT_BYTES = 96 };

#endif
