/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the test kernels are written in: OpenCL C without a device library, or, included from
 * softgpu/twins/kernels.c, the same text as host C. Names that mean something else on each side are macros
 * here and nowhere else:
 *
 *   get_local_id, get_group_id, get_global_size, get_global_id   as in OpenCL
 *   get_local_size                     of a full block, also in a partial last one
 *   BARRIER()                          work-group barrier that also orders local memory
 *   STATIC_LDS(type, name, count)      an array in local memory, one per kernel
 *   DYNAMIC_LDS(type, name, count)     the local memory behind it, sized by the launch (extern __shared__)
 *   LDS_ARGUMENT(type, name)           a parameter that points into dynamic local memory; with
 *   USE_LDS_ARGUMENT(type, name, count)  in the body saying how much of it is used
 *   VARIABLE(type, name, initial...)   a variable of the code object that the host can find by name
 *   POINTER_TO(type, name)             its address
 *   ATOMIC_ADD(pointer, value)         relaxed, device scope; ATOMIC_MAX likewise
 *   LANE_ID(), WAVE_SIZE()             lane within the wave, lanes of a wave
 *   DISPATCH_POINTER(type)             the AQL packet of this dispatch
 */
#ifndef SOFTGPU_KERNEL_H
#define SOFTGPU_KERNEL_H

/* The plain kernels read no hidden argument, so they are told nothing about their block: it is this. */
#define BLOCK 64u

#ifdef __OPENCL_C_VERSION__

#define DIMENSION(d, builtin)                                                                                \
    ((d) == 0   ? __builtin_amdgcn_##builtin##_x()                                                           \
     : (d) == 1 ? __builtin_amdgcn_##builtin##_y()                                                           \
                : __builtin_amdgcn_##builtin##_z())
#define get_local_id(d) DIMENSION(d, workitem_id)
#define get_group_id(d) DIMENSION(d, workgroup_id)
#define get_local_size(d) ((uint)DIMENSION(d, workgroup_size))
#define get_global_id(d) (get_group_id(d) * get_local_size(d) + get_local_id(d))

#ifdef CODE_OBJECT_V4
#define get_global_size(d) DIMENSION(d, grid_size)
#else
/* Hidden arguments of code object version 5: block counts at 0, block sizes at 12, remainders at 18. */
static inline uint hidden_global_size(uint d)
{
    __constant const uchar *hidden = (__constant const uchar *)__builtin_amdgcn_implicitarg_ptr();
    uint blocks = *(__constant const uint *)(hidden + 4 * d);
    ushort size = *(__constant const ushort *)(hidden + 12 + 2 * d);
    ushort remainder = *(__constant const ushort *)(hidden + 18 + 2 * d);

    return blocks * size + remainder;
}
#define get_global_size(d) hidden_global_size(d)
#endif

#define BARRIER()                                                                                            \
    do {                                                                                                     \
        __builtin_amdgcn_fence(__ATOMIC_RELEASE, "workgroup");                                               \
        __builtin_amdgcn_s_barrier();                                                                        \
        __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "workgroup");                                               \
    } while (0)
#define STATIC_LDS(type, name, count) __local type name[count]
#define DYNAMIC_LDS(type, name, count)                                                                       \
    __local type *name = (__local type *)(size_t)__builtin_amdgcn_groupstaticsize()
#define LDS_ARGUMENT(type, name) __local type *name
#define USE_LDS_ARGUMENT(type, name, count)
#define VARIABLE(type, name, ...) __attribute__((visibility("default"))) __global type name = __VA_ARGS__
#define POINTER_TO(type, name) ((__global type *)&name)
#define ATOMIC_ADD(pointer, value)                                                                           \
    __opencl_atomic_fetch_add((__global atomic_uint *)(pointer), value, memory_order_relaxed,                \
                              memory_scope_device)
#define ATOMIC_MAX(pointer, value)                                                                           \
    __opencl_atomic_fetch_max((__global atomic_uint *)(pointer), value, memory_order_relaxed,                \
                              memory_scope_device)
#define LANE_ID() __builtin_amdgcn_mbcnt_hi(~0u, __builtin_amdgcn_mbcnt_lo(~0u, 0u))
#define WAVE_SIZE() __builtin_amdgcn_wavefrontsize()
#define DISPATCH_POINTER(type) ((__constant const type *)__builtin_amdgcn_dispatch_ptr())

#else

#include "../twins/item.h"

#endif
#endif
