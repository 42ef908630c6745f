# SPDX-License-Identifier: Apache-2.0
"""`redline-codegen diff`: what changed between two releases' APIs, in the terms of this product.

sides -> compare (functions, types, exports over one scope) -> findings -> acknowledge -> forms
"""
