# SPDX-License-Identifier: Apache-2.0
"""Whatever stands in a buffer, the executor ends and touches no memory that it was not given."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from softgpu.pm4_lib import ROOT, SOURCES


@pytest.fixture(scope="module")
def fuzzer(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The fuzz program under the address and undefined-behaviour sanitizers."""
    output = tmp_path_factory.mktemp("pm4") / "pm4_fuzz"
    flags = ["-std=gnu11", "-O1", "-g", "-Wall", "-Wextra", "-Werror", "-fno-sanitize-recover"]
    sources = [*map(str, SOURCES), str(Path(__file__).with_name("pm4_fuzz.c"))]
    sanitizers = "-fsanitize=address,undefined"
    command = ["gcc", *flags, sanitizers, f"-I{ROOT / 'softgpu'}", *sources, "-o", str(output)]
    subprocess.run(command, check=True, timeout=120)
    return output


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_random_buffers_neither_crash_nor_run_for_ever(fuzzer: Path, seed: int) -> None:
    run = subprocess.run(
        [str(fuzzer), str(seed), "4000"], capture_output=True, text=True, timeout=120, check=False
    )
    assert run.returncode == 0, run.stderr
    counts = [int(part.split()[1]) for part in run.stdout.split(",")]
    assert sum(counts) == 4000
    assert all(counts), "some end, some wait, some fail: otherwise the fuzzer does not reach deep enough"
