/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What an application does with graphs, printed line by line. A program, or with -DAS_MODULE a shared object
 * whose run() the hosts call. Each line ends with how often HIP itself was reached, so a call that is lost or
 * made twice shows.
 */
#include <stdio.h>

#include "exported.h"
#include "standin.h"

#define SAY(name, call) printf("%s %d %u\n", name, (int)(call), standin_calls(#name))
#define CALL(name, ...)                                                                                      \
    do {                                                                                                     \
        int said = (int)name(__VA_ARGS__);                                                                   \
        printf(#name " %d %u\n", said, standin_calls(#name));                                                \
    } while (0)

__attribute__((visibility("default"))) int run(void);

int run(void)
{
    hipKernelNodeParams params = { .func = (void *)3, .gridDim = { 1, 1, 1 }, .blockDim = { 64, 1, 1 } };
    hipGraphExecUpdateResult result = 7;
    hipStream_t stream = standin_stream();
    hipGraphNode_t nodes[2], error = NULL;
    hipGraph_t graph, captured;
    hipGraphExec_t exec;
    size_t objects = standin_objects();

    CALL(hipGraphCreate, &graph, 0);
    CALL(hipGraphAddKernelNode, &nodes[0], graph, NULL, 0, &params);
    CALL(hipGraphAddKernelNode, &nodes[1], graph, nodes, 1, &params);
    CALL(hipGraphInstantiate, &exec, graph, NULL, NULL, 0);
    CALL(hipGraphExecKernelNodeSetParams, exec, nodes[0], &params);
    CALL(hipGraphExecUpdate, exec, graph, &error, &result);
    CALL(hipGraphLaunch, exec, stream);
    CALL(hipGraphExecDestroy, exec);
    CALL(hipGraphDestroy, graph);
    CALL(hipStreamBeginCapture, stream, hipStreamCaptureModeGlobal);
    standin_capture_node(stream, hipGraphNodeTypeKernel);
    CALL(hipStreamEndCapture, stream, &captured);
    CALL(hipGraphInstantiate, &exec, captured, NULL, NULL, 0);
    CALL(hipGraphDestroy, captured);
    CALL(hipGraphLaunch, exec, NULL);
    CALL(hipGraphExecDestroy, exec);
    CALL(hipGraphExecDestroy, exec);
    CALL(hipStreamDestroy, stream);
    CALL(hipStreamDestroy, stream);
    printf("result %d objects %d\n", (int)result, (int)(standin_objects() - objects));
    fflush(stdout);
    return 0;
}

#ifndef AS_MODULE
int main(void)
{
    return run();
}
#endif
