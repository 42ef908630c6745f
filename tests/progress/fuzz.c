/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Random work of several threads at once.
 *
 *     fuzz SEED THREADS STEPS
 *
 * Each thread owns one to three sites (site.h) in streams of all kinds, some shared with other threads, and
 * does STEPS operations (operations.h) that the seed chose. All it touches is its own, so what each buffer
 * must hold at the end does not depend on how the threads interleave; it is computed here, checked, and
 * printed as a digest. Threads meet only in streams and in calls that wait for the whole device.
 *
 * Left out, since HIP 7.2.4 alone hangs, crashes or is wrong on it (the places that avoid it say more):
 *   - an exec destroyed while launches of it are under way: freed in a callback, which waits for the GPU, which
 *     may wait for the next callback (`await_callbacks`);
 *   - a stream that waits for the NULL stream destroyed, or a thread with a stream of its own ended, while
 *     another thread works in the NULL stream: use after free (`renew`, `run_worker`);
 *   - waits for an event that was recorded in hipStreamLegacy: a crash (`to_be_waited_for`);
 *   - graphs with several first or last nodes: wrong order (`must_follow`);
 *   - thousands of launches without a wait: the driver's events run out, and ROCr aborts.
 *
 *     PASS fuzz SEED THREADS STEPS digest ...     status 0
 *     FAIL ...                                    status 1, a wrong number or a failed call
 *     HUNG ...                                    status 86, see worker.h
 */
#include "operations.h"

enum { SHARES = 3, DEFAULT_STEPS = 200 };

static uint64_t seed;
static uint32_t steps;
static uint64_t digest[MOST_WORKERS];
static hipStream_t shared_streams[STREAM_KINDS];

static const struct operation *draw_operation(struct worker *worker)
{
    uint32_t sum = 0, wanted;
    const struct operation *operation = operations;

    for (int i = 0; i < OPERATIONS; i++)
        sum += operations[i].weight;
    for (wanted = draw(worker, sum); wanted >= operation->weight; operation++)
        wanted -= operation->weight;
    return operation;
}

static void open_drawn_site(struct site *site, struct worker *worker, struct site *other)
{
    enum stream_kind kind = draw(worker, STREAM_KINDS);
    bool shared = kind >= BLOCKING && !draw(worker, SHARES);

    open_site(site, worker, other, kind, shared ? shared_streams[kind] : NULL);
}

static void work(struct worker *worker)
{
    static struct site sites[MOST_WORKERS][SITES];
    struct site *own = sites[worker->id];
    uint32_t count;

    seed_worker(worker, seed);
    count = 1 + draw(worker, SITES - 1);
    for (uint32_t i = 0; i < count; i++)
        open_drawn_site(&own[i], worker, &own[(i + 1) % count]);
    for (uint32_t i = 0; i < steps; i++)
        draw_operation(worker)->run(&own[draw(worker, count)]);
    for (uint32_t i = 0; i < count; i++)
        close_site(&own[i], &digest[worker->id]);
}

int main(int argc, char **argv)
{
    static const uint32_t sizes[] = { 64, 1024, 8192, 32768 };
    char name[64];
    struct worker *self;
    uint64_t sum = 0;

    seed = argc > 1 ? strtoull(argv[1], NULL, 0) : 1;
    uint32_t threads = argc > 2 ? (uint32_t)strtoul(argv[2], NULL, 0) : 4;
    steps = argc > 3 ? (uint32_t)strtoul(argv[3], NULL, 0) : DEFAULT_STEPS;
    app_begin("fuzz", 1, argv, 0, sizes[seed % 4]);
    self = watched_main();
    step(self, "making shared streams", "-");
    find_kernels();
    for (int kind = BLOCKING; kind < STREAM_KINDS; kind++)
        shared_streams[kind] = make_stream(kind);
    rest(self);
    run_workers(threads, work);
    for (uint32_t i = 1; i <= threads; i++)
        sum = sum * 31 + digest[i];
    snprintf(name, sizeof(name), "fuzz %llu %u %u digest %016llx", (unsigned long long)seed, threads, steps,
             (unsigned long long)sum);
    app.name = name;
    step(self, "hipDeviceSynchronize at the end", "null");
    return app_pass();
}
