/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Parameters of one node of an exec, set after it was made. HIP tells them to nobody afterwards, so the
 * description of the exec's graph follows each call that succeeds; a call on a node that is not found there
 * leaves no description, and the exec is native.
 *
 * All of them mark the exec as changed. Its next launch makes a new plan from what the last one showed when
 * nothing but arguments changed, to values that are known; otherwise it is HIP's and is observed.
 */
#include "handlers.h"

#include "base/memory.h"
#include "handlers/exec.h"
#include "kernels/arguments.h"
#include "native/native.h"
#include "native/process.h"
#include "native/quiet.h"
#include "records/records.h"

typedef void change(struct rl_topology_node *node, const void *parameters);

static struct rl_topology_node *find(struct rl_topology *topology, hipGraphNode_t handle)
{
    struct rl_topology_node *found = NULL;

    for (size_t i = 0; topology && i < topology->node_count && !found; i++) {
        struct rl_topology_node *node = &topology->nodes[i];

        if (node->handle == handle)
            found = node;
        else if (node->type == hipGraphNodeTypeGraph)
            found = find(node->child, handle);
    }
    return found;
}

/* What a launch reads is changed only between launches. In the middle of one, from a callback that HIP
 * runs in it, the description cannot follow: the exec is native until it is updated. */
static void change_node(struct rl_exec *exec, hipGraphNode_t handle, change *apply, const void *parameters)
{
    struct rl_topology_node *node;

    if (atomic_exchange_explicit(&exec->busy, true, memory_order_acquire)) {
        rl_invalidate_exec(hipErrorUnknown, (hipGraphExec_t)exec->base.native);
        return;
    }
    node = find(exec->topology, handle);
    if (node) {
        apply(node, parameters);
    } else {
        rl_topology_free(exec->topology);
        exec->topology = NULL;
    }
    atomic_store_explicit(&exec->busy, false, memory_order_release);
}

static hipError_t changed(hipError_t status, const void *caller, hipGraphExec_t handle, hipGraphNode_t node,
                          change *apply, const void *parameters)
{
    struct rl_ref ref;

    rl_invalidate_exec(status, handle);
    if (status != hipSuccess || !rl_active() || rl_called_by_hip(caller))
        return status;
    ref = rl_side_table_find(RL_EXEC, handle);
    if (rl_ref_hold(ref)) {
        change_node((struct rl_exec *)ref.record, node, apply, parameters);
        rl_record_drop(ref.record);
    }
    return status;
}

static void set_arguments(struct rl_topology_node *node, const hipKernelNodeParams *kernel)
{
    struct rl_quiet quiet;

    rl_release(node->kernel.arguments);
    node->kernel.arguments = NULL;
    node->doubtful = true;
    if (kernel->extra || !rl_quiet_begin(&quiet))
        return;
    node->doubtful = !rl_arguments_copy(quiet.hip, kernel->func, kernel->kernelParams,
                                        &node->kernel.arguments, &node->kernel.argument_bytes);
    rl_quiet_end(&quiet);
}

static void set_kernel(struct rl_topology_node *node, const void *parameters)
{
    const hipKernelNodeParams *kernel = parameters;

    if (node->type != hipGraphNodeTypeKernel)
        return;
    set_arguments(node, kernel);
    node->kernel.function = kernel->func;
    node->kernel.grid = kernel->gridDim;
    node->kernel.block = kernel->blockDim;
    node->kernel.shared_bytes = kernel->sharedMemBytes;
}

static void set_fill(struct rl_topology_node *node, const void *parameters)
{
    if (node->type == hipGraphNodeTypeMemset)
        node->fill = *(const hipMemsetParams *)parameters;
}

static void set_copy(struct rl_topology_node *node, const void *parameters)
{
    if (node->type == hipGraphNodeTypeMemcpy)
        node->copy = rl_topology_copy(parameters);
    node->doubtful = !node->copy.bytes;
}

/* What the call says of memory is not compared: any copy may be this node's. */
static void forget_copy(struct rl_topology_node *node, const void *parameters)
{
    (void)parameters;
    if (node->type == hipGraphNodeTypeMemcpy)
        node->copy.bytes = 0;
    node->doubtful = true;
}

/* The driver's block is another one in each release. */
static void forget_fill(struct rl_topology_node *node, const void *parameters)
{
    (void)parameters;
    if (node->type == hipGraphNodeTypeMemset)
        node->fill.elementSize = 0;
}

static void set_enabled(struct rl_topology_node *node, const void *parameters)
{
    node->disabled = !*(const unsigned int *)parameters;
}

/* HIP accepts a child only if it has the same nodes at the same places; what it says of it now is what
 * counts. */
static void set_child(struct rl_topology_node *node, const void *parameters)
{
    struct rl_topology *child = NULL;
    enum rl_reason reason = RL_REASON_NONE;
    char detail[RL_TOPOLOGY_DETAIL];
    struct rl_quiet quiet;

    if (node->type != hipGraphNodeTypeGraph)
        return;
    if (rl_quiet_begin(&quiet)) {
        child = rl_topology_read(quiet.hip, *(const hipGraph_t *)parameters, NULL, &reason, detail);
        rl_quiet_end(&quiet);
    }
    if (child && rl_topology_alike(node->child, child)) {
        rl_topology_free(node->child);
        node->child = child;
        return;
    }
    rl_topology_free(child);
    for (size_t i = 0; i < node->child->node_count; i++)
        node->child->nodes[i].type = hipGraphNodeTypeCount; /* no packet is one of it: native */
}

