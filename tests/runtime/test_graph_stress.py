# SPDX-License-Identifier: Apache-2.0
"""Eight threads over the whole runtime, with an allocator that hands out the address freed last."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from runtime.whole import Programs, require_sanitizer


def run_stress(folder: Path, sanitizer: str, threads: int, seconds: str) -> int:
    """Rounds made; fails on a report of the sanitizer, on a record of another object, and on one that is left."""
    flag = f"-fsanitize={sanitizer}"
    require_sanitizer(flag, folder)
    program = Programs(folder, flag, "-fno-sanitize-recover=all").build("graph_stress")
    command = [str(program), str(threads), seconds, "1"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=900, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    return int(done.stdout.split()[0])


@pytest.mark.stress
@pytest.mark.parametrize("sanitizer", ["thread", "address,undefined"])
def test_c044_threads_make_and_destroy_graphs_at_recycled_addresses(tmp_path: Path, sanitizer: str) -> None:
    assert run_stress(tmp_path, sanitizer, 8, os.environ.get("STRESS_SECONDS", "2")) > 100


def test_c041_the_whole_life_cycle_leaks_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ASAN_OPTIONS", "detect_leaks=1")
    assert run_stress(tmp_path, "address", 1, "0.2") > 10
