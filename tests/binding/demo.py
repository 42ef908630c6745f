# SPDX-License-Identifier: Apache-2.0
"""`make demo`: libredline.so over each real libamdhip64 that was fetched, and what the dynamic linker says."""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests"))

from redline_codegen.inputs import HEADER  # noqa: E402
from redline_codegen.model import Function  # noqa: E402
from redline_codegen.policy import load_policy  # noqa: E402

from binding import proof  # noqa: E402

ROCM = ROOT / "build" / "rocm"
OURS = ROOT / "build" / "libredline.so"


def main() -> int:
    declared = load_policy(ROOT / "policies.yaml").declared
    rows = []
    for folder in sorted(ROCM.glob("*/lib")):
        release = folder.parent.name
        libraries = sorted(folder.glob("libamdhip64.so.*"), key=lambda path: len(path.name))
        if (folder.parent / "include" / HEADER).is_file() and libraries:
            rows.append(prove(release, folder.parent / "include", libraries[0], declared))
    if not rows:
        print(
            "No real libamdhip64 could be had, so there is nothing to show: see the message of `make rocm`."
        )
        return 1
    print(f"{'ROCm':8} {'calls':>6} {'exported by both':>17} {'bound to ours':>14}  same codes and outputs")
    for release, calls, wanted, bound, same in rows:
        print(f"{release:8} {calls:6} {wanted:17} {bound:14}  {'yes' if same else 'NO'}")
    return 0 if all(same and bound == wanted for _, _, wanted, bound, same in rows) else 1


def prove(
    release: str, include: Path, library: Path, declared: dict[str, Function]
) -> tuple[str, int, int, int, bool]:
    """Release, calls made, symbols that libredline and the library both export, bound to ours, and equal output."""
    api = proof.api_of(release, include, library)
    wanted = proof.expected(api, declared, OURS)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        caller = proof.build_linked(api, declared, include, library, folder)
        native = proof.run(caller, ROCM, release, folder, None)
        preloaded = proof.run(caller, ROCM, release, folder, OURS)
    bound = len(wanted) - len(proof.not_ours(preloaded, wanted, OURS))
    return release, len(native.output.splitlines()), len(wanted), bound, native.output == preloaded.output


if __name__ == "__main__":
    sys.exit(main())
