/* SPDX-License-Identifier: Apache-2.0 */
/*
 * matrix [FIRST]: makes the calls of matrix_calls.h one after the other, each in a world of its own, and
 * prints what comes of them. Where a call crashes or hangs, as some do natively, or leaves HIP unusable, the
 * process ends and is started again behind it.
 */
#define _GNU_SOURCE
#include "world.h"

#include <signal.h>

struct call {
    const char *name, *variant;
    hipError_t (*make)(struct world *w);
};

#include "matrix_calls.h"

enum { CALL_COUNT = sizeof(calls) / sizeof(calls[0]), SECONDS = 20 };

static int current;
static hipModule_t module; /* loading it takes longer than all else */
static hipLibrary_t library;
static const void *image;

/* The runner starts the program again behind the call. */
static void give_up(int number)
{
    const char *what = number == SIGALRM ? " hangs\n" : number == SIGABRT ? " aborts\n" : " crashes\n";

    _exit(write(STDOUT_FILENO, what, strlen(what)) < 0 ? 3 : 77);
}

static void prepare_params(struct world *w)
{
    static uint32_t factor = 3, words = WORDS;
    static void *kernel_arguments[3];

    kernel_arguments[0] = &w->data;
    kernel_arguments[1] = &factor;
    kernel_arguments[2] = &words;
    w->kernel_params = (hipKernelNodeParams){ .func = world_function(w->module, "scale"),
                                              .gridDim = { WORDS / 64, 1, 1 },
                                              .blockDim = { 64, 1, 1 },
                                              .kernelParams = kernel_arguments };
    w->memset_params =
        (hipMemsetParams){ .dst = w->data, .elementSize = 4, .height = 1, .value = 7, .width = 64 };
    w->copy_params = (hipMemcpy3DParms){ .srcPtr = { w->source, 256, 256, 1 },
                                         .dstPtr = { w->data, 256, 256, 1 },
                                         .extent = { 256, 1, 1 },
                                         .kind = hipMemcpyDeviceToDevice };
    w->driver_copy = (HIP_MEMCPY3D){ .srcMemoryType = hipMemoryTypeDevice,
                                     .srcDevice = w->source,
                                     .srcPitch = 256,
                                     .srcHeight = 1,
                                     .dstMemoryType = hipMemoryTypeDevice,
                                     .dstDevice = w->data,
                                     .dstPitch = 256,
                                     .dstHeight = 1,
                                     .WidthInBytes = 256,
                                     .Height = 1,
                                     .Depth = 1 };
    w->host_params = (hipHostNodeParams){ .fn = nothing };
    w->alloc_params = (hipMemAllocNodeParams){ .poolProps = { .allocType = hipMemAllocationTypePinned,
                                                              .location = { hipMemLocationTypeDevice, 0 } },
                                               .bytesize = 1024 };
    w->node_params = (hipGraphNodeParams){ .type = hipGraphNodeTypeKernel, .kernel = w->kernel_params };
}

static void prepare_graph(struct world *w)
{
    hipMemAllocNodeParams alloc = w->alloc_params;
    PREPARE(hipGraphCreate(&w->graph, 0));
    PREPARE(hipGraphCreate(&w->other, 0));
    PREPARE(hipGraphAddKernelNode(&w->foreign, w->other, NULL, 0, &w->kernel_params));
    PREPARE(hipGraphAddKernelNode(&w->kernel, w->graph, NULL, 0, &w->kernel_params));
    PREPARE(hipGraphAddMemsetNode(&w->memset, w->graph, &w->kernel, 1, &w->memset_params));
    PREPARE(hipGraphAddMemcpyNode1D(&w->copy, w->graph, &w->memset, 1, w->data + 64, w->source, 256,
                                    hipMemcpyDeviceToDevice));
    PREPARE(hipGraphAddKernelNode(&w->kernel2, w->graph, &w->copy, 1, &w->kernel_params));
    PREPARE(hipGraphAddHostNode(&w->host, w->graph, &w->kernel2, 1, &w->host_params));
    PREPARE(hipGraphAddEmptyNode(&w->empty, w->graph, &w->kernel2, 1));
    PREPARE(hipGraphAddChildGraphNode(&w->child, w->graph, &w->empty, 1, w->other));
    PREPARE(hipGraphAddEventRecordNode(&w->record, w->graph, &w->child, 1, w->event));
    PREPARE(hipGraphAddEventWaitNode(&w->wait, w->graph, &w->record, 1, w->event));
    PREPARE(hipGraphClone(&w->clone, w->graph));
    PREPARE(hipGraphCreate(&w->with_memory, 0));
    PREPARE(hipGraphAddMemAllocNode(&w->alloc, w->with_memory, NULL, 0, &alloc));
    w->allocated = alloc.dptr;
    PREPARE(hipGraphAddMemFreeNode(&w->free_node, w->with_memory, &w->alloc, 1, w->allocated));
    PREPARE(hipGraphInstantiate(&w->exec, w->graph, NULL, NULL, 0));
}

