# SPDX-License-Identifier: Apache-2.0
"""runtime/ is in rooms, in the order in which a launch goes down through them; includes go down, never in a circle."""

from __future__ import annotations

from pathlib import Path

import pytest
from conftest import ROOT, nothing_said

from layout.tree import MOST_LINES, rooms_of, wrong

RUNTIME = ROOT / "runtime"
README = "| room | holds |\n| --- | --- |\n| `upper/` | what is above |\n| `lower/` | what is below |\n"
TREE = {
    "start.c": '#include "upper/top.h"\n#include "lower/ground.h"\n',
    "upper/README.md": "What is above.\n",
    "top.h": "",
    "upper/sky.h": "",
    "upper/top.h": '#include "hip_api.h"\n',
    "upper/top.c": '#include "upper/top.h"\n\n#include "lower/ground.h"\n#include <string.h>\n',
    "lower/lower.h": "/* What is below. */\n",
    "lower/ground.h": "",
    "lower/ground.c": '#include "lower/ground.h"\n#include "lower/lower.h"\n',
}


def complaints(folder: Path, tree: dict[str, str]) -> list[str]:
    for name, text in tree.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return wrong(folder, rooms_of(README))


def test_layout_of_the_runtime() -> None:
    rooms = rooms_of((RUNTIME / "README.md").read_text())
    assert len(rooms) > 1
    nothing_said(wrong(RUNTIME, rooms))


def test_layout_that_is_right_has_no_complaint(tmp_path: Path) -> None:
    assert complaints(tmp_path, TREE) == []


@pytest.mark.parametrize(
    ("file", "text", "told"),
    [
        (
            "lower/ground.c",
            '#include "upper/sky.h"\n',
            ["lower/ground.c includes upper/sky.h: upper is above lower"],
        ),
        ("lower/lower.h", '#include "top.h"\n', ["lower/lower.h includes top.h: the top is above lower"]),
        (
            "lower/lower.h",
            '#include "lower/ground.h"\n',
            ["circle of includes: lower/ground -> lower/lower -> lower/ground"],
        ),
        (
            "upper/top.c",
            '#include "sky.h"\n',
            ["upper/top.c includes sky.h, which is not the room/file.h of any file here"],
        ),
        (
            "lower/ground.h",
            '#include "handlers.h"\n',
            ["lower/ground.h includes handlers.h, which is for handlers/ alone"],
        ),
        ("upper/top.h", "\n" * (MOST_LINES + 1), ["upper/top.h has 601 lines, more than 600"]),
        (
            "cellar/wine.h",
            "",
            [
                "cellar/ has no row in the README's table of rooms",
                "cellar/ has neither a README.md nor a cellar.h that says what it is for",
            ],
        ),
        ("lower/deep/well.h", "", ["lower/ has folders of its own"]),
    ],
    ids=[
        "up",
        "to-the-top",
        "circle",
        "not-by-room",
        "not-for-all",
        "long",
        "unnamed-room",
        "room-in-a-room",
    ],
)
def test_what_is_wrong_with_a_layout_is_said(tmp_path: Path, file: str, text: str, told: list[str]) -> None:
    assert complaints(tmp_path, TREE | {file: text}) == told


def test_circle_through_a_header_and_a_source_of_several_files_is_found(tmp_path: Path) -> None:
    """No file includes itself again; the pairs of .c and .h do."""
    circle = {
        "lower/ground.c": '#include "lower/lower.h"\n',
        "lower/lower.c": '#include "lower/middle.h"\n',
        "lower/middle.h": '#include "lower/ground.h"\n',
    }
    told = complaints(tmp_path, TREE | circle)
    assert len(told) == 1 and told[0].startswith("circle of includes: ") and told[0].count(" -> ") == 3


def test_room_that_is_gone_is_said(tmp_path: Path) -> None:
    told = complaints(tmp_path, {name: text for name, text in TREE.items() if not name.startswith("lower")})
    assert "lower/ is in the README's table of rooms and does not exist" in told
