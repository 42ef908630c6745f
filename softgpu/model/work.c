/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include "work.h"

#include <linux/futex.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "clock.h"
#include "fault.h"
#include "host.h"

enum { MAX_WORKERS = 256, STACK = 1 << 20 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t ready = PTHREAD_COND_INITIALIZER;
static struct sg_job *first, **last = &first;
static int workers, idle, waiting;
static struct sgp_doorbell own_doorbell;

static struct sgp_doorbell *doorbell(void)
{
    struct sgp_doorbell *shared = sg_host_doorbell();

    return shared ? shared : &own_doorbell;
}

uint32_t sg_work_pulse(void)
{
    return atomic_load(&doorbell()->value);
}

void sg_work_kick(void)
{
    struct sgp_doorbell *bell = doorbell();

    atomic_fetch_add(&bell->value, 1);
    if (atomic_load(&bell->sleepers))
        syscall(SYS_futex, &bell->value, FUTEX_WAKE_PRIVATE, 1 << 30, NULL, NULL, 0);
}

void sg_work_sleep(uint32_t seen, uint64_t ns)
{
    struct sgp_doorbell *bell = doorbell();
    struct timespec time = { (time_t)(ns / 1000000000u), (long)(ns % 1000000000u) };

    atomic_fetch_add(&bell->sleepers, 1);
    syscall(SYS_futex, &bell->value, FUTEX_WAIT_PRIVATE, seen, &time, NULL, 0);
    atomic_fetch_sub(&bell->sleepers, 1);
}

int sg_thread_start(void *(*function)(void *), void *argument, const char *name)
{
    sigset_t all, before;
    pthread_attr_t attributes;
    pthread_t thread;

    sigfillset(&all);
    sigdelset(&all, SIGSEGV);
    sigdelset(&all, SIGBUS);
    pthread_attr_init(&attributes);
    pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
    pthread_attr_setstacksize(&attributes, STACK);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    int result = pthread_create(&thread, &attributes, function, argument);

    if (!result)
        pthread_setname_np(thread, name);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    pthread_attr_destroy(&attributes);
    return result;
}

static void run(void *argument)
{
    struct sg_job *job = argument;

    job->run(job);
}

static void *work(void *argument)
{
    (void)argument;
    pthread_mutex_lock(&lock);
    for (;;) {
        idle++;
        while (!first)
            pthread_cond_wait(&ready, &lock);
        idle--;
        struct sg_job *job = first;

        first = job->next;
        if (!first)
            last = &first;
        waiting--;
        pthread_mutex_unlock(&lock);
        job->start_ns = sg_now_ns();
        sg_fault_prepare();
        int number = sg_fault_guard(run, job, &job->fault);

        if (number) {
            job->failed = true;
            snprintf(job->error, sizeof job->error, "%s", number == SIGBUS ? "bus error" : "memory fault");
        }
        job->end_ns = sg_now_ns();
        atomic_store_explicit(&job->state, SG_JOB_DONE, memory_order_release);
        sg_work_kick();
        pthread_mutex_lock(&lock);
    }
    return NULL;
}

static void submit(struct sg_job *job)
{
    atomic_store(&job->state, SG_JOB_RUNNING);
    job->next = NULL;
    pthread_mutex_lock(&lock);
    if (waiting >= idle && workers < MAX_WORKERS && !sg_thread_start(work, NULL, "softgpu-worker"))
        workers++;
    if (workers) {
        *last = job;
        last = &job->next;
        waiting++;
        pthread_cond_signal(&ready);
    } else {
        job->failed = true;
        snprintf(job->error, sizeof job->error, "no thread can be had to run it");
        atomic_store(&job->state, SG_JOB_DONE);
    }
    pthread_mutex_unlock(&lock);
}

uint64_t sg_work_advance(struct sg_job *job, uint64_t now_ns)
{
    if (atomic_load(&job->state) != SG_JOB_WAITING)
        return 0;
    if (job->due_ns > now_ns)
        return job->due_ns - now_ns;
    submit(job);
    return 0;
}

void sg_work_forget(void)
{
    pthread_mutex_init(&lock, NULL);
    pthread_cond_init(&ready, NULL);
    first = NULL;
    last = &first;
    workers = idle = waiting = 0;
}
