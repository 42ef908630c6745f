# SPDX-License-Identifier: Apache-2.0
"""Turns the model and the policy into files: one short function a file, each with one template."""

from __future__ import annotations

import os
import re
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import jinja2

from .errors import InputError
from .model import Api, Field, Function, Part, Record, declare, names_in, reachable_types, release_key
from .policy import HANDLES, RECORDED, Entry, Policy, find_function

COLUMNS = 110

RETURNED_WHEN_MISSING = {
    "hipError_t": "hipErrorNotSupported",
    "hsa_status_t": "HSA_STATUS_ERROR_NOT_INITIALIZED",
    "void": "",
}


@dataclass(frozen=True, slots=True)
class Shim:
    """An exported entry point with everything that the templates say about it."""

    entry: Entry
    function: Function
    node: str

    @property
    def arguments(self) -> str:
        return ", ".join(parameter.name for parameter in self.function.parameters)

    @property
    def may_be_first(self) -> bool:
        """No graph, node or exec comes in, so the call may be the first one into a library just loaded."""
        known = {HANDLES[kind] for kind in RECORDED}
        return self.entry.library == "hip" and not known & {p.type for p in self.function.parameters}

    @property
    def makes(self) -> bool:
        """Something is recorded, which depends on who called."""
        return any(effect.makes for effect in self.entry.effects)

    @property
    def dependencies(self) -> str:
        """C arguments with the nodes that a new node comes after: array, count."""
        names = [p.name for p in self.function.parameters]
        for index, parameter in enumerate(self.function.parameters[:-1]):
            if parameter.type == "const hipGraphNode_t *":
                return f"{names[index]}, {names[index + 1]}"
        return "NULL, 0"

    @property
    def when_missing(self) -> str:
        return RETURNED_WHEN_MISSING.get(self.function.returns, "0")


@dataclass(frozen=True, slots=True)
class Native:
    """A slot of the native function table; `node` is empty where the release does not export the function."""

    function: Function
    library: str
    node: str
    exported: bool
    """libredline has a shim of it."""
    dispatch: str = "NONE"
    """Which of HIP's dispatch tables points to it: a key of `DISPATCH`, or NONE."""
    slot: int = 0
    """The word of that table."""


@dataclass(frozen=True, slots=True)
class Dispatch:
    """A dispatch table as the runtime knows it."""

    struct: str
    registered: str
    """The name by which HIP hands the table to rocprofiler-register (clr, hip_api_trace.cpp)."""


DISPATCH = {
    "HIP": Dispatch("HipDispatchTable", "hip"),
    "COMPILER": Dispatch("HipCompilerDispatchTable", "hip_compiler"),
}


def render(api: Api, policy: Policy, snapshots: list[Api], templates: Path) -> dict[str, str]:
    """Every emitted file: path below the project root -> text."""
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(templates),
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        autoescape=False,
    )
    environment.filters.update(declare=declare, parameters=_parameters, wrapped=_wrapped)
    hip, hsa = shims(api, policy, "hip"), shims(api, policy, "hsa")
    table = natives(api, policy)
    tables = {library: [n for n in table if n.library == library] for library in api.parts}
    common = {"release": api.release, "hip_version": api.hip_version}
    files: dict[str, tuple[str, dict[str, object]]] = {
        "generated/hip_api.h": ("api.h.j2", _types(api.hip, table, "hip")),
        "generated/hsa_api.h": ("api.h.j2", _types(api.parts["hsa"], table, "hsa")),
        "generated/native_table.h": ("native_table.h.j2", {"tables": tables, "dispatch": DISPATCH}),
        "generated/native_table.c": ("native_table.c.j2", _natives(api, tables, snapshots)),
        "generated/handlers.h": ("handlers.h.j2", {"handlers": _handlers(policy, [*hip, *hsa])}),
        "generated/shims_hip.c": ("shims.c.j2", {"shims": hip, "library": "hip"}),
        "generated/shims_hsa.c": ("shims.c.j2", {"shims": hsa, "library": "hsa"}),
        "generated/abi_checks.c": ("abi_checks.c.j2", {"parts": _checked(api, table)}),
        "generated/redline.map": ("redline.map.j2", {"nodes": _version_nodes(api, [*hip, *hsa])}),
        "docs/policy.md": ("policy.md.j2", _report(api, policy, snapshots)),
    }
    return {
        path: environment.get_template(name).render(**common, **context)
        for path, (name, context) in files.items()
    }


def _parameters(function: Function) -> str:
    """A prototype's parameter list, `void` when there is none."""
    return ", ".join(declare(p.type, p.name) for p in function.parameters) or "void"


def _wrapped(line: str) -> str:
    """Breaks one long line of C after commas, continuation lines indented by a further eight columns."""
    indent = line[: len(line) - len(line.lstrip())]
    lines, current = [], ""
    for piece in re.findall(r".+?(?:, |$)", line):
        if current.strip() and len(current) + len(piece.rstrip()) > COLUMNS:
            lines.append(current.rstrip())
            current = f"{indent}        {piece}"
        else:
            current += piece
    return "\n".join([*lines, current])


