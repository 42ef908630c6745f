/* SPDX-License-Identifier: Apache-2.0 */
/* What HIP answers about execs, and when it is asked for functions by name. */
#include "objects.h"

#include <string.h>

static struct object *clone_in(const struct object *exec, const void *source)
{
    for (size_t i = 0; exec && i < exec->node_count; i++)
        if (exec->nodes[i]->source == source && object_known(source, NODE))
            return exec->nodes[i];
    return NULL;
}

hipError_t model_hipGraphExecKernelNodeSetParams(hipGraphExec_t hGraphExec, hipGraphNode_t node,
                                                 const hipKernelNodeParams *pNodeParams)
{
    struct object *clone;

    model_lock();
    clone = clone_in(object_known(hGraphExec, EXEC), node);
    if (!clone || !pNodeParams || clone->type != hipGraphNodeTypeKernel)
        return model_done(hipErrorInvalidValue);
    clone->kernel = *pNodeParams;
    return model_done(hipSuccess);
}

hipError_t model_hipGraphNodeSetEnabled(hipGraphExec_t hGraphExec, hipGraphNode_t hNode,
                                        unsigned int isEnabled)
{
    struct object *clone;

    model_lock();
    clone = clone_in(object_known(hGraphExec, EXEC), hNode);
    if (!clone || clone->type > hipGraphNodeTypeMemset)
        return model_done(hipErrorInvalidValue);
    clone->enabled = isEnabled;
    return model_done(hipSuccess);
}

hipError_t model_hipGraphNodeGetEnabled(hipGraphExec_t hGraphExec, hipGraphNode_t hNode,
                                        unsigned int *isEnabled)
{
    struct object *clone;

    model_lock();
    clone = clone_in(object_known(hGraphExec, EXEC), hNode);
    if (!clone || !isEnabled || clone->type > hipGraphNodeTypeMemset)
        return model_done(hipErrorInvalidValue);
    *isEnabled = clone->enabled;
    return model_done(hipSuccess);
}

hipError_t model_hipGraphInstantiateWithFlags(hipGraphExec_t *pGraphExec, hipGraph_t graph,
                                              unsigned long long flags)
{
    struct object *source;

    model_lock();
    source = object_known(graph, GRAPH);
    if (!pGraphExec || !source || (flags != 0 && flags != 1 && flags != 8)) {
        if (pGraphExec)
            *pGraphExec = (hipGraphExec_t)0x5a5a5a5a5a5a; /* HIP overwrites it with garbage */
        return model_done(hipErrorInvalidValue);
    }
    *pGraphExec = (hipGraphExec_t)graph_copy(source, EXEC);
    return model_done(hipSuccess);
}

hipError_t model_hipGraphInstantiate(hipGraphExec_t *pGraphExec, hipGraph_t graph, hipGraphNode_t *pErrorNode,
                                     char *pLogBuffer, size_t bufferSize)
{
    (void)pErrorNode, (void)pLogBuffer, (void)bufferSize;
    return model_hipGraphInstantiateWithFlags(pGraphExec, graph, 0);
}

hipError_t model_hipGraphInstantiateWithParams(hipGraphExec_t *pGraphExec, hipGraph_t graph,
                                               hipGraphInstantiateParams *instantiateParams)
{
    hipError_t status;

    if (!instantiateParams)
        return hipErrorInvalidValue;
    status = model_hipGraphInstantiateWithFlags(pGraphExec, graph, instantiateParams->flags & ~6ull);
    instantiateParams->result_out = status ? hipGraphInstantiateError : hipGraphInstantiateSuccess;
    instantiateParams->errNode_out = NULL;
    return status;
}

hipError_t model_hipGraphExecDestroy(hipGraphExec_t graphExec)
{
    struct object *exec;

    model_lock();
    exec = object_known(graphExec, EXEC);
    if (!exec)
        return model_done(hipErrorInvalidValue);
    graph_destroy(exec);
    return model_done(hipSuccess);
}

