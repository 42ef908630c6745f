/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The look-up itself, inline: a hit is one probe between two loads of the view. Included by side_table.h; the
 * layout and its rules are explained at the head of side_table.c, its only other user.
 */
#ifndef REDLINE_SIDE_TABLE_FIND_H
#define REDLINE_SIDE_TABLE_FIND_H

#define RL_ARRAY_LIMIT 64     /* two arrays of each size from one page on: more than an address space holds */
#define RL_GENERATION_BITS 23 /* word = address / 64 in the upper 41 bits, generation in the lower 23 */
#define RL_GENERATION_MASK ((UINT64_C(1) << RL_GENERATION_BITS) - 1)

struct rl_slot {
    _Atomic uintptr_t handle; /* 0: never used */
    _Atomic uint64_t word;    /* 0: no record */
};

struct rl_array {
    struct rl_slot *slots;
    size_t mask;
    unsigned shift;
};

struct rl_side_table_view {
    _Alignas(64) _Atomic uint64_t view;     /* version << 16 | array being left, or 0, << 8 | current array */
    struct rl_array arrays[RL_ARRAY_LIMIT]; /* an entry is written once, before a view names it */
};

extern struct rl_side_table_view rl_side_table_views[RL_KIND_COUNT] __attribute__((visibility("hidden")));

/* For a handle that the current array lacks while another is being left, and for a view that has changed. */
struct rl_ref rl_side_table_find_again(const struct rl_side_table_view *table, uintptr_t handle)
    __attribute__((cold));

static inline unsigned rl_view_current(uint64_t view)
{
    return view & 0xff;
}

static inline unsigned rl_view_leaving(uint64_t view)
{
    return view >> 8 & 0xff;
}

static inline struct rl_ref rl_word_ref(uint64_t word)
{
    uintptr_t address = word >> RL_GENERATION_BITS << 6;

    return (struct rl_ref){ (struct rl_record *)address, word & RL_GENERATION_MASK };
}

/* Heap addresses differ in few, regularly spaced bits; the upper bits of the result depend on all of them. */
static inline uint64_t rl_side_table_mix(uintptr_t handle)
{
    uint64_t x = handle * UINT64_C(0x9e3779b97f4a7c15);

    return (x ^ x >> 32) * UINT64_C(0xd6e8feb86659fd93);
}

/* The handle's word, or 0. Acquire loads: one that sees what a later view put there makes that view seen. */
static inline uint64_t rl_array_probe(const struct rl_array *array, uintptr_t handle)
{
    struct rl_slot *slots = array->slots;
    size_t mask = array->mask;

    for (size_t i = rl_side_table_mix(handle) >> array->shift;; i = (i + 1) & mask) {
        uintptr_t seen = atomic_load_explicit(&slots[i].handle, memory_order_acquire);

        if (__builtin_expect(seen == handle, 1))
            return atomic_load_explicit(&slots[i].word, memory_order_acquire);
        if (!seen)
            return 0;
    }
}

static inline struct rl_ref rl_side_table_find(enum rl_kind kind, const void *native)
{
    const struct rl_side_table_view *table = &rl_side_table_views[kind];
    uintptr_t handle = (uintptr_t)native;
    uint64_t view, word;

    if (!handle)
        return (struct rl_ref){ 0 };
    view = atomic_load_explicit(&table->view, memory_order_acquire);
    word = rl_array_probe(&table->arrays[rl_view_current(view)], handle);
    if (__builtin_expect(atomic_load_explicit(&table->view, memory_order_acquire) != view, 0) ||
        (!word && rl_view_leaving(view)))
        return rl_side_table_find_again(table, handle);
    return rl_word_ref(word);
}

#endif
