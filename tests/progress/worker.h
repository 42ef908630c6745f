/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Threads that are watched. A worker says what it is about to do (`step`); when one of them has been at the
 * same step for PATIENCE seconds, the watchdog says where each of them is and the process ends with status
 * HUNG. Between its last step and the next a worker rests and is not watched.
 *
 * Environment: PROGRESS_PATIENCE, seconds instead of PATIENCE; PROGRESS_TRACE, every step on standard error.
 */
#ifndef TESTS_PROGRESS_WORKER_H
#define TESTS_PROGRESS_WORKER_H

#include <pthread.h>
#include <stdatomic.h>

#include "../apps/app.h"

enum { MOST_WORKERS = 9, PATIENCE = 30, HUNG = 86, TICK_US = 100000 };

struct worker {
    pthread_t thread;
    uint32_t id; /* 0 is the main thread */
    uint64_t random;
    _Atomic(const char *) operation, place; /* NULL: at rest */
    atomic_ulong steps;
};

static struct worker workers[MOST_WORKERS];
static uint32_t worker_count = 1;
static bool tracing;

static inline void step(struct worker *worker, const char *operation, const char *place)
{
    atomic_store(&worker->place, place);
    atomic_store(&worker->operation, operation);
    atomic_fetch_add(&worker->steps, 1);
    if (tracing)
        fprintf(stderr, "thread %u step %lu: %s, %s\n", worker->id, atomic_load(&worker->steps), operation,
                place);
}

static inline void rest(struct worker *worker)
{
    atomic_store(&worker->operation, NULL);
}

/* One write: other threads may hold stdout's lock for ever. */
static inline void say_where_all_are(const struct worker *stuck)
{
    char text[4096];
    size_t used = (size_t)snprintf(text, sizeof(text), "HUNG %s: thread %u makes no progress\n", app.name,
                                   stuck->id);

    for (uint32_t i = 0; i < worker_count; i++) {
        const char *operation = atomic_load(&workers[i].operation);
        used += (size_t)snprintf(text + used, sizeof(text) - used, "thread %u, step %lu: %s, %s\n", i,
                                 atomic_load(&workers[i].steps), operation ? operation : "at rest",
                                 operation ? atomic_load(&workers[i].place) : "-");
    }
    if (write(STDOUT_FILENO, text, used) < 0)
        _exit(HUNG);
}

static void *watch(void *unused)
{
    const char *wanted = getenv("PROGRESS_PATIENCE");
    unsigned long seconds = wanted ? strtoul(wanted, NULL, 10) : PATIENCE, seen[MOST_WORKERS] = { 0 };
    unsigned ticks[MOST_WORKERS] = { 0 };

    (void)unused;
    for (;;) {
        usleep(TICK_US);
        for (uint32_t i = 0; i < worker_count; i++) {
            unsigned long steps = atomic_load(&workers[i].steps);
            ticks[i] = steps == seen[i] && atomic_load(&workers[i].operation) ? ticks[i] + 1 : 0;
            seen[i] = steps;
            if (ticks[i] * TICK_US >= seconds * 1000000) {
                say_where_all_are(&workers[i]);
                _exit(HUNG);
            }
        }
    }
}

/* Behind app_begin(). */
static inline struct worker *watched_main(void)
{
    pthread_t watchdog;

    tracing = getenv("PROGRESS_TRACE");
    if (pthread_create(&watchdog, NULL, watch, NULL))
        FAIL("got no thread, want a watchdog");
    return &workers[0];
}

static pthread_barrier_t all_done;
static void (*work_of_all)(struct worker *worker);

/* A thread's own stream goes with it, and HIP 7.2.4 crashes when another thread has just begun to wait for
 * that stream: all threads end together, with nothing more to do. */
static void *run_worker(void *worker)
{
    work_of_all(worker);
    rest(worker);
    pthread_barrier_wait(&all_done);
    return NULL;
}

/* `count` threads that run `work` with a worker each; returns when all have ended. */
static inline void run_workers(uint32_t count, void (*work)(struct worker *worker))
{
    if (count >= MOST_WORKERS)
        FAIL("got %u threads, want at most %u", count, MOST_WORKERS - 1);
    for (uint32_t i = 1; i <= count; i++)
        workers[i].id = i;
    worker_count = count + 1;
    work_of_all = work;
    pthread_barrier_init(&all_done, NULL, count);
    for (uint32_t i = 1; i <= count; i++)
        if (pthread_create(&workers[i].thread, NULL, run_worker, &workers[i]))
            FAIL("got no thread %u, want %u of them", i, count);
    for (uint32_t i = 1; i <= count; i++)
        pthread_join(workers[i].thread, NULL);
}

/* A number below `below`, from the worker's own sequence. */
static inline uint32_t draw(struct worker *worker, uint32_t below)
{
    worker->random = worker->random * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)((worker->random >> 33) % below);
}

static inline void seed_worker(struct worker *worker, uint64_t seed)
{
    worker->random = (seed * MOST_WORKERS + worker->id) * 0x9e3779b97f4a7c15u + 1;
}

#endif
