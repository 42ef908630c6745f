# SPDX-License-Identifier: Apache-2.0
"""PM4 tables, encoder, decoder and lowering of the runtime."""
