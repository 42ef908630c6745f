# SPDX-License-Identifier: Apache-2.0
"""The binding proof over real libraries; see proof.py."""
