/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Side table: (kind, native handle) -> record.
 *
 * What it holds
 *   One open-addressing array of (handle, word) pairs per kind, and one slab of records per kind. A word
 *   packs a record's address and its generation, so one load gives a reader both. Handles are opaque
 *   integers here.
 *
 *   Records are type-stable: their memory is never given back to the system and never serves another kind. A
 *   record is private (taken), published (the table has a hold), or erased (generation bumped; it goes back
 *   to the slab, after retire(), when the last hold is dropped). A record whose generations are used up is
 *   never used again, so a reference can never become valid by wrapping around.
 *
 *   Within an array a slot belongs to one handle for good; erasing clears the word only. When slots run
 *   short a new array is announced and each later insert or erase copies a few slots, so no call pays for
 *   the whole growth; in the meantime readers look into both. The array left behind is wiped the same way
 *   and serves the next rebuild of its size; smaller ones stay (their sum is at most twice the current one).
 *   Memory is therefore bounded by the largest number of handles alive at once, whatever the churn.
 *
 *   "view" names the current array, the one being left, and a version, in one word. Everything a reader does
 *   lies between two loads of the same view; it starts again when they differ.
 *
 * Threads
 *   Every function may be called from any thread, with any handle value, NULL included. find, hold, drop,
 *   valid and mark take no lock, except that the drop which ends a record takes the kind's lock to give it
 *   back. take, insert, erase and erase_if take the kind's lock for a bounded time (erase_if: for one pass
 *   over the array) and call nothing foreign under it but mmap and erase_if's predicate. retire() runs
 *   without the lock, once for each record, on the thread that dropped it last. Nothing here is for signal
 *   handlers.
 *
 * Memory ordering
 *   insert   release: who finds the record sees all that was stored into it before.
 *   find     acquire. A find that begins after an erase (or a replacing insert) of the handle returned, in
 *            happens-before order, never sees the old record. One that runs at the same time sees the old
 *            record, the new one or none. A handle that stays inserted is always found, also during growth.
 *   hold     acquire; succeeds only while the record is published. A held record's payload is stable memory:
 *            erase does not recycle it.
 *   drop     release, and acquire for the drop that ends the record: retire() sees what all holders did.
 *   erase    when it returns, no later find or hold succeeds, and rl_ref_valid() is false for every earlier
 *            reference.
 *   marks    acquire and release, also note; take() clears both. What was read there is this object's when
 *            rl_ref_valid() is true afterwards. A mark set through a reference that ended meanwhile may land
 *            on the slot's next record: marks must be bits whose needless presence is safe.
 *
 * Failure
 *   Out of memory means "no record": take() returns NULL, insert() returns an empty reference and drops the
 *   record. An insert that fails, or is given NULL, still removes what an earlier object left at that
 *   address.
 *
 * fork
 *   The child starts empty, whatever other threads were doing: HIP's own state does not survive either. Old
 *   memory stays mapped, so a reference that the forking thread still has can be tested, held and dropped.
 */
#include "base/side_table.h"

#include <errno.h>
#include <pthread.h>
#include <stdalign.h>
#include <string.h>
#include <sys/mman.h>

#include "base/fault.h"
#include "base/fork.h"

#ifdef __SANITIZE_ADDRESS__
#include <sanitizer/asan_interface.h>
#else
#define ASAN_POISON_MEMORY_REGION(address, size) ((void)(address), (void)(size))
#define ASAN_UNPOISON_MEMORY_REGION(address, size) ((void)(address), (void)(size))
#endif

enum {
    CACHE_LINE = 64,
    SMALLEST = 256,      /* slots: one page */
    MOVES_PER_CALL = 16, /* a new array starts at most 1/5 full and is left at 3/8: the move ends before */
    WIPES_PER_CALL = 32, /* and so does the wiping of the array left behind */
    CHUNK_BYTES = 64 << 10,
    CHUNK_RECORDS = 16, /* at least, whatever their size */
};

#define GENERATION_LAST RL_GENERATION_MASK
#define ADDRESS_BITS 47
#define HOLDS_MASK ((UINT64_C(1) << RL_HOLD_BITS) - 1)

