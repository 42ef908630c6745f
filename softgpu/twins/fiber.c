/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include "fiber.h"

#include <stddef.h>
#include <stdlib.h>
#include <sys/mman.h>

#ifndef __x86_64__
#error "the fiber switch is written for x86-64, which is all that AMD's libraries are built for"
#endif

/* Saves the callee-saved registers and the stack pointer in *from, and continues where `to` was saved. */
void sg_fiber_switch(void **from, void *to);
__asm__(".text\n"
        ".globl sg_fiber_switch\n"
        ".hidden sg_fiber_switch\n"
        ".type sg_fiber_switch, @function\n"
        "sg_fiber_switch:\n"
        "    pushq %rbp\n"
        "    pushq %rbx\n"
        "    pushq %r12\n"
        "    pushq %r13\n"
        "    pushq %r14\n"
        "    pushq %r15\n"
        "    movq %rsp, (%rdi)\n"
        "    movq %rsi, %rsp\n"
        "    popq %r15\n"
        "    popq %r14\n"
        "    popq %r13\n"
        "    popq %r12\n"
        "    popq %rbx\n"
        "    popq %rbp\n"
        "    ret\n"
        ".size sg_fiber_switch, .-sg_fiber_switch\n");

struct fiber {
    void *stack_pointer;
    bool ended;
};

struct sg_fibers {
    uint8_t *stacks;
    size_t stacks_size;
    void *scheduler; /* stack pointer of sg_fibers_run */
    struct fiber *current;
    void (*entry)(void *context, uint32_t index);
    void *context;
    uint32_t most;
    struct fiber fiber[];
};

static __thread struct sg_fibers *running;

struct sg_fibers *sg_fibers_new(uint32_t most)
{
    struct sg_fibers *fibers = calloc(1, sizeof(*fibers) + most * sizeof(struct fiber));

    if (!fibers)
        return NULL;
    fibers->most = most;
    fibers->stacks_size = (size_t)most * SG_FIBER_STACK;
    fibers->stacks = mmap(NULL, fibers->stacks_size, PROT_READ | PROT_WRITE,
                          MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK, -1, 0);
    if (fibers->stacks == MAP_FAILED) {
        free(fibers);
        return NULL;
    }
    return fibers;
}

void sg_fibers_free(struct sg_fibers *fibers)
{
    if (!fibers)
        return;
    munmap(fibers->stacks, fibers->stacks_size);
    free(fibers);
}

static void fiber_main(void)
{
    struct sg_fibers *fibers = running;
    struct fiber *self = fibers->current;

    fibers->entry(fibers->context, (uint32_t)(self - fibers->fiber));
    self->ended = true;
    sg_fiber_switch(&self->stack_pointer, fibers->scheduler);
    __builtin_unreachable();
}

static void prepare(struct sg_fibers *fibers, uint32_t index)
{
    uint8_t *top = fibers->stacks + (size_t)(index + 1) * SG_FIBER_STACK;
    void **stack = (void **)top;

    /* For the first switch: six registers, then the entry; the slot above aligns the stack as a call does. */
    *--stack = NULL;
    *--stack = (void *)fiber_main;
    for (int i = 0; i < 6; i++)
        *--stack = NULL;
    fibers->fiber[index] = (struct fiber){ .stack_pointer = stack };
}

void sg_fibers_run(struct sg_fibers *fibers, uint32_t count, void (*entry)(void *context, uint32_t index),
                   void (*resume)(void *context, uint32_t index), void *context)
{
    uint32_t left = count <= fibers->most ? count : fibers->most;

    fibers->entry = entry;
    fibers->context = context;
    for (uint32_t i = 0; i < left; i++)
        prepare(fibers, i);
    running = fibers;
    for (count = left; left;) {
        for (uint32_t i = 0; i < count; i++) {
            if (fibers->fiber[i].ended)
                continue;
            fibers->current = &fibers->fiber[i];
            resume(context, i);
            sg_fiber_switch(&fibers->scheduler, fibers->fiber[i].stack_pointer);
            left -= fibers->fiber[i].ended;
        }
    }
    running = NULL;
}

bool sg_fiber_yield(void)
{
    if (!running)
        return false;
    sg_fiber_switch(&running->current->stack_pointer, running->scheduler);
    return true;
}
