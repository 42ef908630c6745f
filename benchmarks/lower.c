/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Lowering: dwords a node beside those of an encoder that elides nothing (each dispatch with all its registers,
 * a fence before each that depends on another), and the time of levels, plan and emit beside what the engine
 * may spend. One line each: name, value, floor, limit of the ratio, tab-separated.
 *
 * Times are the smallest of many passes, so that other work on the machine does not show.
 */
#include "pm4/lower.c"
#include "pm4/pm4.c"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { MOST = 20000, KERNELS = 22, PASSES = 300, BUDGET_NS = 150 };

struct graph {
    const char *name;
    uint32_t count, edges;
    struct rl_edge edge[4 * MOST];
    struct rl_dispatch dispatch[MOST];
};

static struct rl_kernel kernels[KERNELS];
static struct graph graph;
static uint32_t level[MOST], work[8 * MOST + 1], words[RL_PM4_MAX_DWORDS];
static struct rl_place places[MOST];

static double now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

/* Repeatable, so that every run measures the same graphs. */
static uint32_t draw(uint32_t below)
{
    static uint64_t state = 1;

    state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (uint32_t)(state >> 33) % below;
}

static void begin(const char *name, uint32_t count)
{
    graph.name = name;
    graph.count = count;
    graph.edges = 0;
}

static void node(uint32_t i, uint32_t kernel)
{
    uint32_t size = 64u << kernel % 3;

    graph.dispatch[i] = (struct rl_dispatch){
        .kernel = kernel,
        .grid = { size * (1 + kernel), 1, 1 },
        .workgroup = { (uint16_t)size, 1, 1 },
        .lds_bytes = kernel % 4 ? 0 : 4096,
        .kernarg = UINT64_C(0x7f2000000000) + 320 * (uint64_t)i / 64 * 64,
    };
}

static void depend(uint32_t from, uint32_t to)
{
    graph.edge[graph.edges++] = (struct rl_edge){ from, to };
}

static void chain(uint32_t count, uint32_t kernel_count)
{
    begin(kernel_count == 1 ? "chain of one kernel" : "chain of 22 kernels", count);
    for (uint32_t i = 0; i < count; i++) {
        node(i, i % kernel_count);
        if (i)
            depend(i - 1, i);
    }
}

/* One node, 64 that depend on it and run 4 kernels, one behind them, and so on. */
static void fan_out(uint32_t count)
{
    begin("fan-out of 64 and back, 4 kernels", count);
    for (uint32_t i = 0; i < count; i++) {
        uint32_t block = i / 65 * 65;

        node(i, i == block ? 0 : draw(4));
        for (uint32_t before = i == block && i ? i - 64 : i; before < i; before++)
            depend(before, i);
        if (i != block)
            depend(block, i);
    }
}

static void layers(uint32_t count)
{
    begin("random layers of 8, 22 kernels", count);
    for (uint32_t i = 0; i < count; i++) {
        node(i, draw(KERNELS));
        for (uint32_t n = 0; i >= 8 && n < 2; n++)
            depend(i / 8 * 8 - 8 + draw(8), i);
    }
}

static struct rl_lower_input input_of(uint32_t first, uint32_t count)
{
    return (struct rl_lower_input){
        .target = rl_pm4_find_target("gfx1100"),
        .kernels = kernels,
        .kernel_count = KERNELS,
        .dispatches = graph.dispatch + first,
        .dispatch_count = count,
    };
}

static uint32_t lowered(uint32_t first, uint32_t count)
{
    struct rl_lower_input input = input_of(first, count);
    struct rl_lower lower;

    if (rl_lower_plan(&lower, &input, work) != RL_LOWER_OK)
        abort();
    rl_lower_emit(&lower, words, places);
    return lower.dwords;
}

static void set_levels(void)
{
    if (!rl_levels(graph.count, graph.edge, graph.edges, NULL, level, work))
        abort();
    for (uint32_t i = 0; i < graph.count; i++)
        graph.dispatch[i].level = level[i];
}

/* A dispatch alone in its buffer has all of its registers; entry and exit are counted once. */
static uint32_t without_elision(void)
{
    uint32_t around = RL_PM4_ACQUIRE_DWORDS + RL_PM4_SET_DWORDS + 3 + RL_PM4_FLUSH_DWORDS, total = around;

    for (uint32_t i = 0; i < graph.count; i++) {
        uint32_t own = graph.dispatch[i].level;

        graph.dispatch[i].level = 0;
        total += lowered(i, 1) - around + (own ? RL_PM4_FLUSH_DWORDS + RL_PM4_ACQUIRE_DWORDS : 0);
        graph.dispatch[i].level = own;
    }
    return total;
}

static void print_dwords(void)
{
    set_levels();
    double nodes = graph.count;

    printf("dwords a node: %s\t%.3f\t%.3f\t1\n", graph.name, lowered(0, graph.count) / nodes,
           without_elision() / nodes);
}

/* Nanoseconds a dispatch of levels, plan and emit. */
static double time_of(void)
{
    double best = 1e18;
    int passes = (int)(PASSES * 1024 / graph.count) + 5;

    for (int pass = 0; pass < passes; pass++) {
        double started = now();

        set_levels();
        lowered(0, graph.count);
        double took = now() - started;

        best = took < best ? took : best;
    }
    return best / graph.count;
}

int main(void)
{
    for (uint32_t i = 0; i < KERNELS; i++)
        kernels[i] = (struct rl_kernel){
            .entry = UINT64_C(0x7f1000000000) + 4096 * i,
            .group_bytes = i % 4 ? 0 : 4096,
            .kernarg_bytes = 280,
            .rsrc1 = 0x60af0040 + i,
            .rsrc2 = 15 << 1 | 0x80,
            .rsrc3 = (2 + i % 5) << 4,
            .properties = 0x408,
        };
    chain(1024, 1);
    print_dwords();
    chain(1024, KERNELS);
    print_dwords();
    fan_out(1024);
    print_dwords();
    layers(1024);
    print_dwords();

    chain(1024, 1);
    printf("ns a dispatch: 1,024 nodes, %s\t%.1f\t%d\t1\n", graph.name, time_of(), BUDGET_NS);
    layers(1024);
    double small = time_of();

    printf("ns a dispatch: 1,024 nodes, %s\t%.1f\t%d\t1\n", graph.name, small, BUDGET_NS);
    layers(MOST);
    printf("ns a dispatch: 20,000 nodes beside 1,024\t%.1f\t%.1f\t2\n", time_of(), small);
    return 0;
}
