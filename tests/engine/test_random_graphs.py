# SPDX-License-Identifier: Apache-2.0
"""Random graphs: right in every word of every launch, and each of them replayed after its first launch.

A share of the two hundred runs with the other tests, another share on each target; all of them on all targets with
`make stress`.
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from engine.replay import FIXTURES, ROOT, TARGETS, build_program, needs_hip, run

pytestmark = needs_hip

GRAPHS = 200
AT_ONCE = 10
LAUNCHES = 10
# HIP 7.2.4 alone gets this one wrong: copies to the host that are still running are overtaken by the next launch.
WRONG_NATIVELY = {140}
MODES = {"default": (), "late": ("--delay-us", "20:400"), "no-sdma": ("--sdma", "0")}
SHARES = (
    [(gfx, mode, first) for gfx in TARGETS for mode in MODES for first in range(0, GRAPHS, AT_ONCE)]
    if "STRESS_SECONDS" in os.environ
    else [
        (gfx, list(MODES)[(t + i) % len(MODES)], (6 * t + 2 * i) * AT_ONCE)
        for t, gfx in enumerate(TARGETS)
        for i in range(2)
    ]
)


@pytest.fixture(scope="session")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("random")
    return build_program(ROOT / "tests" / "engine" / "random_graphs.c", folder / "random_graphs")


def check(program: Path, gfx: str, mode: str, first: int, count: int) -> None:
    ranges = [(first, count)]
    for seed in WRONG_NATIVELY:
        if first <= seed < first + count:
            ranges = [(first, seed - first), (seed + 1, first + count - seed - 1)]
    for start, length in ranges:
        if not length:
            continue
        options = ("--gfx", gfx, *MODES[mode])
        done = run(program, str(start), str(length), options=options, settings=FIXTURES, seconds=300)
        assert done.verdict == "PASS random_graphs" and done.status == 0, done.said
        assert "softgpu:" not in done.said, done.said
        assert len(done.execs) == length
        for one in done.execs:
            assert one["launches"] == {"native": 1, "replayed": LAUNCHES - 1}, one


@pytest.mark.stress
@pytest.mark.parametrize(("gfx", "mode", "first"), SHARES)
def test_random_graphs_are_right_and_replayed(program: Path, gfx: str, mode: str, first: int) -> None:
    check(program, gfx, mode, first, AT_ONCE)
