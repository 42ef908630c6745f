/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fuzz FIRST COUNT: one line of calls in random order for each seed, legal and illegal, in and out of
 * capture, and what each of them answers. A graph's work is a chain with further edges in its direction, and
 * a stream's launches are waited for before another stream is used, so that results do not depend on time.
 */
#include "world.h"

#include <stdatomic.h>

enum { GRAPHS = 5, EXECS = 5, STREAMS = 3, NODES = 24, STEPS = 70 };

struct graph {
    hipGraph_t handle;
    hipGraphNode_t nodes[NODES];
    hipGraphNodeType types[NODES];
    int count;
    bool closed; /* not a chain of known nodes: nothing is added */
};

static struct graph graphs[GRAPHS];
static struct {
    hipGraphExec_t handle;
    int source; /* index of the graph it was made from, -1 when that is gone or was edited */
    hipGraph_t source_handle;
} execs[EXECS];
static struct {
    hipStream_t handle;
    bool capturing, strictly; /* in another mode than relaxed: waiting for a stream is illegal meanwhile */
} streams[STREAMS];

static uint64_t random_state;
static uint32_t *data, *source;
static hipModule_t module;
static hipFunction_t functions[2];
static hipEvent_t event;
static _Atomic int host_calls, destroyed_objects;
static int used_stream;

static unsigned pick(unsigned count)
{
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    random_state ^= random_state << 17;
    return (unsigned)(random_state >> 11) % count;
}

static void count_call(void *unused)
{
    (void)unused;
    atomic_fetch_add(&host_calls, 1);
}

static void count_destroyed(void *unused)
{
    (void)unused;
    atomic_fetch_add(&destroyed_objects, 1);
}

static hipError_t say(const char *what, int index, hipError_t status)
{
    printf(" %s %d:%d/%d\n", what, index, (int)status, (int)hipPeekAtLastError());
    return status;
}

/* Arguments are read when the call is made. */
static hipKernelNodeParams kernel_params(void)
{
    static uint32_t factor, term, words = WORDS;
    static void *arguments[4];
    hipKernelNodeParams params = { .gridDim = { WORDS / 64, 1, 1 }, .blockDim = { 64, 1, 1 } };
    bool both = pick(2);

    factor = 2 * pick(100) + 1;
    term = pick(1000);
    arguments[0] = &data;
    arguments[1] = &factor;
    arguments[2] = both ? &term : &words;
    arguments[3] = &words;
    params.func = functions[both];
    params.kernelParams = arguments;
    return params;
}

static hipMemsetParams fill_params(void)
{
    return (hipMemsetParams){
        .dst = data + pick(64), .elementSize = 4, .height = 1, .value = pick(1 << 16), .width = 1 + pick(100)
    };
}

static void append(struct graph *graph, hipGraphNode_t node, hipGraphNodeType type)
{
    graph->nodes[graph->count] = node;
    graph->types[graph->count++] = type;
}

static void add_node(int index)
{
    struct graph *graph = &graphs[index];
    hipGraphNode_t node = NULL, *last = graph->count ? &graph->nodes[graph->count - 1] : NULL;
    hipKernelNodeParams kernel = kernel_params();
    hipMemsetParams fill = fill_params();
    hipHostNodeParams host = { .fn = count_call };
    size_t count = last != NULL;
    hipGraphNodeType type;
    hipError_t status;

    if (!graph->handle || graph->closed || graph->count == NODES)
        return;
    switch (pick(8)) {
    case 0:
        type = hipGraphNodeTypeMemset;
        status = say("add memset", index, hipGraphAddMemsetNode(&node, graph->handle, last, count, &fill));
        break;
    case 1:
        type = hipGraphNodeTypeMemcpy;
        status = say("add copy", index,
                     hipGraphAddMemcpyNode1D(&node, graph->handle, last, count, data + pick(64), source,
                                             4 * (1 + pick(100)), hipMemcpyDeviceToDevice));
        break;
    case 2:
        type = hipGraphNodeTypeEmpty;
        status = say("add empty", index, hipGraphAddEmptyNode(&node, graph->handle, last, count));
        break;
    case 3:
        type = hipGraphNodeTypeHost;
        status = say("add host", index, hipGraphAddHostNode(&node, graph->handle, last, count, &host));
        break;
    case 4: {
        int child = (int)pick(GRAPHS);

        type = hipGraphNodeTypeGraph;
        if (child == index || !graphs[child].handle || !graphs[child].count)
            return;
        status = say("add child", index,
                     hipGraphAddChildGraphNode(&node, graph->handle, last, count, graphs[child].handle));
        break;
    }
    default:
        type = hipGraphNodeTypeKernel;
        status = say("add kernel", index, hipGraphAddKernelNode(&node, graph->handle, last, count, &kernel));
    }
    if (status == hipSuccess)
        append(graph, node, type);
}