hipError_t model_hipGraphLaunch(hipGraphExec_t graphExec, hipStream_t stream)
{
    bool good;

    model_lock();
    good = object_known(graphExec, EXEC);
    if (!good)
        return model_done(hipErrorInvalidValue);
    good = (uintptr_t)stream < 3 || object_known(stream, STREAM);
    return model_done(good ? hipSuccess : hipErrorContextIsDestroyed);
}

hipError_t model_hipGraphLaunch_spt(hipGraphExec_t graphExec, hipStream_t stream)
{
    return model_hipGraphLaunch(graphExec, stream);
}

/* By position: counts, types, numbers of dependencies; what comes before the first difference is updated. */
hipError_t model_hipGraphExecUpdate(hipGraphExec_t hGraphExec, hipGraph_t hGraph,
                                    hipGraphNode_t *hErrorNode_out,
                                    hipGraphExecUpdateResult *updateResult_out)
{
    struct object *exec, *graph;

    if (!hGraphExec || !hGraph || !hErrorNode_out || !updateResult_out)
        return hipErrorInvalidValue;
    model_lock();
    exec = object_known(hGraphExec, EXEC);
    graph = object_known(hGraph, GRAPH);
    if (!exec || !graph)
        return model_done(hipErrorInvalidValue);
    if (exec->node_count != graph->node_count || exec->edge_count != graph->edge_count) {
        *updateResult_out = hipGraphExecUpdateErrorTopologyChanged;
        *hErrorNode_out = NULL;
        return model_done(hipErrorGraphExecUpdateFailure);
    }
    for (size_t i = 0; i < graph->node_count; i++) {
        if (exec->nodes[i]->type != graph->nodes[i]->type) {
            *updateResult_out = hipGraphExecUpdateErrorNodeTypeChanged;
            *hErrorNode_out = (hipGraphNode_t)graph->nodes[i];
            return model_done(hipErrorGraphExecUpdateFailure);
        }
        exec->nodes[i]->kernel = graph->nodes[i]->kernel;
        exec->nodes[i]->fill = graph->nodes[i]->fill;
    }
    *updateResult_out = hipGraphExecUpdateSuccess;
    return model_done(hipSuccess);
}

static void *function_named(const char *name)
{
    for (int i = 0; i < standin_name_count; i++)
        if (!strcmp(standin_names[i], name))
            return (void *)(uintptr_t)standin_exports[i];
    return NULL;
}

hipError_t model_hipGetProcAddress(const char *symbol, void **pfn, int hipVersion, uint64_t flags,
                                   hipDriverProcAddressQueryResult *symbolStatus)
{
    char per_thread[128];

    (void)hipVersion;
    if (!symbol || !pfn)
        return hipErrorInvalidValue;
    *pfn = NULL;
    if (flags == hipEnablePerThreadDefaultStream && strlen(symbol) < sizeof(per_thread) - 4) {
        strcpy(per_thread, symbol);
        *pfn = function_named(strcat(per_thread, "_spt"));
    }
    if (!*pfn)
        *pfn = function_named(symbol);
    if (symbolStatus)
        *symbolStatus = *pfn ? HIP_GET_PROC_ADDRESS_SUCCESS : HIP_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND;
    return *pfn ? hipSuccess : hipErrorNotFound;
}

hipError_t model_hipGetDriverEntryPoint(const char *symbol, void **funcPtr, unsigned long long flags,
                                        hipDriverEntryPointQueryResult *driverStatus)
{
    hipError_t status = model_hipGetProcAddress(symbol, funcPtr, 0, flags, NULL);

    if (driverStatus)
        *driverStatus = status ? hipDriverEntryPointSymbolNotFound : hipDriverEntryPointSuccess;
    return status;
}

EXPORT void standin_secret_exec_destroy(hipGraphExec_t exec)
{
    model_hipGraphExecDestroy(exec);
}
