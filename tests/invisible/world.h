/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A fresh set of HIP objects for one call, names for their handles, and what is printed about a call: its
 * status, the thread's last error, what it wrote, and what the objects do afterwards. Handles are printed by
 * name, other addresses as `address`, so that two runs can be compared.
 */
#ifndef WORLD_H
#define WORLD_H

#include <hip/hip_runtime_api.h>

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { OUTS = 8, OUT_BYTES = 512, WORDS = 256, MOST_NAMES = 256, PATTERN = 0xa5 };

struct world {
    hipGraph_t graph, other, clone, with_memory, destroyed_graph;
    hipGraphNode_t kernel, kernel2, memset, copy, host, child, empty, record, wait, alloc, free_node;
    hipGraphNode_t foreign, destroyed_node;
    hipGraphExec_t exec, destroyed_exec, reused_exec;
    hipStream_t stream, capturing;
    hipEvent_t event;
    hipUserObject_t object;
    hipModule_t module;
    hipLibrary_t library;
    const char *path; /* of the module's file */
    const void *image;
    uint32_t *data, *source;
    void *allocated;
    hipKernelNodeParams kernel_params;
    hipMemsetParams memset_params;
    hipMemcpy3DParms copy_params;
    HIP_MEMCPY3D driver_copy;
    hipHostNodeParams host_params;
    hipMemAllocNodeParams alloc_params;
    hipGraphNodeParams node_params;
    hipGraphInstantiateParams instantiate_params;
    hipLaunchAttributeValue attribute;
    hipBatchMemOpNodeParams batch_params;
    hipStreamCaptureMode mode;
    size_t count; /* how much room the call finds in out[] */
    unsigned char zeroes[OUT_BYTES];
    unsigned char out[OUTS][OUT_BYTES] __attribute__((aligned(16)));
};

static struct {
    const void *handle;
    char name[32];
} names[MOST_NAMES];
static int name_count;

/* The newest name of an address counts: addresses come back. */
static inline void name_handle(const void *handle, const char *name)
{
    for (int i = 0; i < name_count; i++)
        if (names[i].handle == handle) {
            snprintf(names[i].name, sizeof(names[i].name), "%s", name);
            return;
        }
    if (name_count < MOST_NAMES) {
        names[name_count].handle = handle;
        snprintf(names[name_count++].name, sizeof(names[0].name), "%s", name);
    }
}

static inline const char *name_of(const void *handle)
{
    static char text[4][32];
    static int turn;

    for (int i = 0; i < name_count; i++)
        if (handle && names[i].handle == handle)
            return names[i].name;
    if ((uintptr_t)handle >= UINT64_C(0x100000000) && (uintptr_t)handle < UINT64_C(0x800000000000))
        return "address";
    turn = (turn + 1) % 4;
    snprintf(text[turn], sizeof(text[turn]), "%llx", (unsigned long long)(uintptr_t)handle);
    return text[turn];
}

static inline void nothing(void *unused)
{
    (void)unused;
}

/* What a failing preparation does is known to both runs: it is printed. */
#define PREPARE(call)                                                                                        \
    do {                                                                                                     \
        hipError_t its_status = (call);                                                                      \
        if (its_status)                                                                                      \
            printf("  prepare %s: %d\n", #call, (int)its_status);                                            \
    } while (0)

static inline hipFunction_t world_function(hipModule_t module, const char *name)
{
    hipFunction_t function = NULL;

    PREPARE(hipModuleGetFunction(&function, module, name));
    return function;
}

static inline const char *world_path(void)
{
    static char path[4096];
    hipDeviceProp_t properties;

    PREPARE(hipGetDeviceProperties(&properties, 0));
    snprintf(path, sizeof(path), "%s/%.*s/kernels.co", getenv("APP_FIXTURES"),
             (int)strcspn(properties.gcnArchName, ":"), properties.gcnArchName);
    return path;
}

static inline const void *world_image(void)
{
    static unsigned char image[1 << 18];
    FILE *file = fopen(world_path(), "rb");

    if (!file || !fread(image, 1, sizeof(image), file))
        printf("  prepare image: none\n");
    if (file)
        fclose(file);
    return image;
}

static inline hipModule_t world_module(void)
{
    hipModule_t module = NULL;

    PREPARE(hipModuleLoad(&module, world_path()));
    return module;
}

static inline uint64_t hash_words(const uint32_t *words)
{
    uint64_t hash = 1469598103934665603ull;

    for (int i = 0; i < WORDS; i++)
        hash = (hash ^ words[i]) * 1099511628211ull;
    return hash;
}

#endif
