/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a test tells the stand-in for libamdhip64, and asks it. The stand-in exports every function that the
 * real library of a release exports, in the same version nodes and, where the release has them, through the same
 * dispatch tables; those that the policy knows record their calls and follow a model, which keeps graphs, execs and captures the way HIP answers about them. Addresses
 * of destroyed objects are handed out again first, across kinds. The control functions are in a node of their
 * own; programs link to them directly.
 */
#ifndef STANDIN_H
#define STANDIN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "hip_api.h"

enum { STANDIN_ARGUMENTS = 8 };

/* Calls first .. first + count - 1 from now on return `status`; with `half` only after the model did the
 * work. */
void standin_fail(const char *name, unsigned first, unsigned count, int status, bool half);

/* `function` has the signature of `name` and is called in its place; NULL: no more. */
void standin_replace(const char *name, void *function);

/* Called within the function, before its work, with no lock held. NULL: no more. */
void standin_within(const char *name, void (*callback)(void));

/* The stand-in itself calls exported functions, as the caller of `name` could: all graph and exec calls in
 * turn, on a graph of its own making that it destroys again. Through its own exports, as a library without
 * -Bsymbolic does. */
void standin_calls_itself(const char *name);

void standin_reset(void); /* undoes the three above and zeroes counts; objects stay */

unsigned standin_calls(const char *name); /* since the last reset */
unsigned standin_all_calls(void);
const uintptr_t *standin_arguments(const char *name); /* of its last call on this thread */

/* While a capture with global mode is open, calls from threads with another mode fail, as HIP's unsafe calls
 * do. */
void standin_strict_capture(bool on);
unsigned standin_strict_failures(void);
hipStreamCaptureMode standin_thread_mode(void);

size_t standin_objects(void);             /* alive */
void *standin_function(const char *name); /* what does the work: a way in that nobody sees */
void *standin_export(const char *name);   /* the stand-in's own exported function, past all preloads */

/* What applications do with functions outside the policy. */
hipStream_t standin_stream(void);
hipGraphNode_t standin_capture_node(hipStream_t stream, hipGraphNodeType type); /* work put into a capture */
/* `to` joins the capture of `from` */
void standin_fork(hipStream_t from, hipStream_t to);

/* Changes that no exported function of the policy makes. */
hipGraphNode_t standin_secret_node(hipGraph_t graph);
void standin_secret_edge(hipGraph_t graph, hipGraphNode_t from, hipGraphNode_t to);
void standin_secret_exec_destroy(hipGraphExec_t exec);

#endif