struct table {
    struct rl_side_table_view *shared;
    alignas(CACHE_LINE) pthread_mutex_t lock; /* guards the rest, and all stores to what is shared */
    unsigned array_count;
    size_t live;
    size_t used;        /* slots of the current array that have a handle */
    size_t moved;       /* slots of the array being left that are done */
    unsigned spare;     /* the array left last, wiped or being wiped; 0: none */
    size_t spare_wiped; /* slots of it that are done */
    size_t record_size; /* 0: kind not defined */
    void (*retire)(struct rl_record *record);
    struct rl_record *free_records;
    char *fresh, *fresh_end; /* records of the newest chunk that were never taken */
    size_t records_out, bytes, worn_out;
};

/* Array 0 of each table is always empty and never written: the state before the first insert. */
static struct rl_slot nothing[2];
struct rl_side_table_view rl_side_table_views[RL_KIND_COUNT] = {
    [RL_GRAPH].arrays = { { nothing, 1, 63 } },        [RL_NODE].arrays = { { nothing, 1, 63 } },
    [RL_EXEC].arrays = { { nothing, 1, 63 } },         [RL_CAPTURE].arrays = { { nothing, 1, 63 } },
    [RL_STREAM_STATE].arrays = { { nothing, 1, 63 } }, [RL_MODULE].arrays = { { nothing, 1, 63 } },
    [RL_FUNCTION].arrays = { { nothing, 1, 63 } },
};

#define UNUSED_TABLE(kind)                                                                                   \
    [kind] = { .shared = &rl_side_table_views[kind], .lock = PTHREAD_MUTEX_INITIALIZER, .array_count = 1 }
static struct table tables[] = {
    UNUSED_TABLE(RL_GRAPH),    UNUSED_TABLE(RL_NODE),         UNUSED_TABLE(RL_EXEC),
    UNUSED_TABLE(RL_CAPTURE),  UNUSED_TABLE(RL_STREAM_STATE), UNUSED_TABLE(RL_MODULE),
    UNUSED_TABLE(RL_FUNCTION),
};

_Static_assert(sizeof(tables) / sizeof(tables[0]) == RL_KIND_COUNT, "every kind is above");
_Static_assert(sizeof(struct rl_slot) == 16, "four slots share a cache line");
_Static_assert(RL_GENERATION_BITS + ADDRESS_BITS - 6 == 64, "a word is full");

static uint64_t load_view(const struct table *table)
{
    return atomic_load_explicit(&table->shared->view, memory_order_relaxed);
}

static const struct rl_array *array_at(const struct table *table, unsigned index)
{
    return &table->shared->arrays[index];
}

static uint64_t word_of(const struct rl_record *record, uint64_t generation)
{
    return (uintptr_t)record >> 6 << RL_GENERATION_BITS | generation;
}

/* The slot of the handle, or the empty slot where it would go. */
static struct rl_slot *seek(const struct rl_array *array, uintptr_t handle)
{
    for (size_t i = rl_side_table_mix(handle) >> array->shift;; i = (i + 1) & array->mask) {
        uintptr_t seen = atomic_load_explicit(&array->slots[i].handle, memory_order_relaxed);

        if (seen == handle || !seen)
            return &array->slots[i];
    }
}

struct rl_ref rl_side_table_find_again(const struct rl_side_table_view *table, uintptr_t handle)
{
    uint64_t view, word;

    do {
        view = atomic_load_explicit(&table->view, memory_order_acquire);
        word = rl_array_probe(&table->arrays[rl_view_current(view)], handle);
        if (!word && rl_view_leaving(view))
            word = rl_array_probe(&table->arrays[rl_view_leaving(view)], handle);
    } while (atomic_load_explicit(&table->view, memory_order_acquire) != view);
    return rl_word_ref(word);
}

/* Zeroed pages of ours: no allocator of the application runs, so none can call back into HIP from here. */
static void *pages(struct table *table, size_t bytes)
{
    int saved = errno;
    void *memory = MAP_FAILED;

    if (!rl_fault(RL_FAULT_ALLOC))
        memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    errno = saved;
    if (memory == MAP_FAILED)
        return NULL;
    if (((uintptr_t)memory + bytes) >> ADDRESS_BITS) {
        munmap(memory, bytes);
        return NULL;
    }
    table->bytes += bytes;
    return memory;
}

