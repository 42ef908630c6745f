/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Threads that create, use, mark and destroy objects of all kinds against a fake native library whose
 * allocator hands out the last freed address first. usage: side_table_stress SECONDS [SEED]
 *
 * Every object has a serial number, kept in its record. Checked without end: a handle that its owner keeps
 * alive is always found, with its own serial (also in growth); a look-up by anybody never gives a serial
 * whose erase had returned before the look-up began, with or without a hold; a held record stays what it
 * was. At the end the table is empty, every record was retired once, and memory stayed within its bound.
 */
#include "base/side_table.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { THREADS = 8, ADDRESSES = 6000, OBJECTS = 64, BURST = 400 };

#define CHECK(condition)                                                                                     \
    do {                                                                                                     \
        if (!(condition)) {                                                                                  \
            fprintf(stderr, "%s:%d: %s is false\n", __FILE__, __LINE__, #condition);                         \
            abort();                                                                                         \
        }                                                                                                    \
    } while (0)

struct object_record {
    struct rl_record base;
    uint64_t serial;
    uint64_t *owned; /* freed by retire: a leak or a double free shows under ASan */
};

/* The fake native library: for each kind a stack of free addresses, 48 bytes apart as from a heap. */
static struct {
    pthread_mutex_t lock;
    unsigned free[ADDRESSES];
    unsigned count;
    _Atomic uint64_t erased[ADDRESSES]; /* the newest serial of that address whose erase has returned */
} natives[RL_KIND_COUNT];

static struct {
    pthread_mutex_t lock;
    const void *handle; /* NULL: none */
    uint64_t serial;
} objects[RL_KIND_COUNT][OBJECTS];

static _Atomic uint64_t next_serial = 1, taken, retired, used;
static _Atomic bool stop;

static const void *address(unsigned index)
{
    return (const void *)(UINT64_C(0x5500000000) + index * UINT64_C(48));
}

static unsigned index_of(const void *handle)
{
    return (unsigned)(((uintptr_t)handle - UINT64_C(0x5500000000)) / 48);
}

static void retire(struct rl_record *record)
{
    struct object_record *object = (struct object_record *)record;

    CHECK(!object->owned || *object->owned == object->serial);
    free(object->owned);
    atomic_fetch_add(&retired, 1);
}

static const void *native_create(enum rl_kind kind)
{
    const void *handle;

    pthread_mutex_lock(&natives[kind].lock);
    CHECK(natives[kind].count);
    handle = address(natives[kind].free[--natives[kind].count]);
    pthread_mutex_unlock(&natives[kind].lock);
    return handle;
}

static void native_destroy(enum rl_kind kind, const void *handle)
{
    pthread_mutex_lock(&natives[kind].lock);
    natives[kind].free[natives[kind].count++] = index_of(handle);
    pthread_mutex_unlock(&natives[kind].lock);
}

static const void *create(enum rl_kind kind, uint64_t *serial)
{
    const void *handle = native_create(kind);
    struct object_record *object = (struct object_record *)rl_side_table_take(kind);
    struct rl_ref ref;

    CHECK(object && !object->serial && !object->owned && !atomic_load(&object->base.marks));
    atomic_fetch_add(&taken, 1);
    *serial = atomic_fetch_add(&next_serial, 1);
    object->serial = *serial;
    object->owned = malloc(sizeof(*object->owned));
    CHECK(object->owned);
    *object->owned = *serial;
    atomic_store_explicit(&object->base.note, *serial, memory_order_release);
    ref = rl_side_table_insert(kind, handle, &object->base);
    CHECK(ref.record == &object->base && rl_ref_valid(ref));
    return handle;
}

/* An erase our shims see, or (missed) a destroy that goes by unseen: the next insert there must clean up. */
static void destroy(enum rl_kind kind, const void *handle, uint64_t serial, bool missed)
{
    if (!missed) {
        struct rl_ref ref = rl_side_table_find(kind, handle);

        CHECK(rl_ref_valid(ref));
        CHECK(rl_side_table_erase(kind, handle));
        CHECK(!rl_ref_valid(ref) && !rl_ref_hold(ref));
        CHECK(!rl_side_table_find(kind, handle).record);
        atomic_store(&natives[kind].erased[index_of(handle)], serial);
    }
    native_destroy(kind, handle);
}

static void use_owned(enum rl_kind kind, const void *handle, uint64_t serial)
{
    struct rl_ref ref = rl_side_table_find(kind, handle);

    CHECK(ref.record);
    CHECK(rl_ref_hold(ref));
    CHECK(((struct object_record *)ref.record)->serial == serial && ref.record->native == (uintptr_t)handle);
    rl_ref_mark(ref, 1);
    CHECK(atomic_load(&ref.record->marks) & 1);
    rl_record_drop(ref.record);
    CHECK(rl_ref_valid(ref));
    atomic_fetch_add_explicit(&used, 1, memory_order_relaxed);
}

static void use_foreign(enum rl_kind kind, const void *handle)
{
    uint64_t gone = atomic_load(&natives[kind].erased[index_of(handle)]);
    struct rl_ref ref = rl_side_table_find(kind, handle);
    struct object_record *object = (struct object_record *)ref.record;
    uint64_t note;

    if (!object)
        return;
    note = atomic_load_explicit(&object->base.note, memory_order_acquire);
    CHECK(!rl_ref_valid(ref) || note > gone);
    if (!rl_ref_hold(ref))
        return;
    CHECK(object->serial == note);
    CHECK(object->base.native == (uintptr_t)handle && object->base.kind == kind);
    CHECK(object->serial > gone && *object->owned == object->serial);
    rl_record_drop(ref.record);
}

static unsigned roll(uint64_t *state)
{
    *state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (unsigned)(*state >> 33);
}

/* Creates many and destroys them: the table grows, and is rebuilt when the addresses are unusual ones. */
static void burst(enum rl_kind kind)
{
    const void *handles[BURST];
    uint64_t serials[BURST];

    for (unsigned i = 0; i < BURST; i++)
        handles[i] = create(kind, &serials[i]);
    for (unsigned i = 0; i < BURST; i++)
        use_owned(kind, handles[i], serials[i]);
    for (unsigned i = 0; i < BURST; i++)
        destroy(kind, handles[i], serials[i], i % 16 == 15);
}

static void *work(void *argument)
{
    uint64_t state = (uint64_t)(uintptr_t)argument;

    while (!atomic_load_explicit(&stop, memory_order_relaxed)) {
        enum rl_kind kind = roll(&state) % RL_KIND_COUNT;
        unsigned slot = roll(&state) % OBJECTS, what = roll(&state) % 1024;

        if (what == 0)
            burst(kind);
        else if (what < 512)
            use_foreign(kind, address(roll(&state) % 512 + ADDRESSES - 512));
        pthread_mutex_lock(&objects[kind][slot].lock);
        if (!objects[kind][slot].handle) {
            objects[kind][slot].handle = create(kind, &objects[kind][slot].serial);
        } else if (what & 1) {
            use_owned(kind, objects[kind][slot].handle, objects[kind][slot].serial);
        } else {
            destroy(kind, objects[kind][slot].handle, objects[kind][slot].serial, what % 64 == 62);
            objects[kind][slot].handle = NULL;
        }
        pthread_mutex_unlock(&objects[kind][slot].lock);
    }
    return NULL;
}

int main(int argc, char **argv)
{
    double seconds = argc > 1 ? atof(argv[1]) : 2;
    uint64_t seed = argc > 2 ? strtoull(argv[2], NULL, 10) : 1;
    struct timespec wait = { (time_t)seconds, (long)((seconds - (double)(time_t)seconds) * 1e9) };
    pthread_t threads[THREADS];

    for (unsigned kind = 0; kind < RL_KIND_COUNT; kind++) {
        CHECK(rl_side_table_define(kind, sizeof(struct object_record) + 40 * kind, retire));
        pthread_mutex_init(&natives[kind].lock, NULL);
        for (unsigned i = 0; i < ADDRESSES; i++)
            natives[kind].free[natives[kind].count++] = i;
        for (unsigned i = 0; i < OBJECTS; i++)
            pthread_mutex_init(&objects[kind][i].lock, NULL);
    }
    for (uintptr_t i = 0; i < THREADS; i++)
        CHECK(!pthread_create(&threads[i], NULL, work, (void *)(seed * 1000 + i)));
    nanosleep(&wait, NULL);
    atomic_store(&stop, true);
    for (unsigned i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);

    for (unsigned kind = 0; kind < RL_KIND_COUNT; kind++) {
        struct rl_side_table_stats stats;

        for (unsigned i = 0; i < ADDRESSES; i++)
            rl_side_table_erase(kind, address(i));
        stats = rl_side_table_stats(kind);
        CHECK(!stats.live && !stats.records_out && !stats.worn_out);
        CHECK(stats.bytes < (8u << 20));
    }
    CHECK(atomic_load(&taken) == atomic_load(&retired));
    printf("%llu records, %llu uses\n", (unsigned long long)atomic_load(&taken),
           (unsigned long long)atomic_load(&used));
    return 0;
}
