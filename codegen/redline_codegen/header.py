# SPDX-License-Identifier: Apache-2.0
"""Reads C headers into the model: the compiler preprocesses, pycparser parses, the compiler measures."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from pycparser import c_ast, c_generator, c_parser

from .compiler import evaluate, preprocess
from .errors import InputError
from .model import Enum, Field, Function, Parameter, Part, Record


@dataclass(frozen=True, slots=True)
class HeaderSet:
    """The headers of one component and which declarations are its own."""

    includes: tuple[str, ...]
    folder: str
    """First component of the headers' path below the include folder: `hip` or `hsa`."""


HIP = HeaderSet(("hip/hip_runtime_api.h",), "hip")
HSA = HeaderSet(("hsa/hsa.h", "hsa/hsa_ext_amd.h"), "hsa")

# pycparser gives its nodes their fields dynamically.
Node = Any

# Two spellings of one type: gcc and clang accept both, a comparison would not.
_SPELLINGS = {
    "unsigned": "unsigned int",
    "long unsigned int": "unsigned long",
    "unsigned long int": "unsigned long",
    "long long unsigned int": "unsigned long long",
    "unsigned long long int": "unsigned long long",
    "long int": "long",
    "long long int": "long long",
    "short unsigned int": "unsigned short",
    "unsigned short int": "unsigned short",
    "short int": "short",
    "_Bool": "bool",
}

_MARKER = re.compile(r'^# (\d+) "([^"]*)"')
_MACRO = re.compile(r"^#define (\w+)(?!\()\s+(.+)$")
_UNDEFINED = re.compile(r"^#undef (\w+)")
_BOUND = re.compile(r"@(\d+)")
_INTEGER = re.compile(r"(?:0[xX][0-9a-fA-F]+|\d+)[uUlL]*")
_TOKEN = re.compile(r"\w+|<<|>>|[-+~|&^()*/]")
_CAST_WORDS = {"int", "unsigned", "long", "short", "char", "uint32_t", "uint64_t", "int32_t", "int64_t"}


def read_headers(headers: HeaderSet, include_folders: list[Path]) -> Part:
    """Parses `headers` found below `include_folders` (first one wins) into a Part without a library."""
    includes = list(headers.includes)
    text = preprocess(includes, include_folders)
    own = _own_files(text, headers.folder, include_folders)
    tree = _parse(text)
    builder = _Builder(own)
    for node in tree.ext:
        builder.take(node)
    part = _evaluated(builder, _macros(text, own), includes, include_folders)
    if not part.functions:
        raise InputError(f"No function is declared in {', '.join(headers.includes)}.")
    return part


def read_prototype(text: str) -> Function | None:
    """A single prototype such as `void f(void **modules)`; None when the text is something else."""
    used = sorted(set(re.findall(r"\b(?:(?:hip|hsa|HIP)\w+|\w+_t|dim3|bool)\b(?!\s*\()", text)))
    typedefs = "".join(f"typedef int {name}; " for name in used)
    tree = c_parser.CParser().parse(f"{typedefs}{text.rstrip(';')};", "<prototype>")
    builder = _Builder({"<prototype>": "policies.yaml"})
    for node in tree.ext:
        builder.take(node)
    return next(iter(builder.functions.values()), None)


def hip_version(include_folders: list[Path]) -> str:
    """`major.minor.patch` as hip_version.h says it, e.g. `7.2.53211`."""
    names = [f"HIP_VERSION_{part}" for part in ("MAJOR", "MINOR", "PATCH")]
    numbers = evaluate(["hip/hip_version.h"], include_folders, names)
    return ".".join(str(number) for number in numbers)


def _own_files(text: str, folder: str, include_folders: list[Path]) -> dict[str, str]:
    """Each file of the component that the preprocessor named -> its path below the include folder."""
    # A link to one of the compiler's own folders is searched, and named, as that folder.
    prefixes = [f"{path}/" for root in include_folders for path in (root, root.resolve())]
    own = {}
    for name in {match.group(2) for match in map(_MARKER.match, text.splitlines()) if match}:
        for prefix in prefixes:
            if name.startswith(f"{prefix}{folder}/"):
                own[name] = name.removeprefix(prefix)
    return own


