/* SPDX-License-Identifier: Apache-2.0 */
/* Memory that a graph works on: registered host memory, large pageable copies, rectangles, managed memory,
 * memory that the graph allocates itself. */
#include "app.h"

#define LARGE (2u << 20) /* words: 8 MiB, more than HIP pins at once */
#define WIDTH 48u
#define HEIGHT 20u
#define PITCH 64u

static void pageable_copies(hipStream_t stream, hipFunction_t mul_add)
{
    uint32_t *host = host_words(LARGE), *device = device_words(LARGE), n = LARGE, three = 3, five = 5;

    for (uint32_t i = 0; i < n; i++)
        host[i] = input_word(1, i);
    HIP(hipMemcpyAsync(device, host, n * sizeof(*host), hipMemcpyHostToDevice, stream));
    LAUNCH(mul_add, n, stream, &device, &three, &five, &n);
    HIP(hipMemcpyAsync(host, device, n * sizeof(*host), hipMemcpyDeviceToHost, stream));
    HIP(hipStreamSynchronize(stream));
    for (uint32_t i = 0; i < n; i++)
        EXPECT("word of a large pageable copy", host[i], input_word(1, i) * 3 + 5);
    HIP(hipFree(device));
    free(host);
}

/* In-place work on `words`, which host and device both reach. */
static void shared_words(hipStream_t stream, hipFunction_t mul_add, uint32_t *host, uint32_t *device,
                         const char *kind)
{
    uint32_t three = 3, five = 5;

    begin_capture(stream);
    LAUNCH(mul_add, app.n, stream, &device, &three, &five, &app.n);
    hipGraphExec_t exec = end_capture_exec(stream);
    for (uint32_t round = 0; round < app.rounds; round++) {
        input_words(host, round);
        HIP(hipGraphLaunch(exec, stream));
        HIP(hipStreamSynchronize(stream));
        for (uint32_t i = 0; i < app.n; i++)
            EXPECT(kind, host[i], input_word(round, i) * 3 + 5);
    }
    HIP(hipGraphExecDestroy(exec));
}

static void registered_memory(hipStream_t stream, hipFunction_t mul_add)
{
    uint32_t *host = host_words(app.n);
    void *device;

    HIP(hipHostRegister(host, app.n * sizeof(*host), hipHostRegisterDefault));
    HIP(hipHostGetDevicePointer(&device, host, 0));
    shared_words(stream, mul_add, host, device, "word of registered memory");
    HIP(hipHostUnregister(host));
    free(host);
}

static void managed_memory(hipStream_t stream, hipFunction_t mul_add)
{
    void *words;

    HIP(hipMallocManaged(&words, app.n * sizeof(uint32_t), hipMemAttachGlobal));
    shared_words(stream, mul_add, words, words, "word of managed memory");
    HIP(hipFree(words));
}

static void rectangles(hipStream_t stream, hipFunction_t mul_add)
{
    uint32_t host[HEIGHT][WIDTH], back[HEIGHT][WIDTH], *device, *moved, n = PITCH * HEIGHT;
    uint32_t three = 3, five = 5;
    size_t row = WIDTH * sizeof(uint32_t), pitch = PITCH * sizeof(uint32_t);

    device = device_words(n);
    moved = device_words(n);
    HIP(hipMemset(device, 0, n * sizeof(*device)));
    HIP(hipDeviceSynchronize());
    for (uint32_t i = 0; i < WIDTH * HEIGHT; i++)
        host[i / WIDTH][i % WIDTH] = input_word(2, i);
    HIP(hipMemcpy2DAsync(device, pitch, host, row, row, HEIGHT, hipMemcpyHostToDevice, stream));
    LAUNCH(mul_add, n, stream, &device, &three, &five, &n);
    HIP(hipMemcpy2DAsync(moved, pitch, device, pitch, row, HEIGHT, hipMemcpyDeviceToDevice, stream));
    HIP(hipMemcpy2DAsync(back, row, moved, pitch, row, HEIGHT, hipMemcpyDeviceToHost, stream));
    HIP(hipStreamSynchronize(stream));
    for (uint32_t i = 0; i < WIDTH * HEIGHT; i++)
        EXPECT("word of a rectangle", back[i / WIDTH][i % WIDTH], host[i / WIDTH][i % WIDTH] * 3 + 5);
    HIP(hipFree(device));
    HIP(hipFree(moved));
}

static void allocation_nodes(hipStream_t stream, hipFunction_t copy, hipFunction_t mul_add)
{
    uint32_t *in = device_words(app.n), *out = device_words(app.n), *inner, three = 3, five = 5;
    uint32_t *got = host_words(app.n), *want = host_words(app.n);
    hipMemAllocNodeParams memory = {
        .poolProps = { .allocType = hipMemAllocationTypePinned,
                       .location = { .type = hipMemLocationTypeDevice } },
        .bytesize = app.n * sizeof(*in),
    };
    hipGraph_t graph;
    hipGraphNode_t node, release;

    HIP(hipGraphCreate(&graph, 0));
    HIP(hipGraphAddMemAllocNode(&node, graph, NULL, 0, &memory));
    inner = memory.dptr;
    if (!inner)
        FAIL("got no address from an allocation node, want one");
    node = kernel_node(graph, &node, 1, copy, ARGUMENTS(&inner, &in, &app.n));
    node = kernel_node(graph, &node, 1, mul_add, ARGUMENTS(&inner, &three, &five, &app.n));
    node = kernel_node(graph, &node, 1, copy, ARGUMENTS(&out, &inner, &app.n));
    HIP(hipGraphAddMemFreeNode(&release, graph, &node, 1, inner));
    hipGraphExec_t exec = instantiate(graph);
    for (uint32_t round = 0; round < app.rounds; round++) {
        upload_input(in, got, round);
        HIP(hipGraphLaunch(exec, stream));
        HIP(hipStreamSynchronize(stream));
        download(got, out);
        for (uint32_t i = 0; i < app.n; i++)
            want[i] = input_word(round, i) * 3 + 5;
        EXPECT_WORDS(round, got, want);
    }
    HIP(hipGraphExecDestroy(exec));
    HIP(hipGraphDestroy(graph));
}

int main(int argc, char **argv)
{
    app_begin("memory_kinds", argc, argv, 4, 4096);
    hipFunction_t copy = app_kernel("copy"), mul_add = app_kernel("mul_add");
    hipStream_t stream = new_stream();

    pageable_copies(stream, mul_add);
    registered_memory(stream, mul_add);
    managed_memory(stream, mul_add);
    rectangles(stream, mul_add);
    allocation_nodes(stream, copy, mul_add);
    return app_pass();
}
