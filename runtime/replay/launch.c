/* SPDX-License-Identifier: Apache-2.0 */
/* See launch.h. */
#include "replay/launch.h"

#include <stdio.h>

#include "base/memory.h"
#include "kernels/functions.h"
#include "native/native.h"
#include "native/tools.h"
#include "proof/renew.h"
#include "records/records.h"
#include "replay/gate.h"
#include "replay/inject.h"
#include "replay/renewal.h"
#include "replay/retired_code.h"
#include "replay/verify.h"
#include "report/options.h"

enum {
    MOST_OBSERVATIONS = 2, /* the first launch may hold work that HIP does only once */
    MOST_WITH_ERROR = 64,  /* the application may take its time to ask for an error */
    MOST_MISSES = 16,
    MOST_WASTED = 4,
    FLUSH_EVERY = 256,
    RECLAIM_EVERY = 64,
};

/* What a launch showed, kept so that a plan with other arguments can be made without another one. */
struct shown {
    struct rl_observation seen;
    struct rl_proof proof;
    unsigned functions; /* rl_function_generation() before it */
};

/* Of one exec; what is not atomic belongs to whoever has made the exec busy. */
struct launches {
    struct rl_plan *plan;
    struct shown *shown;     /* what the plan was made from; NULL: no plan */
    struct shown *foretold;  /* what HIP's next launch should show; NULL: nothing was foretold */
    uint32_t ways;           /* in which that differs from the launch before: see renewal.h */
    _Atomic uint32_t reason; /* enum rl_reason: native because of what a launch showed */
    unsigned observations;   /* without success since the last change */
    unsigned missed;         /* replays that did not find a place, one after the other */
    unsigned replays;        /* of all plans since the last observed launch */
    unsigned wasted;         /* observed launches, one after the other, whose plan was never replayed */
    unsigned timeouts;       /* of all verifications */
    bool verified;           /* REDLINE_VERIFY */
    bool changed;            /* since the last launch */
    bool watched;            /* a tool is at work, which makes launches HIP's until it ends */
};

/* The record of an exec as it is here. */
struct launched_exec {
    struct rl_exec exec;
    struct launches launches;
};

struct launch {
    rl_hipGraphLaunch_fn *native;
    hipGraphExec_t handle;
    hipStream_t stream;
    bool per_thread;
    const struct rl_hip_table *hip; /* HIP's own functions */
    const struct rl_hsa_table *hsa;
    struct rl_exec *exec; /* held, and busy with this launch */
};

static struct launches *launches_of(struct rl_exec *exec)
{
    return &((struct launched_exec *)exec)->launches;
}

static struct rl_report_exec *report_of(const struct rl_exec *exec)
{
    return (struct rl_report_exec *)atomic_load_explicit(&exec->base.note, memory_order_relaxed);
}

static hipError_t by_hip(const struct launch *launch)
{
    hipError_t status;

    rl_report_launch(report_of(launch->exec), false);
    status = launch->native(launch->handle, launch->stream);
    if (status != hipSuccess)
        rl_devices_note_error(status);
    return status;
}

static void set_watched(struct rl_exec *exec, const char *tool)
{
    if (launches_of(exec)->watched == (tool != NULL))
        return;
    launches_of(exec)->watched = tool;
    rl_report_exec_reason(report_of(exec), tool ? RL_REASON_TOOL : RL_REASON_NONE, "%s", tool ? tool : "");
    rl_report_gate(tool ? tool : "");
}

static void release(struct shown **shown)
{
    if (!*shown)
        return;
    rl_observe_free(&(*shown)->seen);
    rl_proof_free(&(*shown)->proof);
    rl_release(*shown);
    *shown = NULL;
}

static void forget_plan(struct launches *launches)
{
    release(&launches->shown);
    release(&launches->foretold);
    if (launches->plan)
        rl_plan_drop(launches->plan);
    launches->plan = NULL;
}

static void stay_native(struct rl_exec *exec, enum rl_reason reason, const char *detail)
{
    forget_plan(launches_of(exec));
    launches_of(exec)->reason = reason;
    rl_report_exec_reason(report_of(exec), reason, "%s", detail);
}

