# SPDX-License-Identifier: Apache-2.0
"""Readings of two headers that share no code with redline-codegen: libclang's model, and abidiff on stub libraries."""

from __future__ import annotations

import importlib
import os
import re
import shutil
import subprocess
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from conftest import ROOT

cindex: Any = importlib.import_module("clang.cindex")
Kind: Any = cindex.CursorKind
RECORDS = (Kind.STRUCT_DECL, Kind.UNION_DECL)

ABIGAIL = ROOT / "build" / "abigail"


@dataclass
class Reading:
    """What libclang says a header declares; types are spelled as libclang spells them."""

    functions: dict[str, tuple[str, ...]] = field(default_factory=dict)
    canonical: dict[str, tuple[str, ...]] = field(default_factory=dict)
    parameters: dict[str, tuple[str, ...]] = field(default_factory=dict)
    enumerators: dict[str, int] = field(default_factory=dict)
    typedefs: dict[str, str] = field(default_factory=dict)
    records: dict[str, tuple[Any, ...]] = field(default_factory=dict)
    """record -> size, alignment, and each member's path, offset in bits and canonical type; empty when opaque"""


@cache
def read(include: Path) -> Reading:
    unit = _parsed(include, "#include <hip/hip_runtime_api.h>\n")
    assert [d.spelling for d in unit.diagnostics if d.severity >= cindex.Diagnostic.Error] == []
    reading = Reading()
    for cursor in unit.cursor.get_children():
        if cursor.location.file and cursor.location.file.name.startswith(f"{include}/hip/"):
            _take(cursor, reading)
    return reading


def _parsed(include: Path, source: str) -> Any:
    builtin = subprocess.run(
        ["cc", "-print-file-name=include"], capture_output=True, text=True, check=True
    ).stdout.strip()
    arguments = ["-x", "c", "-std=gnu11", "-D__HIP_PLATFORM_AMD__", "-ferror-limit=0"]
    arguments += [f"-I{include}", f"-isystem{builtin}"]
    return cindex.Index.create().parse("all.c", args=arguments, unsaved_files=[("all.c", source)])


def _take(cursor: Any, reading: Reading) -> None:
    if cursor.kind == Kind.FUNCTION_DECL and not cursor.is_definition():
        arguments = list(cursor.get_arguments())
        types = [cursor.result_type, *(argument.type for argument in arguments)]
        reading.functions[cursor.spelling] = tuple(t.spelling for t in types)
        reading.canonical[cursor.spelling] = tuple(_canonical(t) for t in types)
        reading.parameters[cursor.spelling] = tuple(argument.spelling for argument in arguments)
    elif cursor.kind == Kind.ENUM_DECL:
        reading.enumerators.update({c.spelling: c.enum_value for c in cursor.get_children()})
    elif cursor.kind in RECORDS and cursor.spelling and not cursor.is_anonymous():
        if cursor.is_definition() or cursor.spelling not in reading.records:
            reading.records[cursor.spelling] = _layout(cursor.type) if cursor.is_definition() else ()
        for member in cursor.get_children():
            _take(member, reading)
    elif cursor.kind == Kind.TYPEDEF_DECL:
        reading.typedefs[cursor.spelling] = cursor.underlying_typedef_type.spelling
        declaration = cursor.underlying_typedef_type.get_canonical().get_declaration()
        if declaration.kind in RECORDS and "unnamed" in declaration.spelling:
            reading.records[cursor.spelling] = _layout(declaration.type)


def _canonical(kind: Any) -> str:
    return re.sub(r"\b(?:struct|union|enum) ", "", kind.get_canonical().spelling)


def _layout(record: Any) -> tuple[Any, ...]:
    return record.get_size(), record.get_align(), tuple(_members(record, "", 0))


def _members(record: Any, prefix: str, base: int) -> list[tuple[Any, ...]]:
    found = []
    for member in record.get_canonical().get_fields():
        name = member.spelling if member.spelling.isidentifier() else ""
        offset = base + member.get_field_offsetof()
        declaration = member.type.get_canonical().get_declaration()
        nested = declaration.kind in RECORDS and (
            "unnamed" in declaration.spelling or "anonymous" in declaration.spelling
        )
        found.append((prefix + name, offset, "" if nested else _canonical(member.type)))
        if nested:
            found += _members(declaration.type, f"{prefix}{name}.", offset)
    return found


