/* SPDX-License-Identifier: Apache-2.0 */
/* Several modules loaded at once have kernels of one name: with other arguments, other code, other local memory, other
 * variables. */
#include "identity.h"

static hipModule_t second;
static hipStream_t stream;
static uint32_t *data, *side;

static void clear(void)
{
    fill_bytes(data, 0);
    fill_bytes(side, 0);
}

/* saxpy(x, y, a, n) in the first module, saxpy(counter) in the second: one pointer, with nothing readable behind. */
static void other_arguments(void)
{
    hipFunction_t four = app_kernel("saxpy"), one;
    float a = 2;
    hipGraph_t first_graph = new_graph(), graph = new_graph();
    void **end = at_page_end(1);
    hipGraphNode_t roots[2];

    clear();
    node_of(first_graph, NULL, 0, four, BLOCKS(app.n), ARGUMENTS(&side, &data, &a, &app.n));
    launch(instantiate(first_graph), stream, 3);
    second = app_module("other.co"); /* when the layouts of the first have been read already */
    one = function_of(second, "saxpy");
    end[0] = &data;
    roots[0] = node_of(graph, NULL, 0, one, 1, end);
    roots[1] = node_of(graph, NULL, 0, one, 2, end);
    node_of(graph, roots, 2, app_kernel("set"), BLOCKS(app.n), ARGUMENTS(&side, &app.n, &app.n));
    hipGraphExec_t exec = instantiate(graph);
    launch(exec, stream, 3);
    printf("other arguments: %u", word_at(data, 0));
    end[0] = &side;
    set_arguments(exec, roots[0], one, 2, end);
    launch(exec, stream, 2);
    end[0] = &data;
    set_arguments(exec, roots[0], one, 3, end);
    launch(exec, stream, 3);
    printf(" %u %u\n", word_at(data, 0), word_at(side, 0));
}

/* The other way round: the kernel with few arguments is known first, and one in the middle of a graph follows. */
static void more_arguments(void)
{
    hipFunction_t one = app_kernel("count"), four = function_of(second, "count");
    hipGraph_t graph = new_graph();
    hipGraphNode_t root, middle;
    float a = 0.5f;

    clear();
    root = node_of(graph, NULL, 0, one, 3, ARGUMENTS(&side));
    middle = node_of(graph, &root, 1, four, BLOCKS(app.n), ARGUMENTS(&side, &data, &a, &app.n));
    node_of(graph, &middle, 1, one, 2, ARGUMENTS(&side));
    hipGraphExec_t exec = instantiate(graph);
    launch(exec, stream, 3);
    printf("more arguments: %u %u", word_at(side, 0), sum_of(data, app.n));
    a = 8;
    set_arguments(exec, middle, four, BLOCKS(app.n), ARGUMENTS(&side, &data, &a, &app.n));
    launch(exec, stream, 3);
    printf(" %u %u\n", word_at(side, 0), sum_of(data, app.n));
}

/* One name and layout, other code: iota(out, start, n) in the first module, scale(data, factor, n) in the second. The graph
 * is random and all nodes have the same arguments at first; then one after the other gets memory of its own. */
