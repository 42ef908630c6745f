/* SPDX-License-Identifier: Apache-2.0 */
/* See quiet.h. */
#include "native/quiet.h"

#include <errno.h>

#include "base/fault.h"
#include "native/native.h"

static bool exchange_mode(struct rl_quiet *quiet)
{
    return !rl_fault(RL_FAULT_NATIVE) &&
           quiet->hip->hipThreadExchangeStreamCaptureMode(&quiet->mode) == hipSuccess;
}

static void clear_error(struct rl_quiet *quiet)
{
    if (quiet->hip->hipPeekAtLastError() != hipSuccess)
        (void)quiet->hip->hipGetLastError();
}

bool rl_quiet_begin(struct rl_quiet *quiet)
{
    const struct rl_hip_table *table = atomic_load_explicit(&rl_hip_current, memory_order_acquire);

    quiet->hip = table ? rl_hip_own(table) : NULL;
    quiet->mode = hipStreamCaptureModeRelaxed;
    quiet->saved_errno = errno;
    if (!table || !quiet->hip->hipPeekAtLastError || !quiet->hip->hipGetLastError ||
        !quiet->hip->hipThreadExchangeStreamCaptureMode || quiet->hip->hipPeekAtLastError() != hipSuccess)
        return false;
    if (exchange_mode(quiet))
        return true;
    clear_error(quiet);
    return false;
}

void rl_quiet_end(struct rl_quiet *quiet)
{
    for (int tries = 0; tries < 3; tries++)
        if (quiet->hip->hipThreadExchangeStreamCaptureMode(&quiet->mode) == hipSuccess)
            break;
    clear_error(quiet);
    errno = quiet->saved_errno;
}
