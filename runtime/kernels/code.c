/* SPDX-License-Identifier: Apache-2.0 */
/* See code.h. */
#include "kernels/code.h"

#include <pthread.h>
#include <stdatomic.h>
#include <string.h>

#include "base/fork.h"
#include "base/memory.h"
#include "kernels/executable.h"

enum { KERNARG_BYTES_AT = 8 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static _Atomic unsigned generation;

/* The rest: under the lock. */
static struct rl_executable *executables; /* those that are loaded */
static uint64_t last_number;
static struct rl_kernel_entry **names; /* kernels of the executables that are listed, by name: lists */
static size_t name_count, name_room;

/* ---- by name ---- */

static struct rl_kernel_entry **list_of(uint64_t name)
{
    return &names[(size_t)(name * UINT64_C(0x9e3779b97f4a7c15) >> 20) & (name_room - 1)];
}

static void enter(struct rl_kernel_entry *kernel)
{
    struct rl_kernel_entry **list = list_of(kernel->name);

    kernel->next = *list;
    *list = kernel;
}

static void enter_all(struct rl_executable *executable)
{
    for (size_t i = 0; i < executable->kernel_count; i++)
        enter(&executable->kernels[i]);
}

static bool make_room(size_t count)
{
    size_t room = name_room ? name_room : 1024;
    struct rl_kernel_entry **larger;

    while (room < count)
        room *= 2;
    if (room == name_room)
        return true;
    larger = rl_allocate(room, sizeof(*larger));
    if (!larger)
        return false;
    rl_release(names);
    names = larger;
    name_room = room;
    for (struct rl_executable *one = executables; one; one = one->next)
        if (one->listed)
            enter_all(one);
    return true;
}

static void leave(const struct rl_executable *executable)
{
    for (size_t i = 0; executable->listed && i < executable->kernel_count; i++) {
        struct rl_kernel_entry **link = list_of(executable->kernels[i].name);

        while (*link != &executable->kernels[i])
            link = &(*link)->next;
        *link = executable->kernels[i].next;
        name_count--;
    }
}

static bool list(const struct rl_hsa_table *hsa, const struct rl_loader *loader,
                 struct rl_executable *executable)
{
    if (executable->listed)
        return true;
    if (!rl_executable_locate(loader, executable) || !rl_executable_list(hsa, executable))
        return false;
    executable->listed = false; /* until its kernels have their places */
    if (!make_room(name_count + executable->kernel_count))
        return false;
    executable->listed = true;
    name_count += executable->kernel_count;
    enter_all(executable);
    return true;
}

/* ---- loads ---- */

static struct rl_executable **link_of(uint64_t handle)
{
    struct rl_executable **link = &executables;

