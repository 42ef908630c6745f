/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Jobs: work-groups and copies, run on worker threads so that command processors never wait. A job waits
 * until it is due, is given to a worker, and is done when the worker has left it. The pool grows while all
 * workers are busy (a kernel may spin until another queue lets it go) and never blocks the submitter.
 */
#ifndef SOFTGPU_MODEL_WORK_H
#define SOFTGPU_MODEL_WORK_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

enum sg_job_state { SG_JOB_WAITING, SG_JOB_RUNNING, SG_JOB_DONE };

struct sg_job {
    void (*run)(struct sg_job *job); /* on a worker; guarded against faults, may set `failed` and `error` */
    struct sg_job *next;
    uint64_t due_ns, start_ns, end_ns;
    _Atomic int state; /* enum sg_job_state; DONE is stored with release */
    bool failed;
    uint64_t fault; /* faulting address, 0 when it did not fault */
    char error[512];
};

/* Gives the job to a worker when it is due; caller: the command processor that owns it. Returns nanoseconds
 * until then, 0 when it has been given away. The job fails when not one thread can be had. */
uint64_t sg_work_advance(struct sg_job *job, uint64_t now_ns);

/* Command processors sleep here: at most `ns`, or until something happens after `seen` was read. */
uint32_t sg_work_pulse(void);
void sg_work_sleep(uint32_t seen, uint64_t ns);
void sg_work_kick(void);

/* After fork, in the child: no worker exists. */
void sg_work_forget(void);

/* Starts a thread that takes no signals of the application. */
int sg_thread_start(void *(*function)(void *), void *argument, const char *name);

#endif
