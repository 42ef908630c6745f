# SPDX-License-Identifier: Apache-2.0
"""Each rule fires on the one change that it is for, with the class that the change has here."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from redline_codegen.diff.canonical import canonical
from redline_codegen.diff.finding import RULES, Finding, Severity
from redline_codegen.diff.suggest import effects_of
from redline_codegen.model import (
    Api,
    DispatchTable,
    Enum,
    Field,
    Function,
    Library,
    Parameter,
    Part,
    Record,
    Symbol,
)
from redline_codegen.policy import suggest_class

from diff.conftest import compared, edited, found, policy, snapshot, without_entries

Change = Callable[[Api], Api]
GRAPH = Parameter("graph", "hipGraph_t")


def now() -> Api:
    return snapshot("7.2.4")


def function(name: str, *parameters: Parameter) -> Function:
    return Function(name, "hipError_t", parameters, "hip/hip_runtime_api.h")


def with_functions(*functions: Function) -> Change:
    return lambda api: edited(
        api, lambda part: {"functions": {**part.functions, **{f.name: f for f in functions}}}
    )


def without(table: str, name: str) -> Change:
    return lambda api: edited(
        api, lambda part: {table: {k: v for k, v in getattr(part, table).items() if k != name}}
    )


def with_item(table: str, name: str, value: object) -> Change:
    return lambda api: edited(api, lambda part: {table: {**getattr(part, table), name: value}})


def with_library(**fields: Any) -> Change:
    def change(part: Part) -> dict[str, Any]:
        assert part.library
        made = {key: value(part.library) if callable(value) else value for key, value in fields.items()}
        return {"library": replace(part.library, **made)}

    return lambda api: edited(api, change)


def with_symbols(keep: Callable[[Symbol], bool], *more: Symbol) -> Change:
    return with_library(symbols=lambda library: (*filter(keep, library.symbols), *more))


def renamed(name: str, old: str, new: str) -> Change:
    def change(part: Part) -> dict[str, Any]:
        before = part.functions[name]
        parameters = tuple(replace(p, name=new) if p.name == old else p for p in before.parameters)
        return {"functions": {**part.functions, name: replace(before, parameters=parameters)}}

    return lambda api: edited(api, change)


def exchanged(name: str, one: str, other: str) -> Change:
    """Two parameters of the same type have changed places."""
    return lambda api: renamed(name, "?", other)(renamed(name, other, one)(renamed(name, one, "?")(api)))


def with_value(enum: str, name: str, value: int | None) -> Change:
    def change(part: Part) -> dict[str, Any]:
        pairs = dict(part.enums[enum].enumerators)
        pairs.pop(name, None)
        if value is not None:
            pairs[name] = value
        return {"enums": {**part.enums, enum: replace(part.enums[enum], enumerators=tuple(pairs.items()))}}

    return lambda api: edited(api, change)


def with_member(record: str, member: Field, size: int) -> Change:
    def change(part: Part) -> dict[str, Any]:
        before = part.records[record]
        return {
            "records": {**part.records, record: replace(before, size=size, fields=(*before.fields, member))}
        }

    return lambda api: edited(api, change)


def with_table(name: str, functions: Callable[[tuple[str, ...]], tuple[str, ...]]) -> Change:
    def change(part: Part) -> dict[str, Any]:
        before = part.tables.get(name, DispatchTable(0, 0, ()))
        return {"tables": {**part.tables, name: replace(before, functions=functions(before.functions))}}

    return lambda api: edited(api, change)


def resigned(name: str, *parameters: Parameter) -> Change:
    return with_functions(function(name, *parameters))


MEMSET = "hipMemsetParams"
TABLE = "HipDispatchTable"
KERNEL_NODE = "hipGraphAddKernelNode"

CASES: list[tuple[str, str, Severity, Change]] = [
    ("function-added", "hipGraphPaint", Severity.DECIDE, with_functions(function("hipGraphPaint", GRAPH))),
    (
        "function-added",
        "hipPaint",
        Severity.NOTE,
        with_functions(function("hipPaint", Parameter("n", "int"))),
    ),
    (
        "function-added",
        "hipPaintNode",
        Severity.DECIDE,
        with_functions(function("hipPaintNode", Parameter("p", "hipGraphNodeParams *"))),
    ),
    (
        "per-thread-form-added",
        "hipGraphInstantiate_spt",
        Severity.DECIDE,
        with_functions(function("hipGraphInstantiate_spt", Parameter("flags", "int"))),
    ),
    (
        "per-thread-form-added",
        "hipMalloc_spt",
        Severity.NOTE,
        with_functions(function("hipMalloc_spt", Parameter("size", "size_t"))),
    ),
    ("function-removed", KERNEL_NODE, Severity.UNSAFE, without("functions", KERNEL_NODE)),
    (
        "function-removed",
        "hipGraphGetNodes",
        Severity.LOST_ACCELERATION,
        without("functions", "hipGraphGetNodes"),
    ),
    ("function-removed", "hipMalloc", Severity.NOTE, without("functions", "hipMalloc")),
    (
        "signature-changed",
        "hipGraphDestroy",
        Severity.UNSAFE,
        resigned("hipGraphDestroy", Parameter("graph", "int")),
    ),
    (
        "signature-changed",
        "hipGraphAddDependencies",
        Severity.UNSAFE,
        exchanged("hipGraphAddDependencies", "from", "to"),
    ),
    ("signature-changed", "hipFree", Severity.NOTE, resigned("hipFree", Parameter("ptr", "int"))),
    (
        "signature-changed",
        "hipGraphDestroy",
        Severity.NOTE,
        resigned("hipGraphDestroy", Parameter("graph", "struct ihipGraph *")),
    ),
    ("parameter-renamed", "hipGraphDestroy", Severity.DECIDE, renamed("hipGraphDestroy", "graph", "picture")),
    ("parameter-renamed", "hipGraphGetNodes", Severity.NOTE, renamed("hipGraphGetNodes", "graph", "picture")),
    ("graph-type-gained", "hipFree", Severity.DECIDE, resigned("hipFree", GRAPH)),
    (
        "header-moved",
        "hipGraphDestroy",
        Severity.NOTE,
        with_item(
            "functions", "hipGraphDestroy", Function("hipGraphDestroy", "hipError_t", (GRAPH,), "hip/graph.h")
        ),
    ),
    ("typedef-added", "hipPaint_t", Severity.NOTE, with_item("typedefs", "hipPaint_t", "int")),
    ("typedef-removed", "hipHostFn_t", Severity.NOTE, without("typedefs", "hipHostFn_t")),
    (
        "typedef-changed",
        "hipHostFn_t",
        Severity.UNSAFE,
        with_item("typedefs", "hipHostFn_t", "int (*)(void *)"),
    ),
    (
        "typedef-changed",
        "hipTextureObject_t",
        Severity.NOTE,
        with_item("typedefs", "hipTextureObject_t", "int"),
    ),
    (
        "record-added",
        "hipPaint",
        Severity.NOTE,
        with_item("records", "hipPaint", Record("hipPaint", "struct", True, 0, 1, ())),
    ),
    ("record-removed", MEMSET, Severity.NOTE, without("records", MEMSET)),
    ("layout-changed", MEMSET, Severity.UNSAFE, with_member(MEMSET, Field("more", "size_t", 48), 56)),
    (
        "layout-changed",
        "hipIpcMemHandle_st",
        Severity.NOTE,
        with_member("hipIpcMemHandle_st", Field("more", "int", 64), 68),
    ),
    (
        "enum-added",
        "hipPaint",
        Severity.NOTE,
        with_item("enums", "hipPaint", Enum("hipPaint", True, (("hipRed", 1),))),
    ),
    ("enum-removed", "hipGraphNodeType", Severity.NOTE, without("enums", "hipGraphNodeType")),
    (
        "enumerator-added",
        "hipGraphNodeTypePaint",
        Severity.NOTE,
        with_value("hipGraphNodeType", "hipGraphNodeTypePaint", 40),
    ),
    (
        "enumerator-removed",
        "hipGraphNodeTypeHost",
        Severity.UNSAFE,
        with_value("hipGraphNodeType", "hipGraphNodeTypeHost", None),
    ),
    (
        "enumerator-changed",
        "hipGraphNodeTypeHost",
        Severity.UNSAFE,
        with_value("hipGraphNodeType", "hipGraphNodeTypeHost", 40),
    ),
    ("enumerator-changed", "hipLimitRange", Severity.NOTE, with_value("hipLimit_t", "hipLimitRange", 5000)),
    ("macro-added", "hipPaintDefault", Severity.NOTE, with_item("constants", "hipPaintDefault", 1)),
    ("macro-removed", "hipTextureType1D", Severity.NOTE, without("constants", "hipTextureType1D")),
    (
        "macro-removed",
        "hipGraphKernelNodePortProgrammatic",
        Severity.UNSAFE,
        without("constants", "hipGraphKernelNodePortProgrammatic"),
    ),
    (
        "macro-changed",
        "hipGraphKernelNodePortProgrammatic",
        Severity.UNSAFE,
        with_item("constants", "hipGraphKernelNodePortProgrammatic", 7),
    ),
    (
        "rename-added",
        "hipGraphLaunch",
        Severity.DECIDE,
        with_item("renames", "hipGraphLaunch", "hipGraphLaunchR0800"),
    ),
    ("rename-removed", "hipStreamAttrID", Severity.NOTE, without("renames", "hipStreamAttrID")),
    (
        "rename-changed",
        "hipChooseDevice",
        Severity.NOTE,
        with_item("renames", "hipChooseDevice", "hipChooseDeviceR0800"),
    ),
    (
        "symbol-added",
        "hipPaint",
        Severity.NOTE,
        with_symbols(lambda s: True, Symbol("hipPaint", "hip_9.0", True)),
    ),
    (
        "symbol-added",
        "hipGraphPaint",
        Severity.DECIDE,
        with_symbols(lambda s: True, Symbol("hipGraphPaint", "hip_9.0", True)),
    ),
    (
        "symbol-added",
        "hipGraphLaunch",
        Severity.NOTE,
        with_symbols(lambda s: True, Symbol("hipGraphLaunch", "hip_4.0", False)),
    ),
    (
        "symbol-added-to-old-node",
        "hipPaint",
        Severity.NOTE,
        with_symbols(lambda s: True, Symbol("hipPaint", "hip_5.3", True)),
    ),
    (
        "symbol-removed",
        "hipGraphLaunch",
        Severity.LOST_ACCELERATION,
        with_symbols(lambda s: s.name != "hipGraphLaunch"),
    ),
    ("symbol-removed", "hipMalloc", Severity.NOTE, with_symbols(lambda s: s.name != "hipMalloc")),
    (
        "symbol-moved",
        "hipGraphLaunch",
        Severity.LOST_ACCELERATION,
        with_symbols(lambda s: s.name != "hipGraphLaunch", Symbol("hipGraphLaunch", "hip_7.2", True)),
    ),
    (
        "default-version-changed",
        "hipGraphLaunch",
        Severity.LOST_ACCELERATION,
        with_symbols(
            lambda s: s.name != "hipGraphLaunch",
            Symbol("hipGraphLaunch", "hip_4.3", False),
            Symbol("hipGraphLaunch", "hip_7.2", True),
        ),
    ),
    (
        "declared-not-exported",
        "hipGraphPaint",
        Severity.LOST_ACCELERATION,
        with_functions(function("hipGraphPaint", GRAPH)),
    ),
    ("declared-not-exported", "hipPaint", Severity.NOTE, with_functions(function("hipPaint"))),
    (
        "node-added",
        "hip_9.0",
        Severity.NOTE,
        with_library(nodes=lambda lib: {**lib.nodes, "hip_9.0": ("hip_7.2",)}),
    ),
    (
        "node-removed",
        "hip_7.2",
        Severity.NOTE,
        with_library(nodes=lambda lib: {k: v for k, v in lib.nodes.items() if k != "hip_7.2"}),
    ),
    (
        "node-forked",
        "hip_7.2",
        Severity.NOTE,
        with_library(
            nodes=lambda lib: {**lib.nodes, "hip_7.14": ("hip_7.2",), "hip_profiler_ext": ("hip_7.2",)}
        ),
    ),
    (
        "node-reparented",
        "hip_7.2",
        Severity.NOTE,
        with_library(nodes=lambda lib: {**lib.nodes, "hip_7.2": ()}),
    ),
    ("soname-changed", "libamdhip64.so.7", Severity.NOTE, with_library(soname="libamdhip64.so.8")),
    ("table-added", "HipPaintTable", Severity.NOTE, with_table("HipPaintTable", lambda _: ("hipPaint",))),
    ("table-removed", TABLE, Severity.LOST_ACCELERATION, without("tables", TABLE)),
    ("table-grown", TABLE, Severity.NOTE, with_table(TABLE, lambda its: (*its, "hipPaint"))),
    ("table-rearranged", TABLE, Severity.UNSAFE, with_table(TABLE, lambda its: ("hipPaint", *its))),
    ("table-rearranged", TABLE, Severity.UNSAFE, with_table(TABLE, lambda its: its[:-1])),
]


def one(rule: str, entity: str, change: Change) -> Finding:
    return found(compared(now(), change(now())), rule)[entity]


@pytest.mark.parametrize(
    ("rule", "entity", "severity", "change"), CASES, ids=lambda v: v if isinstance(v, str) else ""
)
def test_rule_fires_with_its_class(rule: str, entity: str, severity: Severity, change: Change) -> None:
    finding = one(rule, entity, change)
    assert finding.severity == severity
    assert finding.meaning.endswith(".") and ". " not in finding.meaning
    assert finding.in_scope or finding.severity != Severity.UNSAFE


def test_every_rule_has_a_case() -> None:
    assert {rule for rule, *_ in CASES} | {"member-respelled"} == RULES.keys()


def test_nothing_but_the_change_is_found() -> None:
    """A single changed fact gives the findings of that fact; what follows from it names its cause."""
    for rule, entity, _, change in CASES:
        if rule in (
            "signature-changed",
            "enumerator-changed",
            "macro-changed",
            "symbol-moved",
            "parameter-renamed",
        ):
            others = [f for f in compared(now(), change(now())).findings if f.entity != entity]
            assert others == [], rule


def test_member_that_is_only_spelled_otherwise_is_a_note() -> None:
    name, part = "hipKernelNodeParams", now().hip
    fields = tuple(
        replace(f, type="unsigned int") if f.type == "uint32_t" else f for f in part.records[name].fields
    )
    alias = edited(now(), lambda p: {"typedefs": {**p.typedefs, "hipPaint_t": "dim3"}})
    fields = tuple(replace(f, type="hipPaint_t") if f.type == "dim3" else f for f in fields)
    record = replace(part.records[name], fields=fields)
    new = edited(alias, lambda p: {"records": {**p.records, name: record}})
    ours = compared(alias, new)
    assert [f.rule for f in ours.findings] == ["member-respelled"]
    assert ours.findings[0].severity == Severity.NOTE


def test_struct_that_grows_with_its_member_names_the_cause() -> None:
    """hipGraphNodeParams holds hipMemsetParams by value: one change of a type, one leaf."""
    outer = "hipGraphNodeParams"
    grown = with_member(MEMSET, Field("more", "size_t", 48), 56)(now())
    record = replace(grown.hip.records[outer], size=(grown.hip.records[outer].size or 0) + 8)
    new = edited(grown, lambda part: {"records": {**part.records, outer: record}})
    layouts = found(compared(now(), new), "layout-changed")
    assert layouts[outer].caused_by == (layouts[MEMSET].fingerprint,)
    assert layouts[MEMSET].caused_by == ()


def test_known_function_without_a_class_asks_for_one_when_it_gains_a_graph_type() -> None:
    finding = one("graph-type-gained", "hipFree", resigned("hipFree", GRAPH))
    assert "Add an entry for hipFree" in finding.edit


def test_function_that_has_a_class_asks_for_nothing() -> None:
    old = without("functions", KERNEL_NODE)(now())
    assert found(compared(old, now()), "function-added")[KERNEL_NODE].severity == Severity.NOTE
    reduced = without_entries(KERNEL_NODE)
    finding = found(compared(old, now(), reduced), "function-added")[KERNEL_NODE]
    assert finding.severity == Severity.DECIDE
    assert "create-record" in finding.edit


def test_entry_point_that_only_the_library_still_has_keeps_its_shim_by_declaring_it() -> None:
    new = without("functions", KERNEL_NODE)(now())
    finding = found(compared(now(), new), "function-removed")[KERNEL_NODE]
    assert f'{KERNEL_NODE}: "hipError_t {KERNEL_NODE}(hipGraphNode_t *pGraphNode, ' in finding.edit
    declared = replace(
        policy(), declared={**policy().declared, KERNEL_NODE: now().hip.functions[KERNEL_NODE]}
    )
    assert found(compared(now(), new, declared), "function-removed")[KERNEL_NODE].severity == Severity.NOTE
    unexported = with_symbols(lambda s: s.name != KERNEL_NODE)(new)
    severity = found(compared(now(), unexported), "function-removed")[KERNEL_NODE].severity
    assert severity == Severity.LOST_ACCELERATION


def test_likely_rename_is_a_hint_on_both_sides() -> None:
    before = now().hip.functions["hipGraphKernelNodeSetParams"]
    new = with_functions(replace(before, name="hipGraphKernelNodeSetParams_v2"))(
        without("functions", before.name)(now())
    )
    ours = compared(now(), new)
    assert (
        found(ours, "function-removed")[before.name].hint
        == "likely renamed to hipGraphKernelNodeSetParams_v2"
    )
    added = found(ours, "function-added")["hipGraphKernelNodeSetParams_v2"]
    assert added.hint == f"likely renamed from {before.name}"
    assert added.severity == Severity.DECIDE


def test_fingerprint_depends_on_the_fact_and_on_nothing_else() -> None:
    change = with_value("hipGraphNodeType", "hipGraphNodeTypeHost", 40)
    first = one("enumerator-changed", "hipGraphNodeTypeHost", change)
    relabelled = replace(change(now()), release="9.9.9", hip_version="9.9.9")
    again = found(compared(now(), relabelled, without_entries("hipGraphNodeGetType")), "enumerator-changed")
    assert again["hipGraphNodeTypeHost"].fingerprint == first.fingerprint
    other = one(
        "enumerator-changed",
        "hipGraphNodeTypeHost",
        with_value("hipGraphNodeType", "hipGraphNodeTypeHost", 41),
    )
    assert other.fingerprint != first.fingerprint


@pytest.mark.parametrize("old", ["5.2.3", "5.7.1", "6.4.3"])
def test_fingerprints_are_unique_within_a_comparison(old: str) -> None:
    findings = compared(snapshot(old), now()).findings
    assert len({f.fingerprint for f in findings}) == len(findings)


@pytest.mark.parametrize(
    ("old", "new"), [("5.2.3", "5.7.1"), ("5.7.1", "6.4.3"), ("6.4.3", "7.2.4"), ("7.2.4", "5.2.3")]
)
def test_only_what_is_reachable_is_unsafe(old: str, new: str) -> None:
    for finding in compared(snapshot(old), snapshot(new)).findings:
        assert finding.in_scope or finding.severity == Severity.NOTE


def test_without_libraries_exports_are_not_guessed() -> None:
    bare = edited(edited(now(), lambda part: {"library": None}), lambda part: {"library": None}, "hsa")
    ours = compared(bare, now())
    assert ours.findings == ()
    assert [gap.split(":")[0] for gap in ours.not_checkable] == [
        f"{part} exports, version nodes, default versions, and what is declared but not exported"
        for part in ("HIP", "HSA")
    ]


def test_part_that_one_side_lacks_is_listed_and_not_compared() -> None:
    ours = compared(replace(now(), parts={"hip": now().hip}), now())
    assert ours.findings == ()
    assert any(
        gap.startswith("HSA prototypes") and "old has no HSA headers" in gap for gap in ours.not_checkable
    )


def test_canonical_types_see_through_typedefs_and_no_further() -> None:
    part = Part(
        {},
        {"handle_t": "struct thing *", "thing": "struct thing", "call_t": "void (*)(thing *)"},
        {},
        {},
        {},
        {},
    )
    assert canonical(part, "handle_t") == canonical(part, "thing *")
    assert canonical(part, "handle_t *") == canonical(part, "thing **") == canonical(part, "struct thing **")
    assert canonical(part, "const handle_t") != canonical(part, "const thing *")
    assert canonical(part, "call_t") == canonical(part, "void (*)(struct thing *)")
    assert canonical(part, "unsigned int [4]") == "unsigned int [4]"


@settings(max_examples=15, deadline=None)
@given(st.data())
def test_comparison_mirrors_when_the_sides_are_swapped(data: st.DataObject) -> None:
    """Whatever changed between two releases, the way back lists the same entities with old and new exchanged."""
    chosen = data.draw(st.lists(st.sampled_from(CASES), min_size=1, max_size=4))
    new = now()
    for _, _, _, change in chosen:
        with suppress(KeyError):  # an earlier change may have removed what this one is about
            new = change(new)
    kinds = ("typedef", "record", "enum", "enumerator", "macro", "rename", "layout")
    there, back = compared(now(), new).findings, compared(new, now()).findings
    forth = {(kind, f.entity, f.old, f.new) for f in there if (kind := f.rule.rpartition("-")[0]) in kinds}
    mirrored = {(kind, f.entity, f.new, f.old) for f in back if (kind := f.rule.rpartition("-")[0]) in kinds}
    assert forth == mirrored


def test_struct_behind_a_changed_typedef_names_the_cause() -> None:
    """The member's spelling is the same on both sides; what it stands for is not."""
    ours = compared(now(), with_item("typedefs", "hipHostFn_t", "int (*)(void *)")(now()))
    layout = found(ours, "layout-changed")["hipHostNodeParams"]
    assert layout.caused_by == (found(ours, "typedef-changed")["hipHostFn_t"].fingerprint,)
    assert layout.old != layout.new
    assert layout.details == ("fn @0 void (*)(void *) -> fn @0 int (*)(void *)",)