static void other_code(unsigned seed)
{
    enum { NODES = 8 };
    hipFunction_t kernels[2] = { app_kernel("iota"), function_of(second, "iota") };
    hipGraph_t graph = new_graph();
    hipGraphNode_t nodes[NODES];
    uint32_t *own[NODES], which[NODES], order[NODES], value = 3;

    srand(seed);
    clear();
    for (uint32_t i = 0; i < NODES; i++) {
        which[i] = rand() & 1;
        order[i] = i;
        own[i] = device_words(app.n);
        nodes[i] = node_of(graph, NULL, 0, kernels[which[i]], BLOCKS(app.n),
                           ARGUMENTS(&data, &value, &app.n));
    }
    for (uint32_t i = NODES - 1; i > 0; i--) {
        uint32_t other = (uint32_t)rand() % (i + 1), kept = order[i];

        order[i] = order[other];
        order[other] = kept;
    }
    for (uint32_t i = 0; i < NODES; i++)
        for (uint32_t k = i + 1; k < NODES; k++)
            if (rand() % 4 == 0)
                HIP(hipGraphAddDependencies(graph, &nodes[order[i]], &nodes[order[k]], 1));
    hipGraphExec_t exec = instantiate(graph);
    launch(exec, stream, 2);
    for (uint32_t i = 0; i < NODES; i++) {
        value = 101 + 2 * i;
        fill_bytes(own[i], 1);
        set_arguments(exec, nodes[i], kernels[which[i]], BLOCKS(app.n), ARGUMENTS(&own[i], &value, &app.n));
        launch(exec, stream, 1);
    }
    launch(exec, stream, 2);
    printf("other code %u:", seed);
    for (uint32_t i = 0; i < NODES; i++)
        printf(" %u", sum_of(own[i], app.n));
    printf("\n");
}

/* Independent nodes of one name, two kernels, in both halves of the data; a change meets the half that it is for. */
static void side_by_side(void)
{
    hipFunction_t first = app_kernel("iota"), other = function_of(second, "iota");
    hipGraph_t graph = new_graph();
    hipGraphNode_t nodes[4];
    uint32_t one = 1;

    clear();
    fill_bytes(side, 1);
    for (int i = 0; i < 4; i++)
        nodes[i] = node_of(graph, NULL, 0, i & 1 ? other : first, BLOCKS(app.n),
                           ARGUMENTS(i & 1 ? &side : &data, &one, &app.n));
    hipGraphExec_t exec = instantiate(graph);
    launch(exec, stream, 2);
    printf("side by side: %u %u", sum_of(data, app.n), sum_of(side, app.n));
    for (uint32_t i = 0; i < 4; i++) {
        uint32_t value = 5; /* alike within a pair: two writers of the same memory are in any order */

        set_arguments(exec, nodes[i], i & 1 ? other : first, BLOCKS(app.n),
                      ARGUMENTS(i & 1 ? &side : &data, &value, &app.n));
        if (i < 2)
            continue;
        launch(exec, stream, 1);
        printf(" %u %u", i == 3 ? sum_of(data, app.n) : 0, i == 3 ? sum_of(side, app.n) : 0);
    }
    printf("\n");
}

/* Equal but for local memory: reverse_static of the second module asks for more of it. */
static void other_lds(void)
{
    hipFunction_t kernels[2] = { app_kernel("reverse_static"), function_of(second, "reverse_static") };
    hipGraph_t graph = new_graph();
    hipGraphNode_t nodes[4];
    uint32_t value = 3;

    clear();
    nodes[0] = node_of(graph, NULL, 0, app_kernel("iota"), BLOCKS(app.n), ARGUMENTS(&data, &value, &app.n));
    nodes[1] = node_of(graph, NULL, 0, app_kernel("iota"), BLOCKS(app.n), ARGUMENTS(&side, &value, &app.n));
    nodes[2] = node_of(graph, nodes, 1, kernels[1], BLOCKS(app.n), ARGUMENTS(&data));
    nodes[3] = node_of(graph, nodes + 1, 1, kernels[0], BLOCKS(app.n), ARGUMENTS(&side));
    hipGraphExec_t exec = instantiate(graph);
    launch(exec, stream, 3);
    printf("other local memory: %u %u", sum_of(data, app.n), sum_of(side, app.n));
    set_arguments(exec, nodes[2], kernels[1], BLOCKS(app.n / 2), ARGUMENTS(&data));
    launch(exec, stream, 2);
    set_arguments(exec, nodes[3], kernels[1], BLOCKS(app.n), ARGUMENTS(&side));
    launch(exec, stream, 2);
    printf(" then %u %u\n", sum_of(data, app.n), sum_of(side, app.n));
}

