/*
 * What generated shims say about objects, after the native call and with its result.
 *
 * `rl_record_*` are given the out parameter itself, since a failing call leaves garbage behind it: the status is looked at
 * first. `rl_invalidate_*` mark an object stale, or unknown when `status` is a failure. NULL and handles without a record
 * are normal. Any thread may call them; none of them calls HIP.
 */
#ifndef REDLINE_RECORDS_H
#define REDLINE_RECORDS_H

#include "hip_api.h"

void rl_record_graph(hipError_t status, hipGraph_t *made);
void rl_record_node(hipError_t status, hipGraphNode_t *made, hipGraph_t owner);
void rl_record_exec(hipError_t status, hipGraphExec_t *made, hipGraph_t source);

void rl_invalidate_graph(hipError_t status, hipGraph_t graph);
void rl_invalidate_node(hipError_t status, hipGraphNode_t node);
void rl_invalidate_exec(hipError_t status, hipGraphExec_t exec);
void rl_invalidate_stream(hipError_t status, hipStream_t stream);

#endif
