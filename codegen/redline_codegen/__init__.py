# SPDX-License-Identifier: Apache-2.0
"""Generator of libredline.so's shims: header -> model -> policy -> emitted files."""