static void edit_graph(int index)
{
    struct graph *graph = &graphs[index];
    hipKernelNodeParams kernel = kernel_params();
    hipMemsetParams fill = fill_params();
    unsigned from, to;

    if (!graph->handle || graph->closed || graph->count < 2)
        return;
    to = 1 + pick((unsigned)graph->count - 1);
    from = pick(to);
    switch (pick(5)) {
    case 0:
        say("add edge", index,
            hipGraphAddDependencies(graph->handle, &graph->nodes[from], &graph->nodes[to], 1));
        break;
    case 1:
        say("add edge to itself", index,
            hipGraphAddDependencies(graph->handle, &graph->nodes[to], &graph->nodes[to], 1));
        break;
    case 2: /* the last node, so that the rest stays a chain */
        if (say("destroy node", index, hipGraphDestroyNode(graph->nodes[graph->count - 1])) == hipSuccess)
            graph->count--;
        break;
    case 3:
        if (graph->types[to] == hipGraphNodeTypeKernel)
            say("set kernel", index, hipGraphKernelNodeSetParams(graph->nodes[to], &kernel));
        break;
    default:
        if (graph->types[to] == hipGraphNodeTypeMemset)
            say("set memset", index, hipGraphMemsetNodeSetParams(graph->nodes[to], &fill));
    }
}

static void forget_source(hipGraph_t graph)
{
    for (int i = 0; i < EXECS; i++)
        if (execs[i].source_handle == graph)
            execs[i].source = -1;
}

static void make_or_destroy_graph(int index)
{
    struct graph *graph = &graphs[index], *other = &graphs[pick(GRAPHS)];
    size_t count = 0;

    if (graph->handle) {
        forget_source(graph->handle);
        say("destroy graph", index, hipGraphDestroy(graph->handle));
        memset(graph, 0, sizeof(*graph));
    } else if (pick(3) || !other->handle) {
        say("create graph", index, hipGraphCreate(&graph->handle, 0));
    } else if (say("clone", index, hipGraphClone(&graph->handle, other->handle)) == hipSuccess) {
        count = NODES;
        say("nodes", index, hipGraphGetNodes(graph->handle, graph->nodes, &count));
        for (int i = 0; i < (int)count && i < NODES; i++)
            say("type", i, hipGraphNodeGetType(graph->nodes[i], &graph->types[i]));
        graph->count = (int)count < NODES ? (int)count : NODES;
        graph->closed = true;
    } else {
        graph->handle = NULL;
    }
}

/* False: it cannot be waited for now. */
static bool wait_for_stream(void)
{
    for (int i = 0; i < STREAMS; i++)
        if (streams[i].strictly)
            return false;
    return streams[used_stream].capturing ||
           say("synchronize", used_stream, hipStreamSynchronize(streams[used_stream].handle)) == hipSuccess;
}

