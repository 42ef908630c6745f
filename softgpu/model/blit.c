#include "blit.h"

#include <string.h>

/* `phases` pairs of (source, target) starts, then the ends: each phase is as long on both sides and none is negative. */
static bool is_copy(const uint64_t *arguments, int phases, uint32_t grid_x)
{
    for (int i = 1; i <= phases; i++) {
        const uint64_t *before = arguments + 2 * (i - 1), *here = arguments + 2 * i;

        if (here[0] < before[0] || here[0] - before[0] != here[1] - before[1])
            return false;
    }
    uint32_t items = (uint32_t)arguments[2 * (phases + 1)];

    return items && (items + 63) / 64 * 64 == grid_x;
}

struct sg_blit sg_blit_recognise(const uint64_t *arguments, uint32_t grid_x)
{
    struct sg_blit blit = {SG_BLIT_NONE, arguments[0], arguments[1], 0, 0};
    uint32_t items = (uint32_t)(arguments[3] >> 32);

    for (int phases = 4; phases >= 2; phases -= 2) {
        if (is_copy(arguments, phases, grid_x)) {
            blit.kind = SG_BLIT_COPY;
            blit.bytes = arguments[2 * phases] - arguments[0];
            return blit;
        }
    }
    if (arguments[0] <= arguments[1] && arguments[1] <= arguments[2] && items && (items + 63) / 64 * 64 == grid_x) {
        blit.kind = SG_BLIT_FILL;
        blit.target = arguments[0];
        blit.bytes = arguments[2] - arguments[0];
        blit.value = (uint32_t)arguments[3];
    }
    return blit;
}

const char *sg_blit_name(const struct sg_blit *blit)
{
    return blit->kind == SG_BLIT_COPY ? "(ROCr copy shader)" : "(ROCr fill shader)";
}

void sg_blit_run(const struct sg_blit *blit)
{
    if (blit->kind == SG_BLIT_COPY) {
        memmove((void *)blit->target, (const void *)blit->source, blit->bytes);
        return;
    }
    for (uint64_t at = 0; at + 4 <= blit->bytes; at += 4)
        memcpy((void *)(blit->target + at), &blit->value, 4);
}
