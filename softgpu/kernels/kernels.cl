/* SPDX-License-Identifier: Apache-2.0 */
/* All kernels of kernels.co: one translation unit, since a code object's metadata is one note. */
#include "basic.cl"
#include "arguments.cl"
#include "sizes.cl"
#include "lds.cl"
#include "atomics.cl"
#include "variables.cl"
#include "grid.cl"
#include "wave.cl"
#include "packet.cl"
#include "scratch.cl"
