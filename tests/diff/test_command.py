# SPDX-License-Identifier: Apache-2.0
"""The command line: what can be compared, the exit codes, and one sentence for every input that cannot be read."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path

import pytest
from conftest import ROOT, include_folder, real_library
from redline_codegen.cli import main

OLD, NEW = (str(ROOT / "api" / f"rocm-{release}.json") for release in ("6.4.3", "7.2.4"))
HEADER = "hip/hip_runtime_api.h"


def diff(*arguments: str, root: Path = ROOT) -> int:
    return main(["diff", *arguments, "--root", str(root)])


def test_exit_code_is_0_when_nothing_changed() -> None:
    assert diff(NEW, NEW) == 0


@pytest.mark.parametrize(
    ("fail_on", "code"), [("unsafe", 1), ("decide", 1), ("lost-acceleration", 1), ("note", 1), ("never", 0)]
)
def test_exit_code_follows_fail_on(fail_on: str, code: int) -> None:
    assert diff(OLD, NEW, "--fail-on", fail_on) == code


def test_notes_alone_pass_unless_they_are_asked_for(tmp_path: Path) -> None:
    document = json.loads(Path(NEW).read_text())
    document["hip"]["library"]["soname"] = "libamdhip64.so.8"
    changed = tmp_path / "rocm.json"
    changed.write_text(json.dumps(document))
    assert diff(NEW, str(changed)) == 0
    assert diff(NEW, str(changed), "--fail-on", "note") == 1


@pytest.mark.parametrize(
    "arguments",
    [
        (OLD, NEW, NEW),
        (OLD, NEW, "--format", "html"),
        (OLD, NEW, "--format", "json="),
        (OLD, NEW, "--fail-on", "everything"),
        (OLD, NEW, "--sugest"),
        (OLD, NEW, "--suggest", "--format", "json"),
    ],
)
def test_misuse_is_exit_code_2(arguments: tuple[str, ...]) -> None:
    try:
        code = diff(*arguments)
    except SystemExit as stopped:
        code = int(str(stopped.code))
    assert code == 2


def broken(kind: str, folder: Path) -> str:
    """Makes an input that cannot be read."""
    text = Path(NEW).read_text()
    path = folder / "rocm.json"
    match kind:
        case "missing file":
            return str(folder / "none.json")
        case "missing header":
            return str(folder / "none.h")
        case "empty folder":
            return str(folder)
        case "empty snapshot":
            path.write_text("")
        case "cut snapshot":
            path.write_text(text[: len(text) // 2])
        case "newer snapshot":
            path.write_text(text.replace('"schema": 1', '"schema": 2', 1))
        case "snapshot of another shape":
            path.write_text(
                '{"schema": 1, "release": "7.2.4", "hip_version": "7.2.1", "hip": {"functions": []}}'
            )
        case "snapshot without functions":
            document = json.loads(text)
            document["hip"]["functions"] = {}
            path.write_text(json.dumps(document))
        case "snapshot that is not text":
            path.write_bytes(b"{\xff\xfe")
        case "cut library":
            path = folder / "libamdhip64.so"
            path.write_bytes(b"\x7fELF\x02\x01\x01")
        case "another library":
            return os.path.realpath("/proc/self/exe")
        case "folder in place of the header":
            (folder / "include" / HEADER).mkdir(parents=True)
        case "header that does not parse":
            path = folder / "include" / HEADER
            path.parent.mkdir(parents=True)
            path.write_text("int f(int;\n")
            (path.parent / "hip_version.h").write_text(
                "#define HIP_VERSION_MAJOR 9\n#define HIP_VERSION_MINOR 9\n#define HIP_VERSION_PATCH 9\n"
            )
        case "header elsewhere":
            path = folder / "hip_runtime_api.h"
            path.write_text("int f(int);\n")
    return str(path)


@pytest.mark.parametrize(
    "kind",
    [
        "missing file",
        "missing header",
        "empty folder",
        "empty snapshot",
        "cut snapshot",
        "newer snapshot",
        "snapshot of another shape",
        "snapshot without functions",
        "snapshot that is not text",
        "cut library",
        "another library",
        "folder in place of the header",
        "header that does not parse",
        "header elsewhere",
    ],
)
@pytest.mark.parametrize("first", [True, False])
def test_unreadable_input_is_one_sentence_and_touches_nothing(
    kind: str, first: bool, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    inputs, outputs = tmp_path / "in", tmp_path / "out"
    inputs.mkdir()
    outputs.mkdir()
    (outputs / "diff.sarif").write_text("as it was")
    given = broken(kind, inputs)
    sides = (given, NEW) if first else (NEW, given)
    forms = ("--format", f"sarif={outputs / 'diff.sarif'}", "--format", f"json={outputs / 'new.json'}")
    assert diff(*sides, *forms) == 3
    told = capsys.readouterr()
    assert told.out == ""
    assert told.err.startswith("redline-codegen diff: ") and told.err.count("\n") == 1
    assert sorted(path.name for path in outputs.iterdir()) == ["diff.sarif"]
    assert (outputs / "diff.sarif").read_text() == "as it was"


def test_inputs_with_nothing_in_common_never_look_clean(capsys: pytest.CaptureFixture[str]) -> None:
    header = include_folder("7.2.4") / HEADER
    assert diff(str(header), str(real_library("7.2.4"))) == 3
    assert "nothing was compared" in capsys.readouterr().err
    assert diff(str(real_library("7.2.4")), str(real_library("7.2.4", "libhsa-runtime64.so"))) == 3


def test_broken_snapshot_of_another_release_is_no_matter(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (project / "api" / "rocm-5.2.3.json").write_bytes(b"{\xff")
    header = include_folder("7.2.4") / HEADER
    assert diff(NEW, str(header), root=project) == 0
    assert f"-> ROCm 7.2.4 ({header})" in capsys.readouterr().out


def test_input_that_the_system_refuses_is_exit_code_3(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def refuse(*given: object) -> None:
        raise PermissionError(13, "Permission denied", "rocm-7.2.4.json")

    monkeypatch.setattr("redline_codegen.diff.command.read_sides", refuse)
    assert diff(OLD, NEW) == 3
    assert capsys.readouterr().err == (
        "redline-codegen diff: rocm-7.2.4.json: It cannot be read (Permission denied).\n"
    )


@pytest.mark.parametrize(
    "text", ["", "entry_points: [", "version: 1\nentry_points:\n  a:\n    class: none\n"]
)
def test_unreadable_policy_is_exit_code_3(
    project: Path, capsys: pytest.CaptureFixture[str], text: str
) -> None:
    (project / "policies.yaml").write_text(text)
    assert diff(OLD, NEW, root=project) == 3
    assert "policies.yaml" in capsys.readouterr().err


def test_current_is_what_generated_was_made_from(
    made_from_643: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert diff("current", NEW, root=made_from_643) == 1
    assert capsys.readouterr().out.startswith("ROCm 6.4.3 (current) -> ROCm 7.2.4 (")
    assert diff(NEW, root=made_from_643) == 1
    assert capsys.readouterr().out.startswith("ROCm 6.4.3 (current) -> ROCm 7.2.4 (")


@pytest.mark.parametrize("gone", ["generated/hip_api.h", "api/rocm-6.4.3.json"])
def test_current_that_is_not_known_is_exit_code_3(
    made_from_643: Path, capsys: pytest.CaptureFixture[str], gone: str
) -> None:
    (made_from_643 / gone).unlink()
    assert diff("current", NEW, root=made_from_643) == 3
    assert capsys.readouterr().err.count("\n") == 1


def test_installed_is_the_rocm_that_generate_would_read(
    project: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ROCM_PATH", str(include_folder("7.2.4").parent))
    assert diff(root=project) == 0
    assert capsys.readouterr().out.startswith("ROCm 7.2.4 (current) -> ROCm 7.2.4 (installed)")


def test_library_is_compared_with_a_snapshots_exports(capsys: pytest.CaptureFixture[str]) -> None:
    assert diff(OLD, str(real_library("7.2.4")), "--all", "--format", "json") == 0
    document = json.loads(capsys.readouterr().out)
    assert {f["rule"] for f in document["findings"]} == {
        "symbol-added",
        "symbol-added-to-old-node",
        "symbol-removed",
        "node-added",
        "soname-changed",
    }
    assert any("no HIP headers" in gap for gap in document["not_checkable"])


def test_header_alone_has_no_nodes_and_says_so(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    """Also where the release's snapshot would know them: what was given is what is compared."""
    header = include_folder("7.2.4") / HEADER
    assert diff(NEW, str(header)) == 0
    printed = capsys.readouterr().out
    assert f"{header} has no HIP library" in printed
    assert f"-> ROCm 7.2.4 ({header})" in printed
    copied = tmp_path / "include"
    shutil.copytree(include_folder("7.2.4") / "hip", copied / "hip")
    assert diff(NEW, str(copied)) == 0
    assert f"{copied} has no HSA headers" in capsys.readouterr().out