/* Objects that are gone, and one that sits where a destroyed one was. */
static void prepare_the_dead(struct world *w)
{
    hipGraph_t graph = NULL;
    hipGraphExec_t exec = NULL;

    PREPARE(hipGraphCreate(&graph, 0));
    PREPARE(hipGraphInstantiate(&exec, w->other, NULL, NULL, 0));
    PREPARE(hipGraphExecDestroy(exec));
    PREPARE(hipGraphInstantiate(&w->reused_exec, w->other, NULL, NULL, 0));
    PREPARE(hipGraphInstantiate(&w->destroyed_exec, w->other, NULL, NULL, 0));
    PREPARE(hipGraphExecDestroy(w->destroyed_exec));
    PREPARE(hipGraphAddEmptyNode(&w->destroyed_node, w->other, NULL, 0));
    PREPARE(hipGraphDestroyNode(w->destroyed_node));
    PREPARE(hipGraphDestroy(graph));
    w->destroyed_graph = graph;
}

static void name_all(const struct world *w)
{
#define NAME(member) name_handle(w->member, #member)
    name_count = 0;
    NAME(graph), NAME(other), NAME(clone), NAME(kernel), NAME(kernel2), NAME(memset), NAME(copy), NAME(host);
    NAME(child), NAME(empty), NAME(record), NAME(wait), NAME(alloc), NAME(free_node), NAME(foreign);
    NAME(exec), NAME(reused_exec), NAME(stream), NAME(capturing), NAME(event), NAME(object), NAME(data),
        NAME(source);
}

static void prepare(struct world *w)
{
    void *memory = NULL;

    memset(w, 0, sizeof(*w));
    memset(w->out, PATTERN, sizeof(w->out));
    w->mode = hipStreamCaptureModeRelaxed;
    w->count = 4;
    w->module = module ? module : (module = world_module());
    w->path = world_path();
    w->image = image ? image : (image = world_image());
    if (!library)
        PREPARE(hipLibraryLoadFromFile(&library, w->path, NULL, NULL, 0, NULL, NULL, 0));
    w->library = library;
    PREPARE(hipMalloc(&memory, 2 * WORDS * sizeof(uint32_t)));
    w->data = memory;
    w->source = w->data + WORDS;
    PREPARE(hipMemset(memory, 3, 2 * WORDS * sizeof(uint32_t)));
    PREPARE(hipDeviceSynchronize()); /* of the NULL stream: the others do not wait for it */
    PREPARE(hipStreamCreateWithFlags(&w->stream, hipStreamNonBlocking));
    PREPARE(hipStreamCreateWithFlags(&w->capturing, hipStreamNonBlocking));
    PREPARE(hipEventCreateWithFlags(&w->event, hipEventDisableTiming));
    PREPARE(hipUserObjectCreate(&w->object, w, nothing, 1, hipUserObjectNoDestructorSync));
    prepare_params(w);
    prepare_graph(w);
    prepare_the_dead(w);
    name_all(w);
    (void)hipGetLastError();
}

static void say_outputs(const struct world *w)
{
    for (int i = 0; i < OUTS; i++)
        for (int k = 0; k < OUT_BYTES; k += 8) {
            uint64_t word, pattern = 0x0101010101010101ull * PATTERN;

            memcpy(&word, w->out[i] + k, 8);
            if (word == pattern)
                continue;
            if ((word & 0xffffffff00000000ull) == (pattern & 0xffffffff00000000ull))
                printf(" out%d+%d=%x", i, k, (unsigned)word);
            else
                printf(" out%d+%d=%s", i, k, name_of((void *)(uintptr_t)word));
        }
    printf(" count=%zu mode=%d result=%d alloc=%d\n", w->count, (int)w->mode,
           (int)w->instantiate_params.result_out, w->alloc_params.dptr != NULL);
}

