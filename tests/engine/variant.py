# SPDX-License-Identifier: Apache-2.0
"""The library without a rule: rules are marked in runtime/ where they are carried out.

A comment `/* rule: waits-are-waited-for */` behind the beginning of a statement, or alone on the line in front of it,
marks that statement, whatever it looks like and however long it is.
"""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Mapping
from pathlib import Path

from conftest import library_objects
from engine.replay import ROOT

RUNTIME = ROOT / "runtime"
CC = os.environ.get("CC", "cc")
FLAGS = ["-std=gnu11", "-O2", "-fPIC", "-fvisibility=hidden", "-w", f"-I{ROOT}/generated", f"-I{RUNTIME}"]
MARKER = re.compile(r"/\* rule: ([a-z0-9-]+) \*/")
NO_CODE = re.compile(r"/\*.*?\*/|\"(?:\\.|[^\"\\\n])*\"|'(?:\\.|[^'\\\n])*'", re.DOTALL)
CONTROL = re.compile(r"(?:if|for|while|switch)\b")
STATEMENT = "STATEMENT"  # in a replacement: what was there


def marked() -> dict[str, set[Path]]:
    """Rule -> the sources in which it is marked."""
    found: dict[str, set[Path]] = {}
    for path in sorted(RUNTIME.rglob("*.c")):
        for rule in MARKER.findall(path.read_text()):
            found.setdefault(rule, set()).add(path)
    return found


def without(source: str, rules: Mapping[str, str]) -> str:
    """The source with each marked statement of these rules replaced."""
    for marker in reversed(list(MARKER.finditer(source))):
        if marker.group(1) in rules:
            begin, end = statement(source, marker.start())
            told = rules[marker.group(1)].replace(STATEMENT, source[begin:end])
            source = source[:begin] + told + source[end:]
    return source


def statement(source: str, marker: int) -> tuple[int, int]:
    """Where the statement that is marked there begins and ends."""
    code = NO_CODE.sub(lambda match: re.sub(r"\S", " ", match.group()), source)
    line = source.rfind("\n", 0, marker) + 1
    begin = next(at for at in range(line, len(code)) if not code[at].isspace())
    return begin, end_of(code, begin)


def end_of(code: str, begin: int) -> int:
    """`code` has no comments or strings."""
    begin = next(at for at in range(begin, len(code)) if not code[at].isspace())
    control = CONTROL.match(code, begin)
    if control:
        end = end_of(code, closing(code, code.index("(", begin)))
        otherwise = re.compile(r"\s*else\b").match(code, end)
        return end_of(code, otherwise.end()) if otherwise and control.group() == "if" else end
    if code[begin] == "{":
        return closing(code, begin)
    at = begin
    while code[at] != ";":
        at = closing(code, at) if code[at] in "({[" else at + 1
    return at + 1


def closing(code: str, opening: int) -> int:
    """Behind the bracket that closes the one there."""
    depth = 0
    for at in range(opening, len(code)):
        depth += (code[at] in "({[") - (code[at] in ")}]")
        if not depth:
            return at + 1
    raise AssertionError("a bracket is never closed")


def variant(folder: Path, rules: Mapping[str, str]) -> Path:
    """The library with the statements of these rules replaced; nothing else differs from the one that is built."""
    places = marked()
    assert rules.keys() <= places.keys(), (
        f"marked nowhere in runtime/: {sorted(rules.keys() - places.keys())}"
    )
    changed = set[Path]().union(*(places[rule] for rule in rules))
    objects = library_objects()
    for path in changed:
        source = folder / "-".join(path.relative_to(ROOT).parts)
        source.write_text(without(path.read_text(), rules))
        objects[path] = source.with_suffix(".o")
        command = [CC, *FLAGS, "-c", str(source), "-o", str(objects[path])]
        subprocess.run(command, check=True, timeout=60)
    library = folder / "libredline.so"
    link = ["-shared", "-Wl,-soname,libredline.so", f"-Wl,--version-script={ROOT}/generated/redline.map"]
    subprocess.run(
        [CC, *link, "-o", str(library), *map(str, objects.values()), "-ldl", "-lpthread"],
        check=True,
        timeout=60,
    )
    return library