static void set_view(struct table *table, unsigned leaving, unsigned current)
{
    uint64_t version = (load_view(table) >> 16) + 1;

    atomic_store_explicit(&table->shared->view, version << 16 | leaving << 8 | current, memory_order_release);
}

static void put(struct rl_slot *slot, uintptr_t handle, uint64_t word)
{
    atomic_store_explicit(&slot->word, word, memory_order_release);
    atomic_store_explicit(&slot->handle, handle, memory_order_release);
}

static void move_some(struct table *table, const struct rl_array *from, const struct rl_array *to)
{
    for (unsigned n = 0; n < MOVES_PER_CALL && table->moved <= from->mask; n++, table->moved++) {
        struct rl_slot *slot = &from->slots[table->moved];
        uint64_t word = atomic_load_explicit(&slot->word, memory_order_relaxed);
        uintptr_t handle = atomic_load_explicit(&slot->handle, memory_order_relaxed);

        if (word) {
            put(seek(to, handle), handle, word);
            table->used++;
        }
    }
}

/* This call's share of a growth or of the wiping after it. */
static void work(struct table *table)
{
    uint64_t view = load_view(table);
    unsigned leaving = rl_view_leaving(view);
    const struct rl_array *spare = array_at(table, table->spare);

    if (leaving) {
        move_some(table, array_at(table, leaving), array_at(table, rl_view_current(view)));
        if (table->moved > array_at(table, leaving)->mask) {
            table->spare = leaving;
            table->spare_wiped = 0;
            set_view(table, 0, rl_view_current(view));
        }
    } else if (table->spare) {
        for (unsigned n = 0; n < WIPES_PER_CALL && table->spare_wiped <= spare->mask; n++)
            put(&spare->slots[table->spare_wiped++], 0, 0);
    }
}

/* The index of an empty array of that many slots, or 0. */
static unsigned empty_array(struct table *table, size_t slots)
{
    struct rl_array *array = &table->shared->arrays[table->array_count];
    unsigned spare = table->spare;

    if (spare && array_at(table, spare)->mask + 1 == slots) {
        if (table->spare_wiped != slots)
            return 0;
        table->spare = 0;
        return spare;
    }
    if (table->array_count == RL_ARRAY_LIMIT)
        return 0;
    array->slots = pages(table, slots * sizeof(struct rl_slot));
    if (!array->slots)
        return 0;
    array->mask = slots - 1;
    array->shift = 64 - __builtin_ctzl(slots);
    return table->array_count++;
}

/* Starts a growth when slots run short. False: the current array cannot take one more handle. */
static bool room(struct table *table)
{
    uint64_t view = load_view(table);
    unsigned current = rl_view_current(view);
    size_t slots = current ? array_at(table, current)->mask + 1 : 0, wanted = slots ? slots : SMALLEST;
    unsigned next;

    if (table->used + 1 <= slots / 8 * 3)
        return true;
    while (wanted / 5 < table->live + 1)
        wanted *= 2;
    next = rl_view_leaving(view) ? 0 : empty_array(table, wanted);
    if (!next)
        return table->used + 1 <= slots / 8 * 7; /* an empty slot must always end a probe */
    table->used = 0;
    table->moved = 0;
    set_view(table, current, next);
    return true;
}

static struct rl_slot *current_slot(const struct table *table, uintptr_t handle)
{
    uint64_t view = load_view(table);

    return seek(array_at(table, rl_view_current(view)), handle);
}

/* The handle's slot in the current array, counted as used. NULL: no room; one that comes back needs none. */
static struct rl_slot *slot_for(struct table *table, uintptr_t handle)
{
    struct rl_slot *slot = current_slot(table, handle);

    if (atomic_load_explicit(&slot->handle, memory_order_relaxed))
        return slot;
    if (!room(table))
        return NULL;
    table->used++;
    return current_slot(table, handle);
}

/* Takes the handle's record out of the table; the caller drops it once the lock is released. */
static struct rl_record *unlink_record(struct table *table, uintptr_t handle)
{
    uint64_t view = load_view(table), word = 0;
    unsigned arrays[2] = { rl_view_leaving(view), rl_view_current(view) };
    struct rl_record *record;

