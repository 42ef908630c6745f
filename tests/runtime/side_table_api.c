/* SPDX-License-Identifier: Apache-2.0 */
/* The side table for cffi: its functions exported, and records that carry one number. */
#include "base/side_table.h"

#define EXPORT __attribute__((visibility("default")))

struct number_record {
    struct rl_record base;
    uint64_t number;
};

static uint64_t retired, retired_sum;

static void retire(struct rl_record *record)
{
    retired++;
    retired_sum += ((struct number_record *)record)->number;
}

EXPORT void api_reset(void)
{
    rl_side_table_forget();
    retired = retired_sum = 0;
    for (int kind = 0; kind < RL_KIND_COUNT; kind++)
        rl_side_table_define(kind, sizeof(struct number_record) + 40 * (size_t)kind, retire);
}

EXPORT uint64_t api_retired(void)
{
    return retired;
}

EXPORT uint64_t api_retired_sum(void)
{
    return retired_sum;
}

EXPORT struct rl_ref api_insert(int kind, uintptr_t native, uint64_t number)
{
    struct rl_record *record = rl_side_table_take(kind);

    if (record)
        ((struct number_record *)record)->number = number;
    return rl_side_table_insert(kind, (const void *)native, record);
}

EXPORT struct rl_ref api_find(int kind, uintptr_t native)
{
    return rl_side_table_find(kind, (const void *)native);
}

EXPORT bool api_erase(int kind, uintptr_t native)
{
    return rl_side_table_erase(kind, (const void *)native);
}

static bool is_odd(const struct rl_record *record, void *context)
{
    (void)context;
    return ((const struct number_record *)record)->number & 1;
}

EXPORT size_t api_erase_odd(int kind)
{
    return rl_side_table_erase_if(kind, is_odd, NULL);
}

EXPORT size_t api_erase_all(int kind)
{
    return rl_side_table_erase_if(kind, NULL, NULL);
}

EXPORT struct rl_side_table_stats api_stats(int kind)
{
    return rl_side_table_stats(kind);
}

EXPORT bool api_hold(struct rl_ref ref)
{
    return rl_ref_hold(ref);
}

EXPORT void api_drop(struct rl_ref ref)
{
    rl_record_drop(ref.record);
}

EXPORT bool api_valid(struct rl_ref ref)
{
    return rl_ref_valid(ref);
}

EXPORT void api_mark(struct rl_ref ref, uint32_t bits)
{
    rl_ref_mark(ref, bits);
}

EXPORT uint32_t api_marks(struct rl_ref ref)
{
    return atomic_load(&ref.record->marks);
}

EXPORT uint64_t api_number(struct rl_ref ref)
{
    return ((struct number_record *)ref.record)->number;
}

EXPORT uintptr_t api_native(struct rl_ref ref)
{
    return ref.record->native;
}
