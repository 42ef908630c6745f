/*
 * What the shims with a handler do. They forward: no records are kept yet, so there is nothing to look up, to erase before
 * the native call or to answer differently.
 */
#include "handlers.h"

hipError_t rl_graph_destroy(hipError_t (*native)(hipGraph_t), hipGraph_t graph)
{
    return native(graph);
}

hipError_t rl_graph_destroy_node(hipError_t (*native)(hipGraphNode_t), hipGraphNode_t node)
{
    return native(node);
}

hipError_t rl_graph_clone(hipError_t (*native)(hipGraph_t *, hipGraph_t), hipGraph_t *pGraphClone,
        hipGraph_t originalGraph)
{
    return native(pGraphClone, originalGraph);
}

hipError_t rl_graph_add_node(hipError_t (*native)(hipGraphNode_t *, hipGraph_t, const hipGraphNode_t *,
        size_t, hipGraphNodeParams *), hipGraphNode_t *pGraphNode, hipGraph_t graph,
        const hipGraphNode_t *pDependencies, size_t numDependencies, hipGraphNodeParams *nodeParams)
{
    return native(pGraphNode, graph, pDependencies, numDependencies, nodeParams);
}

hipError_t rl_graph_add_child_graph_node(hipError_t (*native)(hipGraphNode_t *, hipGraph_t,
        const hipGraphNode_t *, size_t, hipGraph_t), hipGraphNode_t *pGraphNode, hipGraph_t graph,
        const hipGraphNode_t *pDependencies, size_t numDependencies, hipGraph_t childGraph)
{
    return native(pGraphNode, graph, pDependencies, numDependencies, childGraph);
}

hipError_t rl_graph_child_graph_node_get_graph(hipError_t (*native)(hipGraphNode_t, hipGraph_t *),
        hipGraphNode_t node, hipGraph_t *pGraph)
{
    return native(node, pGraph);
}

hipError_t rl_graph_instantiate(hipError_t (*native)(hipGraphExec_t *, hipGraph_t, hipGraphNode_t *, char *,
        size_t), hipGraphExec_t *pGraphExec, hipGraph_t graph, hipGraphNode_t *pErrorNode, char *pLogBuffer,
        size_t bufferSize)
{
    return native(pGraphExec, graph, pErrorNode, pLogBuffer, bufferSize);
}

hipError_t rl_graph_instantiate_with_flags(hipError_t (*native)(hipGraphExec_t *, hipGraph_t,
        unsigned long long), hipGraphExec_t *pGraphExec, hipGraph_t graph, unsigned long long flags)
{
    return native(pGraphExec, graph, flags);
}

hipError_t rl_graph_instantiate_with_params(hipError_t (*native)(hipGraphExec_t *, hipGraph_t,
        hipGraphInstantiateParams *), hipGraphExec_t *pGraphExec, hipGraph_t graph,
        hipGraphInstantiateParams *instantiateParams)
{
    return native(pGraphExec, graph, instantiateParams);
}

hipError_t rl_graph_launch(hipError_t (*native)(hipGraphExec_t, hipStream_t), hipGraphExec_t graphExec,
        hipStream_t stream)
{
    return native(graphExec, stream);
}

hipError_t rl_graph_launch_spt(hipError_t (*native)(hipGraphExec_t, hipStream_t), hipGraphExec_t graphExec,
        hipStream_t stream)
{
    return native(graphExec, stream);
}

hipError_t rl_graph_exec_destroy(hipError_t (*native)(hipGraphExec_t), hipGraphExec_t graphExec)
{
    return native(graphExec);
}

hipError_t rl_graph_exec_update(hipError_t (*native)(hipGraphExec_t, hipGraph_t, hipGraphNode_t *,
        hipGraphExecUpdateResult *), hipGraphExec_t hGraphExec, hipGraph_t hGraph,
        hipGraphNode_t *hErrorNode_out, hipGraphExecUpdateResult *updateResult_out)
{
    return native(hGraphExec, hGraph, hErrorNode_out, updateResult_out);
}

hipError_t rl_stream_begin_capture(hipError_t (*native)(hipStream_t, hipStreamCaptureMode),
        hipStream_t stream, hipStreamCaptureMode mode)
{
    return native(stream, mode);
}