static void make_or_destroy_exec(int index)
{
    static const unsigned long long flags[] = { 0, 0, 0, 1, 8, 99 };
    int from = (int)pick(GRAPHS);

    if (execs[index].handle) {
        if (pick(2))
            wait_for_stream();
        say("destroy exec", index, hipGraphExecDestroy(execs[index].handle));
        execs[index].handle = NULL;
    } else if (graphs[from].handle) {
        hipGraphExec_t made = NULL;

        if (say("instantiate", index,
                hipGraphInstantiateWithFlags(&made, graphs[from].handle, flags[pick(6)])) == hipSuccess) {
            execs[index].handle = made;
            execs[index].source = from;
            execs[index].source_handle = graphs[from].handle;
        }
    }
}

static void change_exec(int index)
{
    struct graph *graph = execs[index].source >= 0 ? &graphs[execs[index].source] : NULL;
    hipGraphExecUpdateResult result = 77;
    hipGraphNode_t error = NULL;
    hipKernelNodeParams kernel = kernel_params();
    unsigned node, enabled = 7;
    int from = (int)pick(GRAPHS);

    if (!execs[index].handle)
        return;
    if (!pick(3) && graphs[from].handle) {
        say("update", index, hipGraphExecUpdate(execs[index].handle, graphs[from].handle, &error, &result));
        printf("  result %d error node %d\n", (int)result, error != NULL);
        if (from != execs[index].source)
            execs[index].source = -1; /* its nodes are no longer what the graph's are */
        return;
    }
    if (!graph || !graph->count)
        return;
    node = pick((unsigned)graph->count);
    if (graph->types[node] == hipGraphNodeTypeKernel && pick(2))
        say("set in exec", index,
            hipGraphExecKernelNodeSetParams(execs[index].handle, graph->nodes[node], &kernel));
    else
        say("enable", index, hipGraphNodeSetEnabled(execs[index].handle, graph->nodes[node], pick(2)));
    say("enabled", index, hipGraphNodeGetEnabled(execs[index].handle, graph->nodes[node], &enabled));
    printf("  is %u\n", enabled);
}

static void launch(int index)
{
    int stream = (int)pick(STREAMS);

    if (!execs[index].handle)
        return;
    if (stream != used_stream && !wait_for_stream())
        return;
    used_stream = stream;
    say("launch", index, hipGraphLaunch(execs[index].handle, streams[stream].handle));
}

static void begin_or_end(int index)
{
    hipStreamCaptureStatus status = 7;
    hipGraph_t graph = NULL;
    int slot;

    if (!streams[index].capturing) {
        hipStreamCaptureMode mode = (hipStreamCaptureMode)pick(3);

        if (!wait_for_stream() ||
            say("begin", index, hipStreamBeginCapture(streams[index].handle, mode)) != hipSuccess)
            return;
        streams[index].capturing = true;
        streams[index].strictly = mode != hipStreamCaptureModeRelaxed;
        return;
    }
    say("is capturing", index, hipStreamIsCapturing(streams[index].handle, &status));
    if (say("end", index, hipStreamEndCapture(streams[index].handle, &graph)) != hipSuccess)
        graph = NULL; /* HIP leaves anything there */
    printf("  was %d graph %d\n", (int)status, graph != NULL);
    streams[index].capturing = false;
    streams[index].strictly = false;
    for (slot = 0; slot < GRAPHS && graphs[slot].handle; slot++)
        ;
    if (!graph)
        return;
    if (slot == GRAPHS) {
        say("destroy graph", -1, hipGraphDestroy(graph));
        return;
    }
    graphs[slot] = (struct graph){ .handle = graph, .closed = true };
}

