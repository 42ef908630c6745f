# SPDX-License-Identifier: Apache-2.0
"""`redline-codegen rocm` against an archive in a folder: what is laid out, when, and what is said."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from pathlib import Path

import pytest
from conftest import ROOT
from redline_codegen import dynamic, rocm
from redline_codegen.cli import main
from redline_codegen.support_libraries import LOADER

from .local_archive import MULTIARCH, LocalArchive

RELEASES = ["5.2.3", "5.7.1", "6.4.3", "7.2.4"]


def fetch(root: Path, *options: str) -> int:
    return main(["rocm", "--root", str(root), *options])


def test_below_the_project_everything_goes_into_its_own_build_folder(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(ROOT / "runtime")
    with pytest.raises(SystemExit):
        main(["rocm", "--help"])
    assert "(../build/rocm)" in capsys.readouterr().out


def snapshot(root: Path) -> dict[str, tuple[int, int]]:
    files = [file for file in root.rglob("*") if file.name != ".lock"]
    return {str(file): (file.lstat().st_ino, file.lstat().st_mtime_ns) for file in files}


def test_a_fresh_run_lays_out_every_release(
    archive: LocalArchive, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    root = tmp_path / "rocm"
    assert fetch(root) == 0
    for release in RELEASES:
        assert (root / release / ".info" / "version").read_text() == release + "\n"
        assert (root / release / "include" / "hip" / "hip_runtime_api.h").is_file()
        assert (root / release / "include" / "hsa" / "hsa.h").is_file()
    assert not (root / "5.7.1" / "lib").exists()
    assert sorted(file.name for file in (root / "7.2.4" / "lib").iterdir()) == [
        "libamdhip64.so",
        "libamdhip64.so.7",
        "libamdhip64.so.7.2.4",
        "libhsa-runtime64.so.1",
        "libhsa-runtime64.so.1.0.0",
    ]
    assert (root / "5.2.3" / "lib" / "libhsakmt.so.1").exists()
    assert (root / "comgr" / "lib" / "libamd_comgr.so.3").exists()
    assert (root / "comgr" / "lib" / "libLLVM.so.22.1").exists()
    table = capsys.readouterr().out.splitlines()
    assert table[0].split() == ["release", "HIP", "version", "suite", "headers", "library", "note"]
    assert [line.split()[0] for line in table[1:]] == [*RELEASES, "comgr", "glibc"]
    assert table[2].split() == [
        "5.7.1",
        "5.7.177",
        "trixie",
        "yes",
        "no",
        *["HSA", "headers", "6.1.2,", "headers", "only"],
    ]


def test_only_the_root_is_written_and_no_hook_of_the_system_runs(
    archive: LocalArchive, tmp_path: Path
) -> None:
    assert fetch(tmp_path / "build" / "rocm") == 0
    assert not archive.hook_marker.exists()
    assert [file.name for file in (tmp_path / "build").iterdir()] == ["rocm"]
    assert not (tmp_path / "build" / "rocm" / ".apt").exists()


def test_a_second_run_needs_no_apt_and_changes_nothing(
    archive: LocalArchive, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    root = tmp_path / "rocm"
    assert fetch(root) == 0
    first, table = snapshot(root), capsys.readouterr().out
    shutil.rmtree(archive.folder)
    monkeypatch.setenv("PATH", str(tmp_path))
    assert fetch(root) == 0
    assert snapshot(root) == first
    assert capsys.readouterr().out == table


def test_a_folder_that_was_left_half_done_is_made_whole(archive: LocalArchive, tmp_path: Path) -> None:
    root = tmp_path / "rocm"
    assert fetch(root) == 0
    (root / "7.2.4" / "lib" / "libhsa-runtime64.so.1.0.0").unlink()
    (root / ".partial-7.2.4" / "folder").mkdir(parents=True)
    untouched = snapshot(root / "6.4.3")
    assert fetch(root) == 0
    assert (root / "7.2.4" / "lib" / "libhsa-runtime64.so.1").exists()
    assert snapshot(root / "6.4.3") == untouched
    assert not list(root.glob(".partial-*"))


def test_only_what_is_asked_for_is_fetched(archive: LocalArchive, tmp_path: Path) -> None:
    root = tmp_path / "rocm"
    assert fetch(root, "--only", "6.4.3") == 0
    assert [folder.name for folder in root.iterdir() if folder.is_dir()] == ["6.4.3"]


def test_a_folder_is_named_after_the_release_that_was_really_got(
    archive: LocalArchive, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    archive.drop("experimental")
    archive.add_hip("sid", "7.3.1-1", "7")
    archive.publish()
    root = tmp_path / "rocm"
    assert fetch(root, "--only", "7.2.4") == 0
    assert (root / "7.3.1" / ".info" / "version").read_text() == "7.3.1\n"
    assert not (root / "7.2.4").exists()
    assert "in place of 7.2.4, which is no longer served" in capsys.readouterr().out
    assert fetch(root, "--only", "7.2.4") == 0


def test_an_older_release_that_debian_dropped_is_said_but_fails_nothing(
    archive: LocalArchive, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    archive.drop("forky")
    archive.add_hip("forky", "7.2.4-1", "7")
    archive.add_hip("sid", "7.2.4-1", "7")
    archive.publish()
    assert fetch(tmp_path / "rocm") == 0
    said = capsys.readouterr()
    assert "6.4.3: HIP 6.4.3 is no longer served (forky has 7.2.4, sid has 7.2.4)" in said.err
    assert "missing" in said.out


def test_a_suite_that_cannot_be_read_is_one_sentence_and_the_rest_is_fetched(
    archive: LocalArchive, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    archive.drop("forky")
    root = tmp_path / "rocm"
    assert fetch(root) == 1
    said = capsys.readouterr()
    assert [
        line
        for line in said.err.splitlines()
        if line.startswith("rocm: 6.4.3: suite forky could not be read")
    ]
    assert (root / "7.2.4").is_dir() and (root / "5.2.3").is_dir() and not (root / "6.4.3").exists()
    assert "Traceback" not in said.err


def test_without_apt_every_item_is_missing_with_the_reason(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    assert fetch(tmp_path / "rocm") == 1
    said = capsys.readouterr()
    for name in [*RELEASES, "comgr"]:
        assert f"rocm: {name}: this machine has no apt-config" in said.err
    assert said.out.count("missing") == 5


def test_a_package_that_fails_its_checksum_is_not_unpacked(
    archive: LocalArchive, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    deb = next((archive.folder / "debian" / "pool" / "forky").glob("libamdhip64-6_*.deb"))
    content = bytearray(deb.read_bytes())
    content[-600] ^= 0xFF
    deb.write_bytes(content)
    root = tmp_path / "rocm"
    assert fetch(root, "--only", "6.4.3") == 1
    assert not (root / "6.4.3").exists()
    assert "rocm: 6.4.3: apt-get says:" in capsys.readouterr().err


def add_support_packages(archive: LocalArchive) -> None:
    for name, soname in (
        ("libnuma1", "libnuma.so.1"),
        ("libdrm2", "libdrm.so.2"),
        ("libdrm-amdgpu1", "libdrm_amdgpu.so.1"),
        ("libelf1t64", "libelf.so.1"),
    ):
        archive.add("trixie", name, "1.0-1", archive.library(soname, f"{soname}.0"), "libc6")
    needy = archive.library("libhsa-runtime64.so.1", "libhsa-runtime64.so.1.0.0", ("libelf.so.1",))
    archive.add("experimental", "libhsa-runtime64-1", "7.2.4-2", needy)
    archive.publish()


def test_a_library_that_the_system_lacks_is_fetched_without_a_libc(
    archive: LocalArchive, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    add_support_packages(archive)
    lacking = dynamic.system_libraries() - {"libelf.so.1"}
    monkeypatch.setattr(dynamic, "system_libraries", lambda: lacking)
    root = tmp_path / "rocm"
    assert fetch(root, "--only", "7.2.4", "--only", "glibc") == 0
    assert (root / "glibc" / "libelf.so.1").exists()
    assert not (root / "glibc" / LOADER).exists()
    assert rocm.loader_command(root) is None
    assert rocm.library_path(root, "7.2.4").split(os.pathsep) == [
        str(root / "7.2.4/lib"),
        str(root / "glibc"),
    ]


def test_a_system_with_an_older_glibc_gets_a_private_loader_that_runs_programs(
    archive: LocalArchive, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    add_support_packages(archive)
    loader, program = Path("/lib64") / LOADER, Path(shutil.which("cc") or "cc")
    listing = subprocess.run([loader, "--list", program], capture_output=True, text=True, check=True).stdout
    found = [Path(word) for word in listing.split() if word.startswith("/") and ".so" in word]
    libc = {file.name: file.resolve() for file in [*found, loader]}
    files: dict[str, Path | str] = {str(MULTIARCH / name): file for name, file in libc.items()}
    archive.add("trixie", "libc6", "2.99-1", files)
    for name in ("libgcc-s1", "libstdc++6"):
        archive.add(
            "trixie", name, "14.2.0-1", {f"usr/lib/{name}.note": "empty"}, "libc6 (>= 2.38), gcc-14-base"
        )
    archive.publish()
    monkeypatch.setattr(dynamic, "system_glibc", lambda: (2, 1))
    root = tmp_path / "rocm"
    assert fetch(root, "--only", "7.2.4", "--only", "glibc") == 0
    command = rocm.loader_command(root, "7.2.4")
    assert command is not None
    assert command[:2] == [str(root / "glibc" / loader.name), "--library-path"]
    assert command[2] == rocm.library_path(root, "7.2.4")
    listed = subprocess.run([*command, "--list", program], capture_output=True, text=True, check=True).stdout
    assert str(root / "glibc" / "libc.so.6") in listed


@pytest.mark.parametrize("newest", [True, False])
def test_a_library_that_cannot_be_loaded_is_an_error_only_if_it_is_the_newest(
    archive: LocalArchive, tmp_path: Path, capsys: pytest.CaptureFixture[str], newest: bool
) -> None:
    suite, version = ("experimental", "7.2.4-9") if newest else ("forky", "6.4.3-9")
    archive.add(suite, "libhsa-runtime64-1", version, {str(MULTIARCH / "libhsa-runtime64.so.1"): "not ELF"})
    archive.publish()
    assert fetch(tmp_path / "rocm") == int(newest)
    release = version.partition("-")[0]
    assert f"rocm: {release}: the library cannot be loaded on this system" in capsys.readouterr().err


def test_each_folder_says_what_it_is_made_of(archive: LocalArchive, tmp_path: Path) -> None:
    root = tmp_path / "rocm"
    assert fetch(root, "--only", "5.7.1") == 0
    manifest = json.loads((root / "5.7.1" / ".info" / "manifest.json").read_text())
    assert manifest["packages"] == {"libamdhip64-dev": "5.7.1-6+deb13u1", "libhsa-runtime-dev": "6.1.2-3"}
    assert (manifest["suite"], manifest["hip_version"]) == ("trixie", "5.7.177")