hipError_t rl_stream_begin_capture_spt(hipError_t (*native)(hipStream_t, hipStreamCaptureMode),
        hipStream_t stream, hipStreamCaptureMode mode)
{
    return native(stream, mode);
}

hipError_t rl_stream_begin_capture_to_graph(hipError_t (*native)(hipStream_t, hipGraph_t,
        const hipGraphNode_t *, const hipGraphEdgeData *, size_t, hipStreamCaptureMode), hipStream_t stream,
        hipGraph_t graph, const hipGraphNode_t *dependencies, const hipGraphEdgeData *dependencyData,
        size_t numDependencies, hipStreamCaptureMode mode)
{
    return native(stream, graph, dependencies, dependencyData, numDependencies, mode);
}

hipError_t rl_stream_end_capture(hipError_t (*native)(hipStream_t, hipGraph_t *), hipStream_t stream,
        hipGraph_t *pGraph)
{
    return native(stream, pGraph);
}

hipError_t rl_stream_end_capture_spt(hipError_t (*native)(hipStream_t, hipGraph_t *), hipStream_t stream,
        hipGraph_t *pGraph)
{
    return native(stream, pGraph);
}

hipError_t rl_stream_get_capture_info_v2(hipError_t (*native)(hipStream_t, hipStreamCaptureStatus *,
        unsigned long long *, hipGraph_t *, const hipGraphNode_t **, size_t *), hipStream_t stream,
        hipStreamCaptureStatus *captureStatus_out, unsigned long long *id_out, hipGraph_t *graph_out,
        const hipGraphNode_t **dependencies_out, size_t *numDependencies_out)
{
    return native(stream, captureStatus_out, id_out, graph_out, dependencies_out, numDependencies_out);
}

hipError_t rl_stream_get_capture_info_v2_spt(hipError_t (*native)(hipStream_t, hipStreamCaptureStatus *,
        unsigned long long *, hipGraph_t *, const hipGraphNode_t **, size_t *), hipStream_t stream,
        hipStreamCaptureStatus *captureStatus_out, unsigned long long *id_out, hipGraph_t *graph_out,
        const hipGraphNode_t **dependencies_out, size_t *numDependencies_out)
{
    return native(stream, captureStatus_out, id_out, graph_out, dependencies_out, numDependencies_out);
}

hipError_t rl_stream_update_capture_dependencies(hipError_t (*native)(hipStream_t, hipGraphNode_t *, size_t,
        unsigned int), hipStream_t stream, hipGraphNode_t *dependencies, size_t numDependencies,
        unsigned int flags)
{
    return native(stream, dependencies, numDependencies, flags);
}

hipError_t rl_graph_retain_user_object(hipError_t (*native)(hipGraph_t, hipUserObject_t, unsigned int,
        unsigned int), hipGraph_t graph, hipUserObject_t object, unsigned int count, unsigned int flags)
{
    return native(graph, object, count, flags);
}

hipError_t rl_get_proc_address(hipError_t (*native)(const char *, void **, int, uint64_t,
        hipDriverProcAddressQueryResult *), const char *symbol, void **pfn, int hipVersion, uint64_t flags,
        hipDriverProcAddressQueryResult *symbolStatus)
{
    return native(symbol, pfn, hipVersion, flags, symbolStatus);
}

hipError_t rl_get_driver_entry_point(hipError_t (*native)(const char *, void **, unsigned long long,
        hipDriverEntryPointQueryResult *), const char *symbol, void **funcPtr, unsigned long long flags,
        hipDriverEntryPointQueryResult *driverStatus)
{
    return native(symbol, funcPtr, flags, driverStatus);
}

hipError_t rl_get_driver_entry_point_spt(hipError_t (*native)(const char *, void **, unsigned long long,
        hipDriverEntryPointQueryResult *), const char *symbol, void **funcPtr, unsigned long long flags,
        hipDriverEntryPointQueryResult *status)
{
    return native(symbol, funcPtr, flags, status);
}

hipError_t rl_device_reset(hipError_t (*native)(void))
{
    return native();
}

