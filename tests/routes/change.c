/* SPDX-License-Identifier: Apache-2.0 */
/* A plugin that changes the parameters of a kernel in somebody's exec. */
#include <hip/hip_runtime_api.h>

hipError_t change(hipGraphExec_t exec, hipGraphNode_t node, const hipKernelNodeParams *params);
hipError_t change(hipGraphExec_t exec, hipGraphNode_t node, const hipKernelNodeParams *params)
{
    return hipGraphExecKernelNodeSetParams(exec, node, params);
}
