# SPDX-License-Identifier: Apache-2.0
"""Where headers and libraries are looked for, in which order, and that the one used is named."""

from __future__ import annotations

from pathlib import Path

import pytest
from conftest import ROOT, include_folder, real_library
from redline_codegen import inputs
from redline_codegen.errors import InputError
from redline_codegen.inputs import Installation, find_installation, read_api


def install(prefix: Path, library: str | None = "lib/libamdhip64.so.7") -> Path:
    (prefix / "include" / "hip").mkdir(parents=True)
    (prefix / "include" / "hip" / "hip_runtime_api.h").touch()
    if library:
        (prefix / library).parent.mkdir(parents=True, exist_ok=True)
        (prefix / library).touch()
    return prefix


def found(root: Path, environment: dict[str, str], header: Path | None = None) -> Installation:
    installation = find_installation(header, None, root, environment)
    assert installation
    return installation


def test_order_is_option_environment_rocm_path_and_what_make_rocm_fetched(tmp_path: Path) -> None:
    given, variable, rocm, fetched = (
        install(tmp_path / name) for name in ("a", "b", "c", "build/rocm/7.2.4")
    )
    environment = {"HIP_HEADER": str(variable / "include" / inputs.HEADER), "ROCM_PATH": str(rocm)}
    assert found(tmp_path, environment, given / "include").origin == "--header/--library"
    assert found(tmp_path, environment).include == variable / "include"
    del environment["HIP_HEADER"]
    assert found(tmp_path, environment).include == rocm / "include"
    if not any(Path("/opt").glob("rocm*")) and not (Path("/usr/include") / inputs.HEADER).exists():
        installation = found(tmp_path, {})
        assert installation.include == fetched / "include"
        assert installation.hip_library == fetched / "lib" / "libamdhip64.so.7"


@pytest.mark.parametrize("folder", ["lib", "lib64", "lib/x86_64-linux-gnu"])
def test_library_is_found_beside_the_header(tmp_path: Path, folder: str) -> None:
    prefix = install(tmp_path / "rocm", f"{folder}/libamdhip64.so.7")
    for header in (prefix / "include", prefix / "include" / inputs.HEADER):
        assert found(tmp_path, {}, header).hip_library == prefix / folder / "libamdhip64.so.7"


def test_header_is_found_above_a_library(tmp_path: Path) -> None:
    prefix = install(tmp_path / "rocm")
    installation = find_installation(None, prefix / "lib" / "libamdhip64.so.7", tmp_path, {})
    assert installation and installation.include == prefix / "include"


@pytest.mark.parametrize(("folder", "header"), [("include", "."), ("include/hip", "hip_runtime_api.h")])
def test_header_may_be_given_from_within_its_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, folder: str, header: str
) -> None:
    prefix = install(tmp_path / "rocm")
    monkeypatch.chdir(prefix / folder)
    installation = found(tmp_path, {}, Path(header))
    assert installation.include == prefix / "include"
    assert installation.hip_library == prefix / "lib" / "libamdhip64.so.7"


def test_library_of_another_release_is_refused() -> None:
    header, library = include_folder("7.2.4"), real_library("6.4.3")
    with pytest.raises(InputError, match=r"libamdhip64\.so\.6, but the header is that of HIP 7\.2"):
        read_api(header, library, ROOT, [], {})


def test_newest_fetched_release_with_a_library_is_used(tmp_path: Path) -> None:
    for release, library in (("6.4.3", True), ("7.2.4", True), ("7.13.0", False)):
        prefix = install(tmp_path / "build" / "rocm" / release)
        if library:
            (prefix / "lib" / "libhsa-runtime64.so.1").touch()
    assert [path.name for path in inputs.fetched(tmp_path)] == ["7.2.4", "6.4.3", "7.13.0"]


def test_without_any_rocm_the_newest_snapshot_is_used_and_named(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(inputs, "_prefixes", lambda root, environment: [])
    api, source = read_api(None, None, project, inputs.read_snapshots(project), {})
    assert api.release == "7.2.4"
    assert source == "snapshot rocm-7.2.4.json (no ROCm was found)"


def test_nothing_at_all_says_what_to_do(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(inputs, "_prefixes", lambda root, environment: [])
    with pytest.raises(InputError, match="make rocm"):
        read_api(None, None, tmp_path, [], {})


@pytest.mark.parametrize("name", ["missing.h", "folder"])
def test_wrong_path_is_named(tmp_path: Path, name: str) -> None:
    (tmp_path / "folder").mkdir()
    with pytest.raises(InputError, match=name):
        find_installation(tmp_path / name, None, tmp_path, {})
    with pytest.raises(InputError, match=r"missing\.so"):
        find_installation(None, tmp_path / "missing.so", tmp_path, {})
