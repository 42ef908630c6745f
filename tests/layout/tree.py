# SPDX-License-Identifier: Apache-2.0
"""What is wrong with the layout of a source tree, one sentence each.

The tree has rooms (folders) in an order from top to bottom. A file may include what is in its own room or below, a .c
and its .h count as one, and there is no circle between such pairs.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

INCLUDE = re.compile(r'^ *# *include +"([^"]+)"', re.MULTILINE)
# Headers of generated/, and who may include them; None: everybody.
GENERATED = {"hip_api.h": None, "hsa_api.h": None, "native_table.h": None, "handlers.h": "handlers"}
MOST_LINES = 600


def sources(tree: Path) -> dict[str, str]:
    """Path in the tree -> text of each C file."""
    paths = (path for path in tree.rglob("*") if path.suffix in (".c", ".h"))
    return {path.relative_to(tree).as_posix(): path.read_text() for path in sorted(paths)}


def rooms_of(readme: str) -> list[str]:
    """Rooms in the order of the rows of the README's table: | `room/` | ..."""
    return re.findall(r"^\| `(\w+)/` ", readme, re.MULTILINE)


def wrong(tree: Path, rooms: Sequence[str]) -> list[str]:
    files = sources(tree)
    return [*folders(tree, rooms), *lengths(files), *arrows(files, rooms), *circles(files)]


def folders(tree: Path, rooms: Sequence[str]) -> Iterator[str]:
    there = {path.name for path in tree.iterdir() if path.is_dir()}
    for room in sorted(there - set(rooms)):
        yield f"{room}/ has no row in the README's table of rooms"
    for room in sorted(set(rooms) - there):
        yield f"{room}/ is in the README's table of rooms and does not exist"
    for room in sorted(there):
        if not (tree / room / "README.md").is_file() and not (tree / room / f"{room}.h").is_file():
            yield f"{room}/ has neither a README.md nor a {room}.h that says what it is for"
        if any(path.is_dir() for path in (tree / room).iterdir()):
            yield f"{room}/ has folders of its own"


def lengths(files: dict[str, str]) -> Iterator[str]:
    for name, text in files.items():
        if text.count("\n") > MOST_LINES:
            yield f"{name} has {text.count(chr(10))} lines, more than {MOST_LINES}"


def arrows(files: dict[str, str], rooms: Sequence[str]) -> Iterator[str]:
    """Includes that are not spelled room/file.h, lead nowhere, or lead up."""
    for name, text in files.items():
        room = name.rpartition("/")[0]
        for header in INCLUDE.findall(text):
            to = header.rpartition("/")[0]
            if header in GENERATED:
                only = GENERATED[header]
                if only and room != only:
                    yield f"{name} includes {header}, which is for {only}/ alone"
            elif header not in files:
                yield f"{name} includes {header}, which is not the room/file.h of any file here"
            elif room and room in rooms and (not to or (to in rooms and rooms.index(to) < rooms.index(room))):
                yield f"{name} includes {header}: {to or 'the top'} is above {room}"


def circles(files: dict[str, str]) -> Iterator[str]:
    """One circle between files, if there is any."""
    graph: dict[str, set[str]] = {}
    for name, text in files.items():
        unit = name.rpartition(".")[0]
        uses = {header.rpartition(".")[0] for header in INCLUDE.findall(text) if header in files}
        graph.setdefault(unit, set()).update(uses - {unit})
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        yield f"circle of includes: {' -> '.join(reversed(error.args[1]))}"