/* Work for a stream, be it captured or not. */
static void enqueue(int index)
{
    hipKernelNodeParams kernel = kernel_params();
    hipStream_t stream = streams[index].handle;
    int other = (index + 1) % STREAMS;

    if (!streams[index].capturing && index != used_stream) {
        if (!wait_for_stream())
            return;
        used_stream = index;
    }
    switch (pick(5)) {
    case 0:
        say("fill", index, hipMemsetD32Async(data + pick(64), (int)pick(1 << 16), 1 + pick(100), stream));
        break;
    case 1:
        say("copy", index,
            hipMemcpyAsync(data + pick(64), source, 4 * (1 + pick(100)), hipMemcpyDeviceToDevice, stream));
        break;
    case 2: /* fork and join at once */
        if (!streams[index].capturing || streams[other].capturing)
            return;
        say("fork", index, hipEventRecord(event, stream));
        say("fork", other, hipStreamWaitEvent(streams[other].handle, event, 0));
        say("kernel", other,
            hipModuleLaunchKernel(kernel.func, WORDS / 64, 1, 1, 64, 1, 1, 0, streams[other].handle,
                                  kernel.kernelParams, NULL));
        say("join", other, hipEventRecord(event, streams[other].handle));
        say("join", index, hipStreamWaitEvent(stream, event, 0));
        break;
    default:
        say("kernel", index,
            hipModuleLaunchKernel(kernel.func, WORDS / 64, 1, 1, 64, 1, 1, 0, stream, kernel.kernelParams,
                                  NULL));
    }
}

static void edit_capture(int index)
{
    hipStreamCaptureStatus status = 7;
    const hipGraphNode_t *dependencies = NULL;
    hipGraphNode_t node, behind[8];
    hipKernelNodeParams kernel = kernel_params();
    hipGraph_t graph = NULL;
    size_t count = 99;

    say("info", index,
        hipStreamGetCaptureInfo_v2(streams[index].handle, &status, NULL, &graph, &dependencies, &count));
    printf("  status %d graph %d count %zu\n", (int)status, graph != NULL, count);
    if (status != hipStreamCaptureStatusActive || !graph || count > 8)
        return;
    for (size_t i = 0; i < count; i++)
        behind[i] = dependencies[i];
    if (say("add by hand", index, hipGraphAddKernelNode(&node, graph, behind, count, &kernel)) == hipSuccess)
        say("continue behind it", index,
            hipStreamUpdateCaptureDependencies(streams[index].handle, &node, 1, 1));
}

static void do_wrong(int index)
{
    hipGraphExecUpdateResult result = 77;
    hipGraphExec_t exec = (hipGraphExec_t)1;
    hipGraphNode_t node = NULL;
    hipGraph_t graph = NULL;
    void *function = NULL;

    switch (pick(10)) {
    case 8: /* ends captures; what their streams and forks do behind that is not defined */
        if (say("wait", index, hipStreamSynchronize(streams[index % STREAMS].handle)))
            for (int i = 0; i < STREAMS; i++)
                if (streams[i].capturing)
                    begin_or_end(i);
        break;
    case 0: say("launch NULL", index, hipGraphLaunch(NULL, streams[index % STREAMS].handle)); break;
    case 1: say("instantiate NULL", index, hipGraphInstantiate(&exec, NULL, NULL, NULL, 0)); break;
    case 2: say("update NULL", index, hipGraphExecUpdate(execs[index].handle, NULL, &node, &result)); break;
    case 3: say("destroy NULL", index, hipGraphDestroy(NULL)); break;
    case 4: say("end without begin", index, hipStreamEndCapture(NULL, &graph)); break;
    case 5: say("begin on NULL", index, hipStreamBeginCapture(NULL, hipStreamCaptureModeRelaxed)); break;
    case 6: say("add to NULL", index, hipGraphAddEmptyNode(&node, NULL, NULL, 0)); break;
    case 7: say("look up", index, hipGetProcAddress("hipGraphNoSuchThing", &function, 70000, 0, NULL)); break;
    default: say("last error", index, hipGetLastError());
    }
}

static void retain_object(int index)
{
    hipUserObject_t object = NULL;

    if (!graphs[index].handle)
        return;
    say("object", index,
        hipUserObjectCreate(&object, &module, count_destroyed, 1, hipUserObjectNoDestructorSync));
    say("retain", index, hipGraphRetainUserObject(graphs[index].handle, object, 1, hipGraphUserObjectMove));
}

