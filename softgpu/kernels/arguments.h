/* SPDX-License-Identifier: Apache-2.0 */
/* A struct argument with holes and an array, the same bytes for kernel, twin and application. */
#ifndef SOFTGPU_ARGUMENTS_H
#define SOFTGPU_ARGUMENTS_H

struct polynomial {
    unsigned char degree;
    unsigned long bias;
    unsigned short step;
    unsigned int coefficient[4];
};

#endif
