# SPDX-License-Identifier: Apache-2.0
"""Reads and validates policies.yaml: the class of every entry point, and why.

Loading checks the file's own shape; `check_policy` checks it against an API. Both name the line.
"""

from __future__ import annotations

import datetime
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import yaml
from pycparser import c_parser

from .errors import InputError
from .header import read_prototype
from .model import Api, Function, Part, names_in, reachable_types

CLASSES = ("passthrough", "invalidate", "create-record")
LIBRARIES = ("hip", "hsa")

HANDLES = {"graph": "hipGraph_t", "node": "hipGraphNode_t", "exec": "hipGraphExec_t", "stream": "hipStream_t"}
RECORDED = ("graph", "node", "exec")

# Which types and names make an entry point one that needs a class. hipGraphics* is OpenGL and not meant.
_GRAPH_TYPE = re.compile(r"hip(Graph(?!ics)|UserObject|StreamCapture|StreamUpdateCapture)\w*")
_GRAPH_NAME = re.compile(r"hip\w*(Graph(?!ics)|Capture|UserObject)\w*")
_CHANGES = re.compile(r"Set|Add|Remove|Update|Destroy|Release|Retain|Exchange|Copy|Begin|End|Trim")


@dataclass(frozen=True, slots=True)
class Effect:
    """`record` makes an object through out parameter `parameter`; else `parameter` holds what is changed."""

    kind: str
    object: str
    parameter: str
    owner: str | None
    line: int

    @property
    def makes(self) -> bool:
        return self.kind == "record"


@dataclass(frozen=True, slots=True)
class Entry:
    name: str
    library: str
    policy_class: str
    effects: tuple[Effect, ...]
    handler: str | None
    why: str
    line: int

    @property
    def shimmed(self) -> bool:
        return self.policy_class != "passthrough" or self.handler is not None


@dataclass(frozen=True, slots=True)
class Acknowledgement:
    """A reviewed finding of `redline-codegen diff`; `until` is a date or None for ever."""

    fingerprint: str
    why: str
    until: str | None
    line: int


@dataclass(frozen=True, slots=True)
class Policy:
    path: Path
    entries: dict[str, Entry]
    declared: dict[str, Function] = field(default_factory=dict)
    """Exported functions that no C header declares."""
    called: dict[str, int] = field(default_factory=dict)
    """Functions without a class that the runtime calls -> line."""
    acknowledged: tuple[Acknowledgement, ...] = ()


def needs_class(function: Function, part: Part) -> bool:
    """Whether the function touches a graph, node, exec, capture or user-object type, be it in a struct."""
    if _GRAPH_NAME.fullmatch(function.name):
        return True
    if any(_GRAPH_TYPE.fullmatch(name) for text in function.types for name in names_in(text)):
        return True
    return any(_GRAPH_TYPE.fullmatch(name) for name in reachable_types(part, [function]))


def _is_per_thread_form(function: Function, policy: Policy) -> bool:
    """The per-thread-default-stream form of a classed entry point needs a class of its own."""
    return function.name.endswith("_spt") and function.name.removesuffix("_spt") in policy.entries


def article(kind: str) -> str:
    return f"an {kind}" if kind[0] in "aeiou" else f"a {kind}"


def suggest_class(function: Function) -> tuple[str, str]:
    """A class that fits the signature, and the reasoning; a human decides."""
    for parameter in function.parameters:
        for kind in RECORDED:
            if parameter.type == f"{HANDLES[kind]} *" and "Get" not in function.name:
                return "create-record", f"`{parameter.name}` gives out {article(kind)}"
    for parameter in function.parameters:
        for kind, handle in HANDLES.items():
            if parameter.type == handle and _CHANGES.search(function.name):
                return (
                    "invalidate",
                    f"`{parameter.name}` is {article(kind)} and the name says that it is changed",
                )
    return "passthrough", "it takes no handle that its name says it changes"


def load_policy(path: Path) -> Policy:
    try:
        text = path.read_text(encoding="utf-8")
        root = yaml.compose(text, Loader=yaml.CSafeLoader)
    except OSError as error:
        raise InputError(f"The policy cannot be read ({error.strerror}).", path) from None
    except UnicodeDecodeError as error:
        raise InputError(f"The policy is not UTF-8 ({error.reason}).", path) from None
    except yaml.MarkedYAMLError as error:
        line = error.problem_mark.line + 1 if error.problem_mark else None
        raise InputError(f"Not YAML: {error.problem}.", path, line) from None
    except yaml.reader.ReaderError as error:
        line = text.count("\n", 0, error.position) + 1
        raise InputError(f"Not YAML: {error.reason}.", path, line) from None
    return _Reader(path).policy(root)


