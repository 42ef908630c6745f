# SPDX-License-Identifier: Apache-2.0
"""What the records say about graphs, captures, HIP's answers and our own calls: see the head of each program."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

from runtime.whole import HERE, Programs


@pytest.fixture(scope="module")
def programs(tmp_path_factory: pytest.TempPathFactory) -> Programs:
    return Programs(tmp_path_factory.mktemp("whole"), "-DRL_FAULT_INJECTION")


def checks(program: str) -> list[str]:
    """Names in the program's table."""
    text = (HERE / f"{program}.c").read_text()
    return re.findall(r'\{ "(\w+)", check_', text[text.index("RUN_CHECKS(") :])


@pytest.mark.parametrize(
    ("program", "check"),
    [
        pytest.param(program, check, id=f"{program.removesuffix('_checks')}-{check}")
        for program in ("object_checks", "capture_checks", "answer_checks", "own_call_checks")
        for check in checks(program)
    ],
)
def test_behaviour(programs: Programs, program: str, check: str) -> None:
    """Each check names the public cases that it stands for; docs/cases.md explains them."""
    path: Path = programs.build(program)
    done = subprocess.run([str(path), check], capture_output=True, text=True, timeout=60, check=False)
    assert (done.returncode, done.stderr, done.stdout) == (0, "", "")
