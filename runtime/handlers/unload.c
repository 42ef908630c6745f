/* SPDX-License-Identifier: Apache-2.0 */
/* What takes streams or code away from under execs without naming them: all execs are examined anew
 * afterwards. */
#include "handlers.h"
#include "handlers/exec.h"
#include "native/process.h"
#include "records/records.h"
#include "replay/launch.h"
#include "replay/stream_state.h"

static void doubt_all_execs(void)
{
    if (rl_active())
        rl_execs_mark(RL_STALE);
}

static void code_goes_away(void)
{
    doubt_all_execs();
    if (rl_active())
        rl_launches_drain();
}

static void code_is_unloaded(void)
{
    if (rl_active())
        rl_launches_ask_for_errors();
    code_goes_away();
}

hipError_t rl_device_reset(rl_hipDeviceReset_fn *native, const void *caller)
{
    (void)caller;
    if (rl_active()) {
        atomic_fetch_sub(&rl_captures_open, (unsigned)rl_side_table_erase_if(RL_CAPTURE, NULL, NULL));
        rl_stream_states_close();
    }
    code_is_unloaded();
    return native();
}

hipError_t rl_module_unload(rl_hipModuleUnload_fn *native, const void *caller, hipModule_t module)
{
    (void)caller;
    code_is_unloaded();
    return native(module);
}

hipError_t rl_library_unload(rl_hipLibraryUnload_fn *native, const void *caller, hipLibrary_t library)
{
    (void)caller;
    code_is_unloaded();
    return native(library);
}

void rl_unregister_fat_binary(rl___hipUnregisterFatBinary_fn *native, const void *caller, void **modules)
{
    (void)caller;
    code_goes_away();
    native(modules);
}
