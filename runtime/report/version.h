/* SPDX-License-Identifier: Apache-2.0 */
#ifndef REDLINE_VERSION_H
#define REDLINE_VERSION_H

#define RL_VERSION "0.1.0" /* a test keeps it equal to pyproject.toml's */

#endif