static void replace_stream(int index)
{
    if (streams[index].capturing || !wait_for_stream())
        return;
    say("destroy stream", index, hipStreamDestroy(streams[index].handle));
    say("create stream", index, hipStreamCreateWithFlags(&streams[index].handle, hipStreamNonBlocking));
}

static void step(void)
{
    switch (pick(16)) {
    case 0:
    case 1:
    case 2:
    case 3: add_node((int)pick(GRAPHS)); break;
    case 4: edit_graph((int)pick(GRAPHS)); break;
    case 5: make_or_destroy_graph((int)pick(GRAPHS)); break;
    case 6: make_or_destroy_exec((int)pick(EXECS)); break;
    case 7: change_exec((int)pick(EXECS)); break;
    case 8:
    case 9: launch((int)pick(EXECS)); break;
    case 10: begin_or_end((int)pick(STREAMS)); break;
    case 11:
    case 12: enqueue((int)pick(STREAMS)); break;
    case 13: edit_capture((int)pick(STREAMS)); break;
    case 14: do_wrong((int)pick(EXECS)); break;
    default: pick(4) ? replace_stream((int)pick(STREAMS)) : retain_object((int)pick(GRAPHS));
    }
}

static void run_seed(int seed)
{
    uint32_t words[2 * WORDS];

    random_state = ((uint64_t)seed + 1) * UINT64_C(0x9e3779b97f4a7c15);
    printf("%d seed\n", seed);
    used_stream = 0;
    atomic_store(&host_calls, 0);
    atomic_store(&destroyed_objects, 0);
    PREPARE(hipMemset(data, seed & 0xff, 2 * WORDS * sizeof(uint32_t)));
    PREPARE(hipDeviceSynchronize());
    for (int i = 0; i < STREAMS; i++)
        PREPARE(hipStreamCreateWithFlags(&streams[i].handle, hipStreamNonBlocking));
    for (int i = 0; i < GRAPHS; i++)
        make_or_destroy_graph(i);
    for (int i = 0; i < STEPS; i++)
        step();
    for (int i = 0; i < STREAMS; i++)
        if (streams[i].capturing)
            begin_or_end(i);
    say("all", seed, hipDeviceSynchronize());
    say("download", seed, hipMemcpy(words, data, sizeof(words), hipMemcpyDeviceToHost));
    printf(" data %016llx host functions %d\n", (unsigned long long)hash_words(words),
           atomic_load(&host_calls));
    for (int i = 0; i < EXECS; i++)
        if (execs[i].handle)
            make_or_destroy_exec(i);
    for (int i = 0; i < GRAPHS; i++)
        if (graphs[i].handle)
            make_or_destroy_graph(i);
    for (int i = 0; i < STREAMS; i++)
        say("destroy stream", i, hipStreamDestroy(streams[i].handle));
    for (int pass = 0; pass < 2; pass++) { /* of HIP's own thread, which releases what launches held */
        say("pass", seed, hipLaunchHostFunc(NULL, nothing, NULL));
        say("all", seed, hipDeviceSynchronize());
    }
    printf(" destructors %d last %d\n", atomic_load(&destroyed_objects), (int)hipGetLastError());
    fflush(stdout);
}

int main(int argc, char **argv)
{
    int first = argc > 1 ? atoi(argv[1]) : 0, end = argc > 2 ? atoi(argv[2]) : first + 1;
    void *memory = NULL;

    module = world_module();
    functions[0] = world_function(module, "scale");
    functions[1] = world_function(module, "mul_add");
    PREPARE(hipMalloc(&memory, 2 * WORDS * sizeof(uint32_t)));
    data = memory;
    source = data + WORDS;
    PREPARE(hipEventCreateWithFlags(&event, hipEventDisableTiming));
    setvbuf(stdout, NULL, _IOLBF, 0);
    for (int seed = first; seed < end; seed++)
        run_seed(seed);
    _exit(0);
}
