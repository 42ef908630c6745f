# SPDX-License-Identifier: Apache-2.0
"""One program for each target, whose decoded text is kept in golden/. `python -m pm4.golden` in tests/ rewrites it."""

from __future__ import annotations

from pathlib import Path

from .library import TARGETS, TRUSTED_CP, Buffer, Dispatch, Kernel, lower, show

FOLDER = Path(__file__).with_name("golden")
CODE, KERNARGS, PACKETS = 0x7F10_0000_0000, 0x7F20_0000_0000, 0x7F30_0000_0000


def kernels(gfx: str) -> list[Kernel]:
    """A plain kernel, one with LDS and wave64, and one that reads its dispatch packet."""
    buffer_resource = 1 if gfx.startswith("gfx10") else 0
    users = 4 * buffer_resource + 2
    padded = 15 if gfx == "gfx1100" else users
    rsrc1 = 0x600F_0040 if gfx.startswith("gfx12") else 0x60AF_0040
    rsrc3 = 0 if gfx.startswith("gfx10") else 3 << 4
    return [
        Kernel(CODE, rsrc1=rsrc1, rsrc2=padded << 1 | 0x80, rsrc3=rsrc3, properties=0x408 | buffer_resource),
        Kernel(
            CODE + 0x1700,
            group_bytes=1000,
            rsrc1=rsrc1 + 1,
            rsrc2=users << 1 | 0x1380,
            rsrc3=rsrc3,
            properties=0x008 | buffer_resource,
        ),
        Kernel(
            CODE + 0x2000,
            rsrc1=rsrc1,
            rsrc2=(users + 2) << 1 | 0x80,
            rsrc3=rsrc3 and rsrc3 + 16,
            properties=0x40A | buffer_resource,
        ),
    ]


def program(gfx: str, cp_feature_version: int = TRUSTED_CP) -> Buffer:
    """A kernel, then two others of which one runs twice, then the first again."""
    dispatches = [
        Dispatch(0, 0, (1024, 1, 1), (256, 1, 1), kernarg=KERNARGS),
        Dispatch(1, 1, (64, 32, 4), (8, 8, 4), lds_bytes=1000, kernarg=KERNARGS + 0x40),
        Dispatch(0, 1, (512, 1, 1), (256, 1, 1), kernarg=KERNARGS + 0x80),
        Dispatch(1, 1, (64, 32, 4), (8, 8, 4), lds_bytes=33000, kernarg=KERNARGS + 0xC0),
        Dispatch(2, 2, (96, 1, 1), (32, 1, 1), kernarg=KERNARGS + 0x100, packet=PACKETS),
        Dispatch(0, 3, (1024, 1, 1), (256, 1, 1), kernarg=KERNARGS),
    ]
    return lower(gfx, kernels(gfx), dispatches, cp_feature_version=cp_feature_version)


def text(gfx: str, cp_feature_version: int = TRUSTED_CP) -> str:
    shown, findings = show(gfx, program(gfx, cp_feature_version).words)
    assert findings == 0, shown
    return shown


def files() -> dict[str, str]:
    return {f"{gfx}.txt": text(gfx) for gfx in TARGETS} | {
        f"{gfx}-old-microcode.txt": text(gfx, 0) for gfx in ("gfx1010", "gfx1030")
    }


if __name__ == "__main__":
    FOLDER.mkdir(exist_ok=True)
    for name, content in files().items():
        (FOLDER / name).write_text(content)
