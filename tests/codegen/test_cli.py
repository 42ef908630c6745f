# SPDX-License-Identifier: Apache-2.0
"""The commands: what they print, their exit codes, and errors of one sentence."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
from redline_codegen.cli import main

from codegen.test_snapshot import contents


def test_check_is_silent_about_files_that_agree(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", "--root", str(project)]) == 0
    assert "0 differ" in capsys.readouterr().out


def test_check_prints_a_line_diff_and_writes_nothing(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    shims = project / "generated" / "shims_hip.c"
    shims.write_text(shims.read_text().replace("rl_record_graph(", "rl_forget_graph(", 1))
    (project / "docs" / "policy.md").unlink()
    before = contents(project)
    assert main(["check", "--root", str(project)]) == 1
    printed = capsys.readouterr().out
    assert (
        "-    rl_forget_graph(rl_status, rl_caller, pGraph);\n+    rl_record_graph(rl_status, rl_caller, pGraph);"
        in printed
    )
    assert "docs/policy.md (committed)" in printed
    assert "2 differ" in printed
    assert contents(project) == before


def test_check_sees_changed_line_ends(project: Path) -> None:
    shims = project / "generated" / "shims_hip.c"
    shims.write_bytes(shims.read_bytes().replace(b"\n", b"\r\n"))
    assert main(["check", "--root", str(project)]) == 1


def test_explain_says_all_that_is_known(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["explain", "hipGraphAddKernelNode", "--json", "--root", str(project)]) == 0
    facts = json.loads(capsys.readouterr().out)
    assert facts["class"] == "create-record"
    assert facts["node"] == "hip_4.3"
    assert facts["first_release"] == "5.2.3"
    assert facts["exported"] is True
    assert facts["signature"].startswith("hipError_t hipGraphAddKernelNode(hipGraphNode_t *pGraphNode, ")
    assert "makes a record of the node of `graph`" in facts["shim"]
    assert main(["explain", "hipGraphLaunch", "--root", str(project)]) == 0
    printed = capsys.readouterr().out
    assert "rl_graph_launch() is called with the real function" in printed
    assert "\033" not in printed


def test_explain_of_a_macro_names_what_is_linked(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """From 6.0 the written name is not the linked one."""
    assert main(["explain", "hipGetDeviceProperties", "--json", "--root", str(project)]) == 0
    facts = json.loads(capsys.readouterr().out)
    assert facts["renamed_to"] == "hipGetDevicePropertiesR0600"


def test_explain_suggests_near_names(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["explain", "hipGraphLanch", "--root", str(project)]) == 1
    assert "did you mean hipGraphLaunch" in capsys.readouterr().err


def test_stats_count_what_explain_says(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["stats", "--json", "--root", str(project)]) == 0
    counts = json.loads(capsys.readouterr().out)
    assert counts["release"] == "7.2.4"
    assert counts["functions"]["hip"] == 501
    assert sum(counts["by_class"].values()) == counts["classed"] == sum(counts["by_header"].values())
    assert sum(counts["by_node"].values()) == counts["exported"]
    assert main(["stats", "--root", str(project)]) == 0
    assert "\033" not in capsys.readouterr().out


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("int f(int a) {{{", "hip_runtime_api.h:1: the header does not parse"),
        ("typedef struct { int a; } t;\nint g(t", "hip_runtime_api.h:2: the header does not parse"),
        ("#error no\n", "The C compiler refused the header"),
        ("/* nothing */\n", "No function is declared"),
    ],
)
def test_header_that_does_not_parse_is_one_sentence_with_file_and_line(
    project: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], text: str, complaint: str
) -> None:
    header = tmp_path / "include" / "hip" / "hip_runtime_api.h"
    header.parent.mkdir(parents=True)
    header.write_text(text)
    (header.parent / "hip_version.h").write_text(
        "#define HIP_VERSION_MAJOR 7\n#define HIP_VERSION_MINOR 2\n#define HIP_VERSION_PATCH 1\n"
    )
    before = contents(project)
    assert main(["generate", "--root", str(project), "--header", str(header)]) == 1
    error = capsys.readouterr().err
    assert complaint in error
    assert error.count("\n") == 1
    assert contents(project) == before


@pytest.mark.parametrize("damage", ["truncated", "text", "empty", "missing"])
def test_broken_library_is_one_sentence(
    project: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], damage: str
) -> None:
    library = tmp_path / "libamdhip64.so.7"
    real = Path("/proc/self/exe").resolve().read_bytes()
    if damage != "missing":
        library.write_bytes({"truncated": real[:3000], "text": b"hello", "empty": b""}[damage])
    header = tmp_path / "include" / "hip"
    header.mkdir(parents=True)
    (header / "hip_runtime_api.h").write_text("int f(int a);\n")
    (header / "hip_version.h").write_text(
        "#define HIP_VERSION_MAJOR 7\n#define HIP_VERSION_MINOR 2\n#define HIP_VERSION_PATCH 1\n"
    )
    before = contents(project)
    command = ["generate", "--root", str(project), "--header", str(header.parent), "--library", str(library)]
    assert main(command) == 1
    error = capsys.readouterr().err
    assert str(library) in error
    assert error.count("\n") == 1
    assert contents(project) == before


def test_wrong_usage_exits_with_2(capsys: pytest.CaptureFixture[str]) -> None:
    for command in ([], ["no-such-command"], ["explain"]):
        with pytest.raises(SystemExit) as stopped:
            main(command)
        assert stopped.value.code == 2


def test_help_names_order_of_inputs_and_exit_codes(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as stopped:
        main(["--help"])
    assert stopped.value.code == 0
    printed = " ".join(capsys.readouterr().out.split())
    assert "HIP_HEADER/HIP_LIBRARY, ROCM_PATH, /opt/rocm*" in printed
    assert "Exit codes" in printed


def test_compiler_that_is_absent_is_named(
    project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "include" / "hip").mkdir(parents=True)
    (tmp_path / "include" / "hip" / "hip_runtime_api.h").write_text("int f(void);\n")
    monkeypatch.setenv("CC", "no-such-compiler")
    assert shutil.which("no-such-compiler") is None
    assert main(["generate", "--root", str(project), "--header", str(tmp_path / "include")]) == 1
    assert "no-such-compiler" in capsys.readouterr().err


def test_output_that_cannot_be_written_is_one_sentence(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    shutil.rmtree(project / "generated")
    (project / "generated").touch()
    assert main(["generate", "--root", str(project)]) == 1
    error = capsys.readouterr().err
    assert error.startswith("redline-codegen: ") and str(project / "generated") in error
    assert error.count("\n") == 1


def test_another_installed_rocm_is_no_difference_to_check(
    project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    header = tmp_path / "rocm" / "include" / "hip" / "hip_runtime_api.h"
    header.parent.mkdir(parents=True)
    header.write_text("this is another release\n")
    monkeypatch.setenv("ROCM_PATH", str(tmp_path / "rocm"))
    assert main(["check", "--root", str(project)]) == 0
    assert "Read snapshot rocm-7.2.4.json." in capsys.readouterr().out
    assert main(["generate", "--root", str(project)]) == 1
