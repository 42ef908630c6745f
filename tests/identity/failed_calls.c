/* SPDX-License-Identifier: Apache-2.0 */
/* Calls that fail between launches. Most of them HIP turns away before it has touched anything. */
#include "identity.h"

static hipStream_t stream;
static uint32_t *data;

static void said(hipError_t status)
{
    printf(" [%s]", hipGetErrorName(status));
    (void)hipGetLastError();
}

static void run(hipGraphExec_t exec)
{
    launch(exec, stream, 3);
    printf(" %u", sum_of(data, app.n));
}

static hipGraph_t graph_of(uint32_t value, uint32_t nodes, hipGraphNode_t *last)
{
    hipGraph_t graph = new_graph();

    for (uint32_t i = 0; i < nodes; i++)
        *last = node_of(graph, i ? last : NULL, i ? 1 : 0, app_kernel("set"), BLOCKS(app.n),
                        ARGUMENTS(&data, &value, &app.n));
    return graph;
}

/* Parameters for no node, for a node of another graph, and none at all. */
static void set_params(void)
{
    hipGraphNode_t node, foreign;
    hipGraph_t graph = graph_of(5, 2, &node);
    hipGraphExec_t exec = instantiate(graph);
    uint32_t value = 6;
    hipKernelNodeParams good = { .func = app_kernel("set"),
                                 .gridDim = { BLOCKS(app.n), 1, 1 },
                                 .blockDim = { BLOCK, 1, 1 },
                                 .kernelParams = ARGUMENTS(&data, &value, &app.n) },
                        without = good;
    hipMemsetParams fill = { .dst = data, .elementSize = 4, .value = 1, .width = 8, .height = 1 };

    printf("parameters:");
    graph_of(5, 1, &foreign);
    without.func = NULL;
    run(exec);
    said(hipGraphExecKernelNodeSetParams(exec, foreign, &good));
    run(exec);
    said(hipGraphExecKernelNodeSetParams(exec, NULL, &good));
    run(exec);
    said(hipGraphExecKernelNodeSetParams(exec, node, NULL));
    said(hipGraphExecKernelNodeSetParams(exec, node, &without));
    run(exec);
    said(hipGraphExecMemsetNodeSetParams(exec, foreign, &fill));
    said(hipGraphExecMemsetNodeSetParams(exec, node, NULL));
    run(exec);
    said(hipGraphExecChildGraphNodeSetParams(exec, node, NULL));
    said(hipGraphNodeSetEnabled(exec, foreign, 0));
    said(hipGraphNodeSetEnabled(exec, NULL, 0));
    run(exec);
    HIP(hipGraphExecKernelNodeSetParams(exec, node, &good));
    run(exec);
    printf("\n");
}

static void updates(void)
{
    hipGraphNode_t node, error;
    hipGraphExecUpdateResult result;
    hipGraph_t graph = graph_of(5, 2, &node);
    hipGraphExec_t exec = instantiate(graph);

    printf("updates:");
    run(exec);
    said(hipGraphExecUpdate(exec, graph_of(7, 3, &node), &error, &result));
    run(exec);
    said(hipGraphExecUpdate(exec, graph_of(7, 1, &node), &error, &result));
    run(exec);
    said(hipGraphExecUpdate(exec, NULL, &error, &result));
    said(hipGraphExecUpdate(exec, graph_of(7, 2, &node), NULL, &result));
    run(exec);
    said(hipGraphExecUpdate(exec, graph_of(7, 2, &node), &error, &result));
    run(exec);
    printf("\n");
}

/* A node is refused while a graph is made; the graph is as if nobody had asked. */
static void graphs(void)
{
    hipGraphNode_t node, refused;
    hipGraph_t graph = graph_of(5, 2, &node);
    hipKernelNodeParams without = { .gridDim = { 1, 1, 1 }, .blockDim = { BLOCK, 1, 1 } };

    printf("graphs:");
    said(hipGraphAddKernelNode(&refused, graph, NULL, 0, &without));
    said(hipGraphAddKernelNode(&refused, graph, NULL, 1, &without));
    said(hipGraphAddMemsetNode(&refused, graph, NULL, 0, NULL));
    said(hipGraphAddDependencies(graph, NULL, &node, 1));
    run(instantiate(graph));
    printf("\n");
}

/* HIP found the node and then did not like what it was given: it may have done half of it. */
static void half_done(void)
{
    hipGraphNode_t node;
    hipGraph_t graph = graph_of(5, 2, &node);
    hipGraphExec_t exec = instantiate(graph);
    uint32_t value = 6;
    hipKernelNodeParams bad = { .func = app_kernel("set"),
                                .gridDim = { BLOCKS(app.n), 1, 1 },
                                .blockDim = { 4096, 1, 1 },
                                .kernelParams = ARGUMENTS(&data, &value, &app.n) };

    printf("half done:");
    run(exec);
    said(hipGraphExecKernelNodeSetParams(exec, node, &bad));
    run(exec);
    printf("\n");
}

/* An update that fails at its second node has set the first. */
static void half_updated(void)
{
    uint32_t *side = device_words(app.n), five = 5, fifty = 50;
    hipGraph_t chain = new_graph(), loose = new_graph();
    hipGraphExecUpdateResult result;
    hipGraphNode_t node, error;

    node = node_of(chain, NULL, 0, app_kernel("set"), BLOCKS(app.n), ARGUMENTS(&data, &five, &app.n));
    node_of(chain, &node, 1, app_kernel("set"), BLOCKS(app.n), ARGUMENTS(&side, &five, &app.n));
    node_of(loose, NULL, 0, app_kernel("set"), BLOCKS(app.n), ARGUMENTS(&data, &fifty, &app.n));
    node_of(loose, NULL, 0, app_kernel("set"), BLOCKS(app.n), ARGUMENTS(&side, &fifty, &app.n));
    hipGraphExec_t exec = instantiate(chain);
    printf("half updated:");
    run(exec);
    said(hipGraphExecUpdate(exec, loose, &error, &result));
    run(exec);
    printf(" %u %u\n", word_at(data, 1), word_at(side, 1));
}

int main(int argc, char **argv)
{
    app_begin("failed_calls", argc, argv, 1, 1024);
    stream = new_stream();
    data = device_words(app.n);
    set_params();
    updates();
    graphs();
    half_done();
    half_updated();
    return app_pass();
}
