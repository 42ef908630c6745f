/* SPDX-License-Identifier: Apache-2.0 */
/* See renewal.h. */
#include "replay/renewal.h"

#include <stdatomic.h>

/* hipRuntimeGetVersion() of the build that tests/engine and tests/identity run on: ROCm 7.2.4. */
enum { TESTED = 70253211 };

static _Atomic uint32_t shown, refuted; /* ways */

static bool tested(const struct rl_hip_table *hip)
{
    int version = 0;

    /* rule: tested-builds-are-known */
    return hip->hipRuntimeGetVersion && hip->hipRuntimeGetVersion(&version) == hipSuccess &&
           version == TESTED;
}

bool rl_renewal_refuted(uint32_t ways)
{
    return atomic_load_explicit(&refuted, memory_order_relaxed) & ways;
}

bool rl_renewal_known(const struct rl_hip_table *hip, uint32_t ways)
{
    return ways && !rl_renewal_refuted(ways) &&
           (!(ways & ~atomic_load_explicit(&shown, memory_order_relaxed)) || tested(hip));
}

void rl_renewal_shown(uint32_t ways, bool right)
{
    atomic_fetch_or_explicit(right ? &shown : &refuted, ways, memory_order_relaxed);
}
