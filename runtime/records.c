/* No records are kept yet: every launch is native, whatever happened to the objects. */
#include "records.h"

void rl_record_graph(hipError_t status, hipGraph_t *made)
{
    (void)status, (void)made;
}

void rl_record_node(hipError_t status, hipGraphNode_t *made, hipGraph_t owner)
{
    (void)status, (void)made, (void)owner;
}

void rl_record_exec(hipError_t status, hipGraphExec_t *made, hipGraph_t source)
{
    (void)status, (void)made, (void)source;
}

void rl_invalidate_graph(hipError_t status, hipGraph_t graph)
{
    (void)status, (void)graph;
}

void rl_invalidate_node(hipError_t status, hipGraphNode_t node)
{
    (void)status, (void)node;
}

void rl_invalidate_exec(hipError_t status, hipGraphExec_t exec)
{
    (void)status, (void)exec;
}

void rl_invalidate_stream(hipError_t status, hipStream_t stream)
{
    (void)status, (void)stream;
}
