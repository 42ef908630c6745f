# SPDX-License-Identifier: Apache-2.0
"""A small project of its own for tests that change inputs: real templates and policy, copied snapshots."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from conftest import ROOT


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A copy of what `generate` reads and writes, with no build folder beside it."""
    folder = tmp_path / "project"
    folder.mkdir()
    for name in ("api", "templates", "generated", "docs"):
        shutil.copytree(ROOT / name, folder / name)
    shutil.copy(ROOT / "policies.yaml", folder)
    return folder


@pytest.fixture(autouse=True)
def no_rocm_in_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("HIP_HEADER", "HIP_LIBRARY", "ROCM_PATH"):
        monkeypatch.delenv(name, raising=False)
