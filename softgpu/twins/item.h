/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The work-item that is running on this thread, and what kernel.h's names mean on the host.
 *
 * Block and grid size come from where the machine code reads them, the hidden arguments or (code object
 * version 4) the dispatch packet, not from the dispatch: a launch that forgets them gives a wrong result here
 * too.
 */
#ifndef SOFTGPU_ITEM_H
#define SOFTGPU_ITEM_H

#include <stdint.h>

typedef unsigned char uchar;
typedef unsigned short ushort;
typedef unsigned int uint;
typedef unsigned long ulong;

struct sg_item {
    uint32_t local[3];
    uint32_t group[3];
    uint32_t flat_local; /* for the lane */
    uint32_t wave_size;
    const uint8_t *hidden; /* hidden arguments of code object version 5, NULL if read from the packet */
    const uint8_t *packet; /* AQL packet, NULL if the kernel has no dispatch pointer */
    uint8_t *lds;
    uint32_t lds_bytes;
    uint32_t lds_static;
    const char *const *global_name;
    const uint64_t *global;
    const char *error; /* first thing that went wrong; the run ends with it */
};

/* initial-exec: reached several times a work-item, and the library is never unloaded. */
extern __thread struct sg_item sg_item __attribute__((tls_model("initial-exec"), visibility("hidden")));

uint32_t sg_item_local_size(uint32_t dimension);
uint32_t sg_item_global_size(uint32_t dimension);
void sg_item_barrier(void);

/* NULL, with the error noted, when [offset, offset + bytes) is not in the work-group's local memory. */
void *sg_item_lds(uint64_t offset, uint64_t bytes);

/* Address of a variable named in the twin's table. */
uint64_t sg_item_global(const char *name);

/* An LDS pointer argument: the offset that the launch wrote into the kernarg segment. */
struct sg_lds_pointer {
    uint32_t offset;
};

#define __kernel static inline
#define __global
#define __constant

#define get_local_id(d) (sg_item.local[d])
#define get_group_id(d) (sg_item.group[d])
#define get_local_size(d) (sg_item_local_size(d))
#define get_global_size(d) (sg_item_global_size(d))
#define get_global_id(d) (get_group_id(d) * get_local_size(d) + get_local_id(d))

#define BARRIER() sg_item_barrier()
#define STATIC_LDS(type, name, count)                                                                        \
    type *name = sg_item_lds(0, sizeof(type) * (count));                                                     \
    if (!name)                                                                                               \
    return
#define DYNAMIC_LDS(type, name, count)                                                                       \
    type *name = sg_item_lds(sg_item.lds_static, sizeof(type) * (uint64_t)(count));                          \
    if (!name)                                                                                               \
    return
#define LDS_ARGUMENT(type, name) struct sg_lds_pointer name##_argument
#define USE_LDS_ARGUMENT(type, name, count)                                                                  \
    type *name = sg_item_lds(name##_argument.offset, sizeof(type) * (uint64_t)(count));                      \
    if (!name)                                                                                               \
    return
#define VARIABLE(type, name, ...) _Static_assert(sizeof(#name) > 1, "lives in the code object")
#define POINTER_TO(type, name) ((type *)sg_item_global(#name))
#define ATOMIC_ADD(pointer, value) __atomic_fetch_add(pointer, value, __ATOMIC_RELAXED)
#define ATOMIC_MAX(pointer, value) sg_item_atomic_max(pointer, value)
#define LANE_ID() (sg_item.flat_local % sg_item.wave_size)
#define WAVE_SIZE() (sg_item.wave_size)
#define DISPATCH_POINTER(type) ((const type *)sg_item.packet)

static inline void sg_item_atomic_max(uint32_t *pointer, uint32_t value)
{
    uint32_t seen = __atomic_load_n(pointer, __ATOMIC_RELAXED);

    while (seen < value &&
           !__atomic_compare_exchange_n(pointer, &seen, value, 1, __ATOMIC_RELAXED, __ATOMIC_RELAXED))
        ;
}

#endif
