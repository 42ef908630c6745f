/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What generated shims and other handlers say about execs; see records.h for graphs, nodes and streams.
 *
 * `made` is the out parameter itself, since a failing call leaves garbage behind it. NULL and handles without a
 * record are normal. Threads: any.
 */
#ifndef REDLINE_EXEC_H
#define REDLINE_EXEC_H

#include "hip_api.h"

void rl_record_exec(hipError_t status, const void *caller, hipGraphExec_t *made, hipGraph_t source);
void rl_invalidate_exec(hipError_t status, hipGraphExec_t exec);
void rl_execs_mark(uint32_t marks); /* all of them */
void rl_execs_read(
    hipGraph_t graph); /* before it is gone: those made from it that could not be examined yet */

#endif
