/* SPDX-License-Identifier: Apache-2.0 */
#include "kernel.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "host.h"
#include "memory.h"

enum { MAX_LDS = 64 * 1024, MAX_WORKGROUP = 1024, SHADER_ARGUMENT_BYTES = 96 };

static uint64_t variable(void *context, const char *name)
{
    const struct sg_kernel_job *job = context;

    return sg_host_variable(job->object, name);
}

static bool cancelled(void *context)
{
    const struct sg_kernel_job *job = context;

    return job->cancelled && atomic_load(job->cancelled);
}

static void run(struct sg_job *job)
{
    struct sg_kernel_job *kernel = (struct sg_kernel_job *)job;

    job->failed = sg_twin_run(&kernel->dispatch, job->error, sizeof job->error) != 0;
}

static void prepare(struct sg_kernel_job *job, uint64_t object)
{
    job->job.run = run;
    job->object = object;
    job->dispatch.kernel = job->name;
    job->dispatch.global = variable;
    job->dispatch.global_context = job;
    job->dispatch.cancelled = cancelled;
    job->dispatch.cancelled_context = job;
}

/* Name and sizes of the kernel whose descriptor is at `object`. */
static enum sg_queue_error identify(struct sg_kernel_job *job, uint64_t object,
                                    const struct sg_kernel_descriptor **out, char *text, size_t size)
{
    struct sgp_kernel kernel;
    char place[256];

    prepare(job, object);
    if (!object || object % 64 || !sg_memory_allows(object, sizeof **out, false)) {
        sg_memory_describe(object, place, sizeof place);
        snprintf(text, size, "kernel object 0x%" PRIx64 " is no kernel descriptor in GPU memory: %s", object,
                 place);
        return SG_ERROR_CODE;
    }
    *out = (const struct sg_kernel_descriptor *)object;
    if (!sg_host_kernel(object, &kernel)) {
        snprintf(text, size, "kernel object 0x%" PRIx64 " belongs to no loaded executable", object);
        return SG_ERROR_CODE;
    }
    snprintf(job->name, sizeof job->name, "%s", kernel.name);
    job->dispatch.kernarg_size = kernel.kernarg_bytes ? kernel.kernarg_bytes : (*out)->kernarg_bytes;
    job->dispatch.wave_size = (*out)->properties & SG_KERNEL_WAVE32 ? 32 : 64;
    if (sg_twin_known(job->name))
        return SG_ERROR_NONE;
    snprintf(text, size, "kernel %s has no native twin, so the software GPU cannot run it", job->name);
    return SG_ERROR_CODE;
}

static enum sg_queue_error check_shape(const struct sg_kernel_job *job, char *text, size_t size)
{
    const struct sg_dispatch *d = &job->dispatch;
    uint64_t items = (uint64_t)d->workgroup[0] * d->workgroup[1] * d->workgroup[2];

    if (!d->grid[0] || !d->grid[1] || !d->grid[2]) {
        snprintf(text, size, "kernel %s: empty grid %ux%ux%u", job->name, d->grid[0], d->grid[1], d->grid[2]);
        return SG_ERROR_DIMENSIONS;
    }
    if (!items || items > MAX_WORKGROUP) {
        snprintf(text, size, "kernel %s: work-group %ux%ux%u has no or more than %d work-items", job->name,
                 d->workgroup[0], d->workgroup[1], d->workgroup[2], MAX_WORKGROUP);
        return SG_ERROR_GROUP_SIZE;
    }
    if (d->lds_bytes > MAX_LDS) {
        snprintf(text, size, "kernel %s: %u bytes of LDS, the hardware has %d", job->name, d->lds_bytes,
                 MAX_LDS);
        return SG_ERROR_GROUP_MEMORY;
    }
    if (d->kernarg_size && !sg_memory_allows((uint64_t)d->kernarg, d->kernarg_size, false)) {
        char place[256];

        sg_memory_describe((uint64_t)d->kernarg, place, sizeof place);
        snprintf(text, size, "kernel %s: its %zu argument bytes at 0x%" PRIx64 " are not GPU memory: %s",
                 job->name, d->kernarg_size, (uint64_t)d->kernarg, place);
        return SG_ERROR_MEMORY;
    }
    return SG_ERROR_NONE;
}

/* True when the packet is one of ROCr's own shaders, which have no symbol; fills the job. */
static bool is_rocr_shader(struct sg_kernel_job *job, const struct sg_packet_dispatch *packet)
{
    struct sgp_kernel known;

    if (sg_host_kernel(packet->kernel_object, &known) ||
        !sg_memory_mapped(packet->kernarg, SHADER_ARGUMENT_BYTES))
        return false;
    const char *name = sg_twin_rocr_shader((const void *)packet->kernarg, SHADER_ARGUMENT_BYTES,
                                           job->dispatch.grid);

    if (!name)
        return false;
    prepare(job, packet->kernel_object);
    snprintf(job->name, sizeof job->name, "%s", name);
    job->dispatch.kernarg_size = SHADER_ARGUMENT_BYTES;
    job->dispatch.wave_size = 64;
    return true;
}

