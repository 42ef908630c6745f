# SPDX-License-Identifier: Apache-2.0
"""Headers out of wheels, with pip replaced by a file that is there already."""

from __future__ import annotations

import zipfile
from pathlib import Path

import pytest
from redline_codegen import wheels
from redline_codegen.cli import main
from redline_codegen.errors import InputError

VERSION = "#define HIP_VERSION_MAJOR 6\n#define HIP_VERSION_MINOR 1\n#define HIP_VERSION_PATCH 40091\n"


@pytest.fixture
def downloads(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    done: list[str] = []

    def download(wheel: wheels.Wheel, folder: Path) -> Path:
        done.append(wheel.requirement)
        folder.mkdir(parents=True)
        with zipfile.ZipFile(folder / "some.whl", "w") as archive:
            top = "triton/backends/amd/"
            archive.writestr(top + "include/hip/hip_version.h", VERSION)
            archive.writestr(top + "include/hip/hip_runtime_api.h", "int hipInit();\n")
            archive.writestr(top + "lib/large.so", "not wanted")
            archive.writestr(top + "include/../../escape.h", "not wanted")
        return folder / "some.whl"

    monkeypatch.setattr(wheels, "_download", download)
    return done


def test_only_the_headers_stay_in_a_folder_named_by_their_version(
    tmp_path: Path, downloads: list[str]
) -> None:
    root = tmp_path / "rocm"
    assert main(["rocm", "--root", str(root), "--only", "6.1"]) == 0
    files = sorted(str(file.relative_to(root)) for file in root.rglob("*") if file.is_file())
    assert files == [
        ".lock",
        "6.1.40091/.info/manifest.json",
        "6.1.40091/.info/version",
        "6.1.40091/include/hip/hip_runtime_api.h",
        "6.1.40091/include/hip/hip_version.h",
    ]


def test_headers_that_are_there_are_not_downloaded_again(tmp_path: Path, downloads: list[str]) -> None:
    for _ in range(2):
        assert main(["rocm", "--root", str(tmp_path / "rocm"), "--only", "6.1"]) == 0
    assert downloads == ["triton-rocm==3.0.0rc1"]


def test_wheels_are_fetched_only_when_asked_for(
    archive: object, tmp_path: Path, downloads: list[str]
) -> None:
    assert main(["rocm", "--root", str(tmp_path / "rocm")]) == 0
    assert downloads == []


def test_a_wheel_without_headers_is_named(tmp_path: Path) -> None:
    wheel = tmp_path / "empty.whl"
    with zipfile.ZipFile(wheel, "w") as archive:
        archive.writestr("triton/__init__.py", "")
    with pytest.raises(InputError, match=r"empty\.whl holds no include/hip/hip_version\.h"):
        wheels._extract_headers(wheel, tmp_path / "folder")
