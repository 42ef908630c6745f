/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Cost of a side-table look-up against its floor: a lock-free probe of one array with the same hash and no
 * versions, generations or growth, inlined into the loop. One line each: name, value, floor, limit of the
 * ratio (0: none), tab-separated; nanoseconds where nothing else is said.
 *
 * Each figure is the smallest of many short passes, so that other work on the machine does not show.
 */
#include "base/side_table.c"
#include "base/fork.c"

#include "report/report.h"

#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

enum { HANDLES = 4096, LOOKUPS = 1 << 16, PASSES = 200, FLOOR_SLOTS = 16384, CHURN = 1000000 };

static struct rl_slot floor_slots[FLOOR_SLOTS];
static void *handles[HANDLES], *order[LOOKUPS];
static _Atomic bool stop;
static _Atomic uint64_t pairs;

static double now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static inline __attribute__((always_inline)) uint64_t floor_find(uintptr_t handle)
{
    for (size_t i = rl_side_table_mix(handle) >> 50;; i = (i + 1) & (FLOOR_SLOTS - 1)) {
        uintptr_t seen = atomic_load_explicit(&floor_slots[i].handle, memory_order_acquire);

        if (seen == handle)
            return atomic_load_explicit(&floor_slots[i].word, memory_order_acquire);
        if (!seen)
            return 0;
    }
}

static uint64_t pass_floor(void)
{
    uint64_t sum = 0;

    for (size_t i = 0; i < LOOKUPS; i++)
        sum += floor_find((uintptr_t)order[i]);
    return sum;
}

static uint64_t pass_find(void)
{
    uint64_t sum = 0;

    for (size_t i = 0; i < LOOKUPS; i++)
        sum += (uintptr_t)rl_side_table_find(RL_GRAPH, order[i]).record;
    return sum;
}

static uint64_t pass_miss(void)
{
    uint64_t sum = 0;

    for (size_t i = 0; i < LOOKUPS; i++)
        sum += (uintptr_t)rl_side_table_find(RL_GRAPH, (char *)order[i] + 8).record;
    return sum;
}

static uint64_t pass_find_valid(void)
{
    uint64_t sum = 0;

    for (size_t i = 0; i < LOOKUPS; i++)
        sum += rl_ref_valid(rl_side_table_find(RL_GRAPH, order[i]));
    return sum;
}

/* What a launch that goes to HIP costs beside the call: look-up, marks, one count. */
static uint64_t pass_launch(void)
{
    uint64_t marked = 0;

    for (size_t i = 0; i < LOOKUPS; i++) {
        struct rl_ref ref = rl_side_table_find(RL_GRAPH, order[i]);

        if (ref.record) {
            uint32_t marks = atomic_load_explicit(&ref.record->marks, memory_order_acquire);
            uintptr_t note = atomic_load_explicit(&ref.record->note, memory_order_acquire);

            if (rl_ref_valid(ref)) {
                marked += marks != 0;
                rl_report_launch((struct rl_report_exec *)note, false);
            }
        }
    }
    return marked;
}

static uint64_t pass_hold(void)
{
    for (size_t i = 0; i < LOOKUPS; i++) {
        struct rl_ref ref = rl_side_table_find(RL_GRAPH, order[i]);

        if (rl_ref_hold(ref))
            rl_record_drop(ref.record);
    }
    return 0;
}

/* Each handle depends on the last result, as when a shim waits for its look-up. */
static uint64_t pass_floor_dependent(void)
{
    uint64_t last = 0;

    for (size_t i = 0; i < LOOKUPS; i++)
        last = floor_find((uintptr_t)order[(i + (last == 1)) & (LOOKUPS - 1)]);
    return last;
}

static uint64_t pass_find_dependent(void)
{
    struct rl_ref last = { 0 };

    for (size_t i = 0; i < LOOKUPS; i++)
        last = rl_side_table_find(RL_GRAPH, order[(i + (last.generation == 1000000)) & (LOOKUPS - 1)]);
    return (uintptr_t)last.record;
}

static double smallest(uint64_t (*pass)(void), unsigned passes)
{
    static volatile uint64_t sink;
    double best = 1e18;

    for (unsigned i = 0; i < passes; i++) {
        double start = now(), spent;

        sink = pass();
        spent = (now() - start) / LOOKUPS;
        best = spent < best ? spent : best;
    }
    (void)sink;
    return best;
}

static void insert(const void *handle)
{
    static struct rl_report_exec lines[RL_REPORT_EXECS];
    struct rl_record *record = rl_side_table_take(RL_GRAPH);

    if (record)
        atomic_store(&record->note, (uintptr_t)&lines[(uintptr_t)handle / 64 % RL_REPORT_EXECS]);
    rl_side_table_insert(RL_GRAPH, handle, record);
}

