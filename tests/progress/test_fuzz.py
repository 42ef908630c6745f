# SPDX-License-Identifier: Apache-2.0
"""Random work of 2 to 8 threads over streams of all kinds ends, and every number in memory is right (fuzz.c).

A few seeds run with the other tests; with `make stress` new ones follow until STRESS_SECONDS are over.
"""

from __future__ import annotations

import os
import time
from itertools import count
from pathlib import Path

import pytest
from engine.replay import LIBRARY, needs_hip
from progress.running import MODES, TARGETS, build, finished

pytestmark = needs_hip

SHORT, LONG = "120", "400"  # operations of each thread
SEEDS = range(1, 7)
FIRST_STRESSED = 1000


@pytest.fixture(scope="session")
def fuzz(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build("fuzz", tmp_path_factory.mktemp("fuzz"))


def verdict(fuzz: Path, seed: int, steps: str, library: Path | None = LIBRARY) -> str:
    """What the run printed at its end, with a digest of all memory; everything else follows from the seed."""
    mode = list(MODES)[seed // 2 % len(MODES)]
    return finished(
        fuzz,
        str(seed),
        str(2 + seed % 7),
        steps,
        options=("--gfx", TARGETS[seed % len(TARGETS)], *MODES[mode], "--seed", str(seed)),
        settings={"GPU_MAX_HW_QUEUES": str(1 + seed % 4)},
        library=library,
    ).verdict


@pytest.mark.parametrize("seed", SEEDS)
def test_random_threads_end_with_the_right_numbers(fuzz: Path, seed: int) -> None:
    verdict(fuzz, seed, SHORT)


@pytest.mark.parametrize("seed", SEEDS[:2])
def test_memory_is_left_as_without_the_library(fuzz: Path, seed: int) -> None:
    assert verdict(fuzz, seed, SHORT) == verdict(fuzz, seed, SHORT, library=None)


@pytest.mark.stress
def test_random_threads_end_for_as_long_as_one_likes(fuzz: Path) -> None:
    until = time.monotonic() + float(os.environ.get("STRESS_SECONDS", "2"))
    for seed in count(int(os.environ.get("STRESS_SEED", FIRST_STRESSED))):
        verdict(fuzz, seed, LONG)
        if time.monotonic() > until:
            return
