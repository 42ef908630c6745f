# SPDX-License-Identifier: Apache-2.0
"""Emission: the same bytes everywhere, written only when they differ, and code that compiles and agrees."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from conftest import RELEASES, ROOT, c_compiler, include_folder
from redline_codegen.cli import main
from redline_codegen.emit import natives, shims, write_files
from redline_codegen.errors import InputError
from redline_codegen.inputs import read_snapshots
from redline_codegen.policy import load_policy

from codegen.test_snapshot import contents


def generate_in(project: Path, environment: dict[str, str]) -> dict[str, bytes]:
    shutil.rmtree(project / "generated")
    command = [sys.executable, "-m", "redline_codegen.cli", "generate", "--root", str(project)]
    code = "import sys; from redline_codegen.cli import main; sys.exit(main(sys.argv[1:]))"
    command[1:3] = ["-c", code]
    clean = {name: value for name, value in os.environ.items() if not name.startswith(("LC_", "LANG"))}
    subprocess.run(command, check=True, cwd=project.parent, env={**clean, **environment}, capture_output=True)
    return contents(project)


def test_same_bytes_under_another_folder_hash_seed_and_locale(project: Path) -> None:
    committed = contents(ROOT)
    for environment in (
        {"PYTHONHASHSEED": "1", "LC_ALL": "C"},
        {"PYTHONHASHSEED": "2", "LC_ALL": "C.UTF-8", "TZ": "Asia/Tokyo"},
    ):
        produced = generate_in(project, environment)
        assert {name: data for name, data in produced.items() if committed[name] != data} == {}
        assert set(produced) == set(committed)


def test_header_and_snapshot_give_the_same_bytes(project: Path) -> None:
    """`make generate` with no ROCm at all: the snapshot stands in for header and library."""
    include = include_folder("7.2.4")
    assert main(["generate", "--root", str(project)]) == 0
    from_snapshot = contents(project)
    assert main(["generate", "--root", str(project), "--header", str(include)]) == 0
    assert contents(project) == from_snapshot


def test_unchanged_files_are_not_touched(project: Path) -> None:
    assert main(["generate", "--root", str(project)]) == 0
    before = {path: path.stat().st_mtime_ns for path in (project / "generated").iterdir()}
    assert main(["generate", "--root", str(project)]) == 0
    assert {path: path.stat().st_mtime_ns for path in (project / "generated").iterdir()} == before


def test_a_failed_write_leaves_the_old_file_and_no_temporary(tmp_path: Path) -> None:
    target = tmp_path / "a.c"
    target.write_text("old")
    with pytest.raises(UnicodeEncodeError):
        write_files({"a.c": "\ud800"}, tmp_path)
    assert target.read_text() == "old"
    assert list(tmp_path.iterdir()) == [target]


def test_export_set_is_policy_and_header_and_library() -> None:
    policy = load_policy(ROOT / "policies.yaml")
    for api in read_snapshots(ROOT):
        if api.hip.library is None:
            continue
        real = {symbol.name: symbol.node for symbol in api.hip.library.symbols}
        for shim in shims(api, policy, "hip"):
            assert shim.entry.shimmed
            assert real[shim.entry.name] == shim.node
            assert shim.entry.name in api.hip.functions or shim.entry.name in policy.declared


def test_declared_but_not_exported_functions_have_no_shim() -> None:
    """6.4.3 declares the external-semaphore nodes and its library does not have them."""
    policy = load_policy(ROOT / "policies.yaml")
    api = next(api for api in read_snapshots(ROOT) if api.release == "6.4.3")
    name = "hipGraphAddExternalSemaphoresSignalNode"
    assert name in api.hip.functions
    assert name not in {shim.entry.name for shim in shims(api, policy, "hip")}
    assert next(native for native in natives(api, policy) if native.function.name == name).node == ""


def test_release_without_a_library_is_refused_with_what_to_do(project: Path) -> None:
    api = next(api for api in read_snapshots(ROOT) if api.release == "5.7.1")
    with pytest.raises(InputError, match=r"No libamdhip64 of ROCm 5\.7\.1 was found.*--library"):
        shims(api, load_policy(ROOT / "policies.yaml"), "hip")


def test_version_script_puts_every_name_in_one_node_and_hides_the_rest() -> None:
    text = (ROOT / "generated" / "redline.map").read_text()
    names = re.findall(r"^    (\w+);$", text, re.M)
    assert len(names) == len(set(names)) > 80
    assert text.count("local:") == 1
    for block in re.findall(r"global:\n((?:    \w+;\n)+)", text):
        listed = re.findall(r"\w+", block)
        assert listed == sorted(listed)


@pytest.mark.parametrize("compiler", ["gcc", "clang"])
def test_abi_checks_hold_against_the_real_header(compiler: str, tmp_path: Path) -> None:
    compile_checks(c_compiler(compiler), ROOT / "generated", include_folder("7.2.4"), tmp_path)


@pytest.mark.parametrize("release", [release for release in RELEASES if release != "5.7.1"])
def test_every_release_with_a_library_generates_code_that_compiles(release: str, project: Path) -> None:
    include = include_folder(release)
    shutil.rmtree(project / "generated")  # a first generation: nothing relies on another release
    assert main(["generate", "--root", str(project), "--header", str(include)]) == 0
    compile_checks("cc", project / "generated", include, project)
    for name in ("native_table.c", "abi_checks.c"):
        command = ["cc", *STRICT, f"-I{project / 'generated'}", "-c", str(project / "generated" / name)]
        subprocess.run([*command, "-o", str(project / "x.o")], check=True)


STRICT = ["-std=gnu11", "-Wall", "-Wextra", "-Werror"]


def compile_checks(compiler: str, generated: Path, include: Path, folder: Path) -> None:
    flags = ["-D__HIP_PLATFORM_AMD__", "-DRL_REAL_HEADERS", "-isystem", str(include), f"-I{generated}"]
    command = [
        compiler,
        *STRICT,
        *flags,
        "-c",
        str(generated / "abi_checks.c"),
        "-o",
        str(folder / "checks.o"),
    ]
    subprocess.run(command, check=True)


def test_abi_checks_notice_another_layout(tmp_path: Path) -> None:
    """The 7.2.4 checks against the 5.2.3 header: node types were renumbered and structs grew."""
    include = include_folder("5.2.3")
    flags = ["-D__HIP_PLATFORM_AMD__", "-DRL_REAL_HEADERS", "-isystem", str(include)]
    command = [
        "cc",
        *STRICT,
        *flags,
        "-c",
        str(ROOT / "generated" / "abi_checks.c"),
        "-o",
        str(tmp_path / "x.o"),
    ]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode != 0
    assert "hipGraphNodeTypeKernel" in done.stderr
