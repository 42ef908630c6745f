/*
 * What happens to a launch.
 *
 *     fresh      no plan: HIP launches, we observe, prove and lower; on success the exec has a plan
 *     replaying  the plan rides in the stream; HIP launches when it cannot
 *     native     a reason stands against replays: HIP launches until something about the exec changes
 *
 * A change (RL_STALE in the exec's marks) of nothing but arguments that are known gives a new plan, made from
 * what the last observed launch showed; any other makes the exec fresh again. Whatever speaks against one
 * single launch, such as a capture that is open or a stream that has not been seen, makes that launch native
 * and is counted.
 *
 * Threads: any. Of two launches of one exec at once the second is native.
 */
#ifndef REDLINE_LAUNCH_H
#define REDLINE_LAUNCH_H

#include <stdatomic.h>
#include <stdint.h>

#include "hip_api.h"
#include "reasons.h"

struct rl_plan;
struct rl_shown;

/* Of one exec; what is not atomic belongs to whoever has made `busy` true. */
struct rl_launches {
    _Atomic bool busy;
    struct rl_plan *plan;
    struct rl_shown *shown; /* what the plan was made from; NULL: no plan */
    _Atomic uint32_t reason; /* enum rl_reason: native because of what a launch showed */
    unsigned observations; /* without success since the last change */
    unsigned missed;       /* replays that did not find a place, one after the other */
    unsigned replays;      /* of all plans since the last observed launch */
    unsigned wasted;       /* observed launches, one after the other, whose plan was never replayed */
    bool changed;          /* since the last launch */
};

typedef hipError_t rl_launch_function(hipGraphExec_t, hipStream_t);

hipError_t rl_launch(rl_launch_function *native, hipGraphExec_t exec, hipStream_t stream, bool per_thread);

/* Answers at once; the native destroy follows the exec's last replay. */
hipError_t rl_launch_destroy(hipError_t (*native)(hipGraphExec_t), hipGraphExec_t exec);

void rl_launches_retire(struct rl_launches *launches); /* the exec's record goes away */
void rl_launches_settle(void); /* before code is unloaded: waits for the replays that may run it */

/* What HIP knows of its devices by now, before something waits for replays: one that failed may never be
 * done. Not while the process ends, when HIP's thread state may be gone. */
void rl_launches_ask_for_errors(void);

#endif