/* Not in a launch that replays. */
static void reclaim(const struct rl_hsa_table *hsa)
{
    rl_plans_reclaim(hsa);
    rl_unloads_reclaim(hsa);
}

/* Whether what the last launch showed is, with other values, what HIP would submit now. It is then that. */
static bool foretell(struct rl_exec *exec, uint32_t ways)
{
    struct launches *launches = launches_of(exec);
    struct shown *shown = launches->shown;

    return ways && !rl_renewal_refuted(ways) && shown && exec->topology && rl_plan_has_code(launches->plan) &&
           atomic_load_explicit(&exec->reason, memory_order_acquire) == RL_REASON_NONE &&
           rl_renew(exec->topology, shown->functions, &shown->seen, &shown->proof);
}

/* The plan that the exec has now, for what it was changed to. */
static bool renew(const struct launch *launch, uint32_t ways)
{
    struct launches *launches = launches_of(launch->exec);
    struct shown *shown = launches->shown;
    struct rl_plan *plan;
    enum rl_reason reason;
    char detail[RL_SEEN_DETAIL];

    if (!foretell(launch->exec, ways))
        return false;
    if (!rl_renewal_known(launch->hip, ways)) {
        launches->foretold = shown; /* for observe() to compare with */
        launches->shown = NULL;
        launches->ways = ways;
        return false;
    }
    rl_plans_reclaim(launch->hsa); /* gives back memory of an earlier one */
    plan = rl_plan_make(launches->plan->device, &shown->seen, &shown->proof, &reason, detail);
    if (!plan)
        return false;
    rl_plan_drop(launches->plan);
    launches->plan = plan;
    rl_count(RL_COUNT_plans_renewed);
    return true;
}

/* The next launch is HIP's, and observed. */
static void start_fresh(const struct launch *launch)
{
    struct rl_exec *exec = launch->exec;
    struct launches *launches = launches_of(exec);
    struct shown *foretold = launches->foretold;

    launches->foretold = NULL;
    launches->changed = true;
    if (launches->plan)
        launches->wasted = launches->replays ? 0 : launches->wasted + 1;
    forget_plan(launches);
    launches->foretold = foretold;
    launches->reason = RL_REASON_NONE;
    launches->observations = launches->missed = 0;
    if (exec->topology && exec->topology->children_doubtful)
        rl_topology_forget_children(exec->topology);
    rl_report_exec_reason(report_of(exec), atomic_load_explicit(&exec->reason, memory_order_relaxed), NULL);
}

/* Something about the exec has changed since the last launch. */
static void start_again(const struct launch *launch)
{
    struct rl_exec *exec = launch->exec;
    uint32_t marks = RL_STALE | RL_NODE_SET | RL_UPDATED, before;

    atomic_fetch_or(&exec->base.marks, RL_CHANGED);
    before = atomic_fetch_and(&exec->base.marks, ~marks);
    release(&launches_of(exec)->foretold);
    if (launches_of(exec)->reason != RL_REASON_REPLAY_DIFFERS &&
        !renew(launch, before & (RL_NODE_SET | RL_UPDATED)))
        start_fresh(launch);
}

/* ---- fresh ---- */

static struct rl_plan *plan_from(const struct launch *launch, struct shown *shown, enum rl_reason *reason,
                                 char detail[RL_SEEN_DETAIL])
{
    struct rl_observation *seen = &shown->seen;
    struct rl_stream_state *state = rl_stream_state_make(launch->hip, launch->stream, launch->per_thread);
    struct rl_device *device;
    struct rl_plan *plan = NULL;

    if (!rl_prove(launch->exec->topology, seen, &shown->proof)) {
        *reason = seen->reason;
        snprintf(detail, RL_SEEN_DETAIL, "%s", seen->detail);
        return NULL;
    }
    device = state ? rl_device_find(launch->hsa, seen->agent, state->ordinal) : NULL;
    if (!device) {
        *reason = RL_REASON_OUT_OF_MEMORY;
        snprintf(detail, RL_SEEN_DETAIL, "for the device or the stream");
    } else if (device->reason != RL_REASON_NONE) {
        *reason = device->reason;
        snprintf(detail, RL_SEEN_DETAIL, "%s", device->detail);
    } else {
        plan = rl_plan_make(device, seen, &shown->proof, reason, detail);
    }
    return plan;
}

