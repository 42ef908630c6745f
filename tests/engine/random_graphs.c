/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Random graphs, each launched ten times without a wait in between: fresh input is copied to the GPU in front
 * of each launch and everything is copied back behind it, asynchronously. The host does the same operations
 * one after the other.
 *
 *     random_graphs FIRST COUNT [LARGEST]
 *
 * A seed chooses size, shape, kinds of nodes, explicit nodes or a capture over one to four streams, pinned or
 * pageable input, the kind of stream, and whether other streams are busy. Operations that touch the same
 * buffer are ordered by edges, and some others too, so every order that the graph allows gives the same
 * bytes.
 */
#include "../apps/app.h"

#include "../../softgpu/kernels/arguments.h"

enum {
    WORDS = 256,
    MOST_NODES = 300,
    MOST_BUFFERS = 24,
    LAUNCHES = 10,
    STREAMS = 4,
    MOST_EDGES = 16 * MOST_NODES
};

enum kind {
    COPY,
    ADD,
    SCALE,
    MUL_ADD,
    FILL_WORDS,
    FILL_BYTES,
    FILL_ROWS,
    COPY_NODE,
    REVERSE,
    TURN,
    COUNT,
    VARIABLES,
    EVALUATE,
    KINDS
};

struct operation {
    enum kind kind;
    uint32_t to, a, b; /* buffers */
    uint32_t factor, term;
    uint32_t first_edge, edges; /* into graph.edge */
};

static struct {
    uint32_t nodes, buffers, edge_count;
    struct operation operation[MOST_NODES];
    uint32_t edge[MOST_EDGES];
} graph;

static struct {
    hipFunction_t copy, add, scale, mul_add, reverse, turn, count, variables, evaluate, slow_set;
    uint32_t *gain;
} gpu;

static uint32_t *buffer[MOST_BUFFERS], expected[MOST_BUFFERS][WORDS];
static uint64_t state;

static uint32_t draw(uint32_t below)
{
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)((state >> 33) % below);
}

/* ---- the graph ---- */

static void depend(struct operation *operation, uint32_t on)
{
    for (uint32_t i = 0; i < operation->edges; i++)
        if (graph.edge[operation->first_edge + i] == on)
            return;
    if (graph.edge_count < MOST_EDGES) {
        graph.edge[graph.edge_count++] = on;
        operation->edges++;
    } else {
        FAIL("too many edges");
    }
}

/* How many of the nodes before this one it must wait for at most: at each buffer its writer, and the readers
 * since. */
static void order(uint32_t node)
{
    struct operation *operation = &graph.operation[node];
    uint32_t buffers[3] = { operation->to, operation->a, operation->b };

    operation->first_edge = graph.edge_count;
    for (int i = 0; i < 3; i++)
        for (uint32_t before = node; before-- > 0;) {
            struct operation *other = &graph.operation[before];
            if (other->to == buffers[i]) {
                depend(operation, before);
                break;
            }
            if (i == 0 && (other->a == buffers[0] || other->b == buffers[0]))
                depend(operation, before);
        }
    /* HIP 7.2.4 lets a second root run before copies that the stream has in flight. */
    if (node && !operation->edges)
        depend(operation, 0);
    if (node && !draw(8))
        depend(operation, draw(node));
}

/* HIP 7.2.4 does not wait for every last node of several: the last one here is behind all others. */
static void close_graph(void)
{
    struct operation *last = &graph.operation[graph.nodes - 1];
    bool followed[MOST_NODES] = { false };

    for (uint32_t i = 0; i < graph.edge_count; i++)
        followed[graph.edge[i]] = true;
    for (uint32_t node = 0; node + 1 < graph.nodes; node++)
        if (!followed[node])
            depend(last, node);
}

