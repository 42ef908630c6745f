# SPDX-License-Identifier: Apache-2.0
"""What each dispatch of a buffer must find in the registers, worked out without the encoder and without elision."""

from __future__ import annotations

from .library import Dispatch, Kernel

START, THREADS, PROGRAM, RESOURCES, RESOURCE3, USER = 0x204, 0x207, 0x20C, 0x212, 0x228, 0x240


def family(gfx: str) -> str:
    """gfx10.1, gfx10.3, gfx11.0, gfx11.5 or gfx12.0."""
    return f"{gfx[:5]}.{gfx[5]}"


def halves(address: int) -> list[int]:
    return [address & 0xFFFFFFFF, address >> 32]


def user_data(kernel: Kernel, dispatch: Dispatch) -> list[int]:
    """User SGPRs in the order of LLVM's AMDGPU usage guide, "Initial Kernel Execution State"."""
    user: list[int] = []
    if kernel.properties & 1:
        user += [0, 0, 0, 0]
    for bit, address in (
        (2, dispatch.packet),
        (4, dispatch.queue),
        (8, dispatch.kernarg),
        (16, dispatch.dispatch_id),
    ):
        if kernel.properties & bit:
            user += halves(address)
    return user


def registers(gfx: str, kernel: Kernel, dispatch: Dispatch) -> dict[int, int]:
    """Every register that this dispatch needs, by offset."""
    granules = -(-dispatch.lds_bytes // 512)
    privileged = 1 << 20 if family(gfx) == "gfx11.0" else 0
    trap = 0 if family(gfx) == "gfx12.0" else 1 << 6
    values = {
        START: [0, 0, 0],
        THREADS: list(dispatch.workgroup),
        PROGRAM: [kernel.entry >> 8 & 0xFFFFFFFF, kernel.entry >> 40],
        RESOURCES: [kernel.rsrc1 | privileged, kernel.rsrc2 | trap | granules << 15],
        RESOURCE3: [kernel.rsrc3],
        USER: user_data(kernel, dispatch),
    }
    return {first + index: word for first, words in values.items() for index, word in enumerate(words)}


def groups(dispatch: Dispatch) -> tuple[int, ...]:
    return tuple(grid // size for grid, size in zip(dispatch.grid, dispatch.workgroup, strict=True))


def initiator(kernel: Kernel) -> int:
    return 0x8005 if kernel.properties & 1 << 10 else 0x5


def level_gcr(gfx: str) -> int:
    """K$ and the vector L0, L1 below gfx12; on gfx10.1 K$'s stores, on gfx12 L2 as HIP's system acquire does."""
    return {
        "gfx10.1": 0x3C0,
        "gfx10.3": 0x380,
        "gfx11.0": 0x380,
        "gfx11.5": 0x380,
        "gfx12.0": 0xC180,
    }[family(gfx)]


def system_gcr(gfx: str) -> int:
    return {"gfx10.1": 0x1C3C0, "gfx12.0": 0xC180}.get(family(gfx), 0xC380)


def exit_gcr(gfx: str, system: bool) -> int:
    return (0x40 if family(gfx) == "gfx10.1" else 0) | (0x18000 if system else 0)