/* HIP has launched what was foretold, or something else. */
static void compare(struct launches *launches)
{
    const struct shown *foretold = launches->foretold, *shown = launches->shown;

    if (foretold && launches->plan) {
        /* rule: launches-are-compared-with-what-was-foretold */
        bool right = rl_renew_was_right(&foretold->seen, &foretold->proof, &shown->seen, &shown->proof);

        rl_renewal_shown(launches->ways, right);
    }
    release(&launches->foretold);
}

static hipError_t observe(const struct launch *launch)
{
    struct launches *launches = launches_of(launch->exec);
    struct shown *shown = rl_allocate(1, sizeof(*shown));
    enum rl_reason reason = RL_REASON_NONE;
    char detail[RL_SEEN_DETAIL] = "";
    hipError_t status;

    if (!shown)
        return by_hip(launch);
    launches->shown = shown;
    shown->functions = rl_function_generation();
    atomic_fetch_or(&launch->exec->base.marks, RL_LAUNCHED);
    launches->verified = rl_options()->verify;
    rl_observe_begin(&shown->seen, launch->hsa);
    status = by_hip(launch);
    rl_observe_end(&shown->seen);
    if (status == hipSuccess) {
        launches->plan = plan_from(launch, shown, &reason, detail);
        launches->observations++;
        launches->replays = 0;
        if (launches->plan)
            rl_report_exec_reason(report_of(launch->exec), RL_REASON_NONE, NULL);
        else if (launches->observations >=
                 (reason == RL_REASON_PENDING_ERROR ? MOST_WITH_ERROR : MOST_OBSERVATIONS))
            stay_native(launch->exec, reason, detail);
    }
    compare(launches);
    if (!launches->plan)
        release(&launches->shown);
    return status;
}

/* Whether this launch may be observed; a lasting reason against it is kept. */
static bool observable(const struct launch *launch)
{
    struct rl_exec *exec = launch->exec;
    const char *detail = "";
    enum rl_reason reason;
    bool passing;

    if (launches_of(exec)->changed && launches_of(exec)->wasted >= MOST_WASTED) {
        launches_of(exec)->changed = false; /* an exec that changes before each launch is not worth it */
        return false;
    }
    launches_of(exec)->changed = false;
    if (!launch->hsa || launches_of(exec)->reason != RL_REASON_NONE || atomic_load(&rl_captures_open) ||
        atomic_load_explicit(&exec->reason, memory_order_acquire) != RL_REASON_NONE || !exec->topology)
        return false;
    reason = rl_gate(launch->hip, &detail, &passing);
    set_watched(exec, passing ? detail : NULL);
    if (passing)
        return false;
    if (reason == RL_REASON_NONE && exec->topology->node_count < rl_options()->min_nodes)
        reason = RL_REASON_TOO_SMALL;
    if (reason != RL_REASON_NONE)
        stay_native(exec, reason, detail);
    return reason == RL_REASON_NONE;
}

/* ---- replaying ---- */

static bool missed(const struct launch *launch, enum rl_injection result)
{
    struct rl_exec *exec = launch->exec;

    if (result == RL_INJECT_FAILED) /* what our record left for the application to ask about is not its own */
        (void)launch->hip->hipGetLastError();
    if (result == RL_INJECT_QUEUE || result == RL_INJECT_FULL)
        rl_devices_reap(launch->hsa);
    rl_count(RL_COUNT_replays_without_place);
    if (result != RL_INJECT_FULL && ++launches_of(exec)->missed >= MOST_MISSES)
        stay_native(exec, RL_REASON_NOT_CARRIED, "");
    return false;
}

/* As HIP's own functions call it. */
static hipStream_t stream_of(const struct launch *launch)
{
    return launch->per_thread && !launch->stream ? (hipStream_t)2 /* hipStreamPerThread */ : launch->stream;
}

static bool fits(const struct rl_stream_state *state, const struct rl_plan *plan)
{
    return state && state->ordinal == plan->device->ordinal && !atomic_load(&rl_captures_open);
}

