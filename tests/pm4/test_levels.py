# SPDX-License-Identifier: Apache-2.0
"""Levels of a graph: the longest path of dispatches before each node."""

from __future__ import annotations

from functools import cache

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from .library import levels


@settings(max_examples=200, deadline=None)
@given(st.data())
def test_a_node_is_above_the_longest_path_to_it_whatever_the_numbering(data: st.DataObject) -> None:
    count = data.draw(st.integers(1, 30))
    number = data.draw(st.permutations(range(count)))
    pairs = data.draw(st.lists(st.tuples(*[st.integers(0, count - 1)] * 2), max_size=80))
    edges = [(number[min(pair)], number[max(pair)]) for pair in pairs if pair[0] != pair[1]]
    weight = data.draw(st.lists(st.integers(0, 3), min_size=count, max_size=count))

    @cache
    def longest(node: int) -> int:
        return max((longest(before) + weight[before] for before, after in edges if after == node), default=0)

    assert levels(count, edges, weight) == [longest(node) for node in range(count)]


def test_empty_nodes_order_without_taking_a_level() -> None:
    assert levels(5, [(0, 1), (1, 2), (2, 3), (0, 4)], [1, 0, 0, 1, 1]) == [0, 1, 1, 1, 1]


def test_a_fan_out_of_64_is_one_level() -> None:
    edges = [(0, node) for node in range(1, 65)] + [(node, 65) for node in range(1, 65)]
    assert levels(66, edges) == [0, *[1] * 64, 2]


@pytest.mark.parametrize(
    "edges", [[(0, 0)], [(0, 1), (1, 0)], [(0, 1), (1, 2), (2, 1)], [(0, 3)], [(3, 0)]], ids=str
)
def test_a_cycle_or_an_edge_to_no_node_has_no_levels(edges: list[tuple[int, int]]) -> None:
    assert levels(3, edges) is None


def test_levels_that_do_not_fit_are_refused() -> None:
    assert levels(3, [(0, 1), (1, 2)], [2**31, 2**31, 1]) is None


def test_no_nodes_have_no_levels() -> None:
    assert levels(0, []) == []


def test_a_chain_of_twenty_thousand_and_a_dense_layer_are_linear() -> None:
    chain = [(node, node + 1) for node in range(19_999)]
    assert levels(20_000, chain) == list(range(20_000))
    dense = [(left, 300 + right) for left in range(300) for right in range(300)]
    assert levels(600, dense) == [0] * 300 + [1] * 300
