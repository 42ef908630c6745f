/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Profilers and tracers, told by what they have done in this process: registered with rocprofiler-register, put functions
 * of theirs into a dispatch table of HIP or ROCr, or given HIP a callback for each of its operations. A library of theirs
 * that is merely loaded has done none of that.
 *
 * Threads: any. Ordering: none; a tool that begins while a graph is launched may miss that launch.
 */
#ifndef REDLINE_TOOLS_H
#define REDLINE_TOOLS_H

#include <stdbool.h>

#include "native/object.h"

void rl_tools_registered(void);
bool rl_tools_have_registered(void);

/* Where the traces of tools are looked for from now on. */
void rl_tools_watch_hip(const struct rl_object *hip);
void rl_tools_watch_hsa(const struct rl_object *hsa);

/* What a tool has done, as words for the report; NULL: nothing. A few loads. Within a launch. */
const char *rl_tool(void);

/* False: code of this HIP or ROCr is not understood, so that a tool could go unnoticed. */
bool rl_tools_are_seen(void);

#endif