static void set_any(struct rl_topology_node *node, const void *parameters)
{
    const hipGraphNodeParams *any = parameters;

    switch (any->type) {
    case hipGraphNodeTypeKernel: set_kernel(node, &any->kernel); break;
    case hipGraphNodeTypeMemset: set_fill(node, &any->memset); break;
    case hipGraphNodeTypeMemcpy: set_copy(node, &any->memcpy.copyParams); break;
    case hipGraphNodeTypeGraph: set_child(node, &any->graph.graph); break;
    default: break;
    }
}

hipError_t rl_graph_exec_node_set_params(rl_hipGraphExecNodeSetParams_fn *native, const void *caller,
                                         hipGraphExec_t graphExec, hipGraphNode_t node,
                                         hipGraphNodeParams *nodeParams)
{
    return changed(native(graphExec, node, nodeParams), caller, graphExec, node, set_any, nodeParams);
}

hipError_t rl_graph_exec_kernel_node_set_params(rl_hipGraphExecKernelNodeSetParams_fn *native,
                                                const void *caller, hipGraphExec_t hGraphExec,
                                                hipGraphNode_t node, const hipKernelNodeParams *pNodeParams)
{
    return changed(native(hGraphExec, node, pNodeParams), caller, hGraphExec, node, set_kernel, pNodeParams);
}

hipError_t rl_graph_exec_memset_node_set_params(rl_hipGraphExecMemsetNodeSetParams_fn *native,
                                                const void *caller, hipGraphExec_t hGraphExec,
                                                hipGraphNode_t node, const hipMemsetParams *pNodeParams)
{
    return changed(native(hGraphExec, node, pNodeParams), caller, hGraphExec, node, set_fill, pNodeParams);
}

hipError_t rl_drv_graph_exec_memset_node_set_params(rl_hipDrvGraphExecMemsetNodeSetParams_fn *native,
                                                    const void *caller, hipGraphExec_t hGraphExec,
                                                    hipGraphNode_t hNode, const hipMemsetParams *memsetParams,
                                                    hipCtx_t ctx)
{
    return changed(native(hGraphExec, hNode, memsetParams, ctx), caller, hGraphExec, hNode, forget_fill,
                   NULL);
}

hipError_t rl_graph_exec_child_graph_node_set_params(rl_hipGraphExecChildGraphNodeSetParams_fn *native,
                                                     const void *caller, hipGraphExec_t hGraphExec,
                                                     hipGraphNode_t node, hipGraph_t childGraph)
{
    return changed(native(hGraphExec, node, childGraph), caller, hGraphExec, node, set_child, &childGraph);
}

hipError_t rl_graph_node_set_enabled(rl_hipGraphNodeSetEnabled_fn *native, const void *caller,
                                     hipGraphExec_t hGraphExec, hipGraphNode_t hNode, unsigned int isEnabled)
{
    return changed(native(hGraphExec, hNode, isEnabled), caller, hGraphExec, hNode, set_enabled, &isEnabled);
}

hipError_t rl_graph_exec_memcpy_node_set_params(rl_hipGraphExecMemcpyNodeSetParams_fn *native,
                                                const void *caller, hipGraphExec_t hGraphExec,
                                                hipGraphNode_t node, hipMemcpy3DParms *pNodeParams)
{
    return changed(native(hGraphExec, node, pNodeParams), caller, hGraphExec, node, set_copy, pNodeParams);
}

hipError_t rl_graph_exec_memcpy_node_set_params_1d(rl_hipGraphExecMemcpyNodeSetParams1D_fn *native,
                                                   const void *caller, hipGraphExec_t hGraphExec,
                                                   hipGraphNode_t node, void *dst, const void *src,
                                                   size_t count, hipMemcpyKind kind)
{
    hipMemcpy3DParms copy = { .srcPtr = { .ptr = (void *)src },
                              .dstPtr = { .ptr = dst },
                              .extent = { count, 1, 1 } };

    return changed(native(hGraphExec, node, dst, src, count, kind), caller, hGraphExec, node, set_copy,
                   &copy);
}

hipError_t rl_graph_exec_memcpy_node_set_params_from_symbol(
    rl_hipGraphExecMemcpyNodeSetParamsFromSymbol_fn *native, const void *caller, hipGraphExec_t hGraphExec,
    hipGraphNode_t node, void *dst, const void *symbol, size_t count, size_t offset, hipMemcpyKind kind)
{
    return changed(native(hGraphExec, node, dst, symbol, count, offset, kind), caller, hGraphExec, node,
                   forget_copy, NULL);
}

hipError_t rl_graph_exec_memcpy_node_set_params_to_symbol(
    rl_hipGraphExecMemcpyNodeSetParamsToSymbol_fn *native, const void *caller, hipGraphExec_t hGraphExec,
    hipGraphNode_t node, const void *symbol, const void *src, size_t count, size_t offset, hipMemcpyKind kind)
{
    return changed(native(hGraphExec, node, symbol, src, count, offset, kind), caller, hGraphExec, node,
                   forget_copy, NULL);
}

hipError_t rl_drv_graph_exec_memcpy_node_set_params(rl_hipDrvGraphExecMemcpyNodeSetParams_fn *native,
                                                    const void *caller, hipGraphExec_t hGraphExec,
                                                    hipGraphNode_t hNode, const HIP_MEMCPY3D *copyParams,
                                                    hipCtx_t ctx)
{
    return changed(native(hGraphExec, hNode, copyParams, ctx), caller, hGraphExec, hNode, forget_copy, NULL);
}
