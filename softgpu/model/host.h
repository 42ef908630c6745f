/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The half of the software GPU that is preloaded below HIP (softgpu/preload), seen from the model library:
 * kernels of loaded executables, registered host memory, the doorbell word. The preload is found by symbol
 * look-up at run time; without it nothing is known and every answer is "no".
 */
#ifndef SOFTGPU_MODEL_HOST_H
#define SOFTGPU_MODEL_HOST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "../preload/preload.h"

void sg_host_bind(void);
bool sg_host_kernel(uint64_t kernel_object, struct sgp_kernel *kernel);
uint64_t sg_host_descriptor_of(uint64_t entry);
/* Address of a variable of the executable that holds the kernel, 0 if it has none of that name. */
uint64_t sg_host_variable(uint64_t kernel_object, const char *name);
bool sg_host_registered(uint64_t address, uint64_t size);
/* Word that changes with every doorbell rung through the HSA interface, or NULL. */
struct sgp_doorbell *sg_host_doorbell(void);

#endif
