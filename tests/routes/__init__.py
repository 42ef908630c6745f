# SPDX-License-Identifier: Apache-2.0
"""Ways for a call to come to HIP, and what else sees it: see routed.h."""
