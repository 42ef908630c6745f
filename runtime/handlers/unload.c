/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What takes streams or functions away without naming the execs that use them. None of it waits for replays: HIP waits
 * for streams where it wants their work done, replays included, and code is kept as long as replays run it (retired_code.h).
 */
#include "handlers.h"
#include "handlers/exec.h"
#include "kernels/functions.h"
#include "native/process.h"
#include "records/records.h"
#include "replay/stream_state.h"

hipError_t rl_device_reset(rl_hipDeviceReset_fn *native, const void *caller)
{
    (void)caller;
    if (rl_active()) {
        atomic_fetch_sub(&rl_captures_open, (unsigned)rl_side_table_erase_if(RL_CAPTURE, NULL, NULL));
        rl_stream_states_close();
        rl_execs_mark(RL_STALE);
    }
    return native();
}

hipError_t rl_module_unload(rl_hipModuleUnload_fn *native, const void *caller, hipModule_t module)
{
    (void)caller;
    if (rl_active())
        rl_module_gone(module);
    return native(module);
}

hipError_t rl_library_unload(rl_hipLibraryUnload_fn *native, const void *caller, hipLibrary_t library)
{
    (void)caller;
    if (rl_active())
        rl_module_gone(library);
    return native(library);
}

void rl_unregister_fat_binary(rl___hipUnregisterFatBinary_fn *native, const void *caller, void **modules)
{
    (void)caller;
    if (rl_active())
        rl_module_gone(NULL);
    native(modules);
}