static void draw_graph(uint32_t largest)
{
    uint32_t limit = 1u << draw(9), kinds = 1 + draw(KINDS), first_kind = draw(KINDS);

    graph.nodes = 1 + draw(limit < largest ? limit : largest);
    graph.buffers = 2 + draw(MOST_BUFFERS - 1);
    graph.edge_count = 0;
    for (uint32_t node = 0; node < graph.nodes; node++) {
        struct operation *operation = &graph.operation[node];
        *operation = (struct operation){
            .kind = (first_kind + draw(kinds)) % KINDS,
            .to = 1 + draw(graph.buffers - 1),
            .a = draw(graph.buffers),
            .b = draw(graph.buffers),
            .factor = 2 * draw(1000) + 1,
            .term = draw(1000),
        };
        if (operation->kind != ADD)
            operation->b = operation->a;
        if (operation->kind != ADD && operation->kind != COPY && operation->kind != COPY_NODE)
            operation->a = operation->b = operation->to;
        if (operation->kind == COPY_NODE && operation->a == operation->to)
            operation->a = operation->b = 0;
        order(node);
    }
    close_graph();
}

/* ---- the same on the host ---- */

static const struct polynomial polynomial = {
    .degree = 3, .bias = 1ul << 40, .step = 3, .coefficient = { 2, 3, 5, 7 }
};

static void fill_range(const struct operation *operation, uint32_t *offset, uint32_t *bytes)
{
    *offset = operation->term % 37;
    *bytes = 1 + operation->factor % (WORDS * 4 - *offset);
}

static void turn(uint32_t *data, uint32_t block)
{
    for (uint32_t base = 0; base < WORDS; base += block)
        for (uint32_t i = 0; i < block / 2; i++) {
            uint32_t kept = data[base + i];
            data[base + i] = data[base + block - 1 - i];
            data[base + block - 1 - i] = kept;
        }
}

static void compute(const struct operation *operation, uint32_t gain)
{
    uint32_t *to = expected[operation->to], *a = expected[operation->a], *b = expected[operation->b];
    uint32_t offset, bytes;

    switch (operation->kind) {
    case COPY:
    case COPY_NODE: memmove(to, a, sizeof(expected[0])); break;
    case ADD:
        for (uint32_t i = 0; i < WORDS; i++)
            to[i] = a[i] + b[i];
        break;
    case SCALE:
        for (uint32_t i = 0; i < WORDS; i++)
            to[i] *= operation->factor;
        break;
    case MUL_ADD:
        for (uint32_t i = 0; i < WORDS; i++)
            to[i] = to[i] * operation->factor + operation->term;
        break;
    case FILL_WORDS:
        for (uint32_t i = 0; i < WORDS; i++)
            to[i] = operation->factor * 65537 + operation->term;
        break;
    case FILL_BYTES:
        fill_range(operation, &offset, &bytes);
        memset((char *)to + offset, (int)(operation->term & 0xff), bytes);
        break;
    case FILL_ROWS:
        for (uint32_t row = 0; row < 16; row++)
            memset((char *)to + 64 * row, (int)(operation->term & 0xff), 1 + operation->factor % 64);
        break;
    case REVERSE: turn(to, BLOCK); break;
    case TURN: turn(to, 128); break;
    case COUNT: to[0] += 2 * 100; break;
    case VARIABLES:
        for (uint32_t i = 0; i < WORDS; i++)
            to[i] = gain * i + 10 * ((i & 3) + 1);
        break;
    case EVALUATE:
        for (uint32_t i = 0; i < WORDS / 2; i++) {
            uint64_t x = (uint64_t)i * polynomial.step, sum = polynomial.coefficient[0];
            for (int k = 1; k < 4; k++)
                sum = sum * x + polynomial.coefficient[k];
            sum += polynomial.bias;
            memcpy(&to[2 * i], &sum, sizeof(sum));
        }
        break;
    case KINDS: break;
    }
}

/* ---- the same on the GPU ---- */

struct kernel {
    hipFunction_t function;
    uint32_t blocks, block, lds;
    void *arguments[4];
};

struct values {
    uint32_t *to, *a, *b, factor, term, words, half;
    struct polynomial polynomial;
};

