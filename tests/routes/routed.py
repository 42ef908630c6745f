# SPDX-License-Identifier: Apache-2.0
"""Builds programs whose calls take other ways to HIP than the linker's, and runs them on the software GPU."""

from __future__ import annotations

import os
import subprocess
from dataclasses import dataclass, field
from pathlib import Path

import jinja2
from engine.replay import LIBRARY, Run, run
from redline_codegen.snapshot import read_snapshot

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
HIP = ROOT / "build" / "rocm" / "7.2.4"
APPS = ROOT / "tests" / "apps"
FIXTURES = {"APP_FIXTURES": str(ROOT / "softgpu" / "kernels" / "fixtures")}
FLAGS = ["-std=gnu11", "-O1", "-g", "-Wall", "-Wextra", "-Werror", "-pthread", "-D__HIP_PLATFORM_AMD__"]
LINK = [
    f"-L{HIP / 'lib'}",
    "-Wl,--no-as-needed",
    "-lamdhip64",
    "-Wl,--unresolved-symbols=ignore-in-shared-libs",
]
TARGETS = ("gfx1100", "gfx1201")


def write(folder: Path) -> None:
    """routed.h and routed.c, for all functions that the header declares and the library exports."""
    hip = read_snapshot(ROOT / "api" / "rocm-7.2.4.json").hip
    assert hip.library
    exported = {symbol.name for symbol in hip.library.symbols}
    names = [name for name in sorted(hip.functions) if name in exported]
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(HERE), trim_blocks=True, keep_trailing_newline=True, autoescape=False
    )
    for name in ("routed.h", "routed.c"):
        (folder / name).write_text(environment.get_template(f"{name}.j2").render(names=names))


@dataclass
class Programs:
    """Each is built once."""

    folder: Path
    built: dict[str, Path] = field(default_factory=dict)

    def compile(self, name: str, *arguments: str | Path) -> Path:
        if name not in self.built:
            target = self.folder / name
            include = ["-isystem", str(HIP / "include"), f"-I{APPS}", f"-I{HERE}", f"-I{self.folder}"]
            command = [os.environ.get("CC", "cc"), *FLAGS, *include, *map(str, arguments), "-o", str(target)]
            subprocess.run(command, check=True, timeout=60)
            self.built[name] = target
        return self.built[name]

    def routed(self, source: Path, *flags: str, linked: bool) -> Path:
        """All calls go through pointers; `linked`: HIP is there from the start, as the linker sees to it."""
        name = f"{source.stem}-{'linked' if linked else 'client'}"
        files: list[str | Path] = ["-include", self.folder / "routed.h", source, self.folder / "routed.c"]
        return self.compile(name, *flags, *files, *(LINK if linked else []), "-ldl")

    def linked(self, source: Path) -> Path:
        return self.compile(source.stem, source, *LINK, "-ldl")

    def plugin(self, source: Path, *flags: str) -> Path:
        """A library that is linked to HIP."""
        return self.compile(f"{source.stem}.so", *flags, "-shared", "-fPIC", source, *LINK)

    def library(self, name: str, source: Path, *flags: str) -> Path:
        """A library that is not."""
        return self.compile(name, *flags, "-shared", "-fPIC", source, "-ldl")


def both(
    program: Path, *arguments: str, gfx: str = "gfx1100", before: str = "", after: str = "", **settings: str
) -> Run:
    """Runs without and with the library, among other preloads; both have to pass and to say the same."""
    others = ":".join(part for part in (before, after) if part)
    options = ("--gfx", gfx)
    environment = {**FIXTURES, **settings}
    native = run(
        program, *arguments, options=options, settings={**environment, "LD_PRELOAD": others}, library=None
    )
    preload = ":".join(part for part in (before, str(LIBRARY), after) if part)
    ours = run(program, *arguments, options=options, settings=environment, preload=preload)
    assert (native.verdict.partition(" ")[0], native.status) == ("PASS", 0), native.said
    assert (ours.verdict, ours.status) == (native.verdict, 0), ours.said
    assert "softgpu:" not in ours.said, ours.said
    return ours