class _Reader:
    """Walks the YAML nodes, not plain values, so that each complaint has its line."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def policy(self, root: yaml.Node | None) -> Policy:
        if root is None:
            raise InputError("The policy is empty.", self.path)
        keys = self._mapping(
            root, "the policy", {"version", "entry_points", "declared", "called", "acknowledged"}
        )
        version = self._required(root, keys, "version")
        if self._scalar(version, "int", "version") != "1":
            raise self._error("`version` must be 1", version)
        entries = {}
        for name, node in self._items(self._required(root, keys, "entry_points"), "entry_points"):
            entries[name.value] = self._entry(name, node)
        declared = {}
        for name, node in self._items(keys.get("declared"), "declared"):
            declared[name.value] = self._prototype(name.value, node)
        called: dict[str, int] = {}
        for node in self._sequence(keys.get("called"), "called"):
            name_text = self._text(node, "a called function")
            if name_text in entries:
                raise self._error(f"{name_text} has a class, so it need not stand in `called`", node)
            if name_text in called:
                raise self._error(f"`called` has {name_text} twice, first at line {called[name_text]}", node)
            called[name_text] = _line(node)
        acknowledged = [
            self._acknowledgement(node) for node in self._sequence(keys.get("acknowledged"), "acknowledged")
        ]
        return Policy(self.path, entries, declared, called, tuple(acknowledged))

    def _entry(self, name: yaml.Node, node: yaml.Node) -> Entry:
        keys = self._mapping(node, name.value, {"class", "library", "effects", "handler", "why"})
        policy_class = self._choice(self._required(node, keys, "class", name.value), "class", CLASSES)
        library = self._choice(keys["library"], "library", LIBRARIES) if "library" in keys else "hip"
        effects: list[Effect] = []
        for item in self._sequence(keys.get("effects"), "effects"):
            effect = self._effect(item)
            if any((e.object, e.parameter) == (effect.object, effect.parameter) for e in effects):
                raise self._error(f"{name.value} has two effects on `{effect.parameter}`", item)
            effects.append(effect)
        why = self._text(self._required(node, keys, "why", name.value), "why")
        handler = self._text(keys["handler"], "handler") if "handler" in keys else None
        if handler is not None and not re.fullmatch(r"rl_[a-z0-9_]+", handler):
            raise self._error(
                f"handler {handler!r} is not a name of the runtime, rl_ and small letters", keys["handler"]
            )
        strongest = max(
            (CLASSES.index("create-record" if e.makes else "invalidate") for e in effects), default=0
        )
        if CLASSES[strongest] != policy_class:
            raise self._error(
                f"{name.value} is classed {policy_class}, but its strongest effect is {CLASSES[strongest]}",
                keys["class"],
            )
        return Entry(
            name.value, library, policy_class, tuple(effects), handler, " ".join(why.split()), _line(name)
        )

    def _effect(self, node: yaml.Node) -> Effect:
        keys = self._mapping(node, "an effect", {"record", "out", "owner", "subject", "parameter"})
        if "record" in keys and "subject" not in keys and "parameter" not in keys:
            kind = self._choice(keys["record"], "record", RECORDED)
            out = self._text(self._required(node, keys, "out", "a record effect"), "out")
            owner = self._text(keys["owner"], "owner") if "owner" in keys else None
            return Effect("record", kind, out, owner, _line(node))
        if "subject" in keys and not {"record", "out", "owner"} & set(keys):
            kind = self._choice(keys["subject"], "subject", tuple(HANDLES))
            parameter = self._required(node, keys, "parameter", "an invalidate effect")
            return Effect("invalidate", kind, self._text(parameter, "parameter"), None, _line(node))
        raise self._error("an effect has either `record` with `out`, or `subject` with `parameter`", node)

    def _prototype(self, name: str, node: yaml.Node) -> Function:
        text = self._text(node, f"the prototype of {name}")
        try:
            function = read_prototype(text)
        except (c_parser.ParseError, AssertionError, AttributeError):
            function = None
        if function is None or function.name != name:
            raise self._error(f"`{text}` is not a prototype of {name}", node)
        return function

    def _acknowledgement(self, node: yaml.Node) -> Acknowledgement:
        keys = self._mapping(node, "an acknowledgement", {"fingerprint", "why", "until"})
        fingerprint = self._text(
            self._required(node, keys, "fingerprint", "an acknowledgement"), "fingerprint"
        )
        why = self._text(self._required(node, keys, "why", "an acknowledgement"), "why")
        until = None
        if "until" in keys:
            until = str(keys["until"].value)
            if not _is_date(until):
                raise self._error("`until` must be a date like 2027-01-31", keys["until"])
        return Acknowledgement(fingerprint, why, until, _line(node))

    def _mapping(self, node: yaml.Node, what: str, allowed: set[str]) -> dict[str, yaml.Node]:
        found: dict[str, yaml.Node] = {}
        for key, value in self._items(node, what):
            if key.value not in allowed:
                raise self._error(
                    f"{what} has an unknown key `{key.value}` (known: {', '.join(sorted(allowed))})", key
                )
            found[key.value] = value
        return found

    def _items(self, node: yaml.Node | None, what: str) -> Iterator[tuple[yaml.Node, yaml.Node]]:
        """Pairs of a mapping; an absent or empty section has none."""
        if node is None or (isinstance(node, yaml.ScalarNode) and node.value == ""):
            return
        if not isinstance(node, yaml.MappingNode):
            raise self._error(f"{what} must be a mapping", node)
        seen: dict[str, int] = {}
        for key, value in node.value:
            self._text(key, f"a key of {what}")
            if key.value in seen:
                raise self._error(f"{what} has `{key.value}` twice, first at line {seen[key.value]}", key)
            seen[key.value] = _line(key)
            yield key, value

    def _sequence(self, node: yaml.Node | None, what: str) -> list[yaml.Node]:
        if node is None or (isinstance(node, yaml.ScalarNode) and node.value == ""):
            return []
        if not isinstance(node, yaml.SequenceNode):
            raise self._error(f"{what} must be a list", node)
        return list(node.value)

    def _required(
        self, node: yaml.Node, keys: dict[str, yaml.Node], key: str, what: str = "the policy"
    ) -> yaml.Node:
        if key not in keys:
            raise self._error(f"{what} has no `{key}`", node)
        return keys[key]

    def _choice(self, node: yaml.Node, what: str, allowed: tuple[str, ...]) -> str:
        value = self._text(node, what)
        if value not in allowed:
            raise self._error(f"{what} `{value}` is none of {', '.join(allowed)}", node)
        return value

    def _text(self, node: yaml.Node, what: str) -> str:
        value = self._scalar(node, "str", what)
        if not value.strip():
            raise self._error(f"{what} is empty", node)
        return value

    def _scalar(self, node: yaml.Node, kind: str, what: str) -> str:
        if not isinstance(node, yaml.ScalarNode):
            raise self._error(f"{what} must be a single value", node)
        actual = node.tag.rpartition(":")[2]
        if actual != kind:
            hint = "; put it in quotes" if kind == "str" else ""
            raise self._error(f"YAML reads {what} `{node.value}` as {actual}, not {kind}{hint}", node)
        return str(node.value)

    def _error(self, sentence: str, node: yaml.Node) -> InputError:
        first = sentence.split(maxsplit=1)[0]
        shown = first.capitalize() + sentence[len(first) :] if first.islower() else sentence
        return InputError(f"{shown}.", self.path, _line(node))


def _is_date(text: str) -> bool:
    try:
        return datetime.date.fromisoformat(text).isoformat() == text
    except ValueError:
        return False


def _line(node: yaml.Node) -> int:
    return int(node.start_mark.line) + 1


def find_function(policy: Policy, entry: Entry, api: Api) -> Function | None:
    """The prototype of `entry` in `api`: from the header, else from the policy's `declared`."""
    part = api.parts.get(entry.library)
    found = part.functions.get(entry.name) if part else None
    return found or policy.declared.get(entry.name)


