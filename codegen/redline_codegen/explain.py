# SPDX-License-Identifier: Apache-2.0
"""What the generator knows about one entry point, and counts over all of them."""

from __future__ import annotations

import difflib
from collections import Counter
from typing import Any

from .emit import shims
from .errors import InputError
from .model import Api, Function, Part
from .policy import Effect, Entry, Policy, find_function, needs_class, suggest_class


def explain(name: str, api: Api, policy: Policy, snapshots: list[Api]) -> dict[str, Any]:
    """Facts about `name`, ready for JSON; raises InputError with near names when nothing knows it."""
    part = next((p for p in api.parts.values() if name in p.functions), None)
    entry = policy.entries.get(name)
    function = find_function(policy, entry, api) if entry else part.functions[name] if part else None
    older = [s.release for s in snapshots for p in s.parts.values() if name in p.functions]
    if function is None and entry is None and not older:
        raise InputError(_unknown(name, api, policy))
    library = (
        entry.library if entry else next((lib for lib, p in api.parts.items() if name in p.functions), "hip")
    )
    found = api.parts[library].library if library in api.parts else None
    symbol = found.find(name) if found else None
    exported = any(shim.entry.name == name for shim in shims(api, policy, library))
    return {
        "name": name,
        "release": api.release,
        "library": library,
        "signature": function.signature if function else None,
        "header": function.header if function else None,
        "class": entry.policy_class if entry else None,
        "effects": [describe_effect(effect) for effect in entry.effects] if entry else [],
        "handler": entry.handler if entry else None,
        "why": entry.why if entry else None,
        "node": symbol.node if symbol else None,
        "first_release": older[0] if older else None,
        "exported": exported,
        "shim": _shim_sentence(name, entry, exported, function is not None, symbol is not None),
        "suggestion": None if entry or not (function and part) else _suggestion(function, part),
        "renamed_to": api.parts[library].renames.get(name) if library in api.parts else None,
    }


def describe_effect(effect: Effect) -> str:
    if effect.makes:
        owner = f" of `{effect.owner}`" if effect.owner else ""
        return f"makes a record of the {effect.object}{owner} given out through `{effect.parameter}`"
    return f"marks the record of the {effect.object} in `{effect.parameter}` stale"


def _suggestion(function: Function, part: Part) -> str:
    if not needs_class(function, part):
        return "needs no class: it touches no graph type"
    suggested, reason = suggest_class(function)
    return f"{suggested}, since {reason}"


def _shim_sentence(name: str, entry: Entry | None, exported: bool, declared: bool, in_library: bool) -> str:
    if not exported:
        if not declared:
            return "none: this release does not declare it"
        if not in_library:
            return "none: the real library does not export it"
        return "none: calls reach the real library directly"
    assert entry is not None
    if entry.handler:
        return f"{entry.handler}() is called with the real function"
    return "the real function is called, then " + ", then ".join(describe_effect(e) for e in entry.effects)


def _unknown(name: str, api: Api, policy: Policy) -> str:
    known = {*policy.entries, *(f for part in api.parts.values() for f in part.functions)}
    near = difflib.get_close_matches(name, sorted(known), n=3)
    return f"{name} is not an entry point that any known release has" + (
        f"; did you mean {', '.join(near)}?" if near else "."
    )


def stats(api: Api, policy: Policy) -> dict[str, Any]:
    """Counts by class, header and node of the classed entry points, and what is exported."""
    found = [(entry, find_function(policy, entry, api)) for entry in policy.entries.values()]
    declared = [(entry, function) for entry, function in found if function]
    exported = [shim for library in api.parts for shim in shims(api, policy, library)]
    return {
        "release": api.release,
        "hip_version": api.hip_version,
        "functions": {library: len(part.functions) for library, part in sorted(api.parts.items())},
        "classed": len(declared),
        "classed_in_other_releases_only": len(policy.entries) - len(declared),
        "exported": len(exported),
        "by_class": dict(sorted(Counter(entry.policy_class for entry, _ in declared).items())),
        "by_header": dict(sorted(Counter(function.header for _, function in declared).items())),
        "by_node": dict(sorted(Counter(shim.node for shim in exported).items())),
        "with_handler": sum(1 for shim in exported if shim.entry.handler),
    }
