/* SPDX-License-Identifier: Apache-2.0 */
/* Every kind of kernel in one exec: struct argument, hidden sizes, static and dynamic local memory, atomics,
 * a 3-D grid, both wave sizes, the dispatch pointer, scratch, and code object version 4 (C008). */
#include "../../softgpu/kernels/arguments.h"

#include "app.h"

#define N 256u

static struct {
    uint64_t *evaluated;
    float *x, *y, *y4;
    uint32_t *in, *reversed, *turned, *bins, *largest, *counter, *ids, *lanes, *lanes64, *chased;
    uint32_t *sizes, *sizes4, *packet;
} d;

static struct polynomial polynomial = {
    .degree = 3, .bias = 1ul << 40, .step = 3, .coefficient = { 2, 3, 5, 7 }
};

static void capture_kernels(hipStream_t s, hipModule_t wave64, hipModule_t v4)
{
    hipFunction_t lanes64, saxpy4, sizes4;
    uint32_t n = N;
    int count = N;
    float two = 2;

    HIP(hipModuleGetFunction(&lanes64, wave64, "lanes"));
    HIP(hipModuleGetFunction(&saxpy4, v4, "saxpy_v4"));
    HIP(hipModuleGetFunction(&sizes4, v4, "sizes_v4"));
    LAUNCH_IN(app_kernel("evaluate"), 2, 128, 0, s, &d.evaluated, &polynomial, &n);
    LAUNCH_IN(app_kernel("saxpy"), 4, 64, 0, s, &d.x, &d.y, &two, &count);
    LAUNCH_IN(saxpy4, 8, 32, 0, s, &d.x, &d.y4, &two, &count);
    LAUNCH_IN(sizes4, 8, 32, 0, s, &d.sizes4);
    LAUNCH(app_kernel("copy"), N, s, &d.reversed, &d.in, &n);
    LAUNCH(app_kernel("reverse_static"), N, s, &d.reversed);
    LAUNCH(app_kernel("copy"), N, s, &d.turned, &d.in, &n);
    LAUNCH_IN(app_kernel("reverse_dynamic"), 2, 128, 128 * 4, s, &d.turned);
    LAUNCH(app_kernel("histogram"), N, s, &d.bins, &d.largest, &d.in, &n);
    LAUNCH_IN(app_kernel("count"), 3, 100, 0, s, &d.counter);
    HIP(hipModuleLaunchKernel(app_kernel("ids"), 2, 2, 4, 4, 4, 1, 0, s, ARGUMENTS(&d.ids), NULL));
    HIP(hipModuleLaunchKernel(app_kernel("sizes"), 2, 3, 1, 8, 4, 2, 0, s, ARGUMENTS(&d.sizes), NULL));
    LAUNCH(app_kernel("lanes"), N, s, &d.lanes);
    LAUNCH(lanes64, N, s, &d.lanes64);
    LAUNCH_IN(app_kernel("read_packet"), 4, 64, 96, s, &d.packet);
    LAUNCH(app_kernel("chase"), N, s, &d.chased, &d.in, &n);
}

#define READ(type, count, from)                                                                              \
    type from[count];                                                                                        \
    HIP(hipMemcpy(from, d.from, sizeof(from), hipMemcpyDeviceToHost))

static uint32_t chase(uint32_t seed, uint32_t start)
{
    uint32_t next[64], at = start % 64, sum = 0;

    for (uint32_t k = 0; k < 64; k++)
        next[k] = k;
    for (uint32_t k = 0; k < 64; k++) {
        uint32_t other = (seed + 7 * k) % 64, kept = next[k];
        next[k] = next[other];
        next[other] = kept;
    }
    for (uint32_t k = 0; k < 64; k++) {
        at = next[at];
        sum = sum * 31 + at;
    }
    return sum;
}

