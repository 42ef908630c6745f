/* SPDX-License-Identifier: Apache-2.0 */
/* Parameters of an exec changed between launches: kernel, memset, copy; nodes switched off (C003). */
#include "app.h"

int main(int argc, char **argv)
{
    app_begin("exec_params", argc, argv, 6, 16384);
    hipFunction_t add = app_kernel("add"), mul_add = app_kernel("mul_add"), scale = app_kernel("scale");
    uint32_t *in[2] = { device_words(app.n), device_words(app.n) }, *base = device_words(app.n);
    uint32_t *data = device_words(app.n), *out = device_words(app.n), factor = 3, term = 5;
    uint32_t *got = host_words(app.n), *want = host_words(app.n);
    size_t bytes = app.n * sizeof(*data);
    hipStream_t stream = new_stream();
    hipGraph_t graph;
    hipGraphNode_t copy_node, memset_node, change_node, behind[2];
    hipMemsetParams fill = {
        .dst = base, .elementSize = 4, .value = 1, .width = app.n, .height = 1, .pitch = bytes
    };
    hipKernelNodeParams change = { .gridDim = { BLOCKS(app.n), 1, 1 }, .blockDim = { BLOCK, 1, 1 } };

    HIP(hipGraphCreate(&graph, 0));
    HIP(hipGraphAddMemcpyNode1D(&copy_node, graph, NULL, 0, data, in[0], bytes, hipMemcpyDeviceToDevice));
    HIP(hipGraphAddMemsetNode(&memset_node, graph, NULL, 0, &fill));
    change_node = kernel_node(graph, &copy_node, 1, mul_add, ARGUMENTS(&data, &factor, &term, &app.n));
    behind[0] = change_node;
    behind[1] = memset_node;
    kernel_node(graph, behind, 2, add, ARGUMENTS(&out, &data, &base, &app.n));
    hipGraphExec_t exec = instantiate(graph);
    input_words(got, 0);
    HIP(hipMemcpy(in[0], got, bytes, hipMemcpyHostToDevice));
    input_words(got, 1);
    HIP(hipMemcpy(in[1], got, bytes, hipMemcpyHostToDevice));

    for (uint32_t round = 0; round < app.rounds; round++) {
        uint32_t from = round & 1, half = app.n / 2, elements = round % 3 ? app.n : half;
        bool off = round % 4 == 3;
        factor = 2 * round + 3;
        term = round;
        fill.value = 100 + round;
        HIP(hipGraphExecMemcpyNodeSetParams1D(exec, copy_node, data, in[from], bytes,
                                              hipMemcpyDeviceToDevice));
        HIP(hipGraphExecMemsetNodeSetParams(exec, memset_node, &fill));
        change.func = round == 2 ? scale : mul_add;
        change.kernelParams = round == 2 ? ARGUMENTS(&data, &factor, &elements)
                                         : ARGUMENTS(&data, &factor, &term, &elements);
        change.gridDim.x = BLOCKS(elements);
        /* In this order: parameters set while a node is off keep HIP 7.2.4 from switching it on with the next
         * call. */
        HIP(hipGraphNodeSetEnabled(exec, change_node, !off));
        HIP(hipGraphExecKernelNodeSetParams(exec, change_node, &change));
        HIP(hipGraphLaunch(exec, stream));
        HIP(hipStreamSynchronize(stream));
        download(got, out);
        for (uint32_t i = 0; i < app.n; i++) {
            want[i] = input_word(from, i);
            if (!off && i < elements)
                want[i] = want[i] * factor + (round == 2 ? 0 : term);
            want[i] += 100 + round;
        }
        EXPECT_WORDS(round, got, want);
    }
    HIP(hipGraphExecDestroy(exec));
    HIP(hipGraphDestroy(graph));
    return app_pass();
}