hipError_t rl_stream_destroy(hipError_t (*native)(hipStream_t), hipStream_t stream)
{
    return native(stream);
}

hipError_t rl_module_unload(hipError_t (*native)(hipModule_t), hipModule_t module)
{
    return native(module);
}

hipError_t rl_library_unload(hipError_t (*native)(hipLibrary_t), hipLibrary_t library)
{
    return native(library);
}

void rl_unregister_fat_binary(void (*native)(void **), void **modules)
{
    native(modules);
}

void rl_hsa_signal_store_screlease(void (*native)(hsa_signal_t, hsa_signal_value_t), hsa_signal_t signal,
        hsa_signal_value_t value)
{
    native(signal, value);
}

hsa_signal_value_t rl_hsa_signal_wait_scacquire(hsa_signal_value_t (*native)(hsa_signal_t,
        hsa_signal_condition_t, hsa_signal_value_t, uint64_t, hsa_wait_state_t), hsa_signal_t signal,
        hsa_signal_condition_t condition, hsa_signal_value_t compare_value, uint64_t timeout_hint,
        hsa_wait_state_t wait_state_hint)
{
    return native(signal, condition, compare_value, timeout_hint, wait_state_hint);
}

uint64_t rl_hsa_queue_add_write_index_screlease(uint64_t (*native)(const hsa_queue_t *, uint64_t),
        const hsa_queue_t *queue, uint64_t value)
{
    return native(queue, value);
}

hsa_status_t rl_hsa_amd_signal_async_handler(hsa_status_t (*native)(hsa_signal_t, hsa_signal_condition_t,
        hsa_signal_value_t, hsa_amd_signal_handler, void *), hsa_signal_t signal, hsa_signal_condition_t cond,
        hsa_signal_value_t value, hsa_amd_signal_handler handler, void *arg)
{
    return native(signal, cond, value, handler, arg);
}

hsa_status_t rl_hsa_amd_memory_async_copy(hsa_status_t (*native)(void *, hsa_agent_t, const void *,
        hsa_agent_t, size_t, uint32_t, const hsa_signal_t *, hsa_signal_t), void *dst, hsa_agent_t dst_agent,
        const void *src, hsa_agent_t src_agent, size_t size, uint32_t num_dep_signals,
        const hsa_signal_t *dep_signals, hsa_signal_t completion_signal)
{
    return native(dst, dst_agent, src, src_agent, size, num_dep_signals, dep_signals, completion_signal);
}

hsa_status_t rl_hsa_amd_memory_async_copy_on_engine(hsa_status_t (*native)(void *, hsa_agent_t, const void *,
        hsa_agent_t, size_t, uint32_t, const hsa_signal_t *, hsa_signal_t, hsa_amd_sdma_engine_id_t, bool),
        void *dst, hsa_agent_t dst_agent, const void *src, hsa_agent_t src_agent, size_t size,
        uint32_t num_dep_signals, const hsa_signal_t *dep_signals, hsa_signal_t completion_signal,
        hsa_amd_sdma_engine_id_t engine_id, bool force_copy_on_sdma)
{
    return native(dst, dst_agent, src, src_agent, size, num_dep_signals, dep_signals, completion_signal,
            engine_id, force_copy_on_sdma);
}

hsa_status_t rl_hsa_amd_memory_async_copy_rect(hsa_status_t (*native)(const hsa_pitched_ptr_t *,
        const hsa_dim3_t *, const hsa_pitched_ptr_t *, const hsa_dim3_t *, const hsa_dim3_t *, hsa_agent_t,
        hsa_amd_copy_direction_t, uint32_t, const hsa_signal_t *, hsa_signal_t), const hsa_pitched_ptr_t *dst,
        const hsa_dim3_t *dst_offset, const hsa_pitched_ptr_t *src, const hsa_dim3_t *src_offset,
        const hsa_dim3_t *range, hsa_agent_t copy_agent, hsa_amd_copy_direction_t dir,
        uint32_t num_dep_signals, const hsa_signal_t *dep_signals, hsa_signal_t completion_signal)
{
    return native(dst, dst_offset, src, src_offset, range, copy_agent, dir, num_dep_signals, dep_signals,
            completion_signal);
}
