/* SPDX-License-Identifier: Apache-2.0 */
/*
 * HIP calls of our own that the application cannot notice, between a begin and an end on one thread.
 *
 * They may be made after a native call that succeeded, by a shim that the application called. HIP keeps an
 * error for the thread to ask about: with one pending nothing is asked at all, since a failing call of ours
 * would take its place; with none, whatever ours leave is taken away again. The thread's capture mode is
 * relaxed meanwhile, so that nobody's capture is invalidated, and gets its value back.
 */
#ifndef REDLINE_QUIET_H
#define REDLINE_QUIET_H

#include "native_table.h"

struct rl_quiet {
    const struct rl_hip_table *hip; /* HIP's own functions */
    hipStreamCaptureMode mode;
    int saved_errno;
};

/* False: no call may be made, and rl_quiet_end() is not due. */
bool rl_quiet_begin(struct rl_quiet *quiet);
void rl_quiet_end(struct rl_quiet *quiet);

#endif
