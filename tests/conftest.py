# SPDX-License-Identifier: Apache-2.0
"""What every test folder shares: where the project is, and which real releases `make rocm` got."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Iterable
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
ROCM = ROOT / "build" / "rocm"
RELEASES = ("5.2.3", "5.7.1", "6.4.3", "7.2.4")

# Helper modules of one test folder are imported by the tests of another, and those of softgpu/ by several.
sys.path[:0] = [str(ROOT / "tests"), str(ROOT)]


def nothing_said(sentences: Iterable[str]) -> None:
    """Fails with the sentences, and nothing else, when there are any."""
    told = list(sentences)
    if told:
        pytest.fail("\n".join(told), pytrace=False)


def library_objects() -> dict[Path, Path]:
    """Source -> object of libredline.so. The build folder may also have objects of sources that are gone."""
    sources = [*(ROOT / "runtime").rglob("*.c"), *(ROOT / "generated").glob("*.c")]
    return {
        source: ROOT / "build" / "obj" / source.relative_to(ROOT).with_suffix(".o")
        for source in sorted(sources)
        if source.name not in ("fault.c", "abi_checks.c")
    }


@pytest.fixture(scope="session")
def root() -> Path:
    return ROOT


def include_folder(release: str) -> Path:
    """The release's include folder; skips the test by name when `make rocm` did not get it."""
    folder = ROCM / release / "include"
    if not (folder / "hip" / "hip_runtime_api.h").is_file():
        pytest.skip(
            f"HIP headers of ROCm {release} are absent: `redline-codegen rocm [--wheels]` did not get them"
        )
    return folder


def c_compiler(name: str) -> str:
    """Path of gcc or clang, the latter also as `redline-codegen rocm --toolchain` put it into build/."""
    fetched = ROOT / "build" / "toolchain" / "bin" / name
    path = shutil.which(name) or (str(fetched) if fetched.exists() else None)
    if path is None:
        pytest.skip(f"{name} is neither installed nor in build/toolchain")
    return path


def real_library(release: str, stem: str = "libamdhip64.so") -> Path:
    """The release's real library; skips the test by name when `make rocm` did not get it."""
    found = sorted((ROCM / release / "lib").glob(f"{stem}.*"), key=lambda path: len(path.name))
    if not found:
        pytest.skip(f"{stem} of ROCm {release} is absent: `make rocm` could not get it")
    return found[0]
