# SPDX-License-Identifier: Apache-2.0
# Tables of the PM4 executor. Included by the top Makefile.

# The table is committed; this rewrites it from its sources. 77: the wheel it reads cannot be had, nothing was done.
.PHONY: pm4-tables
pm4-tables:
	@python3 softgpu/pm4/tables/generate.py || [ $$? -eq 77 ]