/* What graph, exec and captures answer and do after the call. */
static void say_what_is_left(struct world *w)
{
    uint32_t words[2 * WORDS] = { 0 };
    hipStreamCaptureStatus status = 7, other = 7, thread = 7;
    size_t nodes = 0, edges = 0;
    hipGraph_t ended = NULL;
    int statuses[8];

    statuses[0] = hipStreamIsCapturing(w->capturing, &status);
    statuses[1] = hipStreamIsCapturing(w->stream, &other);
    statuses[2] = hipStreamIsCapturing(hipStreamPerThread, &thread);
    printf("  captures %d:%d %d:%d %d:%d", statuses[0], (int)status, statuses[1], (int)other, statuses[2],
           (int)thread);
    if (thread != hipStreamCaptureStatusNone && thread != 7)
        printf(" end %d", hipStreamEndCapture(hipStreamPerThread, &ended));
    if (other != hipStreamCaptureStatusNone && other != 7)
        printf(" end %d %d", hipStreamEndCapture(w->stream, &ended), ended != NULL);
    if (status != hipStreamCaptureStatusNone && status != 7)
        printf(" end %d", hipStreamEndCapture(w->capturing, &ended));
    (void)hipDeviceSynchronize(); /* what the call launched on another stream uses the same memory */
    statuses[0] = hipGraphGetNodes(w->graph, NULL, &nodes);
    statuses[1] = hipGraphGetEdges(w->graph, NULL, NULL, &edges);
    statuses[2] = hipGraphLaunch(w->exec, w->stream);
    statuses[3] = hipStreamSynchronize(w->stream);
    statuses[4] = hipGraphLaunch(w->exec, w->stream);
    statuses[5] = hipStreamSynchronize(w->stream);
    statuses[6] = hipMemcpy(words, w->data, sizeof(words), hipMemcpyDeviceToHost);
    printf(" graph %d:%zu %d:%zu launch %d %d %d %d copy %d data %016llx last %d\n", statuses[0], nodes,
           statuses[1], edges, statuses[2], statuses[3], statuses[4], statuses[5], statuses[6],
           (unsigned long long)hash_words(words), (int)hipGetLastError());
}

/* Asking about what the call destroyed is undefined. */
static void forget_destroyed(const char *name, hipError_t status, struct world *w)
{
    if (status)
        return;
    if (!strcmp(name, "hipGraphDestroy"))
        w->graph = w->other = NULL;
    if (!strcmp(name, "hipGraphExecDestroy") || !strcmp(name, "hipModuleUnload"))
        w->exec = w->reused_exec = NULL;
    if (!strcmp(name, "hipStreamDestroy"))
        w->stream = NULL;
}

static void put_away(struct world *w)
{
    (void)hipGraphExecDestroy(w->exec);
    (void)hipGraphExecDestroy(w->reused_exec);
    (void)hipGraphDestroy(w->graph);
    (void)hipGraphDestroy(w->other);
    (void)hipGraphDestroy(w->clone);
    (void)hipGraphDestroy(w->with_memory);
    if (w->stream)
        (void)hipStreamDestroy(w->stream);
    (void)hipStreamDestroy(w->capturing);
    (void)hipEventDestroy(w->event);
    (void)hipDeviceSynchronize();
    (void)hipFree(w->data);
    (void)hipGetLastError();
}

int main(int argc, char **argv)
{
    static struct world world;
    static char stack[1 << 16];
    struct sigaction action = { .sa_handler = give_up, .sa_flags = SA_ONSTACK };
    const int numbers[] = { SIGALRM, SIGSEGV, SIGABRT, SIGBUS, SIGFPE };

    sigaltstack(&(stack_t){ .ss_sp = stack, .ss_size = sizeof(stack) }, NULL);
    setvbuf(stdout, NULL, _IONBF, 0);
    for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++)
        sigaction(numbers[i], &action, NULL);
    for (current = argc > 1 ? atoi(argv[1]) : 0; current < CALL_COUNT; current++) {
        const struct call *call = &calls[current];
        bool capturing = !strcmp(call->variant, "capturing") || strstr(call->variant, "=capturing");
        hipError_t status, last;

        printf("%d %s(%s)", current, call->name, call->variant);
        alarm(SECONDS);
        prepare(&world);
        if (capturing)
            PREPARE(hipStreamBeginCapture(world.capturing, hipStreamCaptureModeGlobal));
        status = call->make(&world);
        last = hipGetLastError();
        printf(" %d last %d", (int)status, (int)last);
        say_outputs(&world);
        forget_destroyed(call->name, status, &world);
        say_what_is_left(&world);
        put_away(&world);
        if (!strcmp(call->name, "hipModuleUnload"))
            module = NULL;
        if (hipDeviceSynchronize() && current + 1 < CALL_COUNT) {
            printf("  HIP is done for\n");
            _exit(77);
        }
        alarm(0);
    }
    printf("%d calls\n", CALL_COUNT);
    _exit(0);
}