static struct kernel kernel_of(const struct operation *operation, struct values *v)
{
    *v = (struct values){ buffer[operation->to],
                          buffer[operation->a],
                          buffer[operation->b],
                          operation->factor,
                          operation->term,
                          WORDS,
                          WORDS / 2,
                          polynomial };
    switch (operation->kind) {
    case COPY: return (struct kernel){ gpu.copy, 4, BLOCK, 0, { &v->to, &v->a, &v->words } };
    case ADD: return (struct kernel){ gpu.add, 4, BLOCK, 0, { &v->to, &v->a, &v->b, &v->words } };
    case SCALE: return (struct kernel){ gpu.scale, 4, BLOCK, 0, { &v->to, &v->factor, &v->words } };
    case MUL_ADD:
        return (struct kernel){ gpu.mul_add, 4, BLOCK, 0, { &v->to, &v->factor, &v->term, &v->words } };
    case REVERSE: return (struct kernel){ gpu.reverse, 4, BLOCK, 0, { &v->to } };
    case TURN: return (struct kernel){ gpu.turn, 2, 128, 128 * 4, { &v->to } };
    case COUNT: return (struct kernel){ gpu.count, 2, 100, 0, { &v->to } };
    case VARIABLES: return (struct kernel){ gpu.variables, 4, BLOCK, 0, { &v->to, &v->words } };
    default: return (struct kernel){ gpu.evaluate, 2, 64, 0, { &v->to, &v->polynomial, &v->half } };
    }
}

static hipMemsetParams fill_of(const struct operation *operation)
{
    uint32_t offset, bytes;

    if (operation->kind == FILL_WORDS)
        return (hipMemsetParams){ .dst = buffer[operation->to],
                                  .elementSize = 4,
                                  .width = WORDS,
                                  .height = 1,
                                  .value = operation->factor * 65537 + operation->term,
                                  .pitch = WORDS * 4 };
    if (operation->kind == FILL_ROWS)
        return (hipMemsetParams){ .dst = buffer[operation->to],
                                  .elementSize = 1,
                                  .height = 16,
                                  .pitch = 64,
                                  .width = 1 + operation->factor % 64,
                                  .value = operation->term & 0xff };
    fill_range(operation, &offset, &bytes);
    return (hipMemsetParams){ .dst = (char *)buffer[operation->to] + offset,
                              .elementSize = 1,
                              .width = bytes,
                              .height = 1,
                              .value = operation->term & 0xff,
                              .pitch = bytes };
}

static bool is_fill(enum kind kind)
{
    return kind == FILL_WORDS || kind == FILL_BYTES || kind == FILL_ROWS;
}

static hipGraph_t make_explicit(void)
{
    static hipGraphNode_t node[MOST_NODES], behind[MOST_NODES];
    hipGraph_t made;

    HIP(hipGraphCreate(&made, 0));
    for (uint32_t n = 0; n < graph.nodes; n++) {
        struct operation *operation = &graph.operation[n];
        struct values values;
        uint32_t count = operation->edges;
        for (uint32_t i = 0; i < count; i++)
            behind[i] = node[graph.edge[operation->first_edge + i]];
        if (operation->kind == COPY_NODE) {
            HIP(hipGraphAddMemcpyNode1D(&node[n], made, behind, count, buffer[operation->to],
                                        buffer[operation->a], WORDS * 4, hipMemcpyDeviceToDevice));
        } else if (is_fill(operation->kind)) {
            hipMemsetParams fill = fill_of(operation);
            HIP(hipGraphAddMemsetNode(&node[n], made, behind, count, &fill));
        } else {
            struct kernel kernel = kernel_of(operation, &values);
            hipKernelNodeParams parameters = { .func = kernel.function,
                                               .gridDim = { kernel.blocks, 1, 1 },
                                               .blockDim = { kernel.block, 1, 1 },
                                               .sharedMemBytes = kernel.lds,
                                               .kernelParams = kernel.arguments };
            HIP(hipGraphAddKernelNode(&node[n], made, behind, count, &parameters));
        }
    }
    return made;
}

