# SPDX-License-Identifier: Apache-2.0
"""policies.yaml: every mistake is one sentence with the line it stands in, and stops generation."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest
from conftest import ROOT
from redline_codegen.cli import main
from redline_codegen.errors import InputError
from redline_codegen.header import read_prototype
from redline_codegen.inputs import read_snapshots
from redline_codegen.policy import check_policy, load_policy, needs_class, suggest_class

from codegen.test_snapshot import contents

GOOD = """\
version: 1
entry_points:
  hipGraphCreate:
    class: create-record
    effects:
      - record: graph
        out: pGraph
    why: It makes a graph.
"""


@pytest.fixture
def policy_file(tmp_path: Path) -> Callable[[str], Path]:
    def write(text: str) -> Path:
        path = tmp_path / "policies.yaml"
        path.write_text(text)
        return path

    return write


@pytest.mark.parametrize(
    ("old", "new", "line", "complaint"),
    [
        ("version: 1", "version: 2", 1, "`version` must be 1"),
        ("version: 1", "versoin: 1", 1, "unknown key `versoin`"),
        ("    class: create-record", "    class: create", 4, "class `create` is none of"),
        ("    class: create-record", "    class: no", 4, "as bool"),
        ("    class: create-record", "    class: invalidate", 4, "strongest effect is create-record"),
        ("    class: create-record", "    class: [a]", 4, "must be a single value"),
        ("    class: create-record\n", "", 4, "has no `class`"),
        ("    why: It makes a graph.", "    why: ''", 8, "why is empty"),
        ("    why: It makes a graph.", "    why: 1.10", 8, "as float"),
        ("    why: It makes a graph.", "    why: null", 8, "as null"),
        ("    why: It makes a graph.\n", "", 4, "has no `why`"),
        ("    why: It", "    handler: Launch\n    why: It", 8, "not a name of the runtime"),
        ("    why: It", "    handler: on\n    why: It", 8, "as bool"),
        ("    why: It", "    wyh: x\n    why: It", 8, "unknown key `wyh`"),
        ("    why: It", "    class: invalidate\n    why: It", 8, "`class` twice, first at line 4"),
        ("    why: It", "    library: cuda\n    why: It", 8, "library `cuda` is none of"),
        ("      - record: graph", "      - record: grahp", 6, "record `grahp` is none of"),
        ("        out: pGraph", "        parameter: pGraph", 6, "either `record` with `out`"),
        ("        out: pGraph\n", "", 6, "has no `out`"),
        ("    effects:\n", "    effects: x\n    other:\n", 6, "unknown key `other`"),
        (
            "  hipGraphCreate:",
            "  hipGraphCreate: {class: passthrough, why: x}\n  hipGraphCreate:",
            4,
            "`hipGraphCreate` twice",
        ),
        ("  hipGraphCreate:", "  1:", 3, "as int"),
        ("entry_points:", "entry_points: [", 4, "Not YAML"),
        (GOOD, "", None, "empty"),
        (GOOD, "- a\n", 1, "must be a mapping"),
        (GOOD, GOOD + "declared:\n  f: 'int g(void)'\n", 10, "not a prototype of f"),
        (GOOD, GOOD + "declared:\n  f: 'int f('\n", 10, "not a prototype of f"),
        (GOOD, GOOD + "called:\n  - hipGraphCreate\n", 10, "has a class"),
        (GOOD, GOOD + "called:\n  - hipFree\n  - hipFree\n", 11, "hipFree twice, first at line 10"),
        (
            "    why: It",
            "      - {subject: graph, parameter: pGraph}\n    why: It",
            8,
            "two effects on `pGraph`",
        ),
        ("It makes", "It \x07 makes", 8, "control characters are not allowed"),
        ("    why: It", '    handler: "rl_x\\n"\n    why: It', 8, "not a name of the runtime"),
        (GOOD, GOOD + "acknowledged:\n  - why: x\n", 10, "has no `fingerprint`"),
        (GOOD, GOOD + "acknowledged:\n  - {fingerprint: a, why: b, until: soon}\n", 10, "must be a date"),
        (
            GOOD,
            GOOD + "acknowledged:\n  - {fingerprint: a, why: b, until: 2027-02-30}\n",
            10,
            "must be a date",
        ),
    ],
)
def test_mistake_is_one_sentence_with_its_line(
    policy_file: Callable[[str], Path], old: str, new: str, line: int | None, complaint: str
) -> None:
    assert old in GOOD
    path = policy_file(GOOD.replace(old, new, 1))
    with pytest.raises(InputError) as caught:
        load_policy(path)
    message = str(caught.value)
    place = str(path) if line is None else f"{path}:{line}"
    assert message.startswith(f"{place}: "), message
    assert complaint.lower() in message.lower()
    assert "\n" not in message


@pytest.mark.parametrize(
    ("old", "new", "line", "complaint"),
    [
        ("out: pGraph", "out: graph", 6, "has no parameter `graph`"),
        ("record: graph", "record: exec", 6, "needs `hipGraphExec_t *`"),
        (
            "      - record: graph\n        out: pGraph",
            "      - record: graph\n        out: flags",
            6,
            "needs",
        ),
        ("        out: pGraph", "        out: pGraph\n        owner: parent", 6, "no parameter `parent`"),
        ("        out: pGraph", "        out: pGraph\n        owner: flags", 6, "`flags` is `unsigned int`"),
        ("hipGraphCreate:", "hipGraphCraete:", 3, "declared by no header"),
    ],
)
def test_entry_that_contradicts_the_signature_is_refused(
    policy_file: Callable[[str], Path], old: str, new: str, line: int, complaint: str
) -> None:
    path = policy_file(GOOD.replace(old, new, 1))
    snapshots = read_snapshots(ROOT)
    with pytest.raises(InputError, match=re.escape(complaint)) as caught:
        check_policy(load_policy(path), snapshots[-1], snapshots)
    assert str(caught.value).startswith(f"{path}:{line}: ")


def test_create_record_without_an_out_parameter_is_refused(policy_file: Callable[[str], Path]) -> None:
    text = GOOD.replace("hipGraphCreate", "hipGraphDestroy").replace("out: pGraph", "out: graph")
    snapshots = read_snapshots(ROOT)
    with pytest.raises(InputError, match=r"`graph` is `hipGraph_t`, but .* needs `hipGraph_t \*`"):
        check_policy(load_policy(policy_file(text)), snapshots[-1], snapshots)


def test_unclassed_entry_point_stops_generation_with_all_that_is_needed_to_class_it(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = project / "policies.yaml"
    lines = path.read_text().split("\n")
    start = lines.index("  hipGraphAddNode:")
    end = next(
        i for i in range(start + 1, len(lines)) if lines[i].startswith("  h") or lines[i].startswith("  #")
    )
    path.write_text("\n".join(lines[:start] + lines[end:]))
    before = contents(project)
    assert main(["generate", "--root", str(project)]) == 1
    error = capsys.readouterr().err
    assert "hipGraphAddNode (first seen in 6.4.3) needs a class" in error
    assert "hipError_t hipGraphAddNode(hipGraphNode_t *pGraphNode, hipGraph_t graph, " in error
    assert "suggested class: create-record" in error
    assert contents(project) == before


def test_per_thread_form_of_a_classed_entry_point_needs_a_class_too() -> None:
    """hipGetProcAddress_spt (HIP 7.13) touches no graph type and still is a way round the shims."""
    policy = load_policy(ROOT / "policies.yaml")
    snapshots = read_snapshots(ROOT)
    api = snapshots[-1]
    original = api.hip.functions["hipGetProcAddress"]
    per_thread = type(original)(
        "hipGetProcAddress_spt", original.returns, original.parameters, original.header
    )
    api.hip.functions[per_thread.name] = per_thread
    with pytest.raises(InputError, match="hipGetProcAddress_spt"):
        check_policy(policy, api, snapshots)


@pytest.mark.parametrize("index", range(4))
def test_every_graph_entry_point_of_every_snapshot_is_classed(index: int) -> None:
    policy = load_policy(ROOT / "policies.yaml")
    snapshots = read_snapshots(ROOT)
    check_policy(policy, snapshots[index], snapshots)
    hip = snapshots[index].hip
    touching = {name for name, function in hip.functions.items() if needs_class(function, hip)}
    assert touching <= set(policy.entries)
    assert not any(name.startswith("hipGraphics") for name in touching)


def test_what_needs_a_class() -> None:
    hip = read_snapshots(ROOT)[-1].hip
    yes = ["hipGraphLaunch_spt", "hipDeviceGraphMemTrim", "hipDrvGraphAddMemsetNode", "hipUserObjectCreate"]
    yes += ["hipThreadExchangeStreamCaptureMode", "hipStreamIsCapturing", "hipGraphInstantiateWithParams"]
    no = ["hipMalloc", "hipGraphicsMapResources", "hipStreamCreate", "hipLaunchKernel", "hipEventRecord"]
    assert [name for name in yes if not needs_class(hip.functions[name], hip)] == []
    assert [name for name in no if needs_class(hip.functions[name], hip)] == []


def test_suggested_class_follows_the_signature() -> None:
    functions = read_snapshots(ROOT)[-1].hip.functions
    assert suggest_class(functions["hipGraphAddKernelNode"])[0] == "create-record"
    assert suggest_class(functions["hipGraphExecKernelNodeSetParams"])[0] == "invalidate"
    assert suggest_class(functions["hipGraphKernelNodeGetParams"])[0] == "passthrough"


def test_every_entry_point_can_be_declared_by_the_policy() -> None:
    """`redline-codegen diff --suggest` writes the prototype of one that the header has lost."""
    policy = load_policy(ROOT / "policies.yaml")
    for api in read_snapshots(ROOT):
        for name in policy.entries.keys() & api.hip.functions.keys():
            function = api.hip.functions[name]
            read = read_prototype(function.signature)
            assert read and (read.signature, list(read.types)) == (function.signature, list(function.types))
