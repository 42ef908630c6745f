/*
 * One software GPU: its queues and the command processor thread that walks them. The command processor never waits for
 * one queue: a queue that cannot go on says so and the next one is looked at, so queues progress independently.
 *
 * Threads: callbacks of libhsakmt come on application threads and take `lock`; everything else that touches a queue
 * runs on the command processor while it holds `lock`; jobs run on workers and touch only themselves.
 */
#ifndef SOFTGPU_MODEL_GPU_H
#define SOFTGPU_MODEL_GPU_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "abi.h"
#include "options.h"

struct sg_queue;

struct sg_gpu {
    int index;                           /* GPU 0 is topology node 1 */
    char gfx[16];
    unsigned major;                      /* 10, 11, 12 */
    uint8_t *aperture;
    sg_set_event_fn set_event;
    void *event_data;
    pthread_mutex_t lock;
    _Atomic int in_callback;             /* a callback of libhsakmt waits for `lock` or holds it */
    struct sg_queue *queues;
    bool running;
    struct sg_gpu *next;
};

enum sg_progress { SG_IDLE, SG_BLOCKED, SG_MOVED };

/* What a pass over a queue found. `wake_ns`: look again after so long at the latest (0: no wish). */
struct sg_pass {
    enum sg_progress progress;
    uint64_t wake_ns;
};

struct sg_queue_class {
    void (*step)(struct sg_queue *queue, struct sg_pass *pass);
    bool (*busy)(const struct sg_queue *queue);      /* a worker still runs something of it */
    void (*free)(struct sg_queue *queue);
};

struct sg_queue {
    const struct sg_queue_class *class;
    struct sg_gpu *gpu;
    struct sg_queue *next;
    unsigned id;                         /* process-wide, in order of creation; what traces and reports say */
    uint8_t *ring;
    uint64_t ring_bytes;
    _Atomic uint64_t *write_pointer, *read_pointer;
    uint64_t hsa;                        /* hsa_queue_t of a compute queue, 0 of a copy engine */
    uint64_t random;                     /* delay sequence of this queue */
    bool failed;
    _Atomic bool told;                   /* the application knows; only then do waiters of a failed queue go on */
    _Atomic bool cancelled;              /* being destroyed: kernels that wait for memory give up */
};

struct sg_queue *sg_aql_new(const struct sg_model_queue_info *info, struct sg_gpu *gpu);
struct sg_queue *sg_sdma_new(const struct sg_model_queue_info *info, struct sg_gpu *gpu);

/* Next delay of the queue, in nanoseconds, uniform in `range`. */
uint64_t sg_queue_delay(struct sg_queue *queue, struct sg_range range);

/* Prints one report, marks the queue as failed and tells the application `status` (hsa_status_t) through the error
 * callback of this queue, or of another one of the GPU when this one has none. Once per queue; `lock` is held. */
void sg_queue_fail(struct sg_queue *queue, uint64_t index, int status, const char *text);

enum sg_status {
    SG_STATUS_APERTURE_VIOLATION = 0x29,
    SG_STATUS_ERROR = 0x1000,
    SG_STATUS_INVALID_ARGUMENT = 0x1001,
    SG_STATUS_INVALID_ALLOCATION = 0x1003,
    SG_STATUS_INVALID_PACKET = 0x1009,
    SG_STATUS_INCOMPATIBLE_ARGUMENTS = 0x100d,
    SG_STATUS_INVALID_CODE_OBJECT = 0x1010,
};

/* The completion protocol of amd_signal_t: times, value, then mailbox and event, which are read before the value
 * changes because the waiter may free the signal at once. `error` nonzero stores that negative value instead. */
void sg_signal_complete(struct sg_gpu *gpu, uint64_t handle, uint64_t start_ns, uint64_t end_ns, int64_t error);
int64_t sg_signal_value(uint64_t handle);


#endif
