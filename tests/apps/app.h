/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What every application shares: one module of test kernels for the current device, checked HIP calls, and
 * the verdict.
 *
 * An application is `int main(int argc, char **argv)` that calls app_begin() first and returns app_pass(). It
 * takes two optional arguments, rounds and elements. It checks every number itself; the first wrong one, or a
 * HIP call that fails, prints `FAIL name: got ..., want ...` and ends the process with status 1.
 *
 * The code objects are looked for in $APP_FIXTURES, in softgpu/kernels/fixtures beside the build folder that
 * holds the program, and below the current directory.
 */
#ifndef TESTS_APP_H
#define TESTS_APP_H

#include <hip/hip_runtime_api.h>

#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define BLOCK 64u /* of the kernels without hidden arguments */

struct app {
    const char *name;
    const char *program; /* argv[0] */
    char gfx[32];
    hipModule_t module;
    uint32_t rounds;
    uint32_t n;
};

static struct app app;

/* _exit: no destructor of HIP may hang or crash behind the verdict. */
#define FAIL(...)                                                                                            \
    do {                                                                                                     \
        flockfile(stdout);                                                                                   \
        printf("FAIL %s: ", app.name);                                                                       \
        printf(__VA_ARGS__);                                                                                 \
        printf("\n");                                                                                        \
        fflush(stdout);                                                                                      \
        _exit(1);                                                                                            \
    } while (0)

#define HIP(call)                                                                                            \
    do {                                                                                                     \
        hipError_t hip_status_ = (call);                                                                     \
        if (hip_status_ != hipSuccess)                                                                       \
            FAIL("got %s from %s in line %d, want hipSuccess", hipGetErrorName(hip_status_), #call,          \
                 __LINE__);                                                                                  \
    } while (0)

#define EXPECT(what, got, want)                                                                              \
    do {                                                                                                     \
        long long got_ = (long long)(got), want_ = (long long)(want);                                        \
        if (got_ != want_)                                                                                   \
            FAIL("got %s %lld in line %d, want %lld", what, got_, __LINE__, want_);                          \
    } while (0)

/* Arguments are pointers to the values; they are read before the call returns. */
#define ARGUMENTS(...) ((void *[]){ __VA_ARGS__ })
#define LAUNCH_IN(function, blocks, block, lds, stream, ...)                                                 \
    HIP(hipModuleLaunchKernel(function, blocks, 1, 1, block, 1, 1, lds, stream, ARGUMENTS(__VA_ARGS__), NULL))
#define LAUNCH(function, n, stream, ...) LAUNCH_IN(function, BLOCKS(n), BLOCK, 0, stream, __VA_ARGS__)
#define BLOCKS(n) (((n) + BLOCK - 1) / BLOCK)

static inline void nothing(void *unused)
{
    (void)unused;
}

/* HIP releases execs and commands late, on the runtime's own thread, and 7.2.4 can crash or hang when the
 * process exits meanwhile. That thread handles what is due in passes: when a second host function has run,
 * the pass of the first is over. */
static inline int app_pass(void)
{
    for (int pass = 0; pass < 2; pass++) {
        HIP(hipLaunchHostFunc(NULL, nothing, NULL));
        HIP(hipDeviceSynchronize());
    }
    printf("PASS %s\n", app.name);
    fflush(stdout);
    return 0;
}

static inline bool app_readable(char *path, size_t size, const char *folder, const char *tail,
                                const char *file)
{
    snprintf(path, size, "%s%s/%s/%s", folder, tail, app.gfx, file);
    return access(path, R_OK) == 0;
}

/* Module `file` for the current device. */
static inline hipModule_t app_module(const char *file)
{
    static const char fixtures[] = "softgpu/kernels/fixtures";
    const char *folder = getenv("APP_FIXTURES"), *slash = strrchr(app.program, '/');
    char path[4096], beside[2048];
    hipModule_t module;

    snprintf(beside, sizeof(beside), "%.*s/../../", slash ? (int)(slash - app.program) : 1,
             slash ? app.program : ".");
    if (!(folder && app_readable(path, sizeof(path), folder, "", file)) &&
        !app_readable(path, sizeof(path), beside, fixtures, file) &&
        !app_readable(path, sizeof(path), "./", fixtures, file))
        FAIL("got no code object %s/%s, want one in $APP_FIXTURES or %s", app.gfx, file, fixtures);
    HIP(hipModuleLoad(&module, path));
    return module;
}

