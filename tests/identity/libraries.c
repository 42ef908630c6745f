/* SPDX-License-Identifier: Apache-2.0 */
/* Kernels of hipLibrary*, which HIP loads when the first one is asked for, under names that modules have too. */
#include "identity.h"

static hipStream_t stream;
static uint32_t *data, *side;

static hipLibrary_t library_of(const char *file)
{
    char path[4096];
    hipLibrary_t library;

    snprintf(path, sizeof(path), "%s/%s/%s", getenv("APP_FIXTURES"), app.gfx, file);
    HIP(hipLibraryLoadFromFile(&library, path, NULL, NULL, 0, NULL, NULL, 0));
    return library;
}

static hipFunction_t kernel_of(hipLibrary_t library, const char *name)
{
    hipKernel_t kernel;

    HIP(hipLibraryGetKernel(&kernel, library, name));
    return (hipFunction_t)kernel;
}

static void beside_a_module(void)
{
    hipLibrary_t library = library_of("other.co");
    hipFunction_t kernels[2] = { app_kernel("iota"), kernel_of(library, "iota") };
    hipGraph_t graph = new_graph();
    hipGraphNode_t nodes[4];
    uint32_t value = 3;

    fill_bytes(data, 1);
    for (int i = 0; i < 4; i++)
        nodes[i] = node_of(graph, i ? &nodes[i - 1] : NULL, i ? 1 : 0, kernels[i & 1], BLOCKS(app.n),
                           ARGUMENTS(&data, &value, &app.n));
    hipGraphExec_t exec = instantiate(graph);
    launch(exec, stream, 3);
    printf("beside a module: %u", sum_of(data, app.n));
    for (uint32_t i = 0; i < 4; i++) {
        value = 11 + 2 * i;
        set_arguments(exec, nodes[i], kernels[i & 1], BLOCKS(app.n), ARGUMENTS(&data, &value, &app.n));
        launch(exec, stream, 1);
        printf(" %u", sum_of(data, app.n));
    }
    printf("\n");
    HIP(hipGraphExecDestroy(exec));
    HIP(hipLibraryUnload(library));
}

/* Two libraries whose first kernel is asked for in the other order than they were loaded in. */
static void loaded_late(void)
{
    hipLibrary_t one = library_of("kernels.co"), other = library_of("other.co");
    hipFunction_t of_other = kernel_of(other, "saxpy"), of_one = kernel_of(one, "saxpy");
    hipGraph_t graph = new_graph();
    hipGraphNode_t nodes[3];
    void **end = at_page_end(1);
    float a = 4;

    fill_bytes(data, 0);
    fill_bytes(side, 1);
    end[0] = &data;
    nodes[0] = node_of(graph, NULL, 0, of_other, 2, end);
    nodes[1] = node_of(graph, NULL, 0, of_other, 1, end);
    nodes[2] = node_of(graph, nodes, 2, of_one, BLOCKS(app.n), ARGUMENTS(&data, &side, &a, &app.n));
    hipGraphExec_t exec = instantiate(graph);
    launch(exec, stream, 2);
    set_arguments(exec, nodes[0], of_other, 5, end);
    launch(exec, stream, 2);
    printf("loaded late: %u %u\n", word_at(data, 0), sum_of(side, app.n));
    HIP(hipGraphExecDestroy(exec));
    HIP(hipLibraryUnload(other));
    HIP(hipLibraryUnload(one));
}

static void from_memory_again(void)
{
    size_t size[2];
    char *images[2] = { file_bytes("kernels.co", &size[0]), file_bytes("other.co", &size[1]) };

    printf("from memory again:");
    fill_bytes(data, 1);
    for (uint32_t i = 0; i < 6; i++) {
        hipLibrary_t library;
        hipGraph_t graph = new_graph();
        hipGraphNode_t node;
        uint32_t value = 13 + 2 * i;

        HIP(hipLibraryLoadData(&library, images[i & 1], NULL, NULL, 0, NULL, NULL, 0));
        hipFunction_t kernel = kernel_of(library, "iota");
        node = node_of(graph, NULL, 0, kernel, BLOCKS(app.n), ARGUMENTS(&data, &value, &app.n));
        hipGraphExec_t exec = instantiate(graph);
        launch(exec, stream, 2);
        value += 100;
        set_arguments(exec, node, kernel, BLOCKS(app.n), ARGUMENTS(&data, &value, &app.n));
        launch(exec, stream, 2);
        printf(" %u", sum_of(data, app.n));
        HIP(hipGraphExecDestroy(exec));
        HIP(hipLibraryUnload(library));
    }
    printf("\n");
}

/* All kernels of a library at once, instead of one by its name. */
static void enumerated(void)
{
    hipLibrary_t library = library_of("kernels.co");
    hipKernel_t kernels[64];
    unsigned count = 0, found = 0;

    HIP(hipLibraryGetKernelCount(&count, library));
    count = count < 64 ? count : 64;
    HIP(hipLibraryEnumerateKernels(kernels, count, library));
    fill_bytes(data, 1);
    for (unsigned i = 0; i < count; i++) {
        const char *name;
        hipGraph_t graph;
        hipGraphNode_t node;
        uint32_t value = 3;

        HIP(hipKernelGetName(&name, kernels[i]));
        if (strcmp(name, "iota") != 0)
            continue;
        found++;
        graph = new_graph();
        node = node_of(graph, NULL, 0, (void *)kernels[i], BLOCKS(app.n), ARGUMENTS(&data, &value, &app.n));
        hipGraphExec_t exec = instantiate(graph);
        launch(exec, stream, 2);
        value = 7;
        set_arguments(exec, node, (void *)kernels[i], BLOCKS(app.n), ARGUMENTS(&data, &value, &app.n));
        launch(exec, stream, 2);
        HIP(hipGraphExecDestroy(exec));
    }
    printf("enumerated: %u of that name, %u\n", found, sum_of(data, app.n));
    HIP(hipLibraryUnload(library));
}

int main(int argc, char **argv)
{
    app_begin("libraries", argc, argv, 1, 1024);
    stream = new_stream();
    data = device_words(app.n);
    side = device_words(app.n);
    beside_a_module();
    loaded_late();
    from_memory_again();
    enumerated();
    return app_pass();
}
