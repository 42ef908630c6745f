/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Parameters of one node of an exec, set after it was made. HIP tells them to nobody afterwards, so the
 * description of the exec's graph follows each call that succeeds; a call on a node that is not found there
 * leaves no description, and the exec is native.
 *
 * All of them mark the exec as changed. Its next launch makes a new plan from what the last one showed when
 * nothing but arguments changed, to values that are known; otherwise it is HIP's and is observed.
 *
 * A call that fails leaves the exec as it was where HIP cannot have touched it: it looks for the node first, and at
 * whether there are parameters at all. With a node that it found it may have done half of the work.
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

struct call {
    hipError_t status;
    const void *caller;
    hipGraphExec_t exec;
    hipGraphNode_t node;
    bool given; /* parameters; NULL is what HIP looks for first */
};

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

static bool at_the_top(const struct rl_topology *topology, const struct rl_topology_node *node)
{
    return node >= topology->nodes && node < topology->nodes + topology->node_count;
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
        if (node->type == hipGraphNodeTypeGraph || !at_the_top(exec->topology, node))
            exec->topology->children_doubtful = true;
    } else {
        rl_topology_free(exec->topology);
        exec->topology = NULL;
    }
    atomic_store_explicit(&exec->busy, false, memory_order_release);
}

/* HIP has found what it needs to change something. */
static bool could_change(struct rl_exec *exec, hipGraphNode_t handle)
{
    bool could = true;

    if (atomic_exchange_explicit(&exec->busy, true, memory_order_acquire))
        return true;
    could = !exec->topology || find(exec->topology, handle);
    atomic_store_explicit(&exec->busy, false, memory_order_release);
    return could;
}

static void failed(const struct call *call)
{
    struct rl_ref ref = rl_side_table_find(RL_EXEC, call->exec);
    bool could = true;

    if (!rl_ref_hold(ref))
        return;
    if (call->status == hipErrorInvalidValue)
        could = call->given && could_change((struct rl_exec *)ref.record, call->node);
    rl_record_drop(ref.record);
    if (could)
        rl_invalidate_exec(call->status, call->exec);
}

static hipError_t changed(struct call call, change *apply, const void *parameters)
{
    struct rl_ref ref;

    if (!rl_active())
        return call.status;
    if (call.status != hipSuccess) {
        failed(&call);
        return call.status;
    }
    rl_invalidate_exec(call.status, call.exec);
    if (rl_called_by_hip(call.caller))
        return call.status;
    ref = rl_side_table_find(RL_EXEC, call.exec);
    rl_ref_mark(ref, RL_NODE_SET);
    if (rl_ref_hold(ref)) {
        change_node((struct rl_exec *)ref.record, call.node, apply, parameters);
        rl_record_drop(ref.record);
    }
    return call.status;
}

/* Only a function that no module is known of has to be asked for. */
static struct rl_function function_of(void *handle)
{
    struct rl_function is = rl_function_find(NULL, handle);
    struct rl_quiet quiet;

    if (!is.name && rl_quiet_begin(&quiet)) {
        is = rl_function_find(quiet.hip, handle);
        rl_quiet_end(&quiet);
    }
    return is;
}

static void set_kernel(struct rl_topology_node *node, const void *parameters)
{
    const hipKernelNodeParams *kernel = parameters;

    if (node->type != hipGraphNodeTypeKernel)
        return;
    rl_release(node->kernel.arguments);
    node->kernel.arguments = NULL;
    node->kernel.argument_bytes = 0;
    node->kernel.function = kernel->func;
    node->kernel.is = function_of(kernel->func);
    node->kernel.known = !kernel->extra &&
                         rl_arguments_copy(node->kernel.is, kernel->kernelParams, &node->kernel.arguments,
                                           &node->kernel.argument_bytes);
    node->doubtful = !node->kernel.known;
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
        child = rl_topology_read(quiet.hip, *(const hipGraph_t *)parameters, NULL,
                                 rl_graph_doubts(*(const hipGraph_t *)parameters) & (RL_FAILED | RL_REFUSED),
                                 &reason, detail);
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
    struct call call = { native(graphExec, node, nodeParams), caller, graphExec, node, nodeParams };

    return changed(call, set_any, nodeParams);
}

hipError_t rl_graph_exec_kernel_node_set_params(rl_hipGraphExecKernelNodeSetParams_fn *native,
                                                const void *caller, hipGraphExec_t hGraphExec,
                                                hipGraphNode_t node, const hipKernelNodeParams *pNodeParams)
{
    struct call call = { native(hGraphExec, node, pNodeParams), caller, hGraphExec, node,
                         pNodeParams && pNodeParams->func };

    return changed(call, set_kernel, pNodeParams);
}

