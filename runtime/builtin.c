/* See builtin.h. Layouts: the kernels' signatures in clr, rocclr/device/blitcl.cpp, and their callers in rocblit.cpp. */
#include "builtin.h"

#include <string.h>

static uint64_t word64(const void *arguments, uint32_t at)
{
    uint64_t value;

    memcpy(&value, (const char *)arguments + at, sizeof(value));
    return value;
}

static uint32_t word32(const void *arguments, uint32_t at)
{
    uint32_t value;

    memcpy(&value, (const char *)arguments + at, sizeof(value));
    return value;
}

static bool is_width(uint32_t width)
{
    return width == 1 || width == 2 || width == 4 || width == 8 || width == 16;
}

/* buffer, pattern, elements of a pattern, bytes of an element, end of the buffer, stride, and so on. */
static bool read_fill(const void *arguments, uint32_t bytes, struct rl_builtin_use *use)
{
    uint32_t length, width;
    uint64_t end;

    if (bytes < 40)
        return false;
    length = word32(arguments, 16);
    width = word32(arguments, 20);
    end = word64(arguments, 24);
    use->to = word64(arguments, 0);
    use->pattern_at = 8;
    if (!is_width(width) || !length || length > RL_BUILTIN_MOST_PATTERN / width || end <= use->to)
        return false;
    use->pattern_bytes = length * width;
    use->bytes = end - use->to;
    return use->bytes % use->pattern_bytes == 0;
}

/* One of four buffers, by the bytes of an element; pattern, its elements, origin, columns, rows, pitch in elements. */
static bool read_fill_2d(const void *arguments, uint32_t bytes, struct rl_builtin_use *use)
{
    uint32_t width = 0, length;
    uint64_t columns;

    if (bytes < 80)
        return false;
    for (uint32_t i = 0; i < 4; i++) {
        uint64_t buffer = word64(arguments, 8 * i);

        if (buffer && width)
            return false;
        if (buffer) {
            use->to = buffer;
            width = 1u << i;
        }
    }
    length = word32(arguments, 40);
    columns = word64(arguments, 56);
    if (!width || length != 1 || !columns || columns > UINT32_MAX)
        return false;
    use->pattern_at = 32;
    use->pattern_bytes = length * width;
    use->to += word64(arguments, 48) * width;
    use->bytes = columns * width;
    use->rows = word64(arguments, 64);
    use->pitch = word64(arguments, 72) * width;
    return use->rows && use->pitch >= use->bytes;
}

/* source, destination, bytes, bytes behind the last whole element, bytes of an element, end of the destination. */
static bool read_copy(const void *arguments, uint32_t bytes, struct rl_builtin_use *use)
{
    if (bytes < 48)
        return false;
    use->from = word64(arguments, 0);
    use->to = word64(arguments, 8);
    use->bytes = word64(arguments, 16);
    return use->from && use->to && use->bytes && use->bytes < UINT64_C(1) << 48;
}

bool rl_builtin_read(enum rl_builtin builtin, const void *arguments, uint32_t argument_bytes,
                     struct rl_builtin_use *use)
{
    *use = (struct rl_builtin_use){ .rows = 1 };
    switch (builtin) {
    case RL_BUILTIN_FILL: return read_fill(arguments, argument_bytes, use);
    case RL_BUILTIN_FILL_2D: return read_fill_2d(arguments, argument_bytes, use);
    case RL_BUILTIN_COPY: return read_copy(arguments, argument_bytes, use);
    default: return false;
    }
}
