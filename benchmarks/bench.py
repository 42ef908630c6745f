# SPDX-License-Identifier: Apache-2.0
"""Runs the benchmarks and prints what each thing costs, as a ratio to its floor.

A C benchmark prints lines of `name, value, floor, limit` with tabs between them (limit 0: none is set). It is
run several times and the smallest value and floor count, so that other work on the machine does not show.
usage: bench.py [--check] [NAME...]; --check exits with 1 when a ratio is over its limit.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
FOLDER = ROOT / "benchmarks"
RUNS = 3

C_BENCHMARKS = {"lower": ["lower.c"], "side_table": ["side_table.c"]}
PYTHON_BENCHMARKS = {"diff": "diff.py", "generate": "generate.py", "launch": "launch.py", "shim": "shim.py"}


@dataclass(frozen=True)
class Figure:
    """One line of a benchmark: value and floor in the same unit, limit of their ratio or 0."""

    name: str
    value: float
    floor: float
    limit: float

    @property
    def ratio(self) -> float:
        return self.value / self.floor

    @property
    def over(self) -> bool:
        return 0 < self.limit < self.ratio

    def best_of(self, other: Figure) -> Figure:
        return Figure(self.name, min(self.value, other.value), min(self.floor, other.floor), self.limit)


def figures(program: Path) -> list[Figure]:
    """The figures of one run."""
    lines = subprocess.run(
        [str(program)], check=True, capture_output=True, text=True, timeout=300
    ).stdout.splitlines()
    fields = [line.split("\t") for line in lines]
    return [Figure(name, float(value), float(floor), float(limit)) for name, value, floor, limit in fields]


def run_c(name: str, sources: list[str], build: Path) -> list[Figure]:
    """Compiles the benchmark and returns its best figures."""
    program = build / name
    flags = ["-std=gnu11", "-O2", "-Wall", "-Wextra", "-Werror", "-pthread", f"-I{ROOT / 'runtime'}"]
    paths = [str(FOLDER / source) for source in sources]
    subprocess.run([os.environ.get("CC", "cc"), *flags, *paths, "-o", str(program)], check=True, timeout=120)
    best = figures(program)
    for _ in range(RUNS - 1):
        best = [old.best_of(new) for old, new in zip(best, figures(program), strict=True)]
    return best


def show(name: str, best: list[Figure]) -> None:
    print(f"{name:54} {'value':>10} {'floor':>10} {'ratio':>7}  limit")
    for figure in best:
        limit = f"{figure.limit:g}" + ("  OVER" if figure.over else "") if figure.limit else ""
        print(f"  {figure.name:52} {figure.value:10.2f} {figure.floor:10.2f} {figure.ratio:7.2f}  {limit}")


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", maxsplit=1)[0])
    parser.add_argument("--check", action="store_true", help="exit with 1 when a ratio is over its limit")
    parser.add_argument(
        "names", nargs="*", metavar="NAME", help=", ".join([*C_BENCHMARKS, *PYTHON_BENCHMARKS])
    )
    arguments = parser.parse_args()
    unknown = set(arguments.names) - set(C_BENCHMARKS) - set(PYTHON_BENCHMARKS)
    if unknown:
        parser.error(f"no such benchmark: {', '.join(sorted(unknown))}")

    over = False
    with tempfile.TemporaryDirectory() as folder:
        for name, sources in C_BENCHMARKS.items():
            if not arguments.names or name in arguments.names:
                best = run_c(name, sources, Path(folder))
                show(name, best)
                over = over or any(figure.over for figure in best)
    for name, script in PYTHON_BENCHMARKS.items():
        if not arguments.names or name in arguments.names:
            print(f"\n{name}", flush=True)
            over = (
                bool(subprocess.run([sys.executable, str(FOLDER / script)], check=False).returncode) or over
            )
    return int(arguments.check and over)


if __name__ == "__main__":
    sys.exit(main())
