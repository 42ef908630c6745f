/* SPDX-License-Identifier: Apache-2.0 */
/* Arguments written into the memory that HIP hands out for a node: no call tells of it, and the next update of an exec
 * from that graph takes them (C110). */
#include "identity.h"

static hipStream_t stream;
static uint32_t *data;

static void run(hipGraphExec_t exec)
{
    launch(exec, stream, 2);
    printf(" %u", sum_of(data, app.n));
}

static void update(hipGraphExec_t exec, hipGraph_t graph)
{
    hipGraphExecUpdateResult result;
    hipGraphNode_t error;

    HIP(hipGraphExecUpdate(exec, graph, &error, &result));
}

static void begin(const char *what)
{
    printf("%s:", what);
    fill_bytes(data, 0);
}

/* As a stream captures it: one node, or `chain` of them. */
static void captured(uint32_t chain)
{
    uint32_t five = 5, term = 1;
    hipGraphNode_t nodes[8];
    hipKernelNodeParams parameters;
    size_t count = chain;

    begin(chain == 1 ? "captured" : "captured chain");
    begin_capture(stream);
    for (uint32_t i = 0; i < chain; i++)
        LAUNCH(app_kernel("mul_add"), app.n, stream, &data, &five, &term, &app.n);
    hipGraph_t graph = end_capture(stream);
    hipGraphExec_t exec = instantiate(graph);

    update(exec, graph); /* as llama.cpp does right after it made an exec */
    run(exec);
    HIP(hipGraphGetNodes(graph, nodes, &count));
    for (uint32_t i = 0; i < 3; i++) {
        uint32_t value = 7 + 2 * i;

        HIP(hipGraphKernelNodeGetParams(nodes[i % chain], &parameters));
        memcpy(parameters.kernelParams[1], &value, sizeof(value));
        run(exec);
        update(exec, graph);
        run(exec);
    }
    printf("\n");
}

/* A graph with branches, of which one is written to. */
static void branch(void)
{
    uint32_t *half = data + app.n / 2, count = app.n / 2, one = 1, two = 2;
    hipGraph_t graph = new_graph();
    hipGraphNode_t nodes[2];
    hipKernelNodeParams parameters;

    begin("branch");
    nodes[0] = node_of(graph, NULL, 0, app_kernel("set"), BLOCKS(count), ARGUMENTS(&data, &one, &count));
    nodes[1] = node_of(graph, NULL, 0, app_kernel("set"), BLOCKS(count), ARGUMENTS(&half, &two, &count));
    hipGraphExec_t exec = instantiate(graph);
    run(exec);
    for (int i = 0; i < 2; i++) {
        uint32_t value = 30 + (uint32_t)i;

        HIP(hipGraphKernelNodeGetParams(nodes[i], &parameters));
        memcpy(parameters.kernelParams[1], &value, sizeof(value));
        update(exec, graph);
        run(exec);
        update(exec, graph);
        run(exec);
    }
    printf("\n");
}

/* The block of packed arguments is handed out as well. */
static void packed(void)
{
    struct {
        uint32_t *data, value, n;
    } block = { data, 4, app.n };
    size_t size = sizeof(block);
    void *extra[] = { HIP_LAUNCH_PARAM_BUFFER_POINTER, &block, HIP_LAUNCH_PARAM_BUFFER_SIZE, &size,
                      HIP_LAUNCH_PARAM_END };
    hipKernelNodeParams parameters = { .func = app_kernel("set"),
                                       .gridDim = { BLOCKS(app.n), 1, 1 },
                                       .blockDim = { BLOCK, 1, 1 },
                                       .extra = extra };
    hipGraph_t graph = new_graph();
    hipGraphNode_t node;

    begin("packed");
    HIP(hipGraphAddKernelNode(&node, graph, NULL, 0, &parameters));
    hipGraphExec_t exec = instantiate(graph);
    run(exec);
    for (uint32_t i = 0; i < 2; i++) {
        HIP(hipGraphKernelNodeGetParams(node, &parameters));
        block.value = 60 + i;
        memcpy(parameters.extra[1], &block, sizeof(block));
        update(exec, graph);
        run(exec);
    }
    printf("\n");
}