def shims(api: Api, policy: Policy, library: str) -> list[Shim]:
    """The export set of one library, in the policy's order: policy, header and real library all have it."""
    exported = _require_library(api, library)
    found = []
    for entry in policy.entries.values():
        function = find_function(policy, entry, api)
        symbol = exported.get(entry.name)
        if entry.library == library and entry.shimmed and function and symbol:
            found.append(Shim(entry, function, symbol))
    return found


def natives(api: Api, policy: Policy) -> list[Native]:
    """What the runtime can call: the functions with a class and the `called` ones that this release declares."""
    table = []
    for entry in policy.entries.values():
        function = find_function(policy, entry, api)
        if function:
            node = _require_library(api, entry.library).get(entry.name, "")
            exported = entry.shimmed and bool(node)
            table.append(Native(function, entry.library, node, exported, *_slot(api, entry.name)))
    for name in policy.called:
        for library, part in api.parts.items():
            if name in part.functions:
                node = _require_library(api, library).get(name, "")
                table.append(Native(part.functions[name], library, node, False, *_slot(api, name)))
    return table


def _slot(api: Api, name: str) -> tuple[str, int]:
    """The dispatch table that points to the function, and the word of it."""
    for key, dispatch in DISPATCH.items():
        table = api.hip.tables.get(dispatch.struct)
        slot = table.slot(name) if table else None
        if slot:
            return key, slot
    return "NONE", 0


def _natives(api: Api, tables: dict[str, list[Native]], snapshots: list[Api]) -> dict[str, object]:
    """The entries of each library, the size of HIP's tables in words, and every export of HIP that is known."""
    known = {
        symbol.name
        for part in (item.hip for item in (api, *snapshots))
        if part.library
        for symbol in part.library.symbols
        if symbol.name.startswith(("hip", "__hip"))
    }
    words = {}
    for key, dispatch in DISPATCH.items():
        table = api.hip.tables.get(dispatch.struct)
        words[key] = len(table.functions) + 1 if table else 0
    return {
        "tables": tables,
        "dispatch": DISPATCH,
        "words": words,
        "known": sorted((_hash(name), name) for name in known),
    }


def _hash(name: str) -> int:
    """Of ELF's GNU hash table."""
    value = 5381
    for byte in name.encode():
        value = (value * 33 + byte) & 0xFFFFFFFF
    return value


def _require_library(api: Api, library: str) -> dict[str, str]:
    """Default version node of each exported function."""
    part = api.parts.get(library)
    if part is None or part.library is None:
        which = "libamdhip64" if library == "hip" else "libhsa-runtime64 or its headers"
        raise InputError(
            f"No {which} of ROCm {api.release} was found, so version nodes are unknown; give --library."
        )
    for symbol in part.library.symbols:
        if symbol.default and not symbol.node:
            raise InputError(
                f"{part.library.soname} exports {symbol.name} without a version node; it is not AMD's build."
            )
    return {symbol.name: symbol.node for symbol in part.library.symbols if symbol.default}


def _handlers(policy: Policy, exported: list[Shim]) -> list[Shim]:
    """One shim a handler name; sharing a handler asks for one signature."""
    seen: dict[str, Shim] = {}
    for shim in exported:
        name = shim.entry.handler
        if name is None:
            continue
        other = seen.setdefault(name, shim)
        if list(other.function.types) != list(shim.function.types):
            raise InputError(
                f"Handler {name} serves {other.entry.name} and {shim.entry.name}, whose signatures differ.",
                policy.path,
                shim.entry.line,
            )
    return list(seen.values())


def _types(part: Part, table: list[Native], library: str) -> dict[str, object]:
    """Declarations that the table's functions need, each after what it depends on."""
    wanted = reachable_types(part, [native.function for native in table if native.library == library])
    tags = [record for name, record in sorted(part.records.items()) if name in wanted and record.tagged]
    enums = [enum for name, enum in sorted(part.enums.items()) if name in wanted]
    order: list[str] = []
    for name in sorted(wanted):
        _visit(part, name, wanted, set(), order)
    lines = []
    for name in order:
        record = part.records.get(name)
        if record and not record.opaque:
            lines.append(_definition(record))
        if name in part.typedefs:
            lines.append(f"typedef {declare(part.typedefs[name], name)};")
    return {
        "library": library,
        "tags": tags,
        "enums": enums,
        "definitions": lines,
        "constants": dict(sorted(part.constants.items())),
    }


def _visit(part: Part, name: str, wanted: set[str], open_names: set[str], order: list[str]) -> None:
    if name in order or name in open_names or name not in wanted:
        return
    open_names.add(name)
    for text in _member_types(part.records[name]) if name in part.records else ():
        for used in sorted(names_in(text)):
            _visit(part, used, wanted, open_names, order)
    for used in sorted(names_in(part.typedefs.get(name, ""))):
        if used != name:
            _visit(part, used, wanted, open_names, order)
    open_names.discard(name)
    if name in part.records or name in part.typedefs:
        order.append(name)


