# SPDX-License-Identifier: Apache-2.0
"""The typed model of one release's API: what every other module of the generator reads.

Types are C text without a name (`hipGraphNode_t *`, `void (*)(void *)`, `char [256]`); `declare` adds one.
Sizes, offsets and alignments are bytes as the compiler reports them for the machine the generator runs on.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Parameter:
    name: str
    type: str


@dataclass(frozen=True, slots=True)
class Function:
    name: str
    returns: str
    parameters: tuple[Parameter, ...]
    header: str
    """Path below the include folder, e.g. `hip/hip_runtime_api.h`."""

    @property
    def signature(self) -> str:
        """The whole prototype on one line, without the semicolon."""
        listed = ", ".join(declare(p.type, p.name) for p in self.parameters) or "void"
        return declare(self.returns, f"{self.name}({listed})")

    @property
    def types(self) -> Iterator[str]:
        yield self.returns
        for parameter in self.parameters:
            yield parameter.type


@dataclass(frozen=True, slots=True)
class Enum:
    """`name` is the tag or, for a tagless enum, its typedef; enumerators keep the header's order."""

    name: str
    tagged: bool
    enumerators: tuple[tuple[str, int], ...]


@dataclass(frozen=True, slots=True)
class Field:
    """A member. `inline` holds the body of a nested struct or union that has no tag of its own."""

    name: str
    type: str
    offset: int | None
    """None for a bit-field, whose `bits` says its width."""
    bits: int | None = None
    inline: Record | None = None


@dataclass(frozen=True, slots=True)
class Record:
    """A struct or union. `opaque` ones are only declared and have neither size nor fields."""

    name: str
    kind: str
    tagged: bool
    size: int | None
    alignment: int | None
    fields: tuple[Field, ...]

    @property
    def opaque(self) -> bool:
        return self.size is None

    @property
    def c_type(self) -> str:
        return f"{self.kind} {self.name}" if self.tagged else self.name


@dataclass(frozen=True, slots=True)
class Symbol:
    """An exported function: its version node, and whether a plain reference links to it (`@@`)."""

    name: str
    node: str
    default: bool

    def __str__(self) -> str:
        return f"{self.name}{'@@' if self.default else '@'}{self.node}"


@dataclass(frozen=True, slots=True)
class Library:
    """What a real shared library exports; `nodes` maps each version node to the nodes it inherits."""

    soname: str
    nodes: dict[str, tuple[str, ...]]
    symbols: tuple[Symbol, ...]

    def find(self, name: str) -> Symbol | None:
        """The default version of `name`."""
        return next((s for s in self.symbols if s.name == name and s.default), None)


@dataclass(frozen=True, slots=True)
class DispatchTable:
    """A table of pointers that HIP's exported functions jump through; its first word holds its size in bytes."""

    major: int
    step: int
    """AMD raises it with each function that is appended."""
    functions: tuple[str, ...]

    def slot(self, function: str) -> int | None:
        """The word of the table that points to the function."""
        return self.functions.index(function) + 1 if function in self.functions else None


@dataclass(frozen=True, slots=True)
class Part:
    """One component's headers and library: HIP or HSA. `library` is None where none could be had."""

    functions: dict[str, Function]
    typedefs: dict[str, str]
    enums: dict[str, Enum]
    records: dict[str, Record]
    constants: dict[str, int]
    renames: dict[str, str]
    """Macros that stand for another name: what is written -> what is linked."""
    library: Library | None = None
    tables: dict[str, DispatchTable] = field(default_factory=dict)
    """HIP's dispatch tables by the name of their struct; none before 6.1."""


@dataclass(frozen=True, slots=True)
class Api:
    """One release. `parts` has `hip` always and `hsa` where its headers could be had."""

    release: str
    hip_version: str
    parts: dict[str, Part] = field(default_factory=dict)

    @property
    def hip(self) -> Part:
        return self.parts["hip"]


# What comes before the name in a declaration: the base type, then pointers to functions and arrays, inside out.
_BEFORE_NAME = re.compile(r"[^(\[]*(?:\((?:\*|const\b|volatile\b| )+(?=[(\[)]))*")
_IDENTIFIER = re.compile(r"[A-Za-z_]\w*")


def declare(type_text: str, name: str) -> str:
    """`declare("void (*)(int)", "f")` is `void (*f)(int)`; arrays and plain types likewise; `...` has no name."""
    if type_text == "...":
        return type_text
    match = _BEFORE_NAME.match(type_text)
    assert match
    before, after = match.group().rstrip(), type_text[match.end() :].lstrip()
    return f"{before}{'' if before.endswith('*') else ' '}{name}{after}"


def names_in(type_text: str) -> set[str]:
    """Identifiers that a type mentions, keywords included."""
    return set(_IDENTIFIER.findall(type_text))


def release_key(release: str) -> tuple[int, ...]:
    """Sorts `5.7.1` before `6.4.3` and `7.2.4` before `7.13`."""
    return tuple(int(number) for number in re.findall(r"\d+", release))


def reachable_types(part: Part, functions: list[Function]) -> set[str]:
    """Names of the typedefs, enums and records of `part` that the functions' signatures lead to."""
    seen: set[str] = set()
    pending = [name for function in functions for text in function.types for name in names_in(text)]
    while pending:
        name = pending.pop()
        if name in seen:
            continue
        if name in part.typedefs:
            pending.extend(names_in(part.typedefs[name]))
        if name in part.records:
            pending.extend(_names_of_fields(part.records[name]))
        elif name not in part.enums and name not in part.typedefs:
            continue
        seen.add(name)
    return seen


def _names_of_fields(record: Record) -> Iterator[str]:
    for member in record.fields:
        if member.inline:
            yield from _names_of_fields(member.inline)
        else:
            yield from names_in(member.type)
