/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Shared by the programs of this folder. Each runs its cases one after the other and prints a line for each with what
 * it saw, results and return codes alike: a run under the library has to print what a native run prints.
 *
 * other.co (test_identity.py makes it) has the machine code of kernels.co under other names: `iota` there is `scale`
 * of kernels.co, `saxpy` is `count`, `count` is `saxpy`, `sizes` is `lanes`, and `reverse_static` has more local memory.
 */
#ifndef TESTS_IDENTITY_H
#define TESTS_IDENTITY_H

#include "../apps/app.h"

#include <sys/mman.h>
#include <time.h>

static inline hipFunction_t function_of(hipModule_t module, const char *name)
{
    hipFunction_t function;

    HIP(hipModuleGetFunction(&function, module, name));
    return function;
}

/* A node of `blocks` blocks; `extra`: arguments as one block, instead of pointers. */
static inline hipGraphNode_t node_of(hipGraph_t graph, const hipGraphNode_t *behind, size_t count,
                                     void *function, uint32_t blocks, void **arguments)
{
    hipKernelNodeParams parameters = {
        .func = function, .gridDim = { blocks, 1, 1 }, .blockDim = { BLOCK, 1, 1 }, .kernelParams = arguments
    };
    hipGraphNode_t node;

    HIP(hipGraphAddKernelNode(&node, graph, behind, count, &parameters));
    return node;
}

static inline void set_arguments(hipGraphExec_t exec, hipGraphNode_t node, void *function, uint32_t blocks,
                                 void **arguments)
{
    hipKernelNodeParams parameters = {
        .func = function, .gridDim = { blocks, 1, 1 }, .blockDim = { BLOCK, 1, 1 }, .kernelParams = arguments
    };

    HIP(hipGraphExecKernelNodeSetParams(exec, node, &parameters));
}

static inline hipGraph_t new_graph(void)
{
    hipGraph_t graph;

    HIP(hipGraphCreate(&graph, 0));
    return graph;
}

/* Done when it returns: the streams here do not wait for the NULL stream's fills. */
static inline void fill_bytes(uint32_t *device, int byte)
{
    HIP(hipMemset(device, byte, app.n * sizeof(*device)));
    HIP(hipDeviceSynchronize());
}

/* A sum over what a buffer holds, different for each order of its elements. */
static inline uint32_t sum_of(const uint32_t *device, uint32_t n)
{
    uint32_t *words = host_words(n), sum = 0;

    HIP(hipMemcpy(words, device, n * sizeof(*words), hipMemcpyDeviceToHost));
    for (uint32_t i = 0; i < n; i++)
        sum = sum * 31 + words[i];
    free(words);
    return sum;
}

/* One after the other: with several roots, HIP 7.2.4 starts one of them before the launch in front has ended. */
static inline void launch(hipGraphExec_t exec, hipStream_t stream, uint32_t times)
{
    for (uint32_t i = 0; i < times; i++) {
        HIP(hipGraphLaunch(exec, stream));
        HIP(hipStreamSynchronize(stream));
    }
}

/* `count` pointers at the very end of a page: who reads more of them than the kernel has arguments, dies. */
static inline void **at_page_end(size_t count)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    char *pages = mmap(NULL, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    if (pages == MAP_FAILED || mprotect(pages + page, page, PROT_NONE))
        FAIL("got no page, want two");
    return (void **)(pages + page) - count;
}

static inline uint32_t word_at(const uint32_t *device, uint32_t i)
{
    uint32_t word;

    HIP(hipMemcpy(&word, device + i, sizeof(word), hipMemcpyDeviceToHost));
    return word;
}

/* The bytes of a file beside kernels.co, followed by `room` in all; the caller may write over them. */
static inline char *file_bytes(const char *name, size_t *size)
{
    char path[4096];
    FILE *file;
    char *bytes;

    snprintf(path, sizeof(path), "%s/%s/%s", getenv("APP_FIXTURES"), app.gfx, name);
    file = fopen(path, "rb");
    if (!file)
        FAIL("got no file %s", path);
    fseek(file, 0, SEEK_END);
    *size = (size_t)ftell(file);
    rewind(file);
    if (posix_memalign((void **)&bytes, 4096, *size) || fread(bytes, 1, *size, file) != *size)
        FAIL("got no bytes of %s", path);
    fclose(file);
    return bytes;
}

#endif
