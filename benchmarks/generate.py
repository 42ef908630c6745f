# SPDX-License-Identifier: Apache-2.0
"""Time of `redline-codegen generate` and `check` beside the floor of the work that cannot be left out.

The floor is one Python process that starts, preprocesses and parses the HIP header, reads the library's symbols,
composes the policy and reads the templates once. Prints milliseconds (minimum of several runs) and the ratio.
"""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
RUNS = 5

FLOOR = """
import subprocess, sys
import jinja2, yaml
from elftools.elf.elffile import ELFFile
from pycparser import c_parser
include, library = sys.argv[1:]
flags = ["-D__HIP_PLATFORM_AMD__", "-D__attribute__(x)=", "-D__extension__=", "-D__restrict=", "-D__inline=inline"]
flags += ["-D__inline__=inline", "-D__asm__(x)=", f"-I{include}"]
source = "#include <hip/hip_runtime_api.h>"
done = subprocess.run(["cc", "-E", "-x", "c", "-std=gnu11", *flags, "-"], input=source, capture_output=True, text=True)
c_parser.CParser().parse(done.stdout)
with open(library, "rb") as file:
    [symbol.name for symbol in ELFFile(file).get_section_by_name(".dynsym").iter_symbols()]
yaml.compose(open("policies.yaml").read(), Loader=yaml.CSafeLoader)
templates = jinja2.Environment(loader=jinja2.FileSystemLoader("templates"))
for name in templates.list_templates(extensions="j2"):
    templates.loader.get_source(templates, name)
"""


def fastest(command: list[str]) -> float:
    """Wall time of the fastest of RUNS runs, in milliseconds."""
    times = []
    for _ in range(RUNS):
        start = time.perf_counter()
        subprocess.run(command, cwd=ROOT, check=True, capture_output=True)
        times.append((time.perf_counter() - start) * 1000)
    return min(times)


def main() -> int:
    release = ROOT / "build" / "rocm" / "7.2.4"
    library = release / "lib" / "libamdhip64.so.7"
    if not library.exists():
        print("generate: skipped, ROCm 7.2.4 is not in build/rocm (run `make rocm`)")
        return 0
    floor = fastest([sys.executable, "-c", FLOOR, str(release / "include"), str(library)])
    print(f"{'floor':24} {floor:8.0f} ms")
    for command in ("generate", "check"):
        taken = fastest(
            [sys.executable, "-m", "redline_codegen", command, "--header", str(release / "include")]
        )
        print(f"{command:24} {taken:8.0f} ms   {taken / floor:5.2f} x floor")
    return 0


if __name__ == "__main__":
    sys.exit(main())
