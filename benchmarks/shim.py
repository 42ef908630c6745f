# SPDX-License-Identifier: Apache-2.0
"""What a shim adds to a call: over a libamdhip64 whose functions return at once. Exit code 1 when it is too much."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path

from bench import Figure, show
from redline_codegen.model import Part
from redline_codegen.snapshot import read_snapshot

ROOT = Path(__file__).resolve().parents[1]
CC = os.environ.get("CC", "cc")
RUNS = 3

# The only functions that have to give something out.
MAKERS = """
long hipGraphCreate(void **made) { static char graph[8]; *made = graph; return 0; }
long hipGraphInstantiate(void **made) { static char exec[8]; *made = exec; return 0; }
"""


def build_library(hip: Part, folder: Path) -> Path:
    """Every function that the real library exports, in its version node."""
    assert hip.library
    names = [symbol.name for symbol in hip.library.symbols]
    plain = "".join(f"long {name}(void) {{ return 0; }}\n" for name in names if f" {name}(" not in MAKERS)
    nodes = "".join(
        f"{node} {{ global: {' '.join(s.name + ';' for s in hip.library.symbols if s.node == node)} }}"
        f" {' '.join(parents)};\n"
        for node, parents in hip.library.nodes.items()
    )
    (folder / "empty.c").write_text(plain + MAKERS)
    (folder / "empty.map").write_text(nodes)
    library = folder / hip.library.soname
    command = [CC, "-O2", "-w", "-fPIC", "-shared", f"-Wl,-soname,{hip.library.soname}"]
    command += [f"-Wl,--version-script={folder / 'empty.map'}", str(folder / "empty.c"), "-o", str(library)]
    subprocess.run(command, check=True, timeout=60)
    return library


def build(folder: Path) -> Path:
    library = build_library(read_snapshot(ROOT / "api" / "rocm-7.2.4.json").hip, folder)
    program = folder / "shim"
    command = [CC, "-std=gnu11", "-O2", "-Wall", "-Wextra", "-Werror", f"-I{ROOT / 'generated'}"]
    command += [str(ROOT / "benchmarks" / "shim.c"), str(library), f"-Wl,-rpath,{folder}", "-ldl"]
    subprocess.run([*command, "-o", str(program)], check=True, timeout=60)
    return program


def measure(program: Path) -> list[Figure]:
    environment = {k: v for k, v in os.environ.items() if not k.startswith(("REDLINE", "LD_"))}
    environment["LD_PRELOAD"] = str(ROOT / "build" / "libredline.so")
    done = subprocess.run(
        [str(program)], check=True, capture_output=True, text=True, timeout=120, env=environment
    )
    fields = [line.split("\t") for line in done.stdout.splitlines()]
    return [Figure(name, float(value), float(floor), float(limit)) for name, value, floor, limit in fields]


def main() -> int:
    with tempfile.TemporaryDirectory() as name:
        program = build(Path(name))
        best = measure(program)
        for _ in range(RUNS - 1):
            best = [old.best_of(new) for old, new in zip(best, measure(program), strict=True)]
    show("shim", best)
    return int(any(figure.over for figure in best))


if __name__ == "__main__":
    sys.exit(main())
