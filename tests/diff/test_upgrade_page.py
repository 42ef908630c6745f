# SPDX-License-Identifier: Apache-2.0
"""docs/upgrade.md shows what the tool really prints, and its acknowledgements lead to the committed files."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from conftest import ROOT, nothing_said, real_library
from redline_codegen.diff.finding import RULES
from redline_codegen.policy import load_policy

from diff.upgrade_page import PAGE, RULE_LINES, acknowledge, day_before, printed, refreshed, rule_lines


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


def wrong_lines(rules: Mapping[str, str]) -> list[str]:
    """A sentence for each rule whose line on the page is missing, and for each line whose rule is."""
    table = RULE_LINES.search(PAGE.read_text())
    assert table, "docs/upgrade.md has no table of the diff's rules"
    there, wanted = table.group().splitlines(), rule_lines(rules).splitlines()
    missing = [f"docs/upgrade.md, Rules: add the line {line}" for line in wanted if line not in there]
    return missing + [
        f"docs/upgrade.md, Rules: no rule has the line {line}" for line in there if line not in wanted
    ]


def test_each_rule_of_the_diff_has_its_line_on_the_page() -> None:
    nothing_said(wrong_lines(RULES))


def test_a_new_rule_and_one_that_is_gone_are_named() -> None:
    rules = {"function-painted": "A function has another colour.", **RULES}
    del rules["soname-changed"]
    assert [line for line in wrong_lines(rules) if line not in wrong_lines(RULES)] == [
        "docs/upgrade.md, Rules: add the line | `function-painted` | A function has another colour. |",
        "docs/upgrade.md, Rules: no rule has the line | `soname-changed` | The library has another soname. |",
    ]
