/* SPDX-License-Identifier: Apache-2.0 */
/* Kernels of compiled-in code, registered as a compiler's constructors do it, under names that modules and other
 * compiled-in code have too. HIP loads such code when one of its kernels is first used. */
#include "compiled.h"

static hipStream_t stream;
static uint32_t *data, *side;

static const char *const names[] = { "iota", "saxpy" };

/* The compiled-in kernel has one argument, those of that name in modules before and behind it have four. */
static void beside_a_module(void)
{
    static struct compiled compiled;
    hipGraph_t graph = new_graph(), first = new_graph();
    hipGraphNode_t nodes[5];
    hipFunction_t function;
    hipModule_t late;
    void **end = at_page_end(1);
    float a = 3;
    uint32_t value = 3;

    fill_bytes(data, 0);
    fill_bytes(side, 1);
    node_of(first, NULL, 0, app_kernel("saxpy"), BLOCKS(app.n), ARGUMENTS(&data, &side, &a, &app.n));
    launch(instantiate(first), stream, 3);
    compile_in(&compiled, "other.co", names, 2);
    HIP(hipGetFuncBySymbol(&function, &compiled.hosts[1])); /* loads it */
    late = app_module("kernels.co");
    end[0] = &data;
    nodes[0] = node_of(graph, NULL, 0, &compiled.hosts[1], 2, end);
    nodes[1] = node_of(graph, NULL, 0, &compiled.hosts[1], 1, end);
    nodes[2] = node_of(graph, nodes, 2, app_kernel("saxpy"), BLOCKS(app.n),
                       ARGUMENTS(&side, &side, &a, &app.n));
    nodes[3] = node_of(graph, &nodes[2], 1, &compiled.hosts[0], BLOCKS(app.n),
                       ARGUMENTS(&side, &value, &app.n));
    nodes[4] = node_of(graph, &nodes[3], 1, app_kernel("iota"), BLOCKS(app.n) / 2,
                       ARGUMENTS(&side, &value, &app.n));
    hipGraphExec_t exec = instantiate(graph);
    launch(exec, stream, 3);
    printf("beside a module: %u %u", word_at(data, 0), sum_of(side, app.n));
    set_arguments(exec, nodes[0], &compiled.hosts[1], 4, end);
    value = 5;
    set_arguments(exec, nodes[3], &compiled.hosts[0], BLOCKS(app.n), ARGUMENTS(&side, &value, &app.n));
    launch(exec, stream, 2);
    printf(" %u %u\n", word_at(data, 0), sum_of(side, app.n));
    HIP(hipGraphExecDestroy(exec));
    HIP(hipGraphDestroy(graph));
    HIP(hipModuleUnload(late));
    take_out(&compiled);
}

/* Two compiled-in ones share a name; nobody but HIP knows which is which. */
static void beside_each_other(void)
{
    static struct compiled compiled[2];
    hipGraph_t graph = new_graph();
    hipGraphNode_t nodes[4];
    uint32_t value = 3;

    compile_in(&compiled[0], "kernels.co", names, 2);
    compile_in(&compiled[1], "other.co", names, 2);
    fill_bytes(data, 1);
    fill_bytes(side, 1);
    for (int i = 0; i < 4; i++)
        nodes[i] = node_of(graph, i < 2 ? NULL : &nodes[i - 2], i < 2 ? 0 : 1, &compiled[i & 1].hosts[0],
                           BLOCKS(app.n), ARGUMENTS(i & 1 ? &side : &data, &value, &app.n));
    hipGraphExec_t exec = instantiate(graph);
    launch(exec, stream, 3);
    printf("beside each other: %u %u", sum_of(data, app.n), sum_of(side, app.n));
    for (int i = 0; i < 4; i++) {
        value = 11 + 2 * (uint32_t)i;
        set_arguments(exec, nodes[i], &compiled[i & 1].hosts[0], BLOCKS(app.n),
                      ARGUMENTS(i & 1 ? &side : &data, &value, &app.n));
        launch(exec, stream, 2);
        printf(" %u %u", sum_of(data, app.n), sum_of(side, app.n));
    }
    set_arguments(exec, nodes[0], &compiled[1].hosts[0], BLOCKS(app.n), ARGUMENTS(&data, &value, &app.n));
    launch(exec, stream, 2);
    printf(" %u\n", sum_of(data, app.n));
    HIP(hipGraphExecDestroy(exec));
    HIP(hipGraphDestroy(graph));
    take_out(&compiled[0]);
    take_out(&compiled[1]);
}

