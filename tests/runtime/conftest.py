# SPDX-License-Identifier: Apache-2.0
"""Builds the C programs and libraries of these tests from the runtime's sources, each once a session."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
RUNTIME = ROOT / "runtime"
HERE = Path(__file__).resolve().parent
CC = os.environ.get("CC", "cc")
FLAGS = [
    "-std=gnu11",
    "-Wall",
    "-Wextra",
    "-Wshadow",
    "-Wstrict-prototypes",
    "-Werror",
    "-g",
    "-fvisibility=hidden",
    "-pthread",
    f"-I{RUNTIME}",
]

Build = Callable[..., Path]


@pytest.fixture(scope="session")
def build(tmp_path_factory: pytest.TempPathFactory) -> Build:
    """build(name, sources, *flags) compiles sources (of runtime/ or of this folder) and returns the file.

    A name that ends in .so gives a shared library.
    """
    folder = tmp_path_factory.mktemp("runtime")
    done: dict[str, Path] = {}

    def compile_once(name: str, sources: list[str], *flags: str) -> Path:
        if name not in done:
            paths = [next(str(d / s) for d in (RUNTIME, HERE) if (d / s).exists()) for s in sources]
            kind = ["-shared", "-fPIC", "-Wl,-z,now", "-Wl,--no-undefined"] if name.endswith(".so") else []
            command = [CC, *FLAGS, "-O2", *flags, *kind, *paths, "-o", str(folder / name)]
            subprocess.run(command, check=True, timeout=120)
            done[name] = folder / name
        return done[name]

    return compile_once


@pytest.fixture(scope="session")
def sanitized(build: Build, tmp_path_factory: pytest.TempPathFactory) -> Build:
    """Like build, with -fsanitize=SANITIZER; skips the test when the compiler has no run-time for it."""
    probe = tmp_path_factory.mktemp("probe") / "probe.c"
    probe.write_text("int main(void) { return 0; }\n")

    def compile_sanitized(name: str, sources: list[str], sanitizer: str, *flags: str) -> Path:
        flag = f"-fsanitize={sanitizer}"
        binary = probe.with_name(f"probe-{sanitizer.replace(',', '-')}")
        tried = subprocess.run([CC, flag, str(probe), "-o", str(binary)], capture_output=True, check=False)
        if tried.returncode or subprocess.run([str(binary)], capture_output=True, check=False).returncode:
            pytest.skip(f"this compiler has no working run-time library for {flag}")
        return build(name, sources, flag, "-fno-sanitize-recover=all", "-O1", *flags)

    return compile_sanitized