def check_policy(policy: Policy, api: Api, snapshots: list[Api]) -> None:
    """Raises InputError when an entry contradicts `api` or an entry point that needs a class has none."""
    for entry in policy.entries.values():
        function = find_function(policy, entry, api)
        if function:
            for effect in entry.effects:
                _check_effect(policy, entry, effect, function)
        elif not any(find_function(policy, entry, known) for known in snapshots):
            raise InputError(
                f"{entry.name} is declared by no header of any known release.", policy.path, entry.line
            )
    for name, line in policy.called.items():
        if not any(name in part.functions for known in (api, *snapshots) for part in known.parts.values()):
            raise InputError(
                f"{name} is called by the runtime, but no header of any known release declares it.",
                policy.path,
                line,
            )
    for name in policy.declared:
        if name not in policy.entries:
            raise InputError(f"{name} is declared in the policy but has no class.", policy.path)
    unclassed = [f for f in api.hip.functions.values() if f.name not in policy.entries]
    missing = [f for f in unclassed if needs_class(f, api.hip) or _is_per_thread_form(f, policy)]
    if missing:
        raise InputError("\n".join(_unclassed(function, api, snapshots) for function in missing), policy.path)


def _check_effect(policy: Policy, entry: Entry, effect: Effect, function: Function) -> None:
    types = {parameter.name: parameter.type for parameter in function.parameters}
    what = f"gives out {article(effect.object)}" if effect.makes else f"names {article(effect.object)}"
    handle = HANDLES[effect.object] + (" *" if effect.makes else "")
    expected: list[tuple[str, str, tuple[str, ...]]] = [(effect.parameter, what, (handle,))]
    if effect.owner:
        owners = tuple(HANDLES.values()) if effect.object == "graph" else (HANDLES["graph"],)
        expected.append((effect.owner, f"makes {article(effect.object)} of it", owners))
    for name, what, wanted in expected:
        if name not in types:
            message = f"{entry.name} has no parameter `{name}`: {function.signature}."
            raise InputError(message, policy.path, effect.line)
        if types[name] not in wanted:
            needed = " or ".join(f"`{text}`" for text in wanted)
            message = f"{entry.name}: `{name}` is `{types[name]}`, but an effect that {what} needs {needed}."
            raise InputError(message, policy.path, effect.line)


def _unclassed(function: Function, api: Api, snapshots: list[Api]) -> str:
    first = next((known.release for known in snapshots if function.name in known.hip.functions), api.release)
    suggestion, reason = suggest_class(function)
    return (
        f"{function.name} (first seen in {first}) needs a class and has none: {function.signature}; "
        f"suggested class: {suggestion}, since {reason}."
    )