/* Never rests: destroys and creates, at addresses that come back or that are always new. */
static void *writer(void *fresh)
{
    uintptr_t next = 0x7f0000000000;

    while (!atomic_load_explicit(&stop, memory_order_relaxed)) {
        for (unsigned i = 0; i < 64; i++) {
            const void *handle = (const void *)(fresh ? next += 64 : UINT64_C(0x7e0000000000) + i * 64);

            insert(handle);
            rl_side_table_erase(RL_GRAPH, handle);
        }
        atomic_fetch_add_explicit(&pairs, 64, memory_order_relaxed);
    }
    return NULL;
}

static double with_writer(bool fresh, double *pair)
{
    pthread_t thread;
    double best, start;

    atomic_store(&stop, false);
    atomic_store(&pairs, 0);
    start = now();
    if (pthread_create(&thread, NULL, writer, fresh ? &stop : NULL))
        return -1;
    while (!atomic_load(&pairs))
        sched_yield();
    best = smallest(pass_find, 4 * PASSES);
    atomic_store(&stop, true);
    pthread_join(thread, NULL);
    *pair = (now() - start) / (double)atomic_load(&pairs);
    return best;
}

/* Not getrusage(): its peak includes what this process was before exec. */
static double resident_kib(void)
{
    FILE *file = fopen("/proc/self/statm", "r");
    long pages = 0;

    if (!file || fscanf(file, "%*d %ld", &pages) != 1)
        abort();
    fclose(file);
    return (double)pages * (double)sysconf(_SC_PAGESIZE) / 1024;
}

static void line(const char *name, double value, double base, double limit)
{
    printf("%s\t%.2f\t%.2f\t%.2f\n", name, value, base, limit);
}

int main(void)
{
    double resident, base, dependent, pair[2], busy[2], start, churn;
    size_t bytes;

    rl_side_table_define(RL_GRAPH, 128, NULL);
    srand(1);
    for (size_t i = 0; i < HANDLES; i++) {
        handles[i] = malloc(200 + (size_t)rand() % 300);
        insert(handles[i]);
        for (size_t at = rl_side_table_mix((uintptr_t)handles[i]) >> 50;; at = (at + 1) & (FLOOR_SLOTS - 1))
            if (!floor_slots[at].handle) {
                put(&floor_slots[at], (uintptr_t)handles[i], (uintptr_t)handles[i]);
                break;
            }
    }
    for (size_t i = 0; i < LOOKUPS; i++)
        order[i] = handles[(size_t)rand() % HANDLES];

    base = smallest(pass_floor, PASSES);
    line("look-up, hit", smallest(pass_find, PASSES), base, 1.5);
    line("look-up, miss", smallest(pass_miss, PASSES), base, 0);
    line("look-up, then valid", smallest(pass_find_valid, PASSES), base, 0);
    line("look-up, marks, count a launch", smallest(pass_launch, PASSES), base, 0);
    line("look-up, hold, drop", smallest(pass_hold, PASSES), base, 0);
    dependent = smallest(pass_floor_dependent, PASSES);
    line("look-up, hit, dependent", smallest(pass_find_dependent, PASSES), dependent, 1.5);
    busy[0] = with_writer(false, &pair[0]);
    busy[1] = with_writer(true, &pair[1]);
    base = base < smallest(pass_floor, PASSES) ? base : smallest(pass_floor, PASSES);
    line("look-up, hit, writer at recycled addresses", busy[0], base, 2);
    line("look-up, hit, writer at new addresses", busy[1], base, 2);
    line("insert and erase, recycled address, beside a reader", pair[0], base, 0);
    line("insert and erase, new address, beside a reader", pair[1], base, 0);

    for (uintptr_t i = 0; i < CHURN / 10; i++) {
        insert((void *)(0x7d0000000000 + i * 64));
        rl_side_table_erase(RL_GRAPH, (void *)(0x7d0000000000 + i * 64));
    }
    bytes = rl_side_table_stats(RL_GRAPH).bytes;
    resident = resident_kib();
    start = now();
    for (uintptr_t i = 0; i < CHURN; i++) {
        insert((void *)(0x7c0000000000 + i * 64));
        rl_side_table_erase(RL_GRAPH, (void *)(0x7c0000000000 + i * 64));
    }
    churn = (now() - start) / CHURN;
    line("insert and erase, 1 M new addresses, alone", churn, base, 0);
    line("bytes after 1 M pairs, against before", (double)rl_side_table_stats(RL_GRAPH).bytes, (double)bytes,
         1);
    line("resident KiB after 1 M pairs, against before", resident_kib(), resident, 1.05);
    return 0;
}
