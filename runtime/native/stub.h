/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the code of small functions says that only lead elsewhere: where they jump, and through which variable.
 *
 *     HIP     call getter · mov WORD*8(%rax),%rax · jmp *%rax        (or jmp *WORD*8(%rax), with arguments
 *                                                                     saved around the call)
 *     ROCr    mov table(%rip),%rax · jmp *WORD*8(%rax)
 *     HIP     lea variable(%rip),%rax · mov %rdi,(%rax) · ret        (hipRegisterTracerCallback)
 *
 * Compilers order the rest as they like, so the first form is searched for and not parsed: an answer counts only
 * where something else confirms it. Nothing is read outside of `code`; any code is answered, what is not
 * understood with 0, NULL or false. Threads: any.
 */
#ifndef REDLINE_STUB_H
#define REDLINE_STUB_H

#include <stdbool.h>
#include <stddef.h>

#include "native/object.h"

/* The n-th thing in `code` that reads like a call of a fixed address: its target. NULL: there are no more. */
const void *rl_stub_call(struct rl_bytes code, size_t n);

/* The word that is read of what `getter` returns; 0: `code` does not call it, or does something else then. */
size_t rl_stub_word(struct rl_bytes code, const void *getter);

/* The variable with the table that ROCr's function jumps through, and the word of it. */
bool rl_stub_table(struct rl_bytes code, void *const *const **table, size_t *word);

/* The variable that takes the function's only argument. */
void *const *rl_stub_variable(struct rl_bytes code);

#endif