    for (unsigned i = 0; i < 2; i++) {
        struct rl_slot *slot = seek(array_at(table, arrays[i]), handle);
        uint64_t seen = atomic_load_explicit(&slot->word, memory_order_relaxed);

        if (seen) {
            word = seen;
            atomic_store_explicit(&slot->word, 0, memory_order_release);
        }
    }
    record = rl_word_ref(word).record;
    if (record) {
        table->live--;
        atomic_fetch_add_explicit(&record->life, UINT64_C(1) << RL_HOLD_BITS, memory_order_acq_rel);
    }
    return record;
}

struct rl_record *rl_side_table_take(enum rl_kind kind)
{
    struct table *table = &tables[kind];
    size_t size, chunk;
    struct rl_record *record;
    uint64_t generation;

    pthread_mutex_lock(&table->lock);
    size = table->record_size;
    record = table->free_records;
    if (record) {
        table->free_records = record->next;
    } else if (size) {
        if (table->fresh == table->fresh_end) {
            chunk = size * CHUNK_RECORDS > CHUNK_BYTES ? size * CHUNK_RECORDS : CHUNK_BYTES / size * size;
            table->fresh = pages(table, chunk);
            table->fresh_end = table->fresh ? table->fresh + chunk : NULL;
        }
        record = (struct rl_record *)table->fresh;
        if (record)
            table->fresh += size;
    }
    if (record)
        table->records_out++;
    pthread_mutex_unlock(&table->lock);
    if (!record)
        return NULL;

    ASAN_UNPOISON_MEMORY_REGION(record + 1, size - sizeof(*record));
    memset(record + 1, 0, size - sizeof(*record));
    record->kind = kind;
    record->native = 0;
    record->next = NULL;
    atomic_store_explicit(&record->marks, 0, memory_order_release);
    atomic_store_explicit(&record->note, 0, memory_order_release);
    generation = atomic_load_explicit(&record->life, memory_order_relaxed) >> RL_HOLD_BITS;
    atomic_store_explicit(&record->life, generation << RL_HOLD_BITS | 1, memory_order_release);
    return record;
}

/* The last hold is gone and nobody can get a new one. */
static void give_back(struct rl_record *record)
{
    struct table *table = &tables[record->kind];

    if (table->retire)
        table->retire(record);
    pthread_mutex_lock(&table->lock);
    ASAN_POISON_MEMORY_REGION(record + 1, table->record_size - sizeof(*record));
    table->records_out -= table->records_out > 0; /* 0: taken before a fork, dropped in the child */
    if (atomic_load_explicit(&record->life, memory_order_relaxed) >> RL_HOLD_BITS == GENERATION_LAST) {
        table->worn_out++;
    } else {
        record->next = table->free_records;
        table->free_records = record;
    }
    pthread_mutex_unlock(&table->lock);
}

void rl_record_drop(struct rl_record *record)
{
    if (record && (atomic_fetch_sub_explicit(&record->life, 1, memory_order_acq_rel) & HOLDS_MASK) == 1)
        give_back(record);
}

bool rl_ref_hold(struct rl_ref ref)
{
    uint64_t life;

    if (!ref.record)
        return false;
    life = atomic_load_explicit(&ref.record->life, memory_order_relaxed);
    do {
        if (life >> RL_HOLD_BITS != ref.generation || (life & HOLDS_MASK) == HOLDS_MASK)
            return false;
    } while (!atomic_compare_exchange_weak_explicit(&ref.record->life, &life, life + 1, memory_order_acquire,
                                                    memory_order_relaxed));
    return true;
}

struct rl_ref rl_side_table_insert(enum rl_kind kind, const void *native, struct rl_record *record)
{
    struct table *table = &tables[kind];
    uintptr_t handle = (uintptr_t)native;
    struct rl_record *stale;
    struct rl_ref ref = { 0 };
    struct rl_slot *slot;

    if (!handle) {
        rl_record_drop(record);
        return ref;
    }
    pthread_mutex_lock(&table->lock);
    work(table);
    stale = unlink_record(table, handle);
    slot = record ? slot_for(table, handle) : NULL;
    if (slot) {
        uint64_t generation = atomic_load_explicit(&record->life, memory_order_relaxed) >> RL_HOLD_BITS;

        record->native = handle;
        put(slot, handle, word_of(record, generation));
        table->live++;
        ref = (struct rl_ref){ record, generation };
    }
    pthread_mutex_unlock(&table->lock);
    rl_record_drop(stale);
    if (!ref.record)
        rl_record_drop(record);
    return ref;
}

