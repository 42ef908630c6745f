/* SPDX-License-Identifier: Apache-2.0 */
/*
 * When this library leaves launches to HIP whatever the graph: settings in the environment, profilers and debuggers, a
 * GPU behind another system's driver, functions that this HIP does not have, targets that the user does not allow.
 *
 * What stays as it is, is decided once. Whether the process is traced is looked at before each launch that could be
 * observed, and whether a tool is at work before each launch. Threads: any.
 */
#ifndef REDLINE_GATE_H
#define REDLINE_GATE_H

#include "native_table.h"
#include "report/reasons.h"

/* RL_REASON_NONE: launches may be replayed. *detail: what it was, "" for nothing. *passing: it may be over soon. */
enum rl_reason rl_gate(const struct rl_hip_table *hip, const char **detail, bool *passing);

/* Whether REDLINE_TARGETS allows this target. */
bool rl_gate_target(const char *gfx);

/* HIP builds in which event records never send what HIP has batched: now and then a launch must be HIP's own.
 */
bool rl_gate_must_flush(const struct rl_hip_table *hip);

#endif