hipError_t rl_graph_exec_memset_node_set_params(rl_hipGraphExecMemsetNodeSetParams_fn *native,
                                                const void *caller, hipGraphExec_t hGraphExec,
                                                hipGraphNode_t node, const hipMemsetParams *pNodeParams)
{
    struct call call = { native(hGraphExec, node, pNodeParams), caller, hGraphExec, node, pNodeParams };

    return changed(call, set_fill, pNodeParams);
}

hipError_t rl_drv_graph_exec_memset_node_set_params(rl_hipDrvGraphExecMemsetNodeSetParams_fn *native,
                                                    const void *caller, hipGraphExec_t hGraphExec,
                                                    hipGraphNode_t hNode, const hipMemsetParams *memsetParams,
                                                    hipCtx_t ctx)
{
    struct call call = { native(hGraphExec, hNode, memsetParams, ctx), caller, hGraphExec, hNode,
                         memsetParams };

    return changed(call, forget_fill, NULL);
}

hipError_t rl_graph_exec_child_graph_node_set_params(rl_hipGraphExecChildGraphNodeSetParams_fn *native,
                                                     const void *caller, hipGraphExec_t hGraphExec,
                                                     hipGraphNode_t node, hipGraph_t childGraph)
{
    struct call call = { native(hGraphExec, node, childGraph), caller, hGraphExec, node, childGraph };

    return changed(call, set_child, &childGraph);
}

hipError_t rl_graph_node_set_enabled(rl_hipGraphNodeSetEnabled_fn *native, const void *caller,
                                     hipGraphExec_t hGraphExec, hipGraphNode_t hNode, unsigned int isEnabled)
{
    struct call call = { native(hGraphExec, hNode, isEnabled), caller, hGraphExec, hNode, true };

    return changed(call, set_enabled, &isEnabled);
}

hipError_t rl_graph_exec_memcpy_node_set_params(rl_hipGraphExecMemcpyNodeSetParams_fn *native,
                                                const void *caller, hipGraphExec_t hGraphExec,
                                                hipGraphNode_t node, hipMemcpy3DParms *pNodeParams)
{
    struct call call = { native(hGraphExec, node, pNodeParams), caller, hGraphExec, node, pNodeParams };

    return changed(call, set_copy, pNodeParams);
}

hipError_t rl_graph_exec_memcpy_node_set_params_1d(rl_hipGraphExecMemcpyNodeSetParams1D_fn *native,
                                                   const void *caller, hipGraphExec_t hGraphExec,
                                                   hipGraphNode_t node, void *dst, const void *src,
                                                   size_t count, hipMemcpyKind kind)
{
    hipMemcpy3DParms copy = { .srcPtr = { .ptr = (void *)src },
                              .dstPtr = { .ptr = dst },
                              .extent = { count, 1, 1 } };
    struct call call = { native(hGraphExec, node, dst, src, count, kind), caller, hGraphExec, node, true };

    return changed(call, set_copy, &copy);
}

hipError_t rl_graph_exec_memcpy_node_set_params_from_symbol(
    rl_hipGraphExecMemcpyNodeSetParamsFromSymbol_fn *native, const void *caller, hipGraphExec_t hGraphExec,
    hipGraphNode_t node, void *dst, const void *symbol, size_t count, size_t offset, hipMemcpyKind kind)
{
    struct call call = { native(hGraphExec, node, dst, symbol, count, offset, kind), caller, hGraphExec, node,
                         true };

    return changed(call, forget_copy, NULL);
}

hipError_t rl_graph_exec_memcpy_node_set_params_to_symbol(
    rl_hipGraphExecMemcpyNodeSetParamsToSymbol_fn *native, const void *caller, hipGraphExec_t hGraphExec,
    hipGraphNode_t node, const void *symbol, const void *src, size_t count, size_t offset, hipMemcpyKind kind)
{
    struct call call = { native(hGraphExec, node, symbol, src, count, offset, kind), caller, hGraphExec, node,
                         true };

    return changed(call, forget_copy, NULL);
}

hipError_t rl_drv_graph_exec_memcpy_node_set_params(rl_hipDrvGraphExecMemcpyNodeSetParams_fn *native,
                                                    const void *caller, hipGraphExec_t hGraphExec,
                                                    hipGraphNode_t hNode, const HIP_MEMCPY3D *copyParams,
                                                    hipCtx_t ctx)
{
    struct call call = { native(hGraphExec, hNode, copyParams, ctx), caller, hGraphExec, hNode, copyParams };

    return changed(call, forget_copy, NULL);
}
