# SPDX-License-Identifier: Apache-2.0
"""Every emitted buffer passes the strict validator; single-bit mutants of one do not."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from . import golden
from .library import FAMILY_TARGETS, TARGETS, TRUSTED_CP, lower
from .strategies import program
from .validator import validate

CHAIN = [(0, 1), (0, 2), (0, 3), (1, 4), (2, 4), (4, 5)]


@pytest.mark.parametrize("gfx", TARGETS)
@pytest.mark.parametrize("version", [0, TRUSTED_CP])
def test_the_buffers_of_each_target_are_valid(gfx: str, version: int) -> None:
    assert validate(golden.program(gfx, version), CHAIN) == []


@pytest.mark.parametrize("gfx", FAMILY_TARGETS)
@settings(max_examples=15, deadline=None)
@given(st.data())
def test_buffers_of_random_graphs_are_valid(gfx: str, data: st.DataObject) -> None:
    kernels, dispatches, edges = data.draw(program(gfx))
    options = data.draw(
        st.fixed_dictionaries(
            {
                "system_entry": st.booleans(),
                "system_exit": st.booleans(),
                "cp_feature_version": st.sampled_from([0, TRUSTED_CP]),
            }
        )
    )
    assert validate(lower(gfx, kernels, dispatches, **options), edges) == []


@pytest.mark.parametrize("gfx", ["gfx1010", "gfx1103", "gfx1200"])
def test_single_bit_mutants_are_found(gfx: str) -> None:
    buffer = golden.program(gfx, 0)
    mutants = [(dword, bit) for dword in range(len(buffer.words)) for bit in range(32)]
    missed = [mutant for mutant in mutants if not validate(buffer.mutant(*mutant), CHAIN)]
    assert len(missed) <= len(mutants) // 20
    assert missed == []


def test_a_missing_dependency_is_found() -> None:
    buffer = golden.program("gfx1201")
    assert validate(buffer, [*CHAIN, (2, 3)]) == [
        "nothing separates dispatch 3 from dispatch 2, which it depends on"
    ]
