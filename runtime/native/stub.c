/* SPDX-License-Identifier: Apache-2.0 */
/* See stub.h. */
#include "native/stub.h"

#include <stdint.h>
#include <string.h>

enum { CALL = 0xe8, CALL_SIZE = 5 };

static int32_t number(const unsigned char *at)
{
    int32_t value;

    memcpy(&value, at, sizeof(value));
    return value;
}

static const void *target(const unsigned char *call)
{
    return (const void *)((uintptr_t)call + CALL_SIZE + (uintptr_t)(intptr_t)number(call + 1));
}

const void *rl_stub_call(struct rl_bytes code, size_t n)
{
    for (size_t at = 0; at + CALL_SIZE <= code.size; at++)
        if (code.start[at] == CALL && n-- == 0)
            return target(code.start + at);
    return NULL;
}

/* The distance in a memory operand `distance(%rax)`, with ModRM at `at`; 0: it is another operand. */
static int32_t distance_from_rax(const unsigned char *at, const unsigned char *end)
{
    if (at < end && (*at & 0xc7) == 0x40 && at + 2 <= end)
        return (int8_t)at[1];
    if (at < end && (*at & 0xc7) == 0x80 && at + 5 <= end)
        return number(at + 1);
    return 0;
}

/* mov distance(%rax),REGISTER of 64 bits, or a jump or call through distance(%rax). */
static int32_t read_from_rax(const unsigned char *at, const unsigned char *end)
{
    if (end - at >= 3 && (at[0] & 0xfb) == 0x48 && at[1] == 0x8b)
        return distance_from_rax(at + 2, end);
    if (end - at >= 2 && at[0] == 0xff && ((at[1] & 0x38) == 0x20 || (at[1] & 0x38) == 0x10))
        return distance_from_rax(at + 1, end);
    return 0;
}

static size_t first_read(const unsigned char *at, const unsigned char *end)
{
    for (; at < end; at++) {
        int32_t distance = read_from_rax(at, end);

        if (distance)
            return distance > 0 && distance % (int32_t)sizeof(void *) == 0 ? (size_t)distance / sizeof(void *)
                                                                           : 0;
    }
    return 0;
}

size_t rl_stub_word(struct rl_bytes code, const void *getter)
{
    for (size_t at = 0; at + CALL_SIZE <= code.size; at++)
        if (code.start[at] == CALL && target(code.start + at) == getter)
            return first_read(code.start + at + CALL_SIZE, code.start + code.size);
    return 0;
}

static struct rl_bytes behind_branch_target(struct rl_bytes code)
{
    static const unsigned char branch_target[] = { 0xf3, 0x0f, 0x1e, 0xfa };
    size_t skipped = sizeof(branch_target);

    if (code.size < skipped || memcmp(code.start, branch_target, skipped) != 0)
        return code;
    return (struct rl_bytes){ code.start + skipped, code.size - skipped };
}

/* The address in an instruction of this beginning with an operand `distance(%rip)` at its end. */
static void *relative(struct rl_bytes code, const unsigned char beginning[3])
{
    if (code.size < 7 || memcmp(code.start, beginning, 3) != 0)
        return NULL;
    return (void *)((uintptr_t)code.start + 7 + (uintptr_t)(intptr_t)number(code.start + 3));
}

bool rl_stub_table(struct rl_bytes code, void *const *const **table, size_t *word)
{
    static const unsigned char load[] = { 0x48, 0x8b, 0x05 };

    code = behind_branch_target(code);
    *table = relative(code, load);
    *word = 0;
    if (*table && read_from_rax(code.start + 7, code.start + code.size))
        *word = first_read(code.start + 7, code.start + code.size);
    return *word != 0;
}

void *const *rl_stub_variable(struct rl_bytes code)
{
    static const unsigned char address[] = { 0x48, 0x8d, 0x05 }, store[] = { 0x48, 0x89, 0x3d },
                               exchange[] = { 0x48, 0x87, 0x3d };
    void *variable;

    code = behind_branch_target(code);
    variable = relative(code, address);
    if (variable && code.size >= 10 && code.start[7] == 0x48 && code.start[9] == 0x38 &&
        (code.start[8] == 0x89 || code.start[8] == 0x87)) /* mov or xchg %rdi,(%rax) */
        return variable;
    variable = relative(code, store);
    return variable ? variable : relative(code, exchange);
}
