# SPDX-License-Identifier: Apache-2.0
"""Programs on the software GPU under the real HIP 7.2.4, with and without the preload."""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path

import pytest

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
BUILD = ROOT / "build"
OURS = BUILD / "libredline.so"
HIP = BUILD / "rocm" / "7.2.4"
CC = os.environ.get("CC", "cc")
GAVE_UP = 77


def require() -> None:
    if not (HIP / "lib" / "libamdhip64.so.7").exists():
        pytest.skip("no HIP 7.2.4 in build/rocm: `make rocm` could not get it")
    if not (BUILD / "softgpu" / "libsoftgpu.so").exists():
        pytest.skip("the software GPU is not built: `make softgpu`")


def build(name: str, folder: Path) -> Path:
    target = folder / name
    flags = ["-std=gnu11", "-O1", "-g", "-Wall", "-Wextra", "-Werror", "-pthread", "-D__HIP_PLATFORM_AMD__"]
    include = ["-isystem", str(HIP / "include"), f"-I{folder}", f"-I{HERE}"]
    # The library may want a newer glibc than this system links against; the runner brings it.
    link = [f"-L{HIP / 'lib'}", "-lamdhip64", "-Wl,--unresolved-symbols=ignore-in-shared-libs"]
    command = [CC, *flags, *include, str(HERE / f"{name}.c"), "-o", str(target), *link]
    subprocess.run(command, check=True, timeout=60)
    return target


def run(*command: str | Path, preload: bool, gfx: str = "gfx1100") -> subprocess.CompletedProcess[str]:
    environment = {k: v for k, v in os.environ.items() if not k.startswith(("REDLINE", "LD_"))}
    environment["APP_FIXTURES"] = str(ROOT / "softgpu" / "kernels" / "fixtures")
    if preload:
        environment["LD_PRELOAD"] = str(OURS)
    return subprocess.run(
        [str(ROOT / "softgpu" / "run"), "--gfx", gfx, "--", *map(str, command)],
        env=environment,
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )


def transcript(program: Path, *arguments: str, preload: bool, first: int = 0) -> str:
    """All that the program prints; it is started again behind a call that it does not survive."""
    text = ""
    while True:
        done = run(program, str(first), *arguments, preload=preload)
        text += done.stdout
        if done.returncode == 0:
            return text
        first = int(re.findall(r"^(\d+) ", text, re.MULTILINE)[-1]) + 1
        text += f"\nended with {done.returncode if done.returncode == GAVE_UP else 'a signal'}\n"


def first_difference(native: str, ours: str) -> str:
    """The two texts from a little before where they part; empty when they are equal."""
    if native == ours:
        return ""
    left, right = native.splitlines(), ours.splitlines()
    pairs = enumerate(zip(left, right, strict=False))
    n = next((n for n, (one, other) in pairs if one != other), min(len(left), len(right)))
    before = "\n".join(left[max(0, n - 3) : n])
    return f"line {n + 1}, after\n{before}\nnative: {left[n : n + 1]}\nours:   {right[n : n + 1]}"
