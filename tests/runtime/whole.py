# SPDX-License-Identifier: Apache-2.0
"""Programs that hold the whole runtime, linked to the stand-in for libamdhip64."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest
from standin import standin

ROOT = Path(__file__).resolve().parents[2]
HERE = Path(__file__).resolve().parent
CC = os.environ.get("CC", "cc")
FLAGS = ["-std=gnu11", "-Wall", "-Wextra", "-Werror", "-Wshadow", "-g", "-pthread", "-fvisibility=hidden"]
FLAGS += ["-foptimize-sibling-calls"]  # as the Makefile has it


def require_sanitizer(flag: str, folder: Path) -> None:
    """Skips the test when the compiler has no run-time library for the flag, or that does not work here."""
    source, program = folder / "probe.c", folder / "probe"
    source.write_text("int main(void) { return 0; }\n")
    for command in ([CC, flag, str(source), "-o", str(program)], [str(program)]):
        if subprocess.run(command, capture_output=True, check=False).returncode:
            pytest.skip(f"this compiler has no working run-time library for {flag}")


class Programs:
    """Builds in one folder, with one set of flags; the shims are the program's own, so everything binds to them."""

    def __init__(self, folder: Path, *flags: str) -> None:
        self.folder = folder
        self.flags = flags
        self.library = standin.build(folder, "7.2.4", *flags)
        standin.write_callers(folder)
        self._objects: list[str] = []

    def objects(self) -> list[str]:
        """The runtime's object files, compiled once."""
        if not self._objects:
            generated = ROOT / "generated"
            sources = sorted((ROOT / "runtime").rglob("*.c"))
            if "-DRL_FAULT_INJECTION" not in self.flags:
                sources.remove(ROOT / "runtime" / "base" / "fault.c")
            sources += [generated / n for n in ("native_table.c", "shims_hip.c", "shims_hsa.c")]
            commands = []
            for source in sources:
                target = self.folder / f"{source.stem}.o"
                self._objects.append(str(target))
                commands.append(
                    [CC, *FLAGS, "-O1", *self.flags, *self.includes(), "-c", str(source), "-o", str(target)]
                )
            for command in commands:
                subprocess.run(command, check=True, timeout=120)
        return self._objects

    def includes(self) -> list[str]:
        folders = [ROOT / "runtime", ROOT / "generated", ROOT / "tests" / "standin", HERE, self.folder]
        return [f"-I{folder}" for folder in folders]

    def build(self, name: str) -> Path:
        """The program from NAME.c of this folder."""
        target = self.folder / name
        if not target.exists():
            link = [str(self.library), f"-Wl,-rpath,{self.folder}", "-ldl"]
            command = [CC, *FLAGS, "-O1", *self.flags, *self.includes(), "-rdynamic", str(HERE / f"{name}.c")]
            subprocess.run([*command, *self.objects(), *link, "-o", str(target)], check=True, timeout=120)
        return target