static void submit(const struct operation *operation, hipStream_t stream)
{
    struct values values;
    hipMemsetParams fill;

    if (operation->kind == COPY_NODE) {
        HIP(hipMemcpyAsync(buffer[operation->to], buffer[operation->a], WORDS * 4, hipMemcpyDeviceToDevice,
                           stream));
    } else if (is_fill(operation->kind)) {
        fill = fill_of(operation);
        if (operation->kind == FILL_WORDS)
            HIP(hipMemsetD32Async(fill.dst, (int)fill.value, WORDS, stream));
        else if (operation->kind == FILL_ROWS)
            HIP(hipMemset2DAsync(fill.dst, fill.pitch, (int)fill.value, fill.width, fill.height, stream));
        else
            HIP(hipMemsetD8Async(fill.dst, (unsigned char)fill.value, fill.width, stream));
    } else {
        struct kernel kernel = kernel_of(operation, &values);
        HIP(hipModuleLaunchKernel(kernel.function, kernel.blocks, 1, 1, kernel.block, 1, 1, kernel.lds,
                                  stream, kernel.arguments, NULL));
    }
}

/* HIP 7.2.4 crashes when two streams of a capture wait for each other's events: only the first stream waits
 * for others. */
static uint32_t stream_for(const struct operation *operation, const uint32_t *on, uint32_t wanted)
{
    for (uint32_t i = 0; i < operation->edges; i++) {
        uint32_t other = on[graph.edge[operation->first_edge + i]];
        if (other && other != wanted)
            return 0;
    }
    return wanted;
}

/* The first node is the first stream's; another stream joins the capture by waiting for it. */
static hipGraph_t make_captured(uint32_t streams)
{
    static hipStream_t stream[STREAMS];
    static hipEvent_t event[MOST_NODES];
    uint32_t on[MOST_NODES], last[STREAMS] = { 0 };

    for (uint32_t i = 0; i < STREAMS && !event[MOST_NODES - 1]; i++)
        stream[i] = new_stream();
    for (uint32_t i = 0; i < MOST_NODES && !event[MOST_NODES - 1]; i++)
        HIP(hipEventCreateWithFlags(&event[i], hipEventDisableTiming));
    begin_capture(stream[0]);
    for (uint32_t n = 0; n < graph.nodes; n++) {
        struct operation *operation = &graph.operation[n];
        on[n] = stream_for(operation, on, n ? draw(streams) : 0);
        if (on[n] && !last[on[n]])
            HIP(hipStreamWaitEvent(stream[on[n]], event[0], 0));
        for (uint32_t i = 0; i < operation->edges; i++) {
            uint32_t before = graph.edge[operation->first_edge + i];
            if (on[before] != on[n])
                HIP(hipStreamWaitEvent(stream[on[n]], event[before], 0));
        }
        submit(operation, stream[on[n]]);
        HIP(hipEventRecord(event[n], stream[on[n]]));
        last[on[n]] = n + 1;
    }
    for (uint32_t i = 1; i < streams; i++)
        if (last[i])
            HIP(hipStreamWaitEvent(stream[0], event[last[i] - 1], 0));
    return end_capture(stream[0]);
}

/* ---- launches ---- */

static void keep_busy(hipStream_t stream, uint32_t *words)
{
    uint32_t value = draw(1000), n = WORDS;

    LAUNCH(gpu.slow_set, WORDS, stream, &words, &value, &n);
}

static void check(uint64_t seed, uint32_t launch, const uint32_t *got)
{
    for (uint32_t b = 0; b < graph.buffers; b++)
        for (uint32_t i = 0; i < WORDS; i++)
            if (got[b * WORDS + i] != expected[b][i])
                FAIL("seed %llu (%u nodes, %u buffers), launch %u: got %u at word %u of buffer %u, want %u",
                     (unsigned long long)seed, graph.nodes, graph.buffers, launch, got[b * WORDS + i], i, b,
                     expected[b][i]);
}

