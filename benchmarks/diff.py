# SPDX-License-Identifier: Apache-2.0
"""Time of `redline-codegen diff` of 6.4.3 and 7.2.4, from snapshots and from headers, beside its floor and its limit.

The floor is the work that cannot be left out: a Python process that reads both snapshots and composes the policy, or
two at once that each preprocess and parse the headers of HIP and HSA. Milliseconds, minimum of several runs; exit
code 1 when a limit is passed.
"""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
RUNS = 5
OLD, NEW = "6.4.3", "7.2.4"
LIMITS = {"snapshots": 500, "headers": 1500}

READ = """
import json, sys, yaml
[json.load(open(name)) for name in sys.argv[1:]]
yaml.compose(open("policies.yaml").read(), Loader=yaml.CSafeLoader)
"""
PARSE = """
import subprocess, sys
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pycparser import c_parser
flags = ["-D__HIP_PLATFORM_AMD__", "-D__attribute__(x)=", "-D__extension__=", "-D__restrict=", "-D__inline=inline"]
def parse(folder):
    for header in ("hip/hip_runtime_api.h", "hsa/hsa_ext_amd.h"):
        command = ["cc", "-E", "-x", "c", "-std=gnu11", *flags, "-D__asm__(x)=", f"-I{folder}/include", "-"]
        done = subprocess.run(command, input=f"#include <{header}>\\n", capture_output=True, text=True)
        c_parser.CParser().parse(done.stdout)
with ProcessPoolExecutor(2, mp_context=get_context("fork")) as pool:
    list(pool.map(parse, sys.argv[1:]))
"""


def fastest(command: list[str]) -> float:
    """Wall time of the fastest of RUNS runs, in milliseconds."""
    times = []
    for _ in range(RUNS):
        start = time.perf_counter()
        subprocess.run(command, cwd=ROOT, check=False, capture_output=True)
        times.append((time.perf_counter() - start) * 1000)
    return min(times)


def main() -> int:
    sides = {
        "snapshots": [f"api/rocm-{release}.json" for release in (OLD, NEW)],
        "headers": [f"build/rocm/{release}" for release in (OLD, NEW)],
    }
    over = False
    for name, floor_code in (("snapshots", READ), ("headers", PARSE)):
        if not all((ROOT / side).exists() for side in sides[name]):
            print(f"diff from {name}: skipped, ROCm {OLD} and {NEW} are not in build/rocm (run `make rocm`)")
            continue
        floor = fastest([sys.executable, "-c", floor_code, *sides[name]])
        taken = fastest([str(Path(sys.executable).with_name("redline-codegen")), "diff", *sides[name]])
        over = over or taken > LIMITS[name]
        told = "  OVER" if taken > LIMITS[name] else ""
        print(
            f"diff from {name:12} {taken:7.0f} ms  {taken / floor:5.2f} x floor of {floor:.0f} ms  "
            f"limit {LIMITS[name]} ms{told}"
        )
    return int(over)


if __name__ == "__main__":
    sys.exit(main())
