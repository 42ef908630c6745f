/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Side table: what we know about a HIP handle, found by the handle's own address. side_table.c opens with the
 * contract of each operation: threads, memory ordering, failure.
 *
 *     struct rl_graph_record { struct rl_record base; ... };                 base is the first member
 *     rl_side_table_define(RL_GRAPH, sizeof(struct rl_graph_record), free_what_it_owns);
 *
 *     record = rl_side_table_take(RL_GRAPH);  fill it;  rl_side_table_insert(RL_GRAPH, graph, record);
 *     ref = rl_side_table_find(RL_GRAPH, graph);
 *     if (rl_ref_hold(ref)) { use it; rl_record_drop(ref.record); }
 *     rl_side_table_erase(RL_GRAPH, graph);        always before the native destroy
 */
#ifndef REDLINE_SIDE_TABLE_H
#define REDLINE_SIDE_TABLE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum rl_kind {
    RL_GRAPH,
    RL_NODE,
    RL_EXEC,
    RL_CAPTURE,
    RL_STREAM_STATE,
    RL_MODULE,
    RL_FUNCTION,
    RL_KIND_COUNT
};

#define RL_HOLD_BITS 16 /* life = generation << RL_HOLD_BITS | holds */

/*
 * Heads every record. Without a hold only life, marks and note may be touched, and what was read there counts
 * only if rl_ref_valid() is true afterwards.
 */
struct rl_record {
    _Atomic uint64_t life;
    _Atomic uint32_t marks; /* the module's bits; one may hit the slot's next record, so it means doubt */
    uint32_t kind;          /* enum rl_kind, fixed for the life of the slot */
    _Atomic uintptr_t note; /* the module's, for what a launch needs without a hold; set it before insert */
    uintptr_t native;       /* the handle; set by insert */
    struct rl_record *next; /* the table's own */
};

/* What a find saw. It stays safe to test for ever, and fails the test once the record has been erased. */
struct rl_ref {
    struct rl_record *record; /* NULL: no record */
    uint32_t generation;
};

struct rl_side_table_stats {
    size_t live;          /* handles that have a record */
    size_t records_out;   /* records taken and not yet back: live, private, or erased and still held */
    size_t slots;         /* of the current array */
    size_t slots_to_move; /* of the array being left; 0 when no growth is under way */
    size_t bytes;         /* obtained from the system; never returned */
    size_t worn_out;      /* records out of generations, never used again */
};

bool rl_side_table_define(enum rl_kind kind, size_t record_size, void (*retire)(struct rl_record *record));

struct rl_record *rl_side_table_take(enum rl_kind kind);
struct rl_ref rl_side_table_insert(enum rl_kind kind, const void *native, struct rl_record *record);
bool rl_side_table_erase(enum rl_kind kind, const void *native);
size_t rl_side_table_erase_if(enum rl_kind kind, bool (*doomed)(const struct rl_record *, void *context),
                              void *context);
struct rl_side_table_stats rl_side_table_stats(enum rl_kind kind);
void rl_side_table_forget(void);

bool rl_ref_hold(struct rl_ref ref);
void rl_record_drop(struct rl_record *record);

static inline bool rl_ref_valid(struct rl_ref ref)
{
    return ref.record &&
           atomic_load_explicit(&ref.record->life, memory_order_acquire) >> RL_HOLD_BITS == ref.generation;
}

/* Sets bits in the marks without a hold: one load when they are set already. */
static inline void rl_ref_mark(struct rl_ref ref, uint32_t bits)
{
    if (ref.record && (atomic_load_explicit(&ref.record->marks, memory_order_acquire) & bits) != bits)
        atomic_fetch_or_explicit(&ref.record->marks, bits, memory_order_acq_rel);
}

#include "base/side_table_find.h" /* struct rl_ref rl_side_table_find(enum rl_kind kind, const void *native) */

#endif
