/* SPDX-License-Identifier: Apache-2.0 */
/* The test kernels compiled for the host, and the table that describes them. */
#include "table.h"

#include "../kernels/kernels.cl"
#include "../kernels/v4.cl"

/* OpenCL's ABI lays the kernarg segment out as C does a struct of the same types. */
#define FIELDS_1(A) A a
#define FIELDS_2(A, B)                                                                                       \
    FIELDS_1(A);                                                                                             \
    B b
#define FIELDS_3(A, B, C)                                                                                    \
    FIELDS_2(A, B);                                                                                          \
    C c
#define FIELDS_4(A, B, C, D)                                                                                 \
    FIELDS_3(A, B, C);                                                                                       \
    D d
#define PASS_1 k->a
#define PASS_2 PASS_1, k->b
#define PASS_3 PASS_2, k->c
#define PASS_4 PASS_3, k->d
#define ARGUMENT(kernel, type, field)                                                                        \
    { offsetof(struct kernel##_block, field), sizeof(type),                                                  \
      __builtin_types_compatible_p(type, struct sg_lds_pointer)                       ? SG_TWIN_LDS_POINTER  \
      : __builtin_classify_type(((struct kernel##_block *)0)->field) == POINTER_CLASS ? SG_TWIN_POINTER      \
                                                                                      : SG_TWIN_VALUE }
#define ARGUMENTS_1(kernel, A) ARGUMENT(kernel, A, a)
#define ARGUMENTS_2(kernel, A, B) ARGUMENTS_1(kernel, A), ARGUMENT(kernel, B, b)
#define ARGUMENTS_3(kernel, A, B, C) ARGUMENTS_2(kernel, A, B), ARGUMENT(kernel, C, c)
#define ARGUMENTS_4(kernel, A, B, C, D) ARGUMENTS_3(kernel, A, B, C), ARGUMENT(kernel, D, d)

/* __builtin_classify_type of a pointer, in gcc and clang. */
#define POINTER_CLASS 5

#define DEFINE(count, kernel, ...)                                                                           \
    struct kernel##_block {                                                                                  \
        FIELDS_##count(__VA_ARGS__);                                                                         \
    };                                                                                                       \
    static const struct sg_twin_argument kernel##_arguments[] = { ARGUMENTS_##count(kernel, __VA_ARGS__) };  \
    static void kernel##_item(const void *block)                                                             \
    {                                                                                                        \
        const struct kernel##_block *k = block;                                                              \
                                                                                                             \
        kernel(PASS_##count);                                                                                \
    }                                                                                                        \
    static void kernel##_row(const void *block, uint32_t count_x)                                            \
    {                                                                                                        \
        const struct kernel##_block *k = block;                                                              \
                                                                                                             \
        for (sg_item.local[0] = 0; sg_item.local[0] < count_x; sg_item.local[0]++, sg_item.flat_local++)     \
            kernel(PASS_##count);                                                                            \
    }

DEFINE(4, vadd, const float *, const float *, float *, int)
DEFINE(3, iota, uint *, uint, uint)
DEFINE(3, set, uint *, uint, uint)
DEFINE(3, slow_set, uint *, uint, uint)
DEFINE(3, copy, uint *, const uint *, uint)
DEFINE(3, slow_copy, uint *, const uint *, uint)
DEFINE(4, add, uint *, const uint *, const uint *, uint)
DEFINE(3, scale, uint *, uint, uint)
DEFINE(4, mul_add, uint *, uint, uint, uint)
DEFINE(3, evaluate, ulong *, struct polynomial, uint)
DEFINE(4, saxpy, const float *, float *, float, int)
DEFINE(1, sizes, uint *)
DEFINE(4, saxpy_v4, const float *, float *, float, int)
DEFINE(1, sizes_v4, uint *)
DEFINE(1, reverse_static, uint *)
DEFINE(1, reverse_dynamic, uint *)
DEFINE(4, block_sum, uint *, const uint *, struct sg_lds_pointer, uint)
DEFINE(1, count, uint *)
DEFINE(4, histogram, uint *, uint *, const uint *, uint)
DEFINE(2, apply_variables, uint *, uint)
DEFINE(1, ids, uint *)
DEFINE(1, lanes, uint *)
DEFINE(1, read_packet, uint *)
DEFINE(3, chase, uint *, const uint *, uint)

/* Hidden arguments start at the next multiple of eight. */
#define ARRAY_SIZE(array) (sizeof(array) / sizeof((array)[0]))
#define LAST_END(kernel, field)                                                                              \
    (offsetof(struct kernel##_block, field) + sizeof(((struct kernel##_block *)0)->field))
#define HIDDEN_BEHIND(end) (((end) + 7u) & ~7u)
#define TWIN(kernel_name, last, ...)                                                                         \
    { .layout = { .kernel = #kernel_name,                                                                    \
                  .arguments = kernel_name##_arguments,                                                      \
                  .argument_count = ARRAY_SIZE(kernel_name##_arguments),                                     \
                  .explicit_size = LAST_END(kernel_name, last) },                                            \
      .row = kernel_name##_row,                                                                              \
      .item = kernel_name##_item,                                                                            \
      __VA_ARGS__ }
#define HIDDEN(kernel, last) .layout.hidden_offset = HIDDEN_BEHIND(LAST_END(kernel, last))

const struct sg_twin sg_twins[] = {
    TWIN(vadd, d),
    TWIN(iota, c),
    TWIN(set, c),
    TWIN(slow_set, c),
    TWIN(copy, c),
    TWIN(slow_copy, c),
    TWIN(add, d),
    TWIN(scale, c),
    TWIN(mul_add, d),
    TWIN(evaluate, c, HIDDEN(evaluate, c)),
    TWIN(saxpy, d, HIDDEN(saxpy, d)),
    TWIN(sizes, a, HIDDEN(sizes, a)),
    TWIN(saxpy_v4, d, .packet = true),
    TWIN(sizes_v4, a, .packet = true),
    TWIN(reverse_static, a, .barriers = true, .layout.lds_static = BLOCK * sizeof(uint)),
    TWIN(reverse_dynamic, a, HIDDEN(reverse_dynamic, a), .barriers = true),
    TWIN(block_sum, d, HIDDEN(block_sum, d), .barriers = true),
    TWIN(count, a),
    TWIN(histogram, d),
    TWIN(apply_variables, b, .variables = { "gain", "offsets", "calls" }),
    TWIN(ids, a, HIDDEN(ids, a)),
    TWIN(lanes, a),
    TWIN(read_packet, a, .packet = true),
    TWIN(chase, c, .layout.scratch = SLOTS * sizeof(uint)),
};

const size_t sg_twin_count = ARRAY_SIZE(sg_twins);
