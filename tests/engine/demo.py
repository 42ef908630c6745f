# SPDX-License-Identifier: Apache-2.0
"""`make demo`: applications captured by HIP, AMD's unmodified HIP and ROCr 7.2.4, with and without the preload.

The first launch of each exec is HIP's own and observed; every later one is one vendor packet with one retained indirect
buffer in the stream's own queue. Each application compares every number that it reads back.
"""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from engine.replay import APPS, BUILD, Run, run

SHOWN = (
    "chain",
    "diamond",
    "fork_join",
    "memset_nodes",
    "copy_launch_copy",
    "null_stream",
    "recapture",
    "large_graph",
    "many_launches",
)
TARGETS = ("gfx1100", "gfx1201")
HEAD = ("application", "GPU", "nodes", "packets", "dwords", "by HIP", "replayed", "results")
WIDTHS = (18, 9, 7, 9, 8, 8, 10, 30)


def line(cells: tuple[object, ...]) -> str:
    return "".join(str(cell).ljust(width) for cell, width in zip(cells, WIDTHS, strict=True)).rstrip()


def verdict(app: str, native: Run, replayed: Run) -> str:
    good = f"PASS {app}"
    if native.verdict != good:
        return f"wrong without the preload: {native.verdict or native.status}"
    return "equal" if replayed.verdict == good else f"WRONG: {replayed.verdict or replayed.status}"


def show(app: str, gfx: str) -> bool:
    native = run(app, options=("--gfx", gfx), library=None)
    replayed = run(app, options=("--gfx", gfx), trace=True)
    buffers = replayed.buffers
    launches = replayed.launches("replayed")
    nodes = max((one["nodes"] for one in replayed.execs), default=0)
    each = f"{len(buffers) / launches:g}" if launches else "-"
    dwords = max((packet["dwords"] for packet in buffers), default=0)
    result = verdict(app, native, replayed)
    print(line((app, gfx, nodes, each, dwords, replayed.launches("native"), launches, result)), flush=True)
    return result == "equal" and launches > 0 and len(buffers) == launches


def main() -> int:
    if not (BUILD / "rocm" / "7.2.4" / "lib" / "libamdhip64.so.7").exists():
        print("No HIP 7.2.4 in build/rocm: run `make rocm` first.", file=sys.stderr)
        return 1
    if not APPS.exists():
        print("The applications are not built: run `make softgpu apps` first.", file=sys.stderr)
        return 1
    print("Unmodified libamdhip64 and ROCr 7.2.4 on the software GPU, LD_PRELOAD=build/libredline.so")
    print(
        "packets, dwords: of one replayed launch; launches by HIP are each exec's first and one after each change\n"
    )
    print(line(HEAD))
    good = [show(app, gfx) for app in SHOWN for gfx in TARGETS]
    print(f"\n{sum(good)} of {len(good)} as they should be")
    return 0 if all(good) else 1


if __name__ == "__main__":
    sys.exit(main())
