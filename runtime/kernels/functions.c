/* SPDX-License-Identifier: Apache-2.0 */
/* See functions.h. */
#include "kernels/functions.h"

#include <string.h>

#include "base/side_table.h"
#include "kernels/code.h"
#include "kernels/name.h"

struct module {
    struct rl_record base;
    uint64_t number;
};

struct function {
    struct rl_record base;
    struct rl_function is;
};

static _Thread_local uint64_t loading __attribute__((tls_model("initial-exec")));
static _Atomic uint64_t last_number;
static _Atomic unsigned generation;

uint64_t rl_loading_begin(uint64_t number)
{
    uint64_t before = loading;

    loading = number;
    return before;
}

void rl_loading_end(uint64_t before)
{
    loading = before;
}

uint64_t rl_loading(void)
{
    return loading;
}

/* ---- modules and libraries ---- */

uint64_t rl_module_number(void)
{
    return atomic_fetch_add_explicit(&last_number, 1, memory_order_relaxed) + 1;
}

void rl_module_made(const void *handle, uint64_t number)
{
    struct module *module = (struct module *)rl_side_table_take(RL_MODULE);

    if (!module) {
        rl_side_table_erase(RL_MODULE, handle); /* of one whose end nobody told of */
        return;
    }
    module->number = number;
    rl_side_table_insert(RL_MODULE, handle, &module->base);
}

uint64_t rl_module_find(const void *handle)
{
    struct rl_ref ref = rl_side_table_find(RL_MODULE, handle);
    uint64_t number;

    if (!rl_ref_hold(ref))
        return 0;
    number = ((const struct module *)ref.record)->number;
    rl_record_drop(ref.record);
    return number;
}

static bool is_of(const struct rl_record *record, void *number)
{
    return ((const struct function *)record)->is.module == *(const uint64_t *)number;
}

void rl_module_gone(const void *handle)
{
    uint64_t number = rl_module_find(handle);

    atomic_fetch_add(&generation, 1);
    if (!number)
        return;
    rl_side_table_erase(RL_MODULE, handle);
    rl_side_table_erase_if(RL_FUNCTION, is_of, &number);
}

unsigned rl_function_generation(void)
{
    return atomic_load_explicit(&generation, memory_order_acquire);
}

/* ---- functions ---- */

/* Where HIP has loaded nothing for the module by now, it loads elsewhere than in the calls that are known to:
 * then only the name tells. */
void rl_function_made(const void *handle, const void *module, const char *name)
{
    uint64_t number = rl_module_find(module);
    struct function *function = rl_code_has_module(number)
                                    ? (struct function *)rl_side_table_take(RL_FUNCTION)
                                    : NULL;

    if (!function) {
        rl_side_table_erase(RL_FUNCTION, handle); /* whatever it was before */
        return;
    }
    function->is = (struct rl_function){ number, rl_name_hash(name, strlen(name)) };
    rl_side_table_insert(RL_FUNCTION, handle, &function->base);
}

/* As HIP itself tells a host function of a compiled-in kernel from a hipFunction_t: by looking for the
 * former. */
static uint64_t ask(const struct rl_hip_table *hip, void *handle)
{
    hipFunction_t kernel = NULL;
    const char *name;

    if (!hip || !hip->hipGetFuncBySymbol || !hip->hipKernelNameRef || !handle)
        return 0;
    if (hip->hipGetFuncBySymbol(&kernel, handle) != hipSuccess || !kernel)
        kernel = handle;
    name = hip->hipKernelNameRef(kernel);
    return name ? rl_name_hash(name, strlen(name)) : 0;
}

struct rl_function rl_function_find(const struct rl_hip_table *hip, void *handle)
{
    struct rl_ref ref = rl_side_table_find(RL_FUNCTION, handle);
    struct rl_function is;

    if (!rl_ref_hold(ref))
        return (struct rl_function){ 0, ask(hip, handle) };
    is = ((const struct function *)ref.record)->is;
    rl_record_drop(ref.record);
    return is;
}

bool rl_functions_define(void)
{
    return rl_side_table_define(RL_MODULE, sizeof(struct module), NULL) &&
           rl_side_table_define(RL_FUNCTION, sizeof(struct function), NULL);
}
