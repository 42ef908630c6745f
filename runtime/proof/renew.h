/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What HIP would submit for a graph of which only arguments have changed since a launch of it was proven.
 *
 * That is foretold only where nothing but a value is different: arguments of kernels at the top of the graph. What
 * stands in child graphs has to be what it was (HIP 7.2.4 keeps their arguments in an update and says success), and so
 * has everything where the proof could not tell nodes apart.
 *
 * Threads: any; nothing is kept.
 */
#ifndef REDLINE_RENEW_H
#define REDLINE_RENEW_H

#include "proof/prove.h"

/* The new values are written into what was seen. `generation`: rl_function_generation() before that launch. False:
 * another launch must be observed, and what was seen is of no use any more. */
bool rl_renew(const struct rl_topology *topology, unsigned generation, struct rl_observation *seen,
              const struct rl_proof *proof);

/* Whether a launch shows what was foretold: the same kernels for the same nodes, with the same arguments. */
bool rl_renew_was_right(const struct rl_observation *foretold, const struct rl_proof *of_it,
                        const struct rl_observation *seen, const struct rl_proof *proof);

#endif
