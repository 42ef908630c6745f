# SPDX-License-Identifier: Apache-2.0
"""What the library adds to calls of a HIP whose functions return at once. Exit code 1 when it is too much."""

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

ALLOWED = {
    "installation in HIP's dispatch tables, once": (100_000, 1),
    "first call of all": (100_000, 0),
    "launch of a native exec": (5, 1),
    "the same by dlsym() on HIP's handle": (5, 1),
    "launch of an exec without a record": (5, 0),
    "change of an exec that is stale already": (5, 1),
}
"""Nanoseconds that may be added, and the limit of the ratio to them (0: none)."""

# The only functions that have to give something out.
MAKERS = """
static long make_hipGraphCreate(void **made) { static char graph[8]; *made = graph; return 0; }
static long make_hipGraphInstantiate(void **made) { static char exec[8]; *made = exec; return 0; }
static long nothing(void) { return 0; }
"""

# An exported function as the real library has it: it asks for the dispatch table and jumps through it.
STUB = """
long {name}(long a, long b, long c, long d, long e, long f);
long {name}(long a, long b, long c, long d, long e, long f)
{{
    return ((long (*)(long, long, long, long, long, long))get_{table}()[{word}])(a, b, c, d, e, f);
}}
"""


def source(hip: Part) -> str:
    """Every function that the real library exports; those of a dispatch table go through one."""
    assert hip.library
    names = {symbol.name for symbol in hip.library.symbols}
    text = MAKERS
    for table, layout in hip.tables.items():
        entries = [f"make_{name}" if f"make_{name}(" in MAKERS else "nothing" for name in layout.functions]
        listed = ", ".join(f"(void *){entry}" for entry in (str(8 * (len(entries) + 1)), *entries))
        text += f"static void *{table}[] = {{ {listed} }};\n"
        text += (
            f'__attribute__((noinline)) static void **get_{table}(void) {{ __asm__(""); return {table}; }}\n'
        )
        for word, name in enumerate(layout.functions, start=1):
            text += STUB.format(name=name, table=table, word=word) if name in names else ""
        names -= set(layout.functions)
    return text + "".join(f"long {name}(void) {{ return 0; }}\n" for name in sorted(names))


def build_library(hip: Part, folder: Path) -> Path:
    assert hip.library
    (folder / "empty.c").write_text(source(hip))
    nodes = "".join(
        f"{node} {{ global: {' '.join(s.name + ';' for s in hip.library.symbols if s.node == node)} }}"
        f" {' '.join(parents)};\n"
        for node, parents in hip.library.nodes.items()
    )
    (folder / "empty.map").write_text(nodes)
    library = folder / hip.library.soname
    command = [CC, "-O2", "-w", "-fPIC", "-shared", f"-Wl,-soname,{hip.library.soname}"]
    command += [f"-Wl,--version-script={folder / 'empty.map'}", str(folder / "empty.c"), "-o", str(library)]
    subprocess.run(command, check=True, timeout=60)
    return library


def build(name: str, library: Path, objects: tuple[Path, ...] = ()) -> Path:
    program = library.parent / name
    include = [f"-I{ROOT / folder}" for folder in ("generated", "runtime")]
    command = [CC, "-std=gnu11", "-O2", "-Wall", "-Wextra", "-Werror", *include]
    command += [str(ROOT / "benchmarks" / f"{name}.c"), *map(str, objects)]
    command += ["-Wl,--no-as-needed", str(library), f"-Wl,-rpath,{library.parent}", "-ldl", "-lpthread"]
    subprocess.run([*command, "-o", str(program)], check=True, timeout=60)
    return program


def runtime() -> tuple[Path, ...]:
    """The object files that the library was linked from."""
    sources = [*(ROOT / "runtime").rglob("*.c"), *(ROOT / "generated").glob("*.c")]
    objects = ((ROOT / "build" / "obj" / path.relative_to(ROOT)).with_suffix(".o") for path in sources)
    return tuple(sorted(path for path in objects if path.exists()))


def times(program: Path, **preload: str) -> dict[str, float]:
    """The least of several runs, in nanoseconds."""
    environment = {k: v for k, v in os.environ.items() if not k.startswith(("REDLINE", "LD_"))}
    least: dict[str, float] = {}
    for _ in range(RUNS):
        command = [str(program)]
        done = subprocess.run(
            command, check=True, capture_output=True, text=True, timeout=120, env={**environment, **preload}
        )
        for name, value in (line.split("\t") for line in done.stdout.splitlines()):
            least[name] = min(float(value), least.get(name, float(value)))
    return least


def main() -> int:
    with tempfile.TemporaryDirectory() as name:
        library = build_library(read_snapshot(ROOT / "api" / "rocm-7.2.4.json").hip, Path(name))
        program = build("shim", library)
        native = times(program)
        ours = times(program, LD_PRELOAD=str(ROOT / "build" / "libredline.so"))
        ours |= times(build("install", library, runtime()))
    best = [Figure(what, value - native.get(what, 0), *ALLOWED[what]) for what, value in ours.items()]
    show("shim: nanoseconds over the call without the library", best)
    return int(any(figure.over for figure in best))


if __name__ == "__main__":
    sys.exit(main())
