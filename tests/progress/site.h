/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A site is what one thread owns in one stream: two buffers on the GPU, memory for copies, graphs, an event.
 * The thread keeps the numbers that each must hold, so every copy that arrives is checked. The stream may be
 * shared with other threads; nothing else is.
 *
 * What was enqueued carries the site's count of enqueued operations; what is known to be done goes up to one
 * (`settle`), and only then is host memory read or written again.
 */
#ifndef TESTS_PROGRESS_SITE_H
#define TESTS_PROGRESS_SITE_H

#include "moves.h"

enum { SLOTS = 4, GRAPHS = 2, SITES = 4 };

enum stream_kind { NULL_STREAM, LEGACY, PER_THREAD, BLOCKING, NONBLOCKING, URGENT, LAZY, STREAM_KINDS };

static const char *const stream_names[STREAM_KINDS] = { "null",        "legacy", "thread", "blocking",
                                                        "nonblocking", "urgent", "lazy" };

struct slot {
    uint32_t *words;
    uint64_t used; /* by the operation of this count; 0: free */
    bool arriving;
    struct numbers expected;
};

struct site {
    struct worker *worker;
    struct site *other; /* the next site of the thread, itself if there is none */
    enum stream_kind kind;
    char name[24];
    bool shared;
    hipStream_t stream;
    uint32_t *buffer[2];
    struct numbers now[2];
    struct slot slot[SLOTS]; /* the first half is pinned */
    struct move_graph graph[GRAPHS];
    uint64_t enqueued, recorded, called_at;
    hipEvent_t event, link;
    atomic_uint called;
    uint32_t calls;
};

static inline bool waits_for_null(const struct site *site)
{
    return site->kind != NONBLOCKING && site->kind != URGENT;
}

static inline hipStream_t make_stream(enum stream_kind kind)
{
    int least, greatest;
    hipStream_t stream;

    if (kind == NULL_STREAM)
        return NULL;
    if (kind == LEGACY)
        return hipStreamLegacy;
    if (kind == PER_THREAD)
        return hipStreamPerThread;
    HIP(hipDeviceGetStreamPriorityRange(&least, &greatest));
    if (kind == URGENT)
        HIP(hipStreamCreateWithPriority(&stream, hipStreamNonBlocking, greatest));
    else if (kind == LAZY)
        HIP(hipStreamCreateWithPriority(&stream, hipStreamDefault, least));
    else
        stream = kind == BLOCKING ? new_blocking_stream() : new_stream();
    return stream;
}

/* ---- numbers ---- */

static inline void fill_words(uint32_t *words, struct numbers numbers)
{
    for (uint32_t i = 0; i < app.n; i++)
        words[i] = numbers.factor * i + numbers.term;
}

static inline void check_words(const struct site *site, const char *what, const uint32_t *words,
                               struct numbers numbers)
{
    for (uint32_t i = 0; i < app.n; i++)
        if (words[i] != numbers.factor * i + numbers.term)
            FAIL("thread %u, %s stream, step %lu: got %u at word %u of %s, want %u", site->worker->id,
                 site->name, atomic_load(&site->worker->steps), words[i], i, what,
                 numbers.factor * i + numbers.term);
}

/* ---- what is done ---- */

static inline void settle(struct site *site, uint64_t until)
{
    for (int i = 0; i < SLOTS; i++) {
        struct slot *slot = &site->slot[i];
        if (!slot->used || slot->used > until)
            continue;
        if (slot->arriving)
            check_words(site, i < SLOTS / 2 ? "a pinned copy" : "a pageable copy", slot->words,
                        slot->expected);
        slot->used = 0;
    }
    if (site->called_at <= until && atomic_load(&site->called) != site->calls)
        FAIL("thread %u, %s stream: got %u calls of host functions, want %u", site->worker->id, site->name,
             atomic_load(&site->called), site->calls);
}

static inline void synchronize(struct site *site)
{
    step(site->worker, "hipStreamSynchronize", site->name);
    HIP(hipStreamSynchronize(site->stream));
    settle(site, site->enqueued);
}

static inline struct slot *free_slot(struct site *site, bool pinned)
{
    uint32_t first = pinned ? 0 : SLOTS / 2, turn = draw(site->worker, SLOTS / 2);
    struct slot *slot = &site->slot[first + turn];

    if (slot->used)
        synchronize(site);
    return slot;
}

/* ---- life ---- */

static inline void open_site(struct site *site, struct worker *worker, struct site *other,
                             enum stream_kind kind, hipStream_t shared)
{
    struct numbers start = { 2 * worker->id + 1, 7 };

    *site = (struct site){ .worker = worker, .other = other, .kind = kind, .shared = shared };
    snprintf(site->name, sizeof(site->name), "%s%s", shared ? "shared " : "", stream_names[kind]);
    step(worker, "making streams, memory and graphs", site->name);
    site->stream = shared ? shared : make_stream(kind);
    for (int i = 0; i < SLOTS; i++)
        site->slot[i].words = i < SLOTS / 2 ? pinned_words(app.n) : host_words(app.n);
    for (int i = 0; i < 2; i++) {
        site->buffer[i] = device_words(app.n);
        site->now[i] = start;
        fill_words(site->slot[0].words, start);
        HIP(hipMemcpy(site->buffer[i], site->slot[0].words, app.n * sizeof(uint32_t), hipMemcpyHostToDevice));
    }
    for (int i = 0; i < GRAPHS; i++)
        make_graph(&site->graph[i], worker, site->buffer);
    HIP(hipEventCreate(&site->event));
    HIP(hipEventCreateWithFlags(&site->link, hipEventDisableTiming));
}

/* Both buffers are checked; what they hold goes into `digest`. */
static inline void close_site(struct site *site, uint64_t *digest)
{
    synchronize(site);
    step(site->worker, "hipMemcpy at the end", site->name);
    for (int i = 0; i < 2; i++) {
        uint32_t *words = site->slot[SLOTS - 1].words;
        download(words, site->buffer[i]);
        check_words(site, "a buffer at the end", words, site->now[i]);
        for (uint32_t k = 0; k < app.n; k++)
            *digest = ((*digest ^ words[k]) * 0x100000001b3u) ^ (*digest >> 32);
    }
    rest(site->worker);
}

#endif
