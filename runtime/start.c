/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The top of the library: what has to be there before the first shim does more than to call HIP. native/ calls
 * down into nothing above itself, but for these.
 */
#include "kernels/functions.h"
#include "native/native.h"
#include "records/records.h"
#include "replay/launch.h"
#include "replay/stream_state.h"

bool rl_start(void)
{
    return rl_records_define() && rl_functions_define() && rl_launches_define() && rl_stream_states_define();
}

void rl_start_over(void)
{
    rl_records_forget();
}
