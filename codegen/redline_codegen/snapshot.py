# SPDX-License-Identifier: Apache-2.0
"""A release's API as committed JSON: sorted, one fact a line, with a schema and its version.

`to_text` and `from_text` are inverse, so that generating from a snapshot and from the header it was made of
give the same bytes. The JSON Schema stands in `api/schema.json`.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

from .errors import InputError
from .model import Api, DispatchTable, Enum, Field, Function, Library, Parameter, Part, Record, Symbol

SCHEMA = 1

_SURROGATE = re.compile(r"\\u[dD][89a-fA-F]")
_SYMBOL = re.compile(r"([^@]+)(@@?)([^@]*)")


def to_text(api: Api) -> str:
    document = {
        "schema": SCHEMA,
        "release": api.release,
        "hip_version": api.hip_version,
        **{name: _part(part) for name, part in sorted(api.parts.items())},
    }
    return _Writer().write(document) + "\n"


def from_text(text: str, path: Path) -> Api:
    try:
        document = json.loads(text)
    except json.JSONDecodeError as error:
        raise InputError(f"Not a snapshot: {error.msg}.", path, error.lineno) from None
    except ValueError as error:
        raise InputError(f"Not a snapshot: {str(error).partition(';')[0]}.", path) from None
    except RecursionError:
        raise InputError("Not a snapshot: it is nested too deeply.", path) from None
    if _SURROGATE.search(text):
        raise InputError("Not a snapshot: it has text that is not Unicode.", path)
    if not isinstance(document, dict) or "schema" not in document:
        raise InputError("Not a snapshot: it has no `schema`.", path)
    if document["schema"] != SCHEMA:
        raise InputError(
            f"Snapshot schema {document['schema']} is not the {SCHEMA} that this version reads.", path
        )
    try:
        parts = {name: _read_part(document[name]) for name in ("hip", "hsa") if name in document}
        api = Api(_text(document["release"]), _text(document["hip_version"]), parts)
        if "hip" not in parts:
            raise InputError("Not a complete snapshot: `hip` is missing.", path)
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise InputError(f"Not a complete snapshot: {type(error).__name__} at {error}.", path) from None
    return api


def read_snapshot(path: Path) -> Api:
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"The snapshot cannot be read ({error}).", path) from None
    return from_text(text, path)


def _part(part: Part) -> dict[str, Any]:
    document: dict[str, Any] = {
        "functions": {name: _function(f) for name, f in sorted(part.functions.items())},
        "typedefs": dict(sorted(part.typedefs.items())),
        "enums": {name: _enum(e) for name, e in sorted(part.enums.items())},
        "records": {name: _record(r) for name, r in sorted(part.records.items())},
        "constants": dict(sorted(part.constants.items())),
        "renames": dict(sorted(part.renames.items())),
    }
    if part.library:
        document["library"] = {
            "soname": part.library.soname,
            "nodes": {name: list(parents) for name, parents in sorted(part.library.nodes.items())},
            "symbols": [str(symbol) for symbol in part.library.symbols],
        }
    if part.tables:
        document["tables"] = {
            name: {"major": table.major, "step": table.step, "functions": list(table.functions)}
            for name, table in sorted(part.tables.items())
        }
    return document


def _function(function: Function) -> dict[str, Any]:
    return {
        "returns": function.returns,
        "parameters": [[p.type, p.name] for p in function.parameters],
        "header": function.header,
    }


def _enum(enum: Enum) -> dict[str, Any]:
    return {"tagged": enum.tagged, "enumerators": [[name, value] for name, value in enum.enumerators]}


def _record(record: Record) -> dict[str, Any]:
    head: dict[str, Any] = {"kind": record.kind, "tagged": record.tagged}
    if record.opaque:
        return head
    return {**head, "size": record.size, "alignment": record.alignment, "fields": _fields(record)}


def _fields(record: Record) -> list[dict[str, Any]]:
    listed = []
    for member in record.fields:
        document: dict[str, Any] = {"name": member.name, "type": member.type, "offset": member.offset}
        if member.bits is not None:
            document["bits"] = member.bits
        if member.inline:
            document["inline"] = {"kind": member.inline.kind, "fields": _fields(member.inline)}
        listed.append(document)
    return listed


def _read_part(document: dict[str, Any]) -> Part:
    library = document.get("library")
    return Part(
        {name: _read_function(name, f) for name, f in document["functions"].items()},
        {name: _text(text) for name, text in document["typedefs"].items()},
        {name: _read_enum(name, e) for name, e in document["enums"].items()},
        {name: _read_record(name, r) for name, r in document["records"].items()},
        {name: _number(value) for name, value in document["constants"].items()},
        {name: _text(text) for name, text in document["renames"].items()},
        None if library is None else _read_library(library),
        {name: _read_table(table) for name, table in document.get("tables", {}).items()},
    )


def _read_function(name: str, document: dict[str, Any]) -> Function:
    parameters = tuple(
        Parameter(_text(parameter), _text(type_text)) for type_text, parameter in document["parameters"]
    )
    return Function(name, _text(document["returns"]), parameters, _text(document["header"]))


def _read_enum(name: str, document: dict[str, Any]) -> Enum:
    enumerators = tuple((_text(key), _number(value)) for key, value in document["enumerators"])
    return Enum(name, _truth(document["tagged"]), enumerators)


def _read_record(name: str, document: dict[str, Any]) -> Record:
    kind, tagged = _text(document["kind"]), _truth(document["tagged"])
    if "fields" not in document:
        return Record(name, kind, tagged, None, None, ())
    size, alignment = _number(document["size"]), _number(document["alignment"])
    return Record(name, kind, tagged, size, alignment, _read_fields(document["fields"]))


def _read_fields(listed: list[dict[str, Any]]) -> tuple[Field, ...]:
    fields = []
    for document in listed:
        offset, bits, inline = document["offset"], document.get("bits"), document.get("inline")
        body = None
        if inline is not None:
            body = Record("", _text(inline["kind"]), False, None, None, _read_fields(inline["fields"]))
        fields.append(
            Field(
                _text(document["name"]),
                _text(document["type"]),
                None if offset is None else _number(offset),
                None if bits is None else _number(bits),
                body,
            )
        )
    return tuple(fields)


def _read_library(document: dict[str, Any]) -> Library:
    symbols = []
    for text in document["symbols"]:
        match = _SYMBOL.fullmatch(text)
        if not match:
            raise ValueError(f"symbol {text!r}")
        symbols.append(Symbol(match.group(1), match.group(3), match.group(2) == "@@"))
    nodes = {name: tuple(map(_text, parents)) for name, parents in document["nodes"].items()}
    return Library(_text(document["soname"]), nodes, tuple(symbols))


def _read_table(document: dict[str, Any]) -> DispatchTable:
    functions = tuple(_text(name) for name in document["functions"])
    return DispatchTable(_number(document["major"]), _number(document["step"]), functions)


def _text(value: Any) -> str:
    return str(_of(str, value))


def _number(value: Any) -> int:
    return int(_of(int, value))


def _truth(value: Any) -> bool:
    return bool(_of(bool, value))


def _of(kind: type, value: Any) -> Any:
    if type(value) is not kind:
        raise TypeError(f"{value!r}, which is no {kind.__name__}")
    return value


class _Writer:
    """JSON with one fact a line: containers open up, leaves stay on one line."""

    def write(self, value: Any, indent: str = "") -> str:
        if isinstance(value, dict) and value and not self._is_leaf(value):
            inner = indent + " "
            items = (f"{inner}{json.dumps(key)}: {self.write(item, inner)}" for key, item in value.items())
            return "{\n" + ",\n".join(items) + f"\n{indent}}}"
        if isinstance(value, list) and value and not self._is_leaf(value):
            inner = indent + " "
            return "[\n" + ",\n".join(inner + self.write(item, inner) for item in value) + f"\n{indent}]"
        return json.dumps(value)

    @staticmethod
    def _is_leaf(value: Any) -> bool:
        """A field, an enumerator, a parameter, the parents of a node: short and without containers inside."""
        items = list(value.values()) if isinstance(value, dict) else value
        if any(isinstance(item, (dict, list)) for item in items):
            return False
        return (isinstance(value, list) and len(value) <= 2) or (isinstance(value, dict) and "name" in value)