/* The same file three times: one code, three sets of variables. */
static void other_variables(void)
{
    hipModule_t modules[3] = { app.module, app_module("kernels.co"), app_module("kernels.co") };
    hipFunction_t kernels[3];
    hipGraph_t graph = new_graph();
    hipGraphNode_t nodes[3];
    uint32_t *out[3];

    for (uint32_t i = 0; i < 3; i++) {
        hipDeviceptr_t gain;
        size_t bytes;
        uint32_t value = 10 + i;

        out[i] = device_words(app.n);
        kernels[i] = function_of(modules[i], "apply_variables");
        HIP(hipModuleGetGlobal(&gain, &bytes, modules[i], "gain"));
        HIP(hipMemcpy(gain, &value, sizeof(value), hipMemcpyHostToDevice));
    }
    for (uint32_t i = 0; i < 3; i++)
        nodes[i] = node_of(graph, NULL, 0, kernels[i], BLOCKS(app.n), ARGUMENTS(&out[i], &app.n));
    hipGraphExec_t exec = instantiate(graph);
    launch(exec, stream, 3);
    printf("other variables: %u %u %u", word_at(out[0], 4), word_at(out[1], 4), word_at(out[2], 4));
    for (uint32_t i = 0; i < 3; i++)
        set_arguments(exec, nodes[i], kernels[i], BLOCKS(app.n), ARGUMENTS(&out[(i + 1) % 3], &app.n));
    launch(exec, stream, 3);
    printf(" then %u %u %u", word_at(out[0], 4), word_at(out[1], 4), word_at(out[2], 4));
    set_arguments(exec, nodes[0], kernels[2], BLOCKS(app.n), ARGUMENTS(&out[1], &app.n));
    launch(exec, stream, 3);
    printf(" then %u\n", word_at(out[1], 4));
    HIP(hipModuleUnload(modules[1]));
    HIP(hipModuleUnload(modules[2]));
}

/* Arguments as one block: what they mean is known by the kernel alone. */
static void packed(void)
{
    hipFunction_t kernels[2] = { app_kernel("iota"), function_of(second, "iota") };
    struct {
        uint32_t *data, value, n;
    } block = { data, 4, app.n };
    size_t size = sizeof(block);
    void *extra[] = { HIP_LAUNCH_PARAM_BUFFER_POINTER, &block, HIP_LAUNCH_PARAM_BUFFER_SIZE, &size,
                      HIP_LAUNCH_PARAM_END };
    hipKernelNodeParams parameters = { .gridDim = { BLOCKS(app.n), 1, 1 },
                                       .blockDim = { BLOCK, 1, 1 },
                                       .extra = extra };
    hipGraph_t graph = new_graph();
    hipGraphNode_t nodes[4];

    clear();
    for (int i = 0; i < 4; i++) {
        parameters.func = kernels[i & 1];
        HIP(hipGraphAddKernelNode(&nodes[i], graph, i ? &nodes[i - 1] : NULL, i ? 1 : 0, &parameters));
    }
    hipGraphExec_t exec = instantiate(graph);
    launch(exec, stream, 3);
    printf("packed: %u", sum_of(data, app.n));
    for (uint32_t i = 0; i < 4; i++) {
        block.value = 20 + i;
        parameters.func = kernels[i & 1];
        HIP(hipGraphExecKernelNodeSetParams(exec, nodes[i], &parameters));
        launch(exec, stream, 2);
        printf(" %u", sum_of(data, app.n));
    }
    printf("\n");
}

int main(int argc, char **argv)
{
    app_begin("same_names", argc, argv, 1, 1024);
    stream = new_stream();
    data = device_words(app.n);
    side = device_words(app.n);
    other_arguments();
    more_arguments();
    for (unsigned seed = 1; seed < 5; seed++)
        other_code(seed);
    side_by_side();
    other_lds();
    other_variables();
    packed();
    return app_pass();
}
