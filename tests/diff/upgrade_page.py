# SPDX-License-Identifier: Apache-2.0
"""Refreshes docs/upgrade.md: a block that begins with `$ command` gets what the command prints now, the table of
rules what the tool has.

    PYTHONPATH=tests python -m diff.upgrade_page

The day is the one before the upgrade: a project generated from 6.4.3, with 7.2.4 in build/rocm.
"""

from __future__ import annotations

import contextlib
import io
import os
import re
import shutil
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path

from redline_codegen.cli import main
from redline_codegen.diff.finding import RULES
from redline_codegen.emit import write_atomically

from diff.conftest import policy_text
from diff.parsed_once import parsed_once

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "upgrade.md"
OLD = "6.4.3"
COMMANDS = {
    "redline-codegen diff --notice": ["diff", "--notice"],
    "redline-codegen diff": ["diff"],
    "make generate": ["generate"],
    "redline-codegen diff --suggest": ["diff", "--suggest"],
}
ACKNOWLEDGED = re.compile(r"^```yaml\n(acknowledged:\n.*?)^```$", re.MULTILINE | re.DOTALL)
FOLLOWED = re.compile(
    r"(?<=^\$ redline-codegen diff \| tail -1\n).*?(?=^\$ make test$)", re.MULTILINE | re.DOTALL
)
RULE_LINES = re.compile(r"(?<=^\| rule \| what changed \|\n\|---\|---\|\n)(?:\|.*\n)*", re.MULTILINE)


def rule_lines(rules: Mapping[str, str] = RULES) -> str:
    return "".join(f"| `{rule}` | {sentence} |\n" for rule, sentence in rules.items())


def day_before(folder: Path) -> None:
    """Makes `folder` a project that was generated from the old release."""
    for name in ("api", "templates", "docs", "runtime"):
        shutil.copytree(ROOT / name, folder / name)
    (folder / "policies.yaml").write_text(policy_text())
    (folder / "build").mkdir()
    (folder / "build" / "rocm").symlink_to(ROOT / "build" / "rocm")
    printed(["generate", "--header", f"build/rocm/{OLD}/include"], folder)


def printed(arguments: list[str], folder: Path) -> str:
    """What the command prints, run in `folder`."""
    out, before = io.StringIO(), Path.cwd()
    os.chdir(folder)
    try:
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(out):
            main([*arguments, "--root", "."])
    finally:
        os.chdir(before)
    return out.getvalue()


def acknowledge(page: str, folder: Path) -> None:
    """Writes the page's acknowledgements into the policy."""
    found = ACKNOWLEDGED.search(page)
    assert found
    (folder / "policies.yaml").write_text(policy_text(found.group(1)))


def refreshed(page: str) -> str:
    with tempfile.TemporaryDirectory() as temporary, parsed_once():
        folder = Path(temporary)
        day_before(folder)
        for shown, arguments in COMMANDS.items():
            block = re.compile(rf"(?<=^```\n\$ {re.escape(shown)}\n).*?(?=^```$)", re.M | re.S)
            text = printed(arguments, folder)
            found = block.search(page)
            assert found, shown
            page = page[: found.start()] + text + page[found.end() :]
        acknowledge(page, folder)
        told = printed(["diff"], folder).splitlines(keepends=True)[-1]
        for shown, command in (("redline-codegen snapshot", "snapshot"), ("make generate", "generate")):
            told += f"$ {shown}\n{printed([command], folder)}"
        page = RULE_LINES.sub(lambda _: rule_lines(), page)
        return FOLLOWED.sub(lambda _: told, page)


if __name__ == "__main__":
    write_atomically(PAGE, refreshed(PAGE.read_text()))
    sys.exit(0)
