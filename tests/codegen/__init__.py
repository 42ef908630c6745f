# SPDX-License-Identifier: Apache-2.0
"""The generator: parsing, snapshots, policy, emission, commands."""
