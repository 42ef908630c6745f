/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Single behaviours of the side table that need threads, forks or many operations; each is a subcommand.
 * Built with -DRL_FAULT_INJECTION. Prints nothing and exits with 0 when the behaviour holds.
 */
#include "base/fault.h"
#include "base/side_table.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define CHECK(condition)                                                                                     \
    do {                                                                                                     \
        if (!(condition)) {                                                                                  \
            fprintf(stderr, "%s:%d: %s is false\n", __FILE__, __LINE__, #condition);                         \
            abort();                                                                                         \
        }                                                                                                    \
    } while (0)

struct serial_record {
    struct rl_record base;
    uint64_t serial;
};

static _Atomic bool stop;
static _Atomic uint64_t retired;

static void retire(struct rl_record *record)
{
    (void)record;
    atomic_fetch_add(&retired, 1);
}

static const void *handle(uintptr_t index)
{
    return (const void *)(UINT64_C(0x550000000000) + index * 48);
}

static struct rl_ref insert(enum rl_kind kind, uintptr_t index, uint64_t serial)
{
    struct rl_record *record = rl_side_table_take(kind);

    if (record)
        ((struct serial_record *)record)->serial = serial;
    return rl_side_table_insert(kind, handle(index), record);
}

static void define_all(void)
{
    for (unsigned kind = 0; kind < RL_KIND_COUNT; kind++)
        CHECK(rl_side_table_define(kind, sizeof(struct serial_record), retire));
}

/* fork: while other threads hold the locks most of the time, a child is empty, usable and never blocked. */
static void *churn(void *argument)
{
    enum rl_kind kind = (uintptr_t)argument % RL_KIND_COUNT;

    for (uintptr_t i = 0; !atomic_load_explicit(&stop, memory_order_relaxed); i++) {
        insert(kind, i, i);
        rl_side_table_erase(kind, handle(i));
    }
    return NULL;
}

static int child(struct rl_ref held, struct rl_ref loose)
{
    alarm(20);
    for (unsigned kind = 0; kind < RL_KIND_COUNT; kind++) {
        if (rl_side_table_stats(kind).live || rl_side_table_find(kind, handle(1 << 30)).record)
            return 1;
        for (uintptr_t i = 0; i < 300; i++)
            if (!insert(kind, i, i).record)
                return 2;
        for (uintptr_t i = 0; i < 300; i++)
            if (!rl_side_table_find(kind, handle(i)).record || !rl_side_table_erase(kind, handle(i)))
                return 3;
        if (rl_side_table_stats(kind).live)
            return 4;
    }
    rl_record_drop(held.record);
    return rl_ref_hold(loose) ? 0 : 5; /* memory of the parent's records is still what it was */
}

static void check_fork(void)
{
    pthread_t threads[RL_KIND_COUNT];
    struct rl_ref held, loose;
    int status;
    pid_t pid;

    define_all();
    for (unsigned kind = 0; kind < RL_KIND_COUNT; kind++)
        insert(kind, 1 << 30, 1);
    held = rl_side_table_find(RL_EXEC, handle(1 << 30));
    loose = rl_side_table_find(RL_NODE, handle(1 << 30));
    CHECK(rl_ref_hold(held));
    for (uintptr_t i = 0; i < RL_KIND_COUNT; i++)
        CHECK(!pthread_create(&threads[i], NULL, churn, (void *)i));
    for (unsigned i = 0; i < 40; i++) {
        pid = fork();
        CHECK(pid >= 0);
        if (!pid)
            _exit(child(held, loose));
        CHECK(waitpid(pid, &status, 0) == pid && WIFEXITED(status) && WEXITSTATUS(status) == 0);
    }
    atomic_store(&stop, true);
    for (unsigned i = 0; i < RL_KIND_COUNT; i++)
        pthread_join(threads[i], NULL);
    CHECK(rl_side_table_find(RL_EXEC, handle(1 << 30)).record == held.record && rl_ref_valid(held));
}

/* fault: with any allocation failing, a find gives the object's own record or none, never an older one. */
static uint64_t fault_script(void)
{
    uint64_t serials[1200] = { 0 }, next = 1, missing = 0;

    for (unsigned round = 0; round < 6; round++) {
        for (unsigned i = round % 2; i < 1200; i += 1 + round % 3) {
            serials[i] = next++;
            if (round % 3 == 2)
                rl_side_table_erase(RL_GRAPH, handle(i));
            insert(RL_GRAPH, i, serials[i]);
        }
        for (unsigned i = 0; i < 1200; i++) {
            struct rl_ref ref = rl_side_table_find(RL_GRAPH, handle(i));

            CHECK(!ref.record || serials[i]);
            if (rl_ref_hold(ref)) {
                CHECK(((struct serial_record *)ref.record)->serial == serials[i]);
                rl_record_drop(ref.record);
            }
            missing += serials[i] && !ref.record;
        }
        for (unsigned i = 0; i < 1200; i += 3) {
            rl_side_table_erase(RL_GRAPH, handle(i));
            CHECK(!rl_side_table_find(RL_GRAPH, handle(i)).record);
            serials[i] = 0;
        }
    }
    return missing;
}

static void check_fault(void)
{
    uint64_t calls, before;

    define_all();
    CHECK(!fault_script());
    for (uint64_t n = 1; n <= 200; n++) {
        for (unsigned forever = 0; forever < 2; forever++) {
            rl_side_table_forget();
            rl_fault_arm(RL_FAULT_ALLOC, n, forever ? UINT64_MAX : 1);
            before = fault_script();
            calls = rl_fault_calls(RL_FAULT_ALLOC);
            rl_fault_arm(RL_FAULT_ALLOC, 0, 0);
            CHECK(before ? n <= calls : 1);
            CHECK(!forever || n > 1 || before); /* with no memory at all every record is missing */
            rl_side_table_erase_if(RL_GRAPH, NULL, NULL);
            CHECK(!rl_side_table_stats(RL_GRAPH).live && !rl_side_table_stats(RL_GRAPH).records_out);
            CHECK(!fault_script()); /* once memory is back nothing is missing */
        }
    }
}

/* armed: run with RL_FAULT=alloc:1:COUNT, the first COUNT records are missing and the next is there. */
static void check_armed(void)
{
    define_all();
    for (uintptr_t i = 0; i < 3; i++)
        CHECK(!insert(RL_GRAPH, i, i).record);
    CHECK(insert(RL_GRAPH, 3, 3).record);
}

/* wear: a record slot whose generations are used up is left alone, and its old references stay invalid. */
static void check_wear(void)
{
    struct rl_ref first, ref = { 0 };

    define_all();
    first = insert(RL_EXEC, 0, 0);
    for (uint64_t i = 0; i < RL_GENERATION_MASK + 2; i++) {
        CHECK(rl_side_table_erase(RL_EXEC, handle(0)));
        CHECK(!rl_ref_valid(first) && !rl_ref_valid(ref));
        ref = insert(RL_EXEC, 0, i);
        CHECK(rl_ref_valid(ref));
    }
    CHECK(ref.record != first.record);
    CHECK(rl_side_table_stats(RL_EXEC).worn_out == 1 && rl_side_table_stats(RL_EXEC).records_out == 1);
}

/* growth: no call does more than its share, from the first record to 200,000, and everything stays found. */
static void check_growth(void)
{
    size_t before = 0, growths = 0;

    define_all();
    for (uintptr_t i = 0; i < 200000; i++) {
        size_t slots = rl_side_table_stats(RL_NODE).slots, left;

        CHECK(insert(RL_NODE, i, i).record);
        left = rl_side_table_stats(RL_NODE).slots_to_move;
        growths += slots != rl_side_table_stats(RL_NODE).slots;
        CHECK(slots != rl_side_table_stats(RL_NODE).slots || before - left <= 16);
        before = left;
        if (i % 997 == 0)
            for (uintptr_t k = 0; k <= i; k += 1 + i / 500)
                CHECK(rl_side_table_find(RL_NODE, handle(k)).record);
    }
    CHECK(growths > 8 && growths < 16);
    for (uintptr_t i = 0; i < 200000; i++)
        CHECK(rl_side_table_find(RL_NODE, handle(i)).record && rl_side_table_erase(RL_NODE, handle(i)));
    CHECK(!rl_side_table_stats(RL_NODE).live && atomic_load(&retired) == 200000);
}

/* churn: a million pairs at ever new addresses, among 500 objects that stay, take no more memory. */
static void check_churn(void)
{
    size_t bytes = 0;

    define_all();
    for (uintptr_t i = 0; i < 500; i++)
        insert(RL_GRAPH, 1 << 28 | i, i);
    for (uintptr_t i = 0; i < 1010000; i++) {
        if (i == 10000)
            bytes = rl_side_table_stats(RL_GRAPH).bytes;
        CHECK(!rl_side_table_find(RL_GRAPH, handle(i)).record);
        CHECK(insert(RL_GRAPH, i, i).record);
        CHECK(rl_side_table_erase(RL_GRAPH, handle(i)));
    }
    CHECK(rl_side_table_stats(RL_GRAPH).bytes == bytes);
    CHECK(rl_side_table_stats(RL_GRAPH).live == 500 && rl_side_table_stats(RL_GRAPH).records_out == 500);
}

/* rebuild: readers that do nothing else find what stays inserted while the arrays under them change. */
static void *look_up(void *argument)
{
    (void)argument;
    while (!atomic_load_explicit(&stop, memory_order_relaxed))
        for (uintptr_t i = 0; i < 16; i++) {
            struct rl_ref ref = rl_side_table_find(RL_GRAPH, handle(1 << 28 | i));

            CHECK(rl_ref_valid(ref) && ref.record->native == (uintptr_t)handle(1 << 28 | i));
            CHECK(!rl_side_table_find(RL_GRAPH, handle(1 << 29 | i)).record);
        }
    return NULL;
}

static void check_rebuild(void)
{
    struct timespec wait = { 1, 500000000 };
    pthread_t threads[4];

    define_all();
    for (uintptr_t i = 0; i < 16; i++)
        insert(RL_GRAPH, 1 << 28 | i, i);
    for (unsigned i = 0; i < 3; i++)
        CHECK(!pthread_create(&threads[i], NULL, look_up, NULL));
    CHECK(!pthread_create(&threads[3], NULL, churn, (void *)RL_GRAPH));
    nanosleep(&wait, NULL);
    atomic_store(&stop, true);
    for (unsigned i = 0; i < 4; i++)
        pthread_join(threads[i], NULL);
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        void (*run)(void);
    } checks[] = {
        { "fork", check_fork },       { "fault", check_fault },   { "armed", check_armed },
        { "wear", check_wear },       { "growth", check_growth }, { "churn", check_churn },
        { "rebuild", check_rebuild },
    };

    for (size_t i = 0; argc == 2 && i < sizeof(checks) / sizeof(checks[0]); i++)
        if (!strcmp(argv[1], checks[i].name)) {
            checks[i].run();
            return 0;
        }
    fprintf(stderr, "usage: %s fork|fault|armed|wear|growth|churn|rebuild\n", argv[0]);
    return 2;
}
