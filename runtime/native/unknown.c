/* SPDX-License-Identifier: Apache-2.0 */
/* See unknown.h. */
#include "native/unknown.h"

#include <errno.h>

#include "native/process.h"
#include "native_table.h"

enum { THUNKS = 256, THUNK_SIZE = 16 };

/* Thunks of each table: HIP's own grows with each release, the compiler's hardly ever. */
static const struct {
    size_t first, count;
} shares[RL_DISPATCH_COUNT] = { [RL_DISPATCH_HIP] = { 0, 240 },
                                [RL_DISPATCH_COMPILER] = { 240, THUNKS - 240 } };

static struct {
    _Atomic(void *) next;
    _Atomic(const char *) name;
} words[THUNKS];

extern const char rl_unknown_thunks[THUNKS][THUNK_SIZE] __attribute__((visibility("hidden")));
__attribute__((used, visibility("hidden"))) void *rl_unknown_called(unsigned index);

/* Each thunk tells its index; what all have in common keeps every register that may hold an argument. */
__asm__(".text\n"
        ".balign 16\n"
        ".hidden rl_unknown_thunks\n"
        ".globl rl_unknown_thunks\n"
        "rl_unknown_thunks:\n"
        ".set rl_index, 0\n"
        ".rept 256\n"
        "    endbr64\n"
        "    movl $rl_index, %r11d\n"
        "    jmp 1f\n"
        ".balign 16\n"
        ".set rl_index, rl_index + 1\n"
        ".endr\n"
        "1:\n"
        "    pushq %rdi\n"
        "    pushq %rsi\n"
        "    pushq %rdx\n"
        "    pushq %rcx\n"
        "    pushq %r8\n"
        "    pushq %r9\n"
        "    pushq %r10\n"
        "    pushq %rax\n"
        "    subq $136, %rsp\n"
        "    movups %xmm0, (%rsp)\n"
        "    movups %xmm1, 16(%rsp)\n"
        "    movups %xmm2, 32(%rsp)\n"
        "    movups %xmm3, 48(%rsp)\n"
        "    movups %xmm4, 64(%rsp)\n"
        "    movups %xmm5, 80(%rsp)\n"
        "    movups %xmm6, 96(%rsp)\n"
        "    movups %xmm7, 112(%rsp)\n"
        "    movl %r11d, %edi\n"
        "    call rl_unknown_called\n"
        "    movq %rax, %r11\n"
        "    movups (%rsp), %xmm0\n"
        "    movups 16(%rsp), %xmm1\n"
        "    movups 32(%rsp), %xmm2\n"
        "    movups 48(%rsp), %xmm3\n"
        "    movups 64(%rsp), %xmm4\n"
        "    movups 80(%rsp), %xmm5\n"
        "    movups 96(%rsp), %xmm6\n"
        "    movups 112(%rsp), %xmm7\n"
        "    addq $136, %rsp\n"
        "    popq %rax\n"
        "    popq %r10\n"
        "    popq %r9\n"
        "    popq %r8\n"
        "    popq %rcx\n"
        "    popq %rdx\n"
        "    popq %rsi\n"
        "    popq %rdi\n"
        "    jmp *%r11\n");

void *rl_unknown_called(unsigned index)
{
    const char *name = atomic_load(&words[index].name);
    int saved = errno;

    if (rl_active())
        rl_process_forward(RL_REASON_UNKNOWN_FUNCTION, "%s was called",
                           name ? name : "one that it does not export");
    errno = saved;
    return atomic_load(&words[index].next);
}

/* THUNKS: none. */
static size_t index_of(unsigned dispatch, size_t word)
{
    size_t n = word - rl_dispatch_layouts[dispatch].words;

    return n < shares[dispatch].count ? shares[dispatch].first + n : THUNKS;
}

bool rl_unknown_name(unsigned dispatch, size_t word, const char *name)
{
    size_t index = index_of(dispatch, word);

    if (index < THUNKS)
        atomic_store(&words[index].name, name);
    return index < THUNKS;
}

void rl_unknown_install(unsigned dispatch, _Atomic(void *) *table, size_t count)
{
    for (size_t word = rl_dispatch_layouts[dispatch].words; word < count; word++) {
        size_t index = index_of(dispatch, word);
        void *thunk, *there = atomic_load(&table[word]);

        if (index >= THUNKS)
            return;
        thunk = (void *)(uintptr_t)rl_unknown_thunks[index];
        if (!there || there == thunk)
            continue;
        atomic_store(&words[index].next, there);
        atomic_store(&table[word], thunk);
    }
}