def test_name_without_a_tag_that_stands_for_something_else_is_unsafe() -> None:
    """Prototypes that mention it are spelled as before."""
    taking = with_functions(function("hipGraphPaint", GRAPH, Parameter("colour", "hipColour *")))(now())
    bodies: list[tuple[str, object]] = [
        ("records", Record("hipColour", "struct", False, 4, 4, (Field("red", "int", 0),))),
        ("enums", Enum("hipColour", False, (("hipColourRed", 1),))),
        ("typedefs", "unsigned long"),
    ]
    sides = [with_item(table, "hipColour", body)(taking) for table, body in bodies]
    for old in sides:
        for new in sides:
            severities = [f.severity for f in found(compared(old, new), "typedef-changed").values()]
            assert severities == ([] if old is new else [Severity.UNSAFE])


def test_enumerator_says_whether_the_runtime_knows_it() -> None:
    value = with_value("hipGraphNodeType", "hipGraphNodeTypeKernel", None)(now())
    finding = found(compared(value, now()), "enumerator-added")["hipGraphNodeTypeKernel"]
    assert finding.meaning == "A value of hipGraphNodeType that the runtime knows already."


def test_suggested_effects_fit_the_suggested_class() -> None:
    """For every entry point of the policy that is classed by effects, in the newest header."""
    agreeing = 0
    for name, entry in policy().entries.items():
        declared = now().hip.functions.get(name)
        if declared is None:
            continue
        chosen, _ = suggest_class(declared)
        effects = effects_of(declared, chosen)
        assert bool(effects) == (chosen != "passthrough"), name
        agreeing += chosen == entry.policy_class
    assert agreeing > len(policy().entries) * 0.8


def test_library_alone_compares_exports_only() -> None:
    library = now().hip.library
    assert library
    alone = Api("libamdhip64.so.7", "", {"hip": Part({}, {}, {}, {}, {}, {}, library)})
    changed = replace(library, symbols=tuple(s for s in library.symbols if s.name != "hipGraphLaunch"))
    other = Api(
        "libamdhip64.so.7",
        "",
        {"hip": Part({}, {}, {}, {}, {}, {}, Library(library.soname, library.nodes, changed.symbols))},
    )
    ours = compared(alone, other)
    assert [(f.rule, f.entity, f.severity) for f in ours.findings] == [
        ("symbol-removed", "hipGraphLaunch", Severity.LOST_ACCELERATION)
    ]
    assert any(gap.startswith("HIP prototypes") for gap in ours.not_checkable)
