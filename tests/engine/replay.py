# SPDX-License-Identifier: Apache-2.0
"""Runs programs under the preload on the software GPU and reads what the library reported and the GPU traced."""

from __future__ import annotations

import json
import os
import subprocess
import tempfile
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[2]
BUILD = ROOT / "build"
APPS = BUILD / "apps"
LIBRARY = BUILD / "libredline.so"
TARGETS = ("gfx1100", "gfx1151", "gfx1201")
SECONDS = 60
FIXTURES = {"APP_FIXTURES": str(ROOT / "softgpu" / "kernels" / "fixtures")}

needs_hip = pytest.mark.skipif(
    not (BUILD / "rocm" / "7.2.4" / "lib" / "libamdhip64.so.7").exists(),
    reason="no HIP 7.2.4 in build/rocm (`make rocm`): nothing is replayed",
)


@dataclass
class Run:
    """One program's end; counts are sums over its execs."""

    verdict: str
    status: int
    said: str
    printed: list[str]
    report: dict[str, Any]
    trace: list[dict[str, Any]] = field(default_factory=list)

    @property
    def execs(self) -> list[dict[str, Any]]:
        return list(self.report["execs"])

    def launches(self, kind: str) -> int:
        return sum(int(one["launches"][kind]) for one in [*self.execs, self.report["other_execs"]])

    @property
    def reasons(self) -> set[str]:
        return {one["reason"]["name"] for one in self.execs if one["reason"]}

    def packets(self, kind: str) -> list[dict[str, Any]]:
        return [packet for packet in self.trace if packet["kind"] == kind]

    @property
    def buffers(self) -> list[dict[str, Any]]:
        """Vendor packets that run a buffer of ours; ROCr's own have no barrier bit."""
        return [packet for packet in self.packets("pm4_ib") if packet["header"]["barrier"]]


def build_program(source: Path, made: Path) -> Path:
    """A program over tests/apps/app.h that is no application of its own."""
    rocm = BUILD / "rocm" / "7.2.4"
    flags = ["-std=gnu11", "-O2", "-g", "-Wall", "-Wextra", "-Werror", "-pthread", "-D__HIP_PLATFORM_AMD__"]
    link = [f"-L{rocm / 'lib'}", "-lamdhip64", "-Wl,--unresolved-symbols=ignore-in-shared-libs"]
    command = [os.environ.get("CC", "cc"), *flags, "-isystem", str(rocm / "include"), str(source)]
    subprocess.run([*command, "-o", str(made), *link], check=True, timeout=60)
    return made


def run(
    program: str | Path,
    *arguments: str,
    options: tuple[str, ...] = (),
    settings: dict[str, str] | None = None,
    library: Path | None = LIBRARY,
    preload: str = "",
    trace: bool = False,
    seconds: int = SECONDS,
) -> Run:
    """`program` is an application of tests/apps or a path; `library` None: without the preload. `preload`: the library
    among others, in the loader's spelling."""
    path = APPS / program if isinstance(program, str) else program
    assert path.exists(), f"{path} is not built: `make build softgpu apps`"
    with tempfile.TemporaryDirectory() as folder:
        report, packets = Path(folder) / "report.json", Path(folder) / "trace.json"
        environment = dict(os.environ, **(settings or {}))
        if library:
            environment |= {"LD_PRELOAD": preload or str(library), "REDLINE_REPORT": str(report)}
        traced = ("--trace", str(packets)) if trace else ()
        command = [str(ROOT / "softgpu" / "run"), *options, *traced, "--", str(path), *arguments]
        done = subprocess.run(
            command, capture_output=True, text=True, timeout=seconds, check=False, env=environment
        )
        lines = done.stdout.splitlines()
        return Run(
            verdict=lines[-1] if lines else "",
            status=done.returncode,
            said=f"{' '.join(command)}\n{done.stdout}{done.stderr}",
            printed=lines,
            report=json.loads(report.read_text()) if report.exists() else {},
            trace=[json.loads(line) for line in packets.read_text().splitlines()] if trace else [],
        )


def passed(app: str, *options: str, **others: Any) -> Run:
    done = run(app, options=options, **others)
    assert done.verdict == f"PASS {app}" and done.status == 0, done.said
    assert "softgpu:" not in done.said, done.said
    return done
