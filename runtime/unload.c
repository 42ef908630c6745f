/* What takes streams or code away from under execs without naming them: all execs are examined anew
 * afterwards. */
#include "handlers.h"
#include "lane.h"
#include "process.h"
#include "records.h"

static void doubt_all_execs(void)
{
    if (rl_active())
        rl_execs_mark(RL_STALE);
}

static void code_goes_away(void)
{
    doubt_all_execs();
    if (rl_active())
        rl_launches_settle();
}

static void code_is_unloaded(void)
{
    if (rl_active())
        rl_launches_ask_for_errors();
    code_goes_away();
}

hipError_t rl_device_reset(hipError_t (*native)(void), const void *caller)
{
    (void)caller;
    if (rl_active()) {
        atomic_fetch_sub(&rl_captures_open, (unsigned)rl_side_table_erase_if(RL_STREAM, NULL, NULL));
        rl_lanes_close();
    }
    code_is_unloaded();
    return native();
}

hipError_t rl_module_unload(hipError_t (*native)(hipModule_t), const void *caller, hipModule_t module)
{
    (void)caller;
    code_is_unloaded();
    return native(module);
}

hipError_t rl_library_unload(hipError_t (*native)(hipLibrary_t), const void *caller, hipLibrary_t library)
{
    (void)caller;
    code_is_unloaded();
    return native(library);
}

void rl_unregister_fat_binary(void (*native)(void **), const void *caller, void **modules)
{
    (void)caller;
    code_goes_away();
    native(modules);
}
