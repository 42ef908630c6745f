/* SPDX-License-Identifier: Apache-2.0 */
/* Modules come and go: the same addresses of functions, code and images with other kernels behind them. */
#include "identity.h"

static hipStream_t stream;
static uint32_t *data;

static hipModule_t module_of(const void *image)
{
    hipModule_t module;

    HIP(hipModuleLoadData(&module, image));
    return module;
}

static hipGraphExec_t exec_of(hipFunction_t function, uint32_t value, hipGraphNode_t *node)
{
    hipGraph_t graph = new_graph();
    hipGraphNode_t first = node_of(graph, NULL, 0, function, BLOCKS(app.n), ARGUMENTS(&data, &value, &app.n));

    *node = node_of(graph, &first, 1, function, BLOCKS(app.n), ARGUMENTS(&data, &value, &app.n));
    return instantiate(graph);
}

/* An exec for each module, which dies before it. */
static void one_after_the_other(void)
{
    printf("one after the other:");
    for (uint32_t i = 0; i < 6; i++) {
        hipModule_t module = app_module(i & 1 ? "kernels.co" : "other.co");
        hipFunction_t function = function_of(module, "iota");
        hipGraphNode_t node;
        uint32_t value = 40 + i;

        fill_bytes(data, 1);
        hipGraphExec_t exec = exec_of(function, 3, &node);
        launch(exec, stream, 2);
        set_arguments(exec, node, function, BLOCKS(app.n), ARGUMENTS(&data, &value, &app.n));
        launch(exec, stream, 2);
        printf(" %u", sum_of(data, app.n));
        HIP(hipGraphExecDestroy(exec));
        HIP(hipModuleUnload(module));
    }
    printf("\n");
}

/* An exec that outlives other modules than its own: nothing about it changes. */
static void beside_others(void)
{
    hipFunction_t function = app_kernel("iota");
    hipGraphNode_t node;
    hipGraphExec_t exec = exec_of(function, 9, &node);

    printf("beside others:");
    for (uint32_t i = 0; i < 6; i++) {
        hipModule_t module = app_module("other.co");
        hipGraphNode_t others;
        hipGraphExec_t other = exec_of(function_of(module, "iota"), 2 + i, &others);

        launch(exec, stream, 2);
        launch(other, stream, 2);
        printf(" %u", sum_of(data, app.n));
        HIP(hipGraphExecDestroy(other));
        HIP(hipModuleUnload(module));
        launch(exec, stream, 1);
        set_arguments(exec, node, function, BLOCKS(app.n), ARGUMENTS(&data, &i, &app.n));
        launch(exec, stream, 1);
        printf(" %u", sum_of(data, app.n));
    }
    printf("\n");
}

/* The image of a module is written over with another one as soon as the module is there. */
static void image_written_over(void)
{
    size_t size, other_size;
    char *image = file_bytes("kernels.co", &size), *other = file_bytes("other.co", &other_size);
    hipModule_t modules[2];
    hipFunction_t functions[2];
    void **end = at_page_end(1);
    hipGraph_t graph = new_graph();
    hipGraphNode_t nodes[3];
    float a = 2;

    fill_bytes(data, 0);
    modules[0] = module_of(image);
    functions[0] = function_of(modules[0], "saxpy");
    memcpy(image, other, size < other_size ? size : other_size);
    modules[1] = module_of(image);
    functions[1] = function_of(modules[1], "saxpy");
    memset(image, 0xff, size);
    end[0] = &data;
    nodes[0] = node_of(graph, NULL, 0, functions[1], 2, end);
    nodes[1] = node_of(graph, NULL, 0, functions[1], 3, end);
    nodes[2] = node_of(graph, nodes, 2, functions[0], BLOCKS(app.n), ARGUMENTS(&data, &data, &a, &app.n));
    hipGraphExec_t exec = instantiate(graph);
    launch(exec, stream, 2);
    printf("image written over: %u", sum_of(data, app.n));
    a = 0;
    set_arguments(exec, nodes[2], functions[0], BLOCKS(app.n), ARGUMENTS(&data, &data, &a, &app.n));
    set_arguments(exec, nodes[0], functions[1], 4, end);
    launch(exec, stream, 3);
    printf(" %u\n", sum_of(data, app.n));
    HIP(hipGraphExecDestroy(exec));
    HIP(hipModuleUnload(modules[0]));
    HIP(hipModuleUnload(modules[1]));
    free(image);
    free(other);
}

/* The exec's graph is made again with the function of a module that took the place of the first one's, and updates it. */
static void updated_with_the_next(void)
{
    hipModule_t module = app_module("kernels.co");
    hipFunction_t function = function_of(module, "iota");
    hipGraph_t graph = new_graph();
    hipGraphExecUpdateResult result;
    hipGraphNode_t error;
    uint32_t value = 5;

    fill_bytes(data, 1);
    node_of(graph, NULL, 0, app_kernel("iota"), BLOCKS(app.n), ARGUMENTS(&data, &value, &app.n));
    hipGraphExec_t exec = instantiate(graph);
    HIP(hipGraphDestroy(graph));
    launch(exec, stream, 2);
    printf("updated with the next:");
    for (uint32_t i = 0; i < 4; i++) {
        value = 7 + 2 * i;
        graph = new_graph();
        node_of(graph, NULL, 0, function, BLOCKS(app.n), ARGUMENTS(&data, &value, &app.n));
        HIP(hipGraphExecUpdate(exec, graph, &error, &result));
        HIP(hipGraphDestroy(graph));
        launch(exec, stream, 2);
        printf(" %u", sum_of(data, app.n));
        graph = new_graph();
        node_of(graph, NULL, 0, app_kernel("set"), BLOCKS(app.n), ARGUMENTS(&data, &value, &app.n));
        HIP(hipGraphExecUpdate(exec, graph, &error, &result));
        HIP(hipGraphDestroy(graph));
        launch(exec, stream, 1);
        HIP(hipModuleUnload(module));
        module = app_module(i & 1 ? "kernels.co" : "other.co");
        function = function_of(module, "iota");
    }
    printf("\n");
    HIP(hipModuleUnload(module));
}

/* Variables of a module that is loaded again are new ones. */
static void variables_again(void)
{
    printf("variables again:");
    for (uint32_t i = 0; i < 3; i++) {
        hipModule_t module = app_module("kernels.co");
        hipGraph_t graph = new_graph();
        hipDeviceptr_t gain;
        size_t bytes;
        uint32_t value = 20 + i;

        node_of(graph, NULL, 0, function_of(module, "apply_variables"), BLOCKS(app.n),
                ARGUMENTS(&data, &app.n));
        hipGraphExec_t exec = instantiate(graph);
        launch(exec, stream, 2);
        printf(" %u", word_at(data, 4));
        HIP(hipModuleGetGlobal(&gain, &bytes, module, "gain"));
        HIP(hipMemcpy(gain, &value, sizeof(value), hipMemcpyHostToDevice));
        launch(exec, stream, 2);
        printf(" %u", word_at(data, 4));
        HIP(hipGraphExecDestroy(exec));
        HIP(hipModuleUnload(module));
    }
    printf("\n");
}

int main(int argc, char **argv)
{
    app_begin("reload", argc, argv, 1, 1024);
    stream = new_stream();
    data = device_words(app.n);
    one_after_the_other();
    beside_others();
    image_written_over();
    updated_with_the_next();
    variables_again();
    return app_pass();
}