static bool replay(const struct launch *launch)
{
    struct launches *launches = launches_of(launch->exec);
    struct rl_plan *plan = launches->plan;
    struct rl_stream_state *state = rl_stream_state_find(launch->hip, launch->stream, launch->per_thread);
    const char *tool = rl_tool();
    enum rl_injection result;
    uint32_t turn;

    set_watched(launch->exec, tool);
    if (tool)
        return false;
    if (atomic_load_explicit(&plan->device->failed, memory_order_relaxed)) {
        stay_native(launch->exec, RL_REASON_DEVICE_FAILED, "");
        return false;
    }
    if (!fits(state, plan)) {
        rl_count(RL_COUNT_launches_in_other_streams);
        return false;
    }
    turn = atomic_fetch_add_explicit(&state->launches, 1, memory_order_relaxed) + 1;
    if (turn % FLUSH_EVERY == 0 && rl_gate_must_flush(launch->hip))
        return false;
    result = rl_inject(launch->hip, launch->hsa, plan, state, stream_of(launch));
    if (result != RL_INJECT_DONE)
        return missed(launch, result);
    launches->missed = 0;
    if (++launches->replays % RECLAIM_EVERY == 0)
        reclaim(launch->hsa);
    rl_report_launch(report_of(launch->exec), true);
    return true;
}

/* REDLINE_VERIFY. False: nothing was launched. */
static bool verify(const struct launch *launch, hipError_t *status)
{
    struct launches *launches = launches_of(launch->exec);
    const struct rl_verify both = {
        .native = launch->native,
        .exec = launch->handle,
        .given = launch->stream,
        .stream = stream_of(launch),
        .hip = launch->hip,
        .hsa = launch->hsa,
        .plan = launches->plan,
        .seen = &launches->shown->seen,
        .proof = &launches->shown->proof,
        .state = rl_stream_state_find(launch->hip, launch->stream, launch->per_thread),
    };
    struct rl_verification *verification = NULL;
    char detail[RL_SEEN_DETAIL];

    if (!rl_tool() && fits(both.state, both.plan) &&
        !atomic_load_explicit(&both.plan->device->failed, memory_order_relaxed))
        verification = rl_verify_begin(&both, &launches->timeouts);
    if (!verification)
        return false;
    *status = by_hip(launch);
    launches->replays++;
    if (rl_verify_end(verification, *status, detail))
        stay_native(launch->exec, RL_REASON_REPLAY_DIFFERS, detail);
    return true;
}

/* The plan stays; HIP launches, and a stream that was not known is known afterwards. */
static hipError_t instead(const struct launch *launch)
{
    hipError_t status = by_hip(launch);

    reclaim(launch->hsa);
    if (status == hipSuccess && !atomic_load(&rl_captures_open))
        rl_stream_state_make(launch->hip, launch->stream, launch->per_thread);
    return status;
}

static hipError_t launch_held(const struct launch *launch)
{
    struct rl_exec *exec = launch->exec;
    hipError_t status;

    /* rule: a-changed-exec-is-observed-again */
    if (atomic_load_explicit(&exec->base.marks, memory_order_acquire) & RL_STALE)
        start_again(launch);
    if (launches_of(exec)->plan && !rl_plan_has_code(launches_of(exec)->plan))
        start_fresh(launch);
    if (launches_of(exec)->plan) {
        if (atomic_load_explicit(&exec->reason, memory_order_relaxed) == RL_REASON_NONE) {
            if (launches_of(exec)->verified && verify(launch, &status))
                return status;
            return replay(launch) ? hipSuccess : instead(launch);
        }
        forget_plan(launches_of(exec));
    }
    return observable(launch) ? observe(launch) : by_hip(launch);
}

static hipError_t launch_unknown(const struct launch *launch)
{
    if (rl_plans_await(launch->handle)) /* destroyed: HIP's own answer to that */
        return launch->native(NULL, launch->stream);
    rl_count(RL_COUNT_launches_without_record);
    return launch->native(launch->handle, launch->stream);
}

/* The report's line of an exec that is native for good; NULL: have a closer look. The record may be freed while it is
 * read here: then the application destroys the exec that it launches, and HIP answers that. */
static struct rl_report_exec *report_if_native(struct rl_ref ref)
{
    struct rl_exec *exec = (struct rl_exec *)ref.record;