@cache
def integer_macros(include: Path) -> dict[str, int]:
    """HIP's macros that libclang accepts as an enumerator's value, by the preprocessor's list; no version macros."""
    flags = ["-std=gnu11", "-D__HIP_PLATFORM_AMD__", f"-I{include}"]
    source = "#include <hip/hip_runtime_api.h>\n"
    listed = subprocess.run(
        ["cc", "-x", "c", "-dM", "-E", *flags, "-"], input=source, capture_output=True, text=True, check=True
    ).stdout
    written = {
        path: set(re.findall(r"#\s*define\s+(\w+)", path.read_text())) for path in include.glob("hip/**/*.h")
    }
    own = set().union(*written.values()) - written[include / "hip" / "hip_version.h"]
    names = [name for name in re.findall(r"^#define (\w+) \S", listed, re.MULTILINE) if name in own]
    lines = [f"enum {{ value_of_{name} = ({name}) }};" for name in names]
    unit = _parsed(include, source + "\n".join(lines) + "\n")
    refused = {d.location.line for d in unit.diagnostics if d.severity >= cindex.Diagnostic.Error}
    values = {}
    for cursor in unit.cursor.get_children():
        if cursor.kind == Kind.ENUM_DECL and cursor.location.file.name == "all.c":
            for constant in cursor.get_children():
                if cursor.location.line not in refused:
                    values[constant.spelling.removeprefix("value_of_")] = constant.enum_value
    return values


def changed(old: dict[str, Any], new: dict[str, Any]) -> set[str]:
    return {name for name in old.keys() & new.keys() if old[name] != new[name]}


def abidiff() -> list[str]:
    """The command; skips the test by name when abigail-tools is neither installed nor fetched."""
    installed = shutil.which("abidiff")
    if installed:
        return [installed]
    fetched = ABIGAIL / "usr" / "bin" / "abidiff"
    if not fetched.exists():
        pytest.skip("abidiff is absent: install abigail-tools, or run tests/diff/fetch_abigail.py")
    return ["env", f"LD_LIBRARY_PATH={ABIGAIL}/usr/lib/x86_64-linux-gnu", str(fetched)]


def stub_library(include: Path, target: Path) -> None:
    """A shared library with an empty body of every function that the header declares, with debug information."""
    lines = ["#include <hip/hip_runtime_api.h>"]
    for name, (returned, *types) in sorted(read(include).functions.items()):
        listed = ", ".join(f"__typeof__({text}) a{index}" for index, text in enumerate(types)) or "void"
        lines.append(f"__typeof__({returned}) {name}({listed}) {{ __builtin_trap(); }}")
    command = [
        "cc",
        "-x",
        "c",
        "-std=gnu11",
        "-w",
        "-g",
        "-gdwarf-4",
        "-O0",
        "-fPIC",
        "-shared",
        "-D__HIP_PLATFORM_AMD__",
    ]
    command += [f"-I{include}", "-o", str(target), "-"]
    subprocess.run(command, input="\n".join(lines) + "\n", text=True, check=True, timeout=120)


@dataclass(frozen=True)
class AbiChanges:
    """Functions that abidiff calls added, removed and changed (themselves or in a type that they lead to)."""

    added: set[str]
    removed: set[str]
    changed: set[str]
    complete: bool


def abi_changes(old: Path, new: Path) -> AbiChanges:
    """By functions; by leaf types where abidiff 2.2 crashes on that, which leaves out what only became const."""
    printed = _abidiff(["--redundant"], old, new)
    complete = printed is not None
    if printed is None:
        printed = _abidiff(["--leaf-changes-only", "--impacted-interfaces"], old, new)
    assert printed is not None
    marked = {
        mark: set(re.findall(rf"^\s*\[{mark}\] 'function .*?\b(\w+)\([^']*'", printed, re.MULTILINE))
        for mark in "ADC"
    }
    impacted = set(re.findall(r"^\s+function .*?\b(\w+)\(", printed, re.MULTILINE))
    return AbiChanges(marked["A"], marked["D"], marked["C"] | impacted, complete)


def _abidiff(options: list[str], old: Path, new: Path) -> str | None:
    done = subprocess.run(
        [*abidiff(), "--harmless", "--no-show-locs", *options, str(old), str(new)],
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
        env={**os.environ, "LC_ALL": "C"},
    )
    if done.returncode < 0:
        return None
    assert done.returncode & 3 == 0, done.stderr
    return done.stdout