def _member_types(record: Record) -> Iterator[str]:
    for member in record.fields:
        if member.inline:
            yield from _member_types(member.inline)
        else:
            yield member.type


def _definition(record: Record) -> str:
    body = _body(record.fields, "    ")
    if record.tagged:
        return f"{record.c_type} {{\n{body}}};"
    return f"typedef {record.kind} {{\n{body}}} {record.name};"


def _body(fields: tuple[Field, ...], indent: str) -> str:
    lines = []
    for member in fields:
        if member.inline:
            inner = _body(member.inline.fields, indent + "    ")
            suffix = declare(member.type.removeprefix(member.inline.kind).lstrip() or "", member.name).strip()
            lines.append(
                f"{indent}{member.inline.kind} {{\n{inner}{indent}}}{' ' + suffix if suffix else ''};\n"
            )
        else:
            bits = "" if member.bits is None else f" : {member.bits}"
            lines.append(f"{indent}{declare(member.type, member.name)}{bits};\n")
    return "".join(lines)


def _checked(api: Api, table: list[Native]) -> list[dict[str, object]]:
    """For each part: the records, enums and prototypes whose shape the compiler has to confirm."""
    parts: list[dict[str, object]] = []
    for library, part in api.parts.items():
        functions = [native.function for native in table if native.library == library]
        wanted = reachable_types(part, functions)
        records = [r for name, r in sorted(part.records.items()) if name in wanted and not r.opaque]
        parts.append(
            {
                "library": library,
                "records": [(record, list(_offsets(record.fields, ""))) for record in records],
                "enums": [enum for name, enum in sorted(part.enums.items()) if name in wanted],
                "functions": [
                    function for function in functions if function.header.startswith(f"{library}/")
                ],
            }
        )
    return parts


def _offsets(fields: tuple[Field, ...], prefix: str) -> Iterator[tuple[str, int]]:
    for member in fields:
        if member.name and member.offset is not None:
            yield prefix + member.name, member.offset
        if member.inline:
            yield from _offsets(member.inline.fields, f"{prefix}{member.name}." if member.name else prefix)


def _version_nodes(api: Api, exported: list[Shim]) -> list[dict[str, object]]:
    """Version script: node -> sorted names, each node after the nearest one it inherits that is also ours."""
    inherits = {
        node: parents
        for part in api.parts.values()
        if part.library
        for node, parents in part.library.nodes.items()
    }
    names: dict[str, list[str]] = {}
    for shim in exported:
        names.setdefault(shim.node, []).append(shim.entry.name)
    ordered = sorted(names, key=lambda node: (node.rpartition("_")[0].lower(), release_key(node)))
    return [
        {"name": node, "names": sorted(names[node]), "parent": _nearest(node, inherits, set(names))}
        for node in ordered
    ]


def _nearest(node: str, inherits: dict[str, tuple[str, ...]], ours: set[str]) -> str:
    pending = list(inherits.get(node, ()))
    while pending:
        parent = pending.pop(0)
        if parent in ours:
            return parent
        pending.extend(inherits.get(parent, ()))
    return ""


def _report(api: Api, policy: Policy, snapshots: list[Api]) -> dict[str, object]:
    """The reviewer's table: a row for each entry, with a cell for each release."""
    known = [*(s for s in snapshots if s.release != api.release), api]
    known.sort(key=lambda item: release_key(item.release))
    rows = []
    for entry in policy.entries.values():
        cells = [_cell(item, policy, entry) for item in known]
        rows.append({"entry": entry, "cells": cells})
    return {"releases": [item.release for item in known], "rows": rows, "called": sorted(policy.called)}


def _cell(api: Api, policy: Policy, entry: Entry) -> str:
    """The version node, or why there is none."""
    part = api.parts.get(entry.library)
    symbol = part.library.find(entry.name) if part and part.library else None
    if symbol:
        return symbol.node
    if find_function(policy, entry, api) is None or entry.name in policy.declared:
        return "-"
    return "declared" if part and part.library else "unknown"


def write_files(files: dict[str, str], root: Path) -> list[str]:
    """Writes what differs, each through a temporary file and a rename; returns the paths that changed."""
    changed = [path for path, text in files.items() if read_text(root / path) != text]
    for path in changed:
        write_atomically(root / path, files[path])
    return changed


def write_atomically(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(handle, "w", encoding="utf-8", newline="\n") as file:
            file.write(text)
        os.chmod(temporary, 0o644)
        os.replace(temporary, path)
    except BaseException:
        os.unlink(temporary)
        raise


def read_text(path: Path) -> str | None:
    try:
        return path.read_bytes().decode()
    except (OSError, UnicodeDecodeError):
        return None