    while (*link && (*link)->handle != handle)
        link = &(*link)->next;
    return link;
}

static uint64_t take_out(struct rl_executable **link)
{
    struct rl_executable *gone = *link;
    uint64_t number = gone->number;

    *link = gone->next;
    leave(gone);
    rl_executable_free(gone);
    return number;
}

void rl_code_loaded(uint64_t executable, uint64_t module)
{
    struct rl_executable *made = rl_allocate(1, sizeof(*made)), **before;

    pthread_mutex_lock(&lock);
    before = link_of(executable);
    if (*before) /* whose end nobody told of */
        take_out(before);
    if (made) {
        *made = (struct rl_executable){
            .handle = executable, .number = ++last_number, .module = module, .next = executables
        };
        executables = made;
    }
    pthread_mutex_unlock(&lock);
}

uint64_t rl_code_unloaded(uint64_t executable)
{
    struct rl_executable **link;
    uint64_t number = 0;

    pthread_mutex_lock(&lock);
    link = link_of(executable);
    if (*link)
        number = take_out(link);
    pthread_mutex_unlock(&lock);
    atomic_fetch_add(&generation, 1);
    return number;
}

unsigned rl_code_generation(void)
{
    return atomic_load_explicit(&generation, memory_order_acquire);
}

bool rl_code_is_loaded(uint64_t number)
{
    const struct rl_executable *one;

    pthread_mutex_lock(&lock);
    for (one = executables; one && one->number != number; one = one->next)
        ;
    pthread_mutex_unlock(&lock);
    return one;
}

bool rl_code_has_module(uint64_t module)
{
    const struct rl_executable *one;

    pthread_mutex_lock(&lock);
    for (one = executables; one && one->module != module; one = one->next)
        ;
    pthread_mutex_unlock(&lock);
    return module && one;
}

/* ---- kernels; with the lock held ---- */

static struct rl_kernel_entry *kernel_at(const struct rl_hsa_table *hsa, const struct rl_loader *loader,
                                         uint64_t object)
{
    for (struct rl_executable *one = executables; one; one = one->next) {
        if (!rl_executable_locate(loader, one) || !rl_executable_has(one, object))
            continue;
        if (!list(hsa, loader, one))
            return NULL;
        for (size_t i = 0; i < one->kernel_count; i++)
            if (one->kernels[i].object == object)
                return &one->kernels[i];
        return NULL;
    }
    return NULL;
}

static void layout_of(const struct rl_loader *loader, const struct rl_kernel_entry *kernel,
                      struct rl_layout *layout)
{
    layout->known = layout->prints = false;
    layout->count = 0;
    if (rl_executable_read(loader, kernel->executable) && kernel->layout)
        memcpy(layout, kernel->layout, rl_layout_bytes(kernel->layout));
}

static bool describe(const struct rl_loader *loader, const struct rl_kernel_entry *kernel,
                     struct rl_code *code)
{
    const void *descriptor = NULL;

    if (!kernel || loader->host_address((const void *)kernel->object, &descriptor) != HSA_STATUS_SUCCESS ||
        !descriptor)
        return false;
    code->object = kernel->object;
    code->executable = kernel->executable->number;
    code->module = kernel->executable->module;
    code->name = kernel->name;
    code->builtin = kernel->builtin;
    memcpy(code->descriptor, descriptor, sizeof(code->descriptor));
    memcpy(&code->kernarg_bytes, code->descriptor + KERNARG_BYTES_AT, sizeof(code->kernarg_bytes));
    layout_of(loader, kernel, &code->layout);
    return true;
}

bool rl_code_find(const struct rl_hsa_table *hsa, uint64_t object, struct rl_code *code)
{
    struct rl_loader loader;
    bool found;

    if (!rl_loader_find(hsa, &loader))
        return false;
    pthread_mutex_lock(&lock);
    found = describe(&loader, kernel_at(hsa, &loader, object), code);
    pthread_mutex_unlock(&lock);
    return found;
}

static bool alike(const struct rl_layout *one, const struct rl_layout *other)
{
    return one->known && other->known && one->count == other->count &&
           !memcmp(one->argument, other->argument, one->count * sizeof(one->argument[0]));
}

static bool find_layout(const struct rl_loader *loader, uint64_t module, uint64_t name,
                        struct rl_layout *layout)
{
    struct rl_layout other;
    bool found = false;

    for (struct rl_kernel_entry *kernel = name_room ? *list_of(name) : NULL; kernel; kernel = kernel->next) {
        if (kernel->name != name || (module && kernel->executable->module != module))
            continue;
        layout_of(loader, kernel, found ? &other : layout);
        if (found && !alike(layout, &other)) /* rule: a-name-of-two-kernels-tells-nothing */
            return false;
        found = true;
    }
    return found && layout->known;
}

bool rl_code_layout(const struct rl_hsa_table *hsa, uint64_t module, uint64_t name, struct rl_layout *layout)
{
    struct rl_loader loader;
    bool good = true;

    layout->known = false;
    if (!name || !rl_loader_find(hsa, &loader))
        return false;
    pthread_mutex_lock(&lock);
    for (struct rl_executable *one = executables; one; one = one->next)
        if (!module || one->module == module)
            good = list(hsa, &loader, one) && good;
    layout->known = good && find_layout(&loader, module, name, layout);
    pthread_mutex_unlock(&lock);
    return layout->known; /* rule: layouts-tell-nodes-apart */
}

static void in_child(void)
{
    pthread_mutex_init(&lock, NULL);
}

RL_AT_FORK(NULL, NULL, in_child);
