# SPDX-License-Identifier: Apache-2.0
"""A project of its own for each test, and comparisons of committed snapshots as short names.

What policies.yaml acknowledges is left out everywhere, so that the tests pass before and after an upgrade.
"""

from __future__ import annotations

import re
import shutil
from collections.abc import Callable
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from conftest import ROOT
from redline_codegen.diff.compare import Comparison, compare
from redline_codegen.diff.finding import Finding
from redline_codegen.diff.sides import Side
from redline_codegen.model import Api, Part
from redline_codegen.policy import Policy, load_policy
from redline_codegen.snapshot import read_snapshot

Edit = Callable[[Part], dict[str, Any]]


@cache
def snapshot(release: str) -> Api:
    return read_snapshot(ROOT / "api" / f"rocm-{release}.json")


@cache
def policy() -> Policy:
    return replace(load_policy(ROOT / "policies.yaml"), acknowledged=())


def policy_text(acknowledged: str = "acknowledged: []\n") -> str:
    """policies.yaml with another last section."""
    text = (ROOT / "policies.yaml").read_text()
    return re.sub(r"^acknowledged:.*\Z", lambda _: acknowledged, text, flags=re.MULTILINE | re.DOTALL)


def without_entries(*names: str) -> Policy:
    return replace(policy(), entries={n: e for n, e in policy().entries.items() if n not in names})


def edited(api: Api, edit: Edit, part: str = "hip") -> Api:
    """The API with some fields of one part replaced by what `edit` makes of it."""
    return replace(api, parts={**api.parts, part: replace(api.parts[part], **edit(api.parts[part]))})


def compared(old: Api, new: Api, given: Policy | None = None, everything: bool = False) -> Comparison:
    return compare(Side(old, "old"), Side(new, "new"), given or policy(), ROOT, everything)


def found(comparison: Comparison, *rules: str, part: str = "hip") -> dict[str, Finding]:
    return {f.entity: f for f in comparison.findings if f.rule in rules and f.part == part}


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """What `diff` and `generate` read and write; it was generated from 7.2.4."""
    folder = tmp_path / "project"
    folder.mkdir()
    for name in ("api", "templates", "generated", "docs"):
        shutil.copytree(ROOT / name, folder / name)
    (folder / "policies.yaml").write_text(policy_text())
    return folder


@pytest.fixture
def made_from_643(project: Path) -> Path:
    """The project on the day before an upgrade."""
    header = project / "generated" / "hip_api.h"
    text = header.read_text()
    text = text.replace(
        f'RL_HIP_VERSION "{snapshot("7.2.4").hip_version}"',
        f'RL_HIP_VERSION "{snapshot("6.4.3").hip_version}"',
    )
    header.write_text(text.replace('RL_ROCM_RELEASE "7.2.4"', 'RL_ROCM_RELEASE "6.4.3"'))
    return project


@pytest.fixture(autouse=True)
def no_rocm_in_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("HIP_HEADER", "HIP_LIBRARY", "ROCM_PATH"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture(autouse=True)
def nothing_acknowledged_in_the_repository(monkeypatch: pytest.MonkeyPatch) -> None:
    def load(path: Path) -> Policy:
        return policy() if path == ROOT / "policies.yaml" else load_policy(path)

    monkeypatch.setattr("redline_codegen.diff.command.load_policy", load)
