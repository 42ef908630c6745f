# SPDX-License-Identifier: Apache-2.0
"""Runs the programs of this folder, which end by themselves when a thread of theirs makes no progress."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from engine.replay import FIXTURES, LIBRARY, ROOT, Run, build_program, run

HERE = ROOT / "tests" / "progress"
HUNG = 86  # worker.h
SECONDS = 150  # far more than worker.h waits, so that the program has said which thread is stuck where
TARGETS = ("gfx1100", "gfx1201")
SLOW = ("--kernel-delay", "slow_set=200:800", "--kernel-delay", "slow_copy=200:800")
MODES: dict[str, tuple[str, ...]] = {
    "default": SLOW,
    "late": ("--delay-us", "20:400", *SLOW),
    "no-sdma": ("--sdma", "0", *SLOW),
    "no-sdma-late": ("--sdma", "0", "--delay-us", "20:400", *SLOW),
}


def build(name: str, folder: Path) -> Path:
    return build_program(HERE / f"{name}.c", folder / name)


def finished(
    program: Path,
    *arguments: str,
    options: tuple[str, ...] = (),
    settings: dict[str, str] | None = None,
    library: Path | None = LIBRARY,
) -> Run:
    """The run, which came to its end with status 0 and right numbers."""
    under = "under the preload" if library else "without the preload"
    try:
        done = run(
            program,
            *arguments,
            options=options,
            settings=FIXTURES | (settings or {}),
            library=library,
            seconds=SECONDS,
        )
    except subprocess.TimeoutExpired:
        pytest.fail(
            f"{program.name} {arguments} hangs {under}: not even its watchdog ended it in {SECONDS} s"
        )
    if done.status == HUNG:
        pytest.fail(f"{program.name} {arguments} hangs {under}; where its threads are:\n{done.said}")
    assert done.status == 0 and done.verdict.startswith(f"PASS {program.name}"), f"{under}: {done.said}"
    assert "softgpu:" not in done.said, f"{under}: {done.said}"
    return done