def _parse(text: str) -> c_ast.FileAST:
    code = "\n".join(
        "" if line.startswith(("#define", "#undef", "#pragma")) else line for line in text.split("\n")
    )
    try:
        return c_parser.CParser().parse(code, "<header>")
    except c_parser.ParseError as error:
        raise InputError(_describe(str(error), code)) from None


def _describe(message: str, code: str) -> str:
    """pycparser's `file:line:column: before: token`, with the source line that holds the construct."""
    match = re.match(r"(.*?):(\d+)(?::\d+)?:\s*(.*)", message)
    if match:
        file, line, what = match.groups()
    else:
        (file, line), what = _last_place(code), "it ends too early"
    source = _source_line(code, file, int(line))
    return f"{file}:{line}: the header does not parse ({what})" + (f", in `{source}`." if source else ".")


def _last_place(code: str) -> tuple[str, str]:
    """File and line of the last text that is neither blank nor a marker."""
    file, line, place = "<header>", 0, ("<header>", "1")
    for text in code.split("\n"):
        marker = _MARKER.match(text)
        if marker:
            file, line = marker.group(2), int(marker.group(1)) - 1
            continue
        line += 1
        if text.strip():
            place = (file, str(line))
    return place


def _source_line(code: str, file: str, wanted: int) -> str:
    current_file, current = "", 0
    for line in code.split("\n"):
        marker = _MARKER.match(line)
        if marker:
            current_file, current = marker.group(2), int(marker.group(1)) - 1
            continue
        current += 1
        if current_file == file and current == wanted and line.strip():
            return line.strip()[:120]
    return ""


def _macros(text: str, own: dict[str, str]) -> dict[str, str]:
    """Object-like macros that the component's own headers define, in order.

    Left out are the version's and those with a leading underscore, some of which depend on the compiler.
    """
    macros: dict[str, str] = {}
    inside = False
    for line in text.split("\n"):
        marker = _MARKER.match(line)
        if marker:
            inside = marker.group(2) in own and not marker.group(2).endswith("hip_version.h")
        elif undefined := _UNDEFINED.match(line):
            macros.pop(undefined.group(1), None)
        elif inside and (macro := _MACRO.match(line)) and not macro.group(1).startswith("_"):
            macros[macro.group(1)] = macro.group(2).strip()
    return macros


