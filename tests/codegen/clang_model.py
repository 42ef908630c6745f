# SPDX-License-Identifier: Apache-2.0
"""libclang's own reading of a header: the second opinion on functions, enumerators and layouts."""

from __future__ import annotations

import importlib
import re
import subprocess
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

# The wheel's own annotations leave out what it adds at run time.
cindex: Any = importlib.import_module("clang.cindex")
CursorKind: Any = cindex.CursorKind


@dataclass
class ClangModel:
    functions: dict[str, tuple[str, tuple[str, ...]]] = field(default_factory=dict)
    """name -> returned type, parameter types"""
    enumerators: dict[str, int] = field(default_factory=dict)
    layouts: dict[str, tuple[int, int, dict[str, int]]] = field(default_factory=dict)
    """record -> size, alignment, offset of each direct named member that is no bit-field"""


def read_with_clang(includes: list[str], include: Path, folder: str) -> ClangModel:
    builtin = subprocess.run(
        ["cc", "-print-file-name=include"], capture_output=True, text=True, check=True
    ).stdout.strip()
    source = "".join(f"#include <{name}>\n" for name in includes)
    arguments = ["-x", "c", "-std=gnu11", "-D__HIP_PLATFORM_AMD__", f"-I{include}", f"-isystem{builtin}"]
    unit = cindex.Index.create().parse("all.c", args=arguments, unsaved_files=[("all.c", source)])
    errors = [d.spelling for d in unit.diagnostics if d.severity >= cindex.Diagnostic.Error]
    assert errors == []
    model = ClangModel()
    own = f"{include}/{folder}/"
    for cursor in unit.cursor.get_children():
        if cursor.location.file and cursor.location.file.name.startswith(own):
            _take(cursor, model)
    return model


def _take(cursor: Any, model: ClangModel) -> None:
    if cursor.kind == CursorKind.FUNCTION_DECL and not cursor.is_definition():
        types = tuple(plain(a.type.spelling) for a in cursor.get_arguments())
        model.functions.setdefault(cursor.spelling, (plain(cursor.result_type.spelling), types))
    elif cursor.kind == CursorKind.ENUM_DECL:
        for constant in cursor.get_children():
            model.enumerators[constant.spelling] = constant.enum_value
    elif cursor.kind in (CursorKind.STRUCT_DECL, CursorKind.UNION_DECL):
        if cursor.is_definition() and cursor.spelling and not cursor.is_anonymous():
            model.layouts[cursor.spelling] = _layout(cursor.type)
        # C has no nested scopes for tags: a struct that is defined inside another is a type like any other.
        for member in cursor.get_children():
            _take(member, model)
    elif cursor.kind == CursorKind.TYPEDEF_DECL:
        declaration = cursor.underlying_typedef_type.get_canonical().get_declaration()
        records = (CursorKind.STRUCT_DECL, CursorKind.UNION_DECL)
        if declaration.kind in records and declaration.is_definition() and "(unnamed" in declaration.spelling:
            model.layouts[cursor.spelling] = _layout(cursor.underlying_typedef_type)


def _layout(record: Any) -> tuple[int, int, dict[str, int]]:
    offsets = {
        member.spelling: member.get_field_offsetof() // 8
        for member in record.get_canonical().get_fields()
        if member.spelling.isidentifier() and not member.is_bitfield()
    }
    return record.get_size(), record.get_align(), offsets


def plain(type_text: str) -> str:
    """One spelling for both readers: no spaces around stars, `unsigned int` in full."""
    text = re.sub(r"\s*\*\s*", "*", type_text)
    text = re.sub(r"\bunsigned\b(?! (int|char|short|long))", "unsigned int", text)
    return re.sub(r"\b_Bool\b", "bool", text).replace(" restrict", "").replace("restrict ", "").strip()
