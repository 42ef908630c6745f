# SPDX-License-Identifier: Apache-2.0
"""docs/upgrade.md shows what the tool really prints, and its acknowledgements lead to the committed files."""

from __future__ import annotations

from pathlib import Path

from conftest import ROOT, real_library
from redline_codegen.policy import load_policy

from diff.upgrade_page import PAGE, acknowledge, day_before, printed, refreshed


def test_page_shows_what_is_printed() -> None:
    """When this fails after a change of policy or tool: run diff.upgrade_page and read what it changed."""
    for release in ("6.4.3", "7.2.4"):
        real_library(release)
    assert refreshed(PAGE.read_text()) == PAGE.read_text()


def test_acknowledgements_of_the_page_let_generation_follow(tmp_path: Path) -> None:
    for release in ("6.4.3", "7.2.4"):
        real_library(release)
    day_before(tmp_path)
    acknowledge(PAGE.read_text(), tmp_path)
    assert load_policy(tmp_path / "policies.yaml").acknowledged
    text = printed(["generate"], tmp_path)
    assert text.startswith(
        "Read build/rocm/7.2.4/include/hip/hip_runtime_api.h of ROCm 7.2.4 (fetched by make rocm)."
    )
    for path in (ROOT / "generated").iterdir():
        assert (tmp_path / "generated" / path.name).read_text() == path.read_text()