class _Builder:
    """Collects the component's declarations; enumerator values and layouts are filled in by `_evaluated`."""

    def __init__(self, own: dict[str, str]) -> None:
        self.own = own
        self.functions: dict[str, Function] = {}
        self.typedefs: dict[str, str] = {}
        self.enums: dict[str, Enum] = {}
        self.records: dict[str, Record] = {}
        self.bounds: list[str] = []

    def take(self, node: Node) -> None:
        place = node.coord
        if isinstance(node, c_ast.FuncDef) or place is None or place.file not in self.own:
            return
        if isinstance(node, c_ast.Typedef):
            self._typedef(node)
        elif isinstance(node, c_ast.Decl) and isinstance(node.type, c_ast.FuncDecl):
            self._function(node)
        elif isinstance(node, c_ast.Decl) and isinstance(node.type, (c_ast.Struct, c_ast.Union, c_ast.Enum)):
            self._tag(node.type)

    def _function(self, node: Node) -> None:
        declared = node.type.args.params if node.type.args else []
        parameters = []
        for index, parameter in enumerate(declared):
            text = self._parameter(parameter)
            name = getattr(parameter, "name", None)
            if text != "void" or name:
                parameters.append(Parameter(name or f"argument{index}", text))
        function = Function(
            node.name, self._type(node.type.type), tuple(parameters), self.own[node.coord.file]
        )
        self.functions.setdefault(node.name, function)

    def _typedef(self, node: Node) -> None:
        inner = node.type.type if isinstance(node.type, c_ast.TypeDecl) else None
        if isinstance(inner, (c_ast.Struct, c_ast.Union, c_ast.Enum)) and inner.name is None:
            self._named(inner, node.name, tagged=False)
            return
        text = self._type(node.type)
        if text not in {f"{kind} {node.name}" for kind in ("struct", "union", "enum")}:
            self.typedefs[node.name] = text
        else:
            self.typedefs.setdefault(node.name, text)

    def _tag(self, node: Node) -> None:
        if node.name is not None:
            self._named(node, node.name, tagged=True)
        elif isinstance(node, c_ast.Enum):
            self._anonymous(node)

    def _anonymous(self, node: Node) -> str:
        """Takes an enum that nothing names; returns the name that it goes by in the model."""
        name = f"anonymous_{node.values.enumerators[0].name}"
        self._named(node, name, tagged=False)
        return name

    def _named(self, node: Node, name: str, tagged: bool) -> None:
        if isinstance(node, c_ast.Enum):
            if node.values:
                values = tuple((item.name, 0) for item in node.values.enumerators)
                self.enums[name] = Enum(name, tagged, values)
            return
        record = self._record(node, name, tagged)
        if name not in self.records or node.decls:
            self.records[name] = record

    def _record(self, node: Node, name: str, tagged: bool) -> Record:
        kind = "union" if isinstance(node, c_ast.Union) else "struct"
        fields = tuple(self._field(member) for member in node.decls or ())
        return Record(name, kind, tagged, 0 if node.decls and name else None, None, fields)

    def _field(self, node: c_ast.Decl) -> Field:
        body = _innermost(node.type)
        inline = None
        if isinstance(body, (c_ast.Struct, c_ast.Union)) and body.name is None:
            inline = self._record(body, "", tagged=False)
        bits = self._asked(node.bitsize) if node.bitsize else None
        return Field(node.name or "", self._type(node.type), None, bits, inline)

    def _type(self, node: Node, inside: str = "") -> str:
        """C text of a type; `inside` is the declarator built so far, e.g. `(*)`."""
        if isinstance(node, c_ast.PtrDecl):
            qualifiers = " ".join(q for q in node.quals if q != "restrict")
            pointed = node.type
            star = f"* {qualifiers} {inside.lstrip()}".rstrip() if qualifiers else f"*{inside}"
            if isinstance(pointed, (c_ast.FuncDecl, c_ast.ArrayDecl)):
                return self._type(pointed, f"({star})")
            return self._type(pointed, star)
        if isinstance(node, c_ast.ArrayDecl):
            return self._type(node.type, f"{inside} [{self._bound(node.dim)}]")
        if isinstance(node, c_ast.FuncDecl):
            listed = [self._parameter(p) for p in node.args.params] if node.args else []
            return self._type(node.type, f"{inside}({', '.join(listed)})")
        if isinstance(node, (c_ast.TypeDecl, c_ast.Typename)):
            base = self._base(node.type)
            quals = [q for q in getattr(node, "quals", []) or [] if q in ("const", "volatile")]
            text = " ".join([*quals, base])
            if not inside:
                return text
            return f"{text}{inside}" if inside.startswith(" [") else f"{text} {inside}"
        return self._base(node)

    def _parameter(self, node: Node) -> str:
        return "..." if isinstance(node, c_ast.EllipsisParam) else self._type(node.type)

    def _bound(self, node: Node) -> str:
        """An array bound: a number, or `@index` into `bounds`."""
        if node is None:
            return ""
        if isinstance(node, c_ast.Constant) and _INTEGER.fullmatch(node.value):
            return str(int(node.value.rstrip("uUlL"), 0))
        return f"@{self._asked(node)}"

    def _asked(self, node: Node) -> int:
        """Index into `bounds` of a constant expression."""
        self.bounds.append(c_generator.CGenerator().visit(node))
        return len(self.bounds) - 1

    def _base(self, node: Node) -> str:
        if isinstance(node, c_ast.IdentifierType):
            text = " ".join(node.names)
            return _SPELLINGS.get(text, text)
        if isinstance(node, (c_ast.Struct, c_ast.Union, c_ast.Enum)):
            kind = type(node).__name__.lower()
            if node.name is None:
                return self._anonymous(node) if kind == "enum" else kind
            if getattr(node, "decls", None) or getattr(node, "values", None):
                self._named(node, node.name, tagged=True)
            elif kind != "enum" and node.name not in self.records:
                self.records[node.name] = Record(node.name, kind, True, None, None, ())
            return f"{kind} {node.name}"
        return self._type(node)


def _with_bounds(type_text: str, bounds: list[int]) -> str:
    return _BOUND.sub(lambda match: str(bounds[int(match.group(1))]), type_text)


