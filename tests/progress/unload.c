/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Code that is not being replayed goes away while replays are held back, and the call returns at once: HIP
 * waits for nothing there. Replays are released only after it, so a call that waits for them never returns.
 *
 *     unload HOLD WHAT STREAM
 *
 * __hipUnregisterFatBinary() is no part of it: there HIP 7.2.4 itself waits for all that is under way.
 *
 * HOLD is what the replays are behind: a host function, a value in memory, an event of another stream; WHAT
 * is what goes away (`unloads`); STREAM is a kind of site.h.
 */
#include "site.h"

enum { MOST_CODE = 1 << 20, PAGE = 4096 };

struct choice {
    const char *name;
    void (*prepare)(void), (*run)(void); /* before anything is held back; when the replays are */
};

static struct worker *self;
static hipStream_t stream;
static struct move_graph graph, done; /* replays that are held back; one of other code, which has ended */
static uint32_t *buffer[2];
static struct numbers now[2] = { { 3, 1 }, { 5, 2 } };

/* ---- holding back ---- */

static atomic_bool released;
static uint32_t *value;
static hipStream_t held_stream;

static void wait_for_release(void *unused)
{
    (void)unused;
    while (!atomic_load(&released))
        usleep(1000);
}

static void hold_by_function(void)
{
    HIP(hipLaunchHostFunc(stream, wait_for_release, NULL));
}

static void hold_by_value(void)
{
    void *memory;

    HIP(hipExtMallocWithFlags(&memory, sizeof(uint64_t), hipMallocSignalMemory));
    value = memory;
    *value = 0;
    HIP(hipStreamWaitValue32(stream, value, 1, hipStreamWaitValueGte, 0xffffffff));
}

static void hold_by_event(void)
{
    hipEvent_t event;

    held_stream = new_stream();
    HIP(hipEventCreate(&event));
    HIP(hipLaunchHostFunc(held_stream, wait_for_release, NULL));
    HIP(hipEventRecord(event, held_stream));
    HIP(hipStreamWaitEvent(stream, event, 0));
}

static void release(void)
{
    if (value)
        __atomic_store_n(value, 1, __ATOMIC_RELEASE);
    atomic_store(&released, true);
}

static const struct choice holds[] = {
    { "function", NULL, hold_by_function },
    { "value", NULL, hold_by_value },
    { "event", NULL, hold_by_event },
};

/* ---- going away ---- */

static hipModule_t module;
static hipLibrary_t library;

static void load_other(void)
{
    module = app_module("v4.co");
}

static void load_again(void)
{
    module = app_module("kernels.co");
}

static void unload_module(void)
{
    HIP(hipModuleUnload(module));
}

static void load_and_unload(void)
{
    for (int i = 0; i < 4; i++) {
        load_other();
        unload_module();
    }
}

static void load_library(void)
{
    const char *folder = getenv("APP_FIXTURES");
    char path[4096], *code = aligned_alloc(PAGE, MOST_CODE);
    FILE *file;

    snprintf(path, sizeof(path), "%s/%s/v4.co", folder ? folder : "softgpu/kernels/fixtures", app.gfx);
    file = fopen(path, "rb");
    if (!code || !file || !fread(code, 1, MOST_CODE, file))
        FAIL("got no %s, want a code object there", path);
    fclose(file);
    HIP(hipLibraryLoadData(&library, code, NULL, NULL, 0, NULL, NULL, 0));
}

static void unload_library(void)
{
    HIP(hipLibraryUnload(library));
}

/* Its own replays are over, those of the other code are held back. */
static void replay_other_code(void)
{
    static uint32_t *other[2];
    hipStream_t own = new_stream();

    load_again();
    for (int i = 0; i < KERNELS; i++)
        HIP(hipModuleGetFunction(&kernels[i], module, kernel_names[i]));
    for (int i = 0; i < 2; i++)
        other[i] = device_words(app.n);
    make_graph(&done, self, other);
    for (int i = 0; i < 4; i++)
        HIP(hipGraphLaunch(done.exec, own));
    HIP(hipStreamSynchronize(own));
}

static void destroy_exec_and_unload(void)
{
    HIP(hipGraphExecDestroy(graph.exec));
    graph.exec = NULL;
    unload_module();
}

static const struct choice unloads[] = {
    { "other", load_other, unload_module },
    { "again", load_again, unload_module },
    { "loaded_meanwhile", NULL, load_and_unload },
    { "library", load_library, unload_library },
    { "replayed_before", replay_other_code, unload_module },
    { "exec_destroyed", load_other, destroy_exec_and_unload },
};

/* ---- the course ---- */

static void launch(void)
{
    step(self, "hipGraphLaunch", "-");
    for (int i = 0; i < 3; i++) {
        HIP(hipGraphLaunch(graph.exec, stream));
        for (uint32_t k = 0; k < graph.count; k++)
            apply(&graph.move[k], now);
    }
}

static void make_buffers(void)
{
    uint32_t *words = host_words(app.n);

    for (int i = 0; i < 2; i++) {
        buffer[i] = device_words(app.n);
        fill_words(words, now[i]);
        HIP(hipMemcpy(buffer[i], words, app.n * sizeof(*words), hipMemcpyHostToDevice));
    }
}

static void check_buffers(void)
{
    struct site site = { .worker = self, .name = "the" };
    uint32_t *words = host_words(app.n);

    for (int i = 0; i < 2; i++) {
        download(words, buffer[i]);
        check_words(&site, "a buffer at the end", words, now[i]);
    }
}

static const struct choice *find(const struct choice *choices, size_t count, const char *name)
{
    for (size_t i = 0; i < count; i++)
        if (strcmp(choices[i].name, name) == 0)
            return &choices[i];
    FAIL("got %s, want one of the names in this file", name);
}

static enum stream_kind kind_of(const char *name)
{
    for (int kind = 0; kind < STREAM_KINDS; kind++)
        if (strcmp(stream_names[kind], name) == 0)
            return kind;
    FAIL("got the stream %s, want one of site.h", name);
}

static void prepare(enum stream_kind kind, const struct choice *what)
{
    step(self, "making graphs", "-");
    seed_worker(self, 3);
    find_kernels();
    make_buffers();
    stream = make_stream(kind);
    make_graph(&graph, self, buffer);
    launch();
    HIP(hipStreamSynchronize(stream));
    if (what->prepare)
        what->prepare();
}

int main(int argc, char **argv)
{
    const struct choice *hold, *what;

    app_begin("unload", 1, argv, 1, 1024);
    if (argc != 4)
        FAIL("got %d arguments, want HOLD WHAT STREAM", argc - 1);
    hold = find(holds, sizeof(holds) / sizeof(holds[0]), argv[1]);
    what = find(unloads, sizeof(unloads) / sizeof(unloads[0]), argv[2]);
    self = watched_main();
    prepare(kind_of(argv[3]), what);
    hold->run();
    launch();
    step(self, "code goes away", what->name);
    what->run();
    if (graph.exec)
        launch();
    step(self, "hipStreamSynchronize of what was held back", hold->name);
    release();
    HIP(hipStreamSynchronize(stream));
    check_buffers();
    step(self, "the end", "-");
    return app_pass();
}