enum sg_queue_error sg_kernel_from_packet(struct sg_kernel_job *job, const struct sg_packet_dispatch *packet,
                                          const void *packet_address, char *text, size_t size)
{
    const struct sg_kernel_descriptor *descriptor;
    unsigned dimensions = packet->setup & 3;

    for (int i = 0; i < 3; i++) {
        job->dispatch.workgroup[i] = packet->workgroup[i];
        job->dispatch.grid[i] = packet->grid[i];
        if (i >= (int)dimensions && (packet->grid[i] > 1 || packet->workgroup[i] > 1)) {
            snprintf(text, size, "dispatch of %u dimensions with size %u in dimension %d", dimensions,
                     packet->grid[i], i);
            return SG_ERROR_DIMENSIONS;
        }
        if (i >= (int)dimensions)
            job->dispatch.workgroup[i] = job->dispatch.grid[i] = 1;
    }
    if (!dimensions || packet->setup >> 2) {
        snprintf(text, size, "dispatch with setup 0x%04x: dimensions must be 1 to 3, other bits zero",
                 packet->setup);
        return SG_ERROR_DIMENSIONS;
    }
    job->dispatch.kernarg = (const void *)packet->kernarg;
    job->dispatch.lds_bytes = packet->group_bytes;
    job->dispatch.scratch_bytes = packet->private_bytes;
    job->dispatch.dispatch_packet = packet_address;
    job->dispatch.dispatch_id = job->index;
    if (is_rocr_shader(job, packet))
        return check_shape(job, text, size);
    enum sg_queue_error error = identify(job, packet->kernel_object, &descriptor, text, size);

    if (error)
        return error;
    if (packet->group_bytes < descriptor->group_bytes) {
        snprintf(text, size, "kernel %s needs %u bytes of LDS, the packet gives %u", job->name,
                 descriptor->group_bytes, packet->group_bytes);
        return SG_ERROR_GROUP_MEMORY;
    }
    if (packet->private_bytes < descriptor->private_bytes) {
        snprintf(text, size, "kernel %s needs %u bytes of scratch a work-item, the packet gives %u",
                 job->name, descriptor->private_bytes, packet->private_bytes);
        return SG_ERROR_PACKET;
    }
    return check_shape(job, text, size);
}

enum sg_queue_error sg_kernel_from_pm4(struct sg_kernel_job *job, const struct sg_pm4_dispatch *dispatch,
                                       char *text, size_t size)
{
    const struct sg_kernel_descriptor *descriptor;
    enum sg_queue_error error = identify(job, dispatch->descriptor, &descriptor, text, size);

    if (error)
        return error;
    for (int i = 0; i < 3; i++) {
        uint64_t items = (uint64_t)dispatch->groups[i] * dispatch->workgroup[i];

        if (items > UINT32_MAX) {
            snprintf(text, size, "kernel %s: %u groups of %u work-items", job->name, dispatch->groups[i],
                     dispatch->workgroup[i]);
            return SG_ERROR_DIMENSIONS;
        }
        job->dispatch.workgroup[i] = dispatch->workgroup[i];
        job->dispatch.grid[i] = (uint32_t)items;
    }
    job->dispatch.kernarg = (const void *)dispatch->kernarg;
    job->dispatch.lds_bytes = dispatch->lds_bytes;
    job->dispatch.scratch_bytes = descriptor->private_bytes;
    job->dispatch.wave_size = dispatch->wave_size;
    job->dispatch.dispatch_packet = (const void *)dispatch->dispatch_packet;
    job->dispatch.dispatch_id = dispatch->dispatch_id;
    return check_shape(job, text, size);
}

void sg_kernel_trace(const struct sg_kernel_job *job, struct sg_trace_dispatch *out)
{
    *out = (struct sg_trace_dispatch){
        .kernel = job->name,
        .grid = job->dispatch.grid,
        .workgroup = job->dispatch.workgroup,
        .lds_bytes = job->dispatch.lds_bytes,
        .scratch_bytes = job->dispatch.scratch_bytes,
        .kernarg_bytes = (uint32_t)job->dispatch.kernarg_size,
    };
    if (sg_trace_on() && job->dispatch.kernarg_size &&
        sg_memory_mapped((uint64_t)job->dispatch.kernarg, job->dispatch.kernarg_size)) {
        out->hashed = true;
        out->kernarg_hash = sg_trace_hash(job->dispatch.kernarg, job->dispatch.kernarg_size);
    }
}

void sg_kernel_report(const struct sg_kernel_job *job, char *text, size_t size)
{
    char place[256];

    if (!job->job.fault) {
        snprintf(text, size, "kernel %s: %s", job->name, job->job.error);
        return;
    }
    sg_memory_describe(job->job.fault, place, sizeof place);
    snprintf(text, size, "kernel %s: %s at 0x%" PRIx64 ": %s", job->name, job->job.error, job->job.fault,
             place);
}
