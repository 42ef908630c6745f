# SPDX-License-Identifier: Apache-2.0
"""CPU time of the launching thread for one launch: replayed beside native, on the software GPU.

Limits are those of the project: native itself at 16 nodes, a fifth at 1,024, a fifteenth at 4,096, and at most 1 us
above the event record that carries the replay. Exit code 1 when one is not kept.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
ROCM = ROOT / "build" / "rocm" / "7.2.4"
LIMITS = {16: 1.0, 1024: 1 / 5, 4096: 1 / 15}
MOST_ABOVE_RECORD_NS = 1000


def build(folder: Path) -> Path:
    program = folder / "launch"
    flags = ["-std=gnu11", "-O2", "-Wall", "-Wextra", "-Werror", "-pthread", "-D__HIP_PLATFORM_AMD__"]
    link = [f"-L{ROCM / 'lib'}", "-lamdhip64", "-ldl", "-Wl,--unresolved-symbols=ignore-in-shared-libs"]
    source = ROOT / "benchmarks" / "launch.c"
    command = [os.environ.get("CC", "cc"), *flags, "-isystem", str(ROCM / "include"), str(source)]
    subprocess.run([*command, "-o", str(program), *link], check=True, timeout=120)
    return program


def measure(program: Path, report: Path) -> list[list[int]]:
    environment = dict(os.environ) | {
        "LD_PRELOAD": str(ROOT / "build" / "libredline.so"),
        "REDLINE_REPORT": str(report),
        "APP_FIXTURES": str(ROOT / "softgpu" / "kernels" / "fixtures"),
    }
    done = subprocess.run(
        [str(ROOT / "softgpu" / "run"), "--", str(program)],
        check=True,
        capture_output=True,
        text=True,
        timeout=300,
        env=environment,
    )
    return [[int(field) for field in line.split("\t")] for line in done.stdout.splitlines() if "\t" in line]


def main() -> int:
    if not (ROCM / "lib" / "libamdhip64.so.7").exists():
        print("launch: skipped, ROCm 7.2.4 is not in build/rocm (run `make rocm`)")
        return 0
    with tempfile.TemporaryDirectory() as name:
        report = Path(name) / "report.json"
        rows = measure(build(Path(name)), report)
        execs = json.loads(report.read_text())["execs"]
    if not rows or any(one["launches"]["native"] != 1 for one in execs):
        print("launch: a graph was not replayed, so there is nothing to compare")
        return 1
    over = False
    print(f"{'nodes':>6} {'native ns':>10} {'replayed':>9} {'record':>7} {'ours':>6} {'ratio':>7}  limit")
    for nodes, native, replayed, record in rows:
        limit = LIMITS.get(nodes)
        bad = (limit is not None and replayed > limit * native) or replayed - record > MOST_ABOVE_RECORD_NS
        over = over or bad
        text = f"{limit:.3f}" if limit else ""
        print(
            f"{nodes:6} {native:10} {replayed:9} {record:7} {replayed - record:6} {replayed / native:7.3f}"
            f"  {text}{'  OVER' if bad else ''}"
        )
    return int(over)


if __name__ == "__main__":
    sys.exit(main())