/* A plugin is closed and opened again, with other code behind the same host functions. */
static void again(void)
{
    static struct compiled compiled;

    printf("again:");
    fill_bytes(data, 1);
    for (uint32_t i = 0; i < 4; i++) {
        hipGraph_t graph = new_graph();
        hipGraphNode_t node;
        uint32_t value = 3 + 2 * i;

        compile_in(&compiled, i & 1 ? "kernels.co" : "other.co", names, 2);
        node = node_of(graph, NULL, 0, &compiled.hosts[0], BLOCKS(app.n), ARGUMENTS(&data, &value, &app.n));
        hipGraphExec_t exec = instantiate(graph);
        launch(exec, stream, 2);
        value += 50;
        set_arguments(exec, node, &compiled.hosts[0], BLOCKS(app.n), ARGUMENTS(&data, &value, &app.n));
        launch(exec, stream, 2);
        printf(" %u", sum_of(data, app.n));
        HIP(hipGraphExecDestroy(exec));
        HIP(hipGraphDestroy(graph));
        take_out(&compiled);
    }
    printf("\n");
}

/* An exec outlives the plugin, and gets its parameters from the next one that is opened: the same host function, other
 * code. */
static void opened_again(void)
{
    static struct compiled compiled;
    hipGraph_t graph = new_graph();
    hipGraphNode_t node;
    uint32_t value = 3;

    compile_in(&compiled, "other.co", names, 2);
    fill_bytes(data, 1);
    node = node_of(graph, NULL, 0, &compiled.hosts[0], BLOCKS(app.n), ARGUMENTS(&data, &value, &app.n));
    hipGraphExec_t exec = instantiate(graph);
    launch(exec, stream, 2);
    printf("opened again: %u", sum_of(data, app.n));
    for (uint32_t i = 0; i < 3; i++) {
        take_out(&compiled);
        compile_in(&compiled, i & 1 ? "other.co" : "kernels.co", names, 2);
        value = 21 + 2 * i;
        set_arguments(exec, node, &compiled.hosts[0], BLOCKS(app.n), ARGUMENTS(&data, &value, &app.n));
        launch(exec, stream, 2);
        printf(" %u", sum_of(data, app.n));
    }
    printf("\n");
    HIP(hipGraphExecDestroy(exec));
    HIP(hipGraphDestroy(graph));
    take_out(&compiled);
}

/* One kernel by two names of HIP's: the host function, and what hipGetFuncBySymbol makes of it. */
static void two_handles(void)
{
    static struct compiled compiled;
    hipGraph_t graph = new_graph();
    hipGraphNode_t nodes[2];
    hipFunction_t function;
    uint32_t value = 3;

    compile_in(&compiled, "other.co", names, 2);
    HIP(hipGetFuncBySymbol(&function, &compiled.hosts[0]));
    fill_bytes(data, 1);
    fill_bytes(side, 1);
    nodes[0] = node_of(graph, NULL, 0, &compiled.hosts[0], BLOCKS(app.n), ARGUMENTS(&data, &value, &app.n));
    nodes[1] = node_of(graph, NULL, 0, function, BLOCKS(app.n), ARGUMENTS(&side, &value, &app.n));
    hipGraphExec_t exec = instantiate(graph);
    launch(exec, stream, 2);
    value = 5;
    set_arguments(exec, nodes[0], function, BLOCKS(app.n), ARGUMENTS(&data, &value, &app.n));
    launch(exec, stream, 2);
    value = 7;
    set_arguments(exec, nodes[1], &compiled.hosts[0], BLOCKS(app.n), ARGUMENTS(&side, &value, &app.n));
    launch(exec, stream, 2);
    printf("two handles: %u %u\n", sum_of(data, app.n), sum_of(side, app.n));
    HIP(hipGraphExecDestroy(exec));
    HIP(hipGraphDestroy(graph));
    take_out(&compiled);
}

int main(int argc, char **argv)
{
    app_begin("statics", argc, argv, 1, 1024);
    stream = new_stream();
    data = device_words(app.n);
    side = device_words(app.n);
    beside_a_module();
    beside_each_other();
    again();
    opened_again();
    two_handles();
    return app_pass();
}