/* What HIP hands out for fills and copies is a copy; the graph's node is set, then the exec updated. */
static void fills_and_copies(void)
{
    uint32_t *from[2] = { device_words(app.n), device_words(app.n) };
    hipMemsetParams fill = { .dst = data, .elementSize = 4, .value = 3, .width = app.n, .height = 1 };
    hipGraph_t graph = new_graph();
    hipGraphNode_t nodes[2];

    begin("fills and copies");
    fill_bytes(from[0], 1);
    fill_bytes(from[1], 2);
    HIP(hipGraphAddMemsetNode(&nodes[0], graph, NULL, 0, &fill));
    HIP(hipGraphAddMemcpyNode1D(&nodes[1], graph, nodes, 1, data, from[0], 256, hipMemcpyDeviceToDevice));
    hipGraphExec_t exec = instantiate(graph);
    run(exec);
    for (uint32_t i = 0; i < 2; i++) {
        hipMemsetParams copy;

        HIP(hipGraphMemsetNodeGetParams(nodes[0], &copy));
        copy.value = 70 + i;
        update(exec, graph);
        run(exec);
        HIP(hipGraphMemsetNodeSetParams(nodes[0], &copy));
        HIP(hipGraphMemcpyNodeSetParams1D(nodes[1], data, from[(i + 1) % 2], 256, hipMemcpyDeviceToDevice));
        update(exec, graph);
        run(exec);
    }
    printf("\n");
}

/* Into the memory of a node of the graph inside a child node. */
static void child(void)
{
    uint32_t five = 5, one = 1;
    hipGraph_t graph = new_graph(), made = new_graph(), inner;
    hipGraphNode_t node, kernel;
    hipKernelNodeParams parameters;
    size_t count = 1;

    begin("child");
    node_of(made, NULL, 0, app_kernel("set"), BLOCKS(app.n), ARGUMENTS(&data, &five, &app.n));
    HIP(hipGraphAddChildGraphNode(&node, graph, NULL, 0, made));
    node_of(graph, &node, 1, app_kernel("mul_add"), BLOCKS(app.n), ARGUMENTS(&data, &five, &one, &app.n));
    hipGraphExec_t exec = instantiate(graph);
    run(exec);
    HIP(hipGraphChildGraphNodeGetGraph(node, &inner));
    HIP(hipGraphGetNodes(inner, &kernel, &count));
    for (uint32_t i = 0; i < 2; i++) {
        uint32_t value = 80 + i;

        HIP(hipGraphKernelNodeGetParams(kernel, &parameters));
        memcpy(parameters.kernelParams[1], &value, sizeof(value));
        update(exec, graph);
        run(exec);
        HIP(hipGraphExecChildGraphNodeSetParams(exec, node, inner));
        run(exec);
    }
    printf("\n");
}

/* The exec's own node is set from the very memory that HIP handed out for the graph's. */
static void set_from_it(void)
{
    uint32_t five = 5;
    hipGraph_t graph = new_graph();
    hipGraphNode_t node = node_of(graph, NULL, 0, app_kernel("set"), BLOCKS(app.n),
                                  ARGUMENTS(&data, &five, &app.n));
    hipGraphExec_t exec = instantiate(graph);
    hipKernelNodeParams parameters;

    begin("set from it");
    run(exec);
    HIP(hipGraphKernelNodeGetParams(node, &parameters));
    for (uint32_t i = 0; i < 2; i++) {
        uint32_t value = 90 + i;

        memcpy(parameters.kernelParams[1], &value, sizeof(value));
        HIP(hipGraphExecKernelNodeSetParams(exec, node, &parameters));
        run(exec);
    }
    HIP(hipGraphKernelNodeSetParams(node, &parameters));
    update(exec, graph);
    run(exec);
    printf("\n");
}

int main(int argc, char **argv)
{
    app_begin("in_place", argc, argv, 1, 1024);
    stream = new_stream();
    data = device_words(app.n);
    captured(1);
    captured(3);
    branch();
    packed();
    fills_and_copies();
    child();
    set_from_it();
    return app_pass();
}