def _innermost(node: Node) -> Node:
    while isinstance(node, (c_ast.TypeDecl, c_ast.PtrDecl, c_ast.ArrayDecl)):
        node = node.type
    return node


def _integer_macros(macros: dict[str, str], known: set[str]) -> list[str]:
    """Macros whose body is an integer constant expression over numbers and other such names."""
    accepted = set(known)
    found: list[str] = []
    for name, body in macros.items():
        words = re.findall(r"\w+", body)
        rest = re.sub(r"\s+", "", _TOKEN.sub("", body))
        fits = all(_INTEGER.fullmatch(w) or w in accepted or w in _CAST_WORDS for w in words)
        if words and not rest and fits and any(_INTEGER.fullmatch(w) or w in accepted for w in words):
            accepted.add(name)
            found.append(name)
    return found


def _evaluated(builder: _Builder, macros: dict[str, str], includes: list[str], folders: list[Path]) -> Part:
    """One compiler run gives every enumerator, macro, array bound, size, alignment and offset."""
    enumerators = [name for enum in builder.enums.values() for name, _ in enum.enumerators]
    declared = {*builder.functions, *builder.typedefs, *builder.records, *builder.enums, *enumerators}
    renames = {name: body for name, body in macros.items() if body in declared and name != body}
    constants = [name for name in _integer_macros(macros, set(enumerators)) if name not in renames]
    questions = [*builder.bounds, *enumerators, *constants]
    for record in builder.records.values():
        if not record.opaque:
            questions += [f"sizeof({record.c_type})", f"_Alignof({record.c_type})"]
            questions += [f"__builtin_offsetof({record.c_type}, {path})" for path in _paths(record)]
    answers = iter(evaluate(includes, folders, questions))
    bounds = [next(answers) for _ in builder.bounds]
    values = {name: next(answers) for name in enumerators}
    flags = {name: next(answers) for name in constants}
    records = {name: _measured(record, answers, bounds) for name, record in builder.records.items()}
    enums = {
        name: replace(enum, enumerators=tuple((key, values[key]) for key, _ in enum.enumerators))
        for name, enum in builder.enums.items()
    }
    typedefs = {name: _with_bounds(text, bounds) for name, text in builder.typedefs.items()}
    functions = {name: _function_with_bounds(f, bounds) for name, f in builder.functions.items()}
    return Part(functions, typedefs, enums, records, flags, renames)


def _function_with_bounds(function: Function, bounds: list[int]) -> Function:
    parameters = tuple(replace(p, type=_with_bounds(p.type, bounds)) for p in function.parameters)
    return replace(function, returns=_with_bounds(function.returns, bounds), parameters=parameters)


def _paths(record: Record, prefix: str = "") -> Iterator[str]:
    """Members whose offset can be asked for, nested ones by their path, in declaration order."""
    for member in record.fields:
        if member.name and member.bits is None:
            yield prefix + member.name
        if _is_plain(member) and member.inline:
            yield from _paths(member.inline, f"{prefix}{member.name}." if member.name else prefix)


def _is_plain(member: Field) -> bool:
    """Neither pointer nor array: its members have an offset in the whole."""
    return "*" not in member.type and "[" not in member.type


def _measured(record: Record, answers: Iterator[int], bounds: list[int]) -> Record:
    if record.opaque:
        return record
    size, alignment = next(answers), next(answers)
    fields = _with_answers(record.fields, answers, bounds, within=True)
    return replace(record, size=size, alignment=alignment, fields=fields)


def _with_answers(
    members: tuple[Field, ...], answers: Iterator[int], bounds: list[int], within: bool
) -> tuple[Field, ...]:
    """Fields with their numbers; those not `within` the whole, behind a pointer or an array, have no offset."""
    fields = []
    for member in members:
        type_text = _with_bounds(member.type, bounds)
        bits = None if member.bits is None else bounds[member.bits]
        offset = next(answers) if within and member.name and bits is None else None
        inline = member.inline
        if inline:
            inner = _with_answers(inline.fields, answers, bounds, within and _is_plain(member))
            inline = replace(inline, fields=inner)
        fields.append(Field(member.name, type_text, offset, bits, inline))
    return tuple(fields)