static void run(uint64_t seed, uint32_t largest)
{
    static uint32_t *pinned, *pageable, *back, *other;
    static hipStream_t side[2], named, blocking;
    uint32_t gains[LAUNCHES], *input;
    hipStream_t stream;
    hipGraph_t made;
    hipGraphExec_t exec;
    bool busy;

    state = seed * 0x9e3779b97f4a7c15u + 1;
    if (!back) {
        back = pinned_words(LAUNCHES * MOST_BUFFERS * WORDS);
        pinned = pinned_words(LAUNCHES * WORDS);
        pageable = host_words(LAUNCHES * WORDS);
        other = device_words(2 * WORDS);
        side[0] = new_blocking_stream();
        side[1] = new_blocking_stream();
        named = new_stream();
        blocking = new_blocking_stream();
    }
    draw_graph(largest);
    made = draw(2) ? make_explicit() : make_captured(1 + draw(STREAMS));
    exec = instantiate(made);
    HIP(hipGraphDestroy(made));
    input = draw(2) ? pinned : pageable;
    stream = (hipStream_t[]){ named, blocking, NULL }[draw(3)];
    busy = draw(2);
    for (uint32_t b = 0; b < graph.buffers; b++) {
        for (uint32_t i = 0; i < WORDS; i++)
            expected[b][i] = b * 1000003 + i;
        HIP(hipMemcpy(buffer[b], expected[b], sizeof(expected[b]), hipMemcpyHostToDevice));
    }
    HIP(hipDeviceSynchronize());
    for (uint32_t launch = 0; launch < LAUNCHES; launch++) {
        for (uint32_t i = 0; i < WORDS; i++)
            input[launch * WORDS + i] = draw(1u << 30);
        gains[launch] = draw(1000);
        if (busy)
            for (int i = 0; i < 2; i++)
                keep_busy(side[i], other + i * WORDS);
        HIP(hipMemcpyAsync(gpu.gain, &gains[launch], sizeof(gains[launch]), hipMemcpyHostToDevice, stream));
        HIP(hipMemcpyAsync(buffer[0], input + launch * WORDS, WORDS * 4, hipMemcpyHostToDevice, stream));
        HIP(hipGraphLaunch(exec, stream));
        for (uint32_t b = 0; b < graph.buffers; b++)
            HIP(hipMemcpyAsync(back + (launch * MOST_BUFFERS + b) * WORDS, buffer[b], WORDS * 4,
                               hipMemcpyDeviceToHost, stream));
    }
    HIP(hipStreamSynchronize(stream));
    for (uint32_t launch = 0; launch < LAUNCHES; launch++) {
        memcpy(expected[0], input + launch * WORDS, sizeof(expected[0]));
        for (uint32_t n = 0; n < graph.nodes; n++)
            compute(&graph.operation[n], gains[launch]);
        check(seed, launch, back + launch * MOST_BUFFERS * WORDS);
    }
    HIP(hipDeviceSynchronize());
    HIP(hipGraphExecDestroy(exec));
}

int main(int argc, char **argv)
{
    uint32_t first = argc > 1 ? (uint32_t)strtoul(argv[1], NULL, 0) : 0;
    uint32_t count = argc > 2 ? (uint32_t)strtoul(argv[2], NULL, 0) : 10;
    uint32_t largest = argc > 3 ? (uint32_t)strtoul(argv[3], NULL, 0) : MOST_NODES;
    hipDeviceptr_t gain;
    size_t bytes;

    app_begin("random_graphs", 1, argv, 0, WORDS);
    gpu.copy = app_kernel("copy");
    gpu.add = app_kernel("add");
    gpu.scale = app_kernel("scale");
    gpu.mul_add = app_kernel("mul_add");
    gpu.reverse = app_kernel("reverse_static");
    gpu.turn = app_kernel("reverse_dynamic");
    gpu.count = app_kernel("count");
    gpu.variables = app_kernel("apply_variables");
    gpu.evaluate = app_kernel("evaluate");
    gpu.slow_set = app_kernel("slow_set");
    HIP(hipModuleGetGlobal(&gain, &bytes, app.module, "gain"));
    gpu.gain = gain;
    for (uint32_t b = 0; b < MOST_BUFFERS; b++)
        buffer[b] = device_words(WORDS);
    for (uint32_t i = 0; i < count; i++)
        run(first + i, largest);
    return app_pass();
}