/* After `launches` launches with the input of `round`. */
static void check_results(uint32_t round, uint32_t launches, const uint32_t *bin_total,
                          uint32_t largest_total)
{
    READ(uint64_t, N, evaluated);
    READ(float, N, y);
    READ(float, N, y4);
    READ(uint32_t, N, reversed);
    READ(uint32_t, N, turned);
    READ(uint32_t, N, ids);
    READ(uint32_t, N, lanes);
    READ(uint32_t, N, lanes64);
    READ(uint32_t, N, chased);
    READ(uint32_t, 16, bins);
    READ(uint32_t, 1, largest);
    READ(uint32_t, 1, counter);
    READ(uint32_t, 6 * 6, sizes);
    READ(uint32_t, 2, sizes4);
    READ(uint32_t, 4, packet);
    static const uint32_t one_group[6] = { 8, 4, 2, 16, 12, 2 };

    for (uint32_t i = 0; i < N; i++) {
        uint64_t x = (uint64_t)i * 3, value = ((2 * x + 3) * x + 5) * x + 7 + (1ul << 40);
        uint32_t gx = i % 8, gy = i / 8 % 8, gz = i / 64;
        EXPECT("polynomial", evaluated[i], value);
        EXPECT("saxpy", y[i], 2 * i * launches + 1);
        EXPECT("saxpy of version 4", y4[i], 2 * i * launches + 1);
        EXPECT("reversal in static local memory", reversed[i], input_word(round, i / 64 * 64 + 63 - i % 64));
        EXPECT("reversal in dynamic local memory", turned[i],
               input_word(round, i / 128 * 128 + 127 - i % 128));
        EXPECT("ids", ids[i], gx % 4 | (gy % 4) << 5 | (gx / 4) << 15 | (gy / 4) << 20 | gz << 25);
        EXPECT("lane of 32", lanes[i], 32 << 8 | i % 32);
        EXPECT("lane of 64", lanes64[i], 64 << 8 | i % 64);
        EXPECT("chase through scratch", chased[i], chase(input_word(round, i), i));
    }
    for (uint32_t b = 0; b < 16; b++)
        EXPECT("histogram", bins[b], bin_total[b]);
    EXPECT("largest", largest[0], largest_total);
    EXPECT("counter", counter[0], 300 * launches);
    for (uint32_t k = 0; k < 36; k++)
        EXPECT("block and grid size", sizes[k], one_group[k % 6]);
    EXPECT("block size of version 4", sizes4[0], 32);
    EXPECT("grid size of version 4", sizes4[1], 256);
    EXPECT("block size in the packet", packet[0], 64);
    EXPECT("grid size in the packet", packet[1], 256);
    EXPECT("local memory in the packet", packet[2], 96);
    EXPECT("kernarg address in the packet", packet[3], 1);
}

static void *zeroed(size_t bytes)
{
    void *pointer;

    HIP(hipMalloc(&pointer, bytes));
    HIP(hipMemset(pointer, 0, bytes));
    return pointer;
}

int main(int argc, char **argv)
{
    uint32_t bin_total[16] = { 0 }, largest = 0, input[N];
    float x[N], ones[N];

    app_begin("kernel_kinds", argc, argv, 5, N);
    app.n = N;
    hipStream_t stream = new_stream();
    d.evaluated = zeroed(N * 8);
    uint32_t **words[] = { &d.in,   &d.reversed, &d.turned,  &d.ids,   &d.lanes,  &d.lanes64, &d.chased,
                           &d.bins, &d.largest,  &d.counter, &d.sizes, &d.sizes4, &d.packet };
    for (size_t k = 0; k < sizeof(words) / sizeof(words[0]); k++)
        *words[k] = zeroed(N * 4);
    float **reals[] = { &d.x, &d.y, &d.y4 };
    for (size_t k = 0; k < 3; k++)
        *reals[k] = zeroed(N * 4);
    for (uint32_t i = 0; i < N; i++) {
        x[i] = (float)i;
        ones[i] = 1;
    }
    HIP(hipMemcpy(d.x, x, sizeof(x), hipMemcpyHostToDevice));
    HIP(hipMemcpy(d.y, ones, sizeof(ones), hipMemcpyHostToDevice));
    HIP(hipMemcpy(d.y4, ones, sizeof(ones), hipMemcpyHostToDevice));

    hipModule_t wave64 = app_module("wave64.co"), v4 = app_module("v4.co");
    begin_capture(stream);
    capture_kernels(stream, wave64, v4);
    hipGraphExec_t exec = end_capture_exec(stream);
    for (uint32_t round = 0; round < app.rounds; round++) {
        upload_input(d.in, input, round);
        for (uint32_t i = 0; i < N; i++) {
            bin_total[input[i] & 15]++;
            largest = input[i] > largest ? input[i] : largest;
        }
        HIP(hipDeviceSynchronize());
        HIP(hipGraphLaunch(exec, stream));
        HIP(hipStreamSynchronize(stream));
        check_results(round, round + 1, bin_total, largest);
    }
    HIP(hipGraphExecDestroy(exec));
    return app_pass();
}
