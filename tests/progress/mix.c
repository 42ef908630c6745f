/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Threads that each repeat one list of operations, all at the same time.
 *
 *     mix ROUNDS THREAD...          a thread: "replay@null*16 synchronize@null"
 *
 * OPERATION@STREAM*TIMES is an operation of operations.h in a stream of site.h. "blocking1" is one stream for
 * all threads that name it, "blocking" one of the thread's own. A thread goes on until every thread has
 * finished its rounds, so that none of them is left alone with its work. A thread with a "hold" makes one
 * round, first of all; what it holds is let go when the others have finished. Every number is checked.
 */
#include "operations.h"

enum { MOST_PARTS = 12 };

struct part {
    const struct operation *operation;
    struct site *site;
    unsigned long times;
};

struct script {
    const char *text;
    struct site site[SITES];
    uint32_t sites, parts;
    struct part part[MOST_PARTS];
    bool holds;
};

static struct script scripts[MOST_WORKERS];
static atomic_uint unfinished; /* threads without a hold */
static pthread_barrier_t meeting;

static const struct operation *find_operation(const char *name)
{
    for (int i = 0; i < OPERATIONS; i++)
        if (strcmp(operations[i].name, name) == 0)
            return &operations[i];
    FAIL("got the operation %s, want one of operations.h", name);
}

static enum stream_kind find_kind(const char *name, size_t length)
{
    for (int kind = 0; kind < STREAM_KINDS; kind++)
        if (strlen(stream_names[kind]) == length && strncmp(stream_names[kind], name, length) == 0)
            return kind;
    FAIL("got the stream %s, want one of site.h", name);
}

/* A digit behind the kind says which of the shared streams it is. */
static hipStream_t shared_stream(const char *name, enum stream_kind *kind)
{
    size_t length = strcspn(name, "0123456789");
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    static hipStream_t shared_streams[STREAM_KINDS]['9' - '0' + 1];
    hipStream_t *stream;

    *kind = find_kind(name, length);
    if (!name[length])
        return NULL;
    stream = &shared_streams[*kind][name[length] - '0'];
    pthread_mutex_lock(&lock);
    if (!*stream)
        *stream = make_stream(*kind);
    pthread_mutex_unlock(&lock);
    return *stream;
}

static struct site *find_site(struct script *script, struct worker *worker, const char *name)
{
    enum stream_kind kind;
    hipStream_t shared = shared_stream(name, &kind);
    struct site *site = script->site;

    for (; site < &script->site[script->sites]; site++)
        if (site->kind == kind && (shared ? site->stream == shared : !site->shared))
            return site;
    if (script->sites++ == SITES)
        FAIL("got more than %d streams in \"%s\", want fewer", SITES, script->text);
    open_site(site, worker, script->site, kind, shared);
    script->site[0].other = site;
    return site;
}

static void read_script(struct script *script, struct worker *worker)
{
    char text[512], *rest_of_text = text, *word;

    snprintf(text, sizeof(text), "%s", script->text);
    while ((word = strsep(&rest_of_text, " "))) {
        char *stream = strchr(word, '@'), *times = strchr(word, '*');
        if (!stream || script->parts == MOST_PARTS)
            FAIL("got \"%s\", want at most %d times OPERATION@STREAM", script->text, MOST_PARTS);
        *stream++ = 0;
        if (times)
            *times++ = 0;
        script->part[script->parts++] = (struct part){ find_operation(word),
                                                       find_site(script, worker, stream),
                                                       times ? strtoul(times, NULL, 10) : 1 };
    }
}

static void run_once(const struct script *script)
{
    for (uint32_t i = 0; i < script->parts; i++)
        for (unsigned long turn = 0; turn < script->part[i].times; turn++)
            script->part[i].operation->run(script->part[i].site);
}

static void finish_round(uint32_t round)
{
    if (round + 1 == app.rounds && atomic_fetch_sub(&unfinished, 1) == 1)
        let_go();
}

/* Holds come when everything is made, the rounds when everything is held, the end when all is let go. */
static void meet(struct worker *worker)
{
    rest(worker);
    pthread_barrier_wait(&meeting);
}

static void work(struct worker *worker)
{
    struct script *script = &scripts[worker->id];
    uint64_t digest = 0;

    seed_worker(worker, 1);
    read_script(script, worker);
    meet(worker);
    if (script->holds)
        run_once(script);
    meet(worker);
    for (uint32_t round = 0; !script->holds && (round < app.rounds || atomic_load(&unfinished)); round++) {
        run_once(script);
        finish_round(round);
    }
    meet(worker);
    for (uint32_t i = 0; i < script->sites; i++)
        close_site(&script->site[i], &digest);
}

static void take_script(struct script *script, const char *text)
{
    script->text = text;
    script->holds = strstr(text, "hold@");
    if (!script->holds)
        atomic_fetch_add(&unfinished, 1);
}

int main(int argc, char **argv)
{
    uint32_t threads = argc > 2 ? (uint32_t)argc - 2 : 0;
    struct worker *self;

    app_begin("mix", argc < 2 ? argc : 2, argv, 1, 16384);
    if (!threads || threads >= MOST_WORKERS)
        FAIL("got %u threads, want 1 to %d", threads, MOST_WORKERS - 1);
    for (uint32_t i = 1; i <= threads; i++)
        take_script(&scripts[i], argv[i + 1]);
    self = watched_main();
    find_kernels();
    make_gate();
    pthread_barrier_init(&meeting, NULL, threads);
    run_workers(threads, work);
    step(self, "hipDeviceSynchronize at the end", "null");
    return app_pass();
}