    if (!exec || atomic_load_explicit(&exec->base.marks, memory_order_acquire) & RL_STALE ||
        (atomic_load_explicit(&exec->reason, memory_order_relaxed) == RL_REASON_NONE &&
         atomic_load_explicit(&launches_of(exec)->reason, memory_order_relaxed) == RL_REASON_NONE))
        return NULL;
    return report_of(exec);
}

static __attribute__((noinline)) hipError_t launch_by_record(rl_hipGraphLaunch_fn *native,
                                                             hipGraphExec_t handle, hipStream_t stream,
                                                             bool per_thread, struct rl_ref ref)
{
    const struct rl_hip_table *hip = atomic_load_explicit(&rl_hip_current, memory_order_acquire);
    struct launch launch = { native,
                             handle,
                             stream,
                             per_thread,
                             hip ? rl_hip_own(hip) : NULL,
                             atomic_load_explicit(&rl_hsa_current, memory_order_acquire),
                             NULL };
    hipError_t status;

    if (!hip || !rl_ref_hold(ref))
        return launch_unknown(&launch);
    launch.exec = (struct rl_exec *)ref.record;
    if (atomic_exchange_explicit(&launch.exec->busy, true, memory_order_acquire)) {
        status = by_hip(&launch);
    } else {
        status = launch_held(&launch);
        atomic_store_explicit(&launch.exec->busy, false, memory_order_release);
    }
    rl_record_drop(ref.record);
    return status;
}

hipError_t rl_launch(rl_hipGraphLaunch_fn *native, hipGraphExec_t handle, hipStream_t stream, bool per_thread)
{
    struct rl_ref ref = rl_side_table_find(RL_EXEC, handle);
    struct rl_report_exec *report = report_if_native(ref);

    if (!report)
        return launch_by_record(native, handle, stream, per_thread, ref);
    rl_report_launch(report, false);
    return native(handle, stream);
}

/* ---- the end ---- */

static struct rl_plan *take_plan(hipGraphExec_t handle)
{
    struct rl_ref ref = rl_side_table_find(RL_EXEC, handle);
    struct rl_exec *exec;
    struct rl_plan *plan = NULL;

    if (!rl_ref_hold(ref))
        return NULL;
    exec = (struct rl_exec *)ref.record;
    if (!atomic_exchange_explicit(&exec->busy, true, memory_order_acquire)) {
        struct launches *launches = launches_of(exec);

        plan = launches->plan;
        launches->plan = NULL;
        forget_plan(launches);
    }
    if (rl_side_table_erase(RL_EXEC, handle))
        rl_count(RL_COUNT_execs_destroyed);
    rl_record_drop(ref.record);
    return plan;
}

/* HIP's answer to a destroy is then the error: what it knows of its devices by now. */
static bool has_failed(const struct rl_device *device)
{
    const struct rl_hip_table *hip = atomic_load_explicit(&rl_hip_current, memory_order_acquire);

    if (hip && rl_hip_own(hip)->hipPeekAtLastError)
        rl_devices_note_error(rl_hip_own(hip)->hipPeekAtLastError());
    return atomic_load_explicit(&device->failed, memory_order_relaxed);
}

hipError_t rl_launch_destroy(rl_hipGraphExecDestroy_fn *native, hipGraphExec_t handle)
{
    const struct rl_hsa_table *hsa = atomic_load_explicit(&rl_hsa_current, memory_order_acquire);
    struct rl_plan *plan;

    if (rl_plans_await(handle)) /* destroyed already */
        return native(NULL);
    plan = take_plan(handle);
    if (hsa)
        reclaim(hsa);
    if (!plan)
        return native(handle);
    rl_devices_reap(hsa);
    if (atomic_load_explicit(&plan->use.references, memory_order_acquire) > 1 && !has_failed(plan->device) &&
        rl_plan_destroy_after(plan, native, handle))
        return hipSuccess;
    rl_plan_drop(plan);
    return native(handle);
}

static void retire(struct rl_record *record)
{
    struct rl_exec *exec = (struct rl_exec *)record;

    forget_plan(launches_of(exec));
    rl_topology_free(exec->topology);
}

bool rl_launches_define(void)
{
    return rl_side_table_define(RL_EXEC, sizeof(struct launched_exec), retire);
}