bool rl_side_table_erase(enum rl_kind kind, const void *native)
{
    struct table *table = &tables[kind];
    struct rl_record *record;

    if (!native)
        return false;
    pthread_mutex_lock(&table->lock);
    work(table);
    record = unlink_record(table, (uintptr_t)native);
    pthread_mutex_unlock(&table->lock);
    rl_record_drop(record);
    return record;
}

/*
 * Erases each record of the kind that doomed(record, context) names (NULL: all) and returns how many. doomed
 * runs under the lock: it reads the record and calls nothing of this file.
 */
size_t rl_side_table_erase_if(enum rl_kind kind, bool (*doomed)(const struct rl_record *, void *context),
                              void *context)
{
    struct table *table = &tables[kind];
    struct rl_record *list = NULL, *record;
    unsigned arrays[2];
    size_t count = 0;
    uint64_t view;

    pthread_mutex_lock(&table->lock);
    view = load_view(table);
    arrays[0] = rl_view_leaving(view);
    arrays[1] = rl_view_current(view);
    for (unsigned a = 0; a < 2; a++) {
        const struct rl_array *array = array_at(table, arrays[a]);

        for (size_t i = 0; i <= array->mask; i++) {
            record = rl_word_ref(atomic_load_explicit(&array->slots[i].word, memory_order_relaxed)).record;
            if (record && (!doomed || doomed(record, context))) {
                unlink_record(table, atomic_load_explicit(&array->slots[i].handle, memory_order_relaxed));
                record->next = list;
                list = record;
            }
        }
    }
    pthread_mutex_unlock(&table->lock);
    while ((record = list)) {
        list = record->next;
        rl_record_drop(record);
        count++;
    }
    return count;
}

struct rl_side_table_stats rl_side_table_stats(enum rl_kind kind)
{
    struct table *table = &tables[kind];
    struct rl_side_table_stats stats;
    unsigned leaving, current;

    pthread_mutex_lock(&table->lock);
    leaving = rl_view_leaving(load_view(table));
    current = rl_view_current(load_view(table));
    stats = (struct rl_side_table_stats){
        .live = table->live,
        .records_out = table->records_out,
        .slots = current ? array_at(table, current)->mask + 1 : 0,
        .slots_to_move = leaving ? array_at(table, leaving)->mask + 1 - table->moved : 0,
        .bytes = table->bytes,
        .worn_out = table->worn_out,
    };
    pthread_mutex_unlock(&table->lock);
    return stats;
}

/*
 * Starts again with no records: for the child of a fork, and for tests. The lock may be in any state; memory
 * is left alone, since this very thread may be inside a find that the fork interrupted.
 */
void rl_side_table_forget(void)
{
    for (unsigned kind = 0; kind < RL_KIND_COUNT; kind++) {
        struct table *table = &tables[kind];

        set_view(table, 0, 0);
        pthread_mutex_init(&table->lock, NULL);
        table->array_count = 1;
        table->live = table->used = table->moved = table->spare_wiped = 0;
        table->spare = 0;
        table->free_records = NULL;
        table->fresh = table->fresh_end = NULL;
        table->records_out = table->bytes = table->worn_out = 0;
    }
}

/*
 * Called before the first take() of the kind; the record's size counts its struct rl_record. retire (may be
 * NULL) frees what a record's payload owns. False: the kind has no records, so every take() gives NULL.
 */
bool rl_side_table_define(enum rl_kind kind, size_t record_size, void (*retire)(struct rl_record *record))
{
    struct table *table = &tables[kind];

    if (record_size < sizeof(struct rl_record) || !rl_forks_watch())
        return false;
    pthread_mutex_lock(&table->lock);
    table->record_size = (record_size + CACHE_LINE - 1) / CACHE_LINE * CACHE_LINE;
    table->retire = retire;
    pthread_mutex_unlock(&table->lock);
    return true;
}

RL_AT_FORK(NULL, NULL, rl_side_table_forget);