/* Device 0 and its module, rounds and elements from the command line or as given here. */
static inline void app_begin(const char *name, int argc, char **argv, uint32_t rounds, uint32_t n)
{
    hipDeviceProp_t properties;

    app.name = name;
    app.program = argv[0];
    app.rounds = argc > 1 ? (uint32_t)strtoul(argv[1], NULL, 0) : rounds;
    app.n = argc > 2 ? (uint32_t)strtoul(argv[2], NULL, 0) : n;
    HIP(hipSetDevice(0));
    HIP(hipGetDeviceProperties(&properties, 0));
    snprintf(app.gfx, sizeof(app.gfx), "%.*s", (int)strcspn(properties.gcnArchName, ":"),
             properties.gcnArchName);
    app.module = app_module("kernels.co");
}

static inline hipFunction_t app_kernel(const char *name)
{
    hipFunction_t function;

    HIP(hipModuleGetFunction(&function, app.module, name));
    return function;
}

static inline uint32_t *device_words(uint32_t n)
{
    void *pointer;

    HIP(hipMalloc(&pointer, n * sizeof(uint32_t)));
    return pointer;
}

static inline uint32_t *pinned_words(uint32_t n)
{
    void *pointer;

    HIP(hipHostMalloc(&pointer, n * sizeof(uint32_t), hipHostMallocDefault));
    return pointer;
}

static inline uint32_t *host_words(uint32_t n)
{
    uint32_t *words = calloc(n, sizeof(*words));

    if (!words)
        FAIL("got no host memory, want %u words", n);
    return words;
}

static inline hipStream_t new_stream(void)
{
    hipStream_t stream;

    HIP(hipStreamCreateWithFlags(&stream, hipStreamNonBlocking));
    return stream;
}

static inline hipStream_t new_blocking_stream(void)
{
    hipStream_t stream;

    HIP(hipStreamCreate(&stream));
    return stream;
}

/* Input of a round, different in every element and round. */
static inline uint32_t input_word(uint32_t round, uint32_t i)
{
    return (round + 1) * 2654435761u + i * 40503u;
}

static inline void input_words(uint32_t *words, uint32_t round)
{
    for (uint32_t i = 0; i < app.n; i++)
        words[i] = input_word(round, i);
}

/* Synchronous: what follows on any stream sees it. */
static inline void upload_input(uint32_t *device, uint32_t *scratch, uint32_t round)
{
    input_words(scratch, round);
    HIP(hipMemcpy(device, scratch, app.n * sizeof(*scratch), hipMemcpyHostToDevice));
}

static inline void download(uint32_t *host, const uint32_t *device)
{
    HIP(hipMemcpy(host, device, app.n * sizeof(*host), hipMemcpyDeviceToHost));
}

#define EXPECT_WORDS(round, got, want) expect_words(round, got, want, app.n, __LINE__)
static inline void expect_words(uint32_t round, const uint32_t *got, const uint32_t *want, uint32_t n,
                                int line)
{
    for (uint32_t i = 0; i < n; i++)
        if (got[i] != want[i])
            FAIL("got %u at element %u of round %u in line %d, want %u", got[i], i, round, line, want[i]);
}

static inline hipGraphExec_t instantiate(hipGraph_t graph)
{
    hipGraphExec_t exec;

    HIP(hipGraphInstantiate(&exec, graph, NULL, NULL, 0));
    return exec;
}

static inline void begin_capture(hipStream_t stream)
{
    HIP(hipStreamBeginCapture(stream, hipStreamCaptureModeThreadLocal));
}

static inline hipGraph_t end_capture(hipStream_t stream)
{
    hipGraph_t graph;

    HIP(hipStreamEndCapture(stream, &graph));
    return graph;
}

/* The capture as an exec; the graph is gone. */
static inline hipGraphExec_t end_capture_exec(hipStream_t stream)
{
    hipGraph_t graph = end_capture(stream);
    hipGraphExec_t exec = instantiate(graph);

    HIP(hipGraphDestroy(graph));
    return exec;
}

/* A kernel node over app.n elements behind `count` others. */
static inline hipGraphNode_t kernel_node(hipGraph_t graph, const hipGraphNode_t *behind, size_t count,
                                         hipFunction_t function, void **arguments)
{
    hipKernelNodeParams parameters = {
        .func = function,
        .gridDim = { BLOCKS(app.n), 1, 1 },
        .blockDim = { BLOCK, 1, 1 },
        .kernelParams = arguments,
    };
    hipGraphNode_t node;

    HIP(hipGraphAddKernelNode(&node, graph, behind, count, &parameters));
    return node;
}

#endif
