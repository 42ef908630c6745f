# SPDX-License-Identifier: Apache-2.0
"""Drift that has bitten, or would have, by name; from the committed snapshots where both releases have one."""

from __future__ import annotations

from conftest import ROOT, include_folder
from redline_codegen.diff.compare import Comparison, compare
from redline_codegen.diff.finding import Severity
from redline_codegen.diff.sides import Side, read_side

from diff.conftest import compared, found, policy, snapshot
from diff.parsed_once import parsed_once

SEMAPHORES = {
    "hipGraphAddExternalSemaphoresSignalNode",
    "hipGraphAddExternalSemaphoresWaitNode",
    "hipGraphExecExternalSemaphoresSignalNodeSetParams",
    "hipGraphExecExternalSemaphoresWaitNodeSetParams",
    "hipGraphExternalSemaphoresSignalNodeGetParams",
    "hipGraphExternalSemaphoresSignalNodeSetParams",
    "hipGraphExternalSemaphoresWaitNodeGetParams",
    "hipGraphExternalSemaphoresWaitNodeSetParams",
}


def to_61() -> Comparison:
    header = str(include_folder("6.1.40091"))
    with parsed_once():
        return compare(Side(snapshot("5.7.1"), "5.7.1"), read_side(header, ROOT), policy(), ROOT)


def test_graph_node_types_renumbered_after_52() -> None:
    """From 5.3 on a kernel node is 0 and no longer 1: reading the other release's type is reading another node."""
    ours = compared(snapshot("5.2.3"), snapshot("5.7.1"))
    renumbered = found(ours, "enumerator-changed")
    values = {name: (f.old, f.new) for name, f in renumbered.items() if f.subject == "hipGraphNodeType"}
    assert values == {
        "hipGraphNodeTypeKernel": ("1", "0"),
        "hipGraphNodeTypeMemcpy": ("2", "1"),
        "hipGraphNodeTypeMemset": ("3", "2"),
        "hipGraphNodeTypeHost": ("4", "3"),
        "hipGraphNodeTypeGraph": ("5", "4"),
        "hipGraphNodeTypeEmpty": ("6", "5"),
        "hipGraphNodeTypeWaitEvent": ("7", "6"),
        "hipGraphNodeTypeEventRecord": ("8", "7"),
        "hipGraphNodeTypeMemcpyFromSymbol": ("10", "12"),
        "hipGraphNodeTypeMemcpyToSymbol": ("11", "13"),
        "hipGraphNodeTypeCount": ("12", "14"),
    }
    assert {f.severity for name, f in renumbered.items() if name in values} == {Severity.UNSAFE}
    removed = found(ours, "enumerator-removed")["hipGraphNodeTypeMemcpy1D"]
    assert removed.severity == Severity.UNSAFE
    assert removed.reaches == ("hipGraphNodeGetType",)


def test_linked_names_of_60_are_macro_renames() -> None:
    """What is written as hipGetDeviceProperties links to ...R0600, with a struct of another size."""
    renames = found(to_61(), "rename-added")
    assert {name: f.new for name, f in renames.items()} == {
        "hipChooseDevice": "hipChooseDeviceR0600",
        "hipDeviceProp_t": "hipDeviceProp_tR0600",
        "hipGetDeviceProperties": "hipGetDevicePropertiesR0600",
    }
    removed = found(to_61(), "function-removed")
    assert removed["hipGetDeviceProperties"].hint == "now a macro for hipGetDevicePropertiesR0600"


def test_sixteen_signatures_of_60_changed_in_spelling_only() -> None:
    """`hipArray *` became `hipArray_t`, which is the same type; no caller can tell."""
    signatures = found(to_61(), "signature-changed")
    arrays = {name for name, f in signatures.items() if f.severity == Severity.NOTE}
    assert len(arrays) == 16
    assert all("hipArray *" in (signatures[name].old or "") for name in arrays)
    assert signatures.keys() - arrays == {
        "hipGraphExternalSemaphoresSignalNodeGetParams",
        "hipGraphExternalSemaphoresWaitNodeGetParams",
    }


def test_same_symbol_takes_another_struct_from_70_on() -> None:
    """hipDrvGraphAddMemsetNode keeps name and node, but its struct has 48 bytes and no longer 40."""
    ours = compared(snapshot("6.4.3"), snapshot("7.2.4"))
    unsafe = {
        name: f for name, f in found(ours, "signature-changed").items() if f.severity == Severity.UNSAFE
    }
    assert unsafe.keys() == {"hipDrvGraphAddMemsetNode", "hipDrvGraphExecMemsetNodeSetParams"}
    for finding in unsafe.values():
        assert "const HIP_MEMSET_NODE_PARAMS *memsetParams" in (finding.old or "")
        assert "const hipMemsetParams *memsetParams" in (finding.new or "")
        assert finding.hint == "the struct of `memsetParams` has 48 bytes instead of 40"
    assert not found(ours, "symbol-moved", "symbol-removed").keys() & unsafe.keys()


def test_launch_attribute_union_grew_at_70() -> None:
    """The union grew under two graph entry points whose prototypes did not change."""
    ours = compared(snapshot("6.4.3"), snapshot("7.2.4"))
    finding = found(ours, "layout-changed")["hipLaunchAttributeValue"]
    assert finding.severity == Severity.UNSAFE
    assert "size 32 -> 64" in finding.details
    assert finding.reaches == ("hipGraphKernelNodeGetAttribute", "hipGraphKernelNodeSetAttribute")


def test_external_semaphore_functions_are_declared_and_not_exported_until_72() -> None:
    """A header-only generator would export shims of functions that HIP does not have."""
    missing = found(compared(snapshot("5.2.3"), snapshot("6.4.3")), "declared-not-exported")
    assert missing.keys() >= SEMAPHORES
    assert {missing[name].severity for name in SEMAPHORES} == {Severity.LOST_ACCELERATION}
    outside = missing.keys() - SEMAPHORES
    assert {missing[name].severity for name in outside} <= {Severity.NOTE}
    assert not found(compared(snapshot("6.4.3"), snapshot("7.2.4")), "declared-not-exported")


def test_symbols_are_added_to_nodes_that_had_shipped() -> None:
    """A node says nothing about whether an older library of that node has the symbol."""
    added = found(compared(snapshot("6.4.3"), snapshot("7.2.4")), "symbol-added-to-old-node")
    assert added.keys() == SEMAPHORES | {"hipDeviceGetTexture1DLinearMaxWidth"}
    assert {added[name].new for name in SEMAPHORES} == {f"{name}@@hip_5.3" for name in SEMAPHORES} & {
        added[name].new for name in SEMAPHORES
    }
    assert all("an older library with the same node" in added[name].meaning for name in SEMAPHORES)


def test_nodes_before_70_are_never_moved() -> None:
    for old, new in (("5.2.3", "6.4.3"), ("6.4.3", "7.2.4")):
        assert not found(compared(snapshot(old), snapshot(new)), "symbol-moved", "default-version-changed")


def test_hiprtc_left_the_library_without_touching_us() -> None:
    removed = found(compared(snapshot("6.4.3"), snapshot("7.2.4")), "symbol-removed")
    assert len(removed) == 18
    assert all(name.startswith("hiprtc") and f.severity == Severity.NOTE for name, f in removed.items())


def test_end_marker_of_an_enumeration_is_called_one() -> None:
    ours = compared(snapshot("6.4.3"), snapshot("7.2.4"))
    moved = found(ours, "enumerator-changed")["hipLimitRange"]
    assert (moved.old, moved.new) == ("3", "4099")
    assert moved.hint == "marks the end of the enumeration"
    assert not moved.in_scope
