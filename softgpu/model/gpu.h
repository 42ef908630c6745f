/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One software GPU: its queues and the command processor thread that walks them. The command processor never
 * waits for one queue: a queue that cannot go on says so and the next one is looked at, so queues progress
 * independently.
 *
 * Threads: callbacks of libhsakmt come on application threads and take `lock`; everything else that touches a
 * queue runs on the command processor while it holds `lock`; jobs run on workers and touch only themselves.
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
    int index; /* GPU 0 is topology node 1 */
    char gfx[16];
    unsigned major; /* 10, 11, 12 */
    uint8_t *aperture;
    sg_set_event_fn set_event;
    void *event_data;
    pthread_mutex_t lock;
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

static inline void sg_pass_note(struct sg_pass *pass, enum sg_progress progress)
{
    if (progress > pass->progress)
        pass->progress = progress;
}

static inline void sg_pass_wake(struct sg_pass *pass, uint64_t ns)
{
    if (ns && (!pass->wake_ns || ns < pass->wake_ns))
        pass->wake_ns = ns;
}

struct sg_queue_class {
    void (*step)(struct sg_queue *queue, struct sg_pass *pass);
    bool (*busy)(const struct sg_queue *queue); /* a worker still runs something of it */
    void (*free)(struct sg_queue *queue);
};

struct sg_queue {
    const struct sg_queue_class *class;
    struct sg_gpu *gpu;
    struct sg_queue *next;
    unsigned id; /* process-wide, in order of creation; what traces and reports say */
    uint8_t *ring;
    uint64_t ring_bytes;
    _Atomic uint64_t *write_pointer, *read_pointer;
    struct sg_hsa_queue *hsa; /* of a compute queue; NULL of a copy engine */
    uint64_t random;          /* delay sequence of this queue */
    bool failed;
    bool lost;      /* its own memory is gone, as when a process ends without destroying it */
    int64_t raised; /* error that was put into the queue's inactive signal, 0 for none */
    uint64_t raised_ns;
    _Atomic bool cancelled; /* being destroyed: kernels that wait for memory give up */
};

struct sg_queue *sg_aql_new(const struct sg_model_queue_info *info, struct sg_gpu *gpu);
struct sg_queue *sg_sdma_new(const struct sg_model_queue_info *info, struct sg_gpu *gpu);

/* Next delay of the queue, in nanoseconds, uniform in `range`. */
uint64_t sg_queue_delay(struct sg_queue *queue, struct sg_range range);

/* Values of a queue's inactive signal, by which ROCr's handler tells one queue error from another. */
enum sg_queue_error {
    SG_ERROR_NONE = 0,
    SG_ERROR_DIMENSIONS = 2,
    SG_ERROR_GROUP_MEMORY = 4,
    SG_ERROR_CODE = 8,
    SG_ERROR_PACKET = 32,
    SG_ERROR_GROUP_SIZE = 64,
    SG_ERROR_MEMORY = 0x20000000,
};

/* Prints one report, marks the queue as failed and raises `error` as hardware does, in the queue's inactive
 * signal; a copy engine has none, so its error stops all compute queues of the GPU. Once per queue; `lock` is
 * held. */
void sg_queue_fail(struct sg_queue *queue, uint64_t index, enum sg_queue_error error, const char *text);

/* The application has been told (its error callback has returned) or does not listen: whoever waits for the
 * failed queue may go on. */
bool sg_queue_told(const struct sg_queue *queue);

/* The completion protocol of amd_signal_t: times, value, then mailbox and event, which are read before the
 * value changes because the waiter may free the signal at once. `error` nonzero stores that negative value
 * instead. */
void sg_signal_complete(struct sg_gpu *gpu, uint64_t handle, uint64_t start_ns, uint64_t end_ns,
                        int64_t error);
int64_t sg_signal_value(uint64_t handle);

#endif
