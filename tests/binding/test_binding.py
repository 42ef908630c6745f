# SPDX-License-Identifier: Apache-2.0
"""libredline.so over the real libamdhip64: every exported symbol is bound to ours, nothing else changes."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from conftest import ROCM, ROOT, include_folder, real_library
from elftools.elf.elffile import ELFFile
from redline_codegen.compiler import find_compiler
from redline_codegen.model import Api, Function
from redline_codegen.policy import load_policy
from redline_codegen.symbols import read_library

from binding import proof
from binding.caller import called_functions

OURS = ROOT / "build" / "libredline.so"
LIBRARIES = ("5.2.3", "6.4.3", "7.2.4")


DECLARED = load_policy(ROOT / "policies.yaml").declared

Build = Callable[[Api, dict[str, Function], Path, Path, Path], proof.Caller]


@pytest.mark.parametrize("release", LIBRARIES)
@pytest.mark.parametrize(
    "build",
    [
        pytest.param(proof.build_linked, id="linked"),
        pytest.param(proof.build_module, id="dlopen_local"),
    ],
)
def test_every_exported_symbol_is_bound_to_ours_and_the_program_sees_the_same(
    build: Build, release: str, tmp_path: Path
) -> None:
    """Real library, no GPU: codes, outputs and last errors of every declared entry point.

    `dlopen_local` is how a Python extension module brings HIP: RTLD_NEXT finds nothing there.
    """
    include, library = include_folder(release), real_library(release)
    api = proof.api_of(release, include, library)
    caller = build(api, DECLARED, include, library, tmp_path)
    native = proof.run(caller, ROCM, release, tmp_path, None)
    preloaded = proof.run(caller, ROCM, release, tmp_path, OURS)
    wanted = proof.expected(api, DECLARED, OURS)
    assert len(wanted) >= 50
    assert proof.not_ours(preloaded, wanted, OURS) == []
    assert len(native.output.splitlines()) == len(called_functions(api, DECLARED))
    assert preloaded.output == native.output


def test_wrong_version_node_is_noticed(tmp_path: Path) -> None:
    """The dynamic linker skips a symbol in the wrong node without a word; the proof must not."""
    release = "7.2.4"
    script = (ROOT / "generated" / "redline.map").read_text()
    assert script.count("    hipGraphCreate;\n") == 1
    moved = script.replace("    hipGraphCreate;\n", "").replace(
        "hip_4.4 {\nglobal:\n", "hip_4.4 {\nglobal:\n    hipGraphCreate;\n"
    )
    (tmp_path / "wrong.map").write_text(moved)
    wrong = tmp_path / "libredline.so"
    sources = [
        path.relative_to(ROOT) for name in ("runtime", "generated") for path in (ROOT / name).rglob("*.c")
    ]
    compiled = [ROOT / "build" / "obj" / source.with_suffix(".o") for source in sources]
    objects = [str(path) for path in compiled if path.exists()]
    link = ["-shared", "-o", str(wrong), f"-Wl,--version-script={tmp_path / 'wrong.map'}", *objects]
    subprocess.run([*find_compiler(), *link, "-ldl", "-lpthread"], check=True)
    include, library = include_folder(release), real_library(release)
    api = proof.api_of(release, include, library)
    caller = proof.build_linked(api, DECLARED, include, library, tmp_path)
    result = proof.run(caller, ROCM, release, tmp_path, wrong)
    assert proof.not_ours(result, proof.expected(api, DECLARED, wrong), wrong) == ["hipGraphCreate"]


@pytest.mark.parametrize("release", LIBRARIES)
@pytest.mark.parametrize("stem", ["libamdhip64.so", "libhsa-runtime64.so"])
def test_version_nodes_agree_with_the_real_library(release: str, stem: str) -> None:
    real = {
        symbol.name: symbol.node
        for symbol in read_library(real_library(release, stem)).symbols
        if symbol.default
    }
    ours = {symbol.name: symbol.node for symbol in read_library(OURS).symbols}
    differing = {
        name: (node, real[name]) for name, node in ours.items() if name in real and real[name] != node
    }
    assert differing == {}


def section(image: ELFFile, name: str) -> Any:
    return image.get_section_by_name(name)


def test_library_needs_only_libc() -> None:
    with OURS.open("rb") as file:
        dynamic, versions_needed = (section(ELFFile(file), name) for name in (".dynamic", ".gnu.version_r"))
        needed = {tag.needed for tag in dynamic.iter_tags("DT_NEEDED")}
        versions = {need.name for need, _ in versions_needed.iter_versions()}
    assert needed | versions <= {"libc.so.6", "libdl.so.2", "libpthread.so.0"}
