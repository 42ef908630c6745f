# SPDX-License-Identifier: Apache-2.0
"""The Makefile's promises to somebody who has just cloned."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from conftest import ROOT


@pytest.mark.parametrize("target", ["generate", "check", "test", "demo", "rocm", "stress", "bench"])
def test_a_target_that_needs_the_virtual_environment_creates_it(target: str, tmp_path: Path) -> None:
    command = ["make", "--dry-run", "--no-print-directory", f"VENV={tmp_path / 'venv'}", target]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    assert f"-m venv {tmp_path / 'venv'}" in done.stdout
