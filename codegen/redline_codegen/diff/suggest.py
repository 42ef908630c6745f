# SPDX-License-Identifier: Apache-2.0
"""`--suggest`: what to write into policies.yaml, as YAML, with the reasoning; a human decides and writes each `why`."""

from __future__ import annotations

import textwrap

from ..model import Function
from ..policy import HANDLES, RECORDED, Policy, suggest_class
from .finding import Finding, Severity
from .review import Review


def to_suggestions(reviewed: Review) -> str:
    """New entries, then acknowledgements with an empty `why`: the policy does not load until somebody fills it."""
    comparison = reviewed.comparison
    lines = [f"# {comparison.old.title} -> {comparison.new.title}; for {reviewed.policy.path.name}."]
    entries = _new_functions(reviewed)
    if entries:
        lines += ["", "entry_points:"]
        for function in entries:
            lines += _entry(function, reviewed.policy)
    edits = [
        f
        for f in reviewed.open
        if f.severity == Severity.DECIDE and f.entity not in {e.name for e in entries}
    ]
    if edits:
        lines += ["", "# To decide by hand:", *(f"#   {f.entity}: {f.edit or f.meaning}" for f in edits)]
    unsafe = [f for f in reviewed.open if f.severity == Severity.UNSAFE]
    kept = [f for f in unsafe if f.rule == "function-removed"]
    if kept:
        lines += ["", "declared:", *(f'  {f.entity}: "{f.old}"' for f in kept)]
    leaves = [f for f in unsafe if not set(f.caused_by) & {other.fingerprint for other in unsafe}]
    leaves = [f for f in leaves if f not in kept]
    if leaves:
        lines += ["", "acknowledged:"]
        for finding in leaves:
            lines += _acknowledgement(finding)
    if len(lines) == 1:
        lines.append("# Nothing to add.")
    return "\n".join(lines) + "\n"


def _new_functions(reviewed: Review) -> list[Function]:
    """Functions that need a class and have none, in the header's order."""
    decide = {f.entity for f in reviewed.open if f.severity == Severity.DECIDE}
    names = decide - reviewed.policy.entries.keys()
    parts = reviewed.comparison.new.api.parts.values()
    return [function for part in parts for name, function in part.functions.items() if name in names]


def _entry(function: Function, policy: Policy) -> list[str]:
    chosen, reason = suggest_class(function)
    lines = [*_comment(function.signature), f"  {function.name}:", f"    class: {chosen}"]
    effects = effects_of(function, chosen)
    if effects:
        lines.append("    effects:")
        for effect in effects:
            first, *rest = effect
            lines += [f"      - {first}", *(f"        {line}" for line in rest)]
    why = f"Suggested from the signature alone: {reason}. Check what HIP does with the call."
    plain = policy.entries.get(function.name.removesuffix("_spt"))
    if plain and plain.name != function.name:
        why = f"The per-thread form of {plain.name}, which is classed {plain.policy_class}. {why}"
    return [
        *lines,
        "    why: >-",
        *textwrap.wrap(why, 104, initial_indent="      ", subsequent_indent="      "),
    ]


def effects_of(function: Function, chosen: str) -> list[list[str]]:
    """Effects that fit the class: handles given out, then the handle that is changed."""
    if chosen == "passthrough":
        return []
    given = {p.type: p.name for p in reversed(function.parameters)}
    graph = given.get(HANDLES["graph"])
    effects = []
    if chosen == "create-record":
        for parameter in function.parameters:
            for kind in RECORDED:
                if parameter.type == f"{HANDLES[kind]} *":
                    owner = [f"owner: {graph}"] if graph and kind != "graph" else []
                    effects.append([f"record: {kind}", f"out: {parameter.name}", *owner])
        makes_node = any(effect[0] == "record: node" for effect in effects)
        return effects + ([["subject: graph", f"parameter: {graph}"]] if graph and makes_node else [])
    for parameter in function.parameters:
        for kind, handle in HANDLES.items():
            if parameter.type == handle and not effects:
                effects.append([f"subject: {kind}", f"parameter: {parameter.name}"])
    return effects


def _acknowledgement(finding: Finding) -> list[str]:
    change = "; ".join(finding.details) or finding.hint or f"{finding.old} -> {finding.new or 'gone'}"
    text = f"{finding.rule} {finding.entity}: {change}. {finding.meaning}"
    return [*_comment(text), f"  - fingerprint: {_quoted(finding.fingerprint)}", '    why: ""']


def _comment(text: str) -> list[str]:
    return textwrap.wrap(text, 106, initial_indent="  # ", subsequent_indent="  # ")


def _quoted(fingerprint: str) -> str:
    """Always in quotes: twelve digits, or digits around one `e`, would be a number to YAML."""
    return f'"{fingerprint}"'
