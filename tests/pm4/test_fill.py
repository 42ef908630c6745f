# SPDX-License-Identifier: Apache-2.0
"""Memset nodes as HIP's fill kernels: recognised by contents, copied with their pattern, refused in doubt (H9)."""

from __future__ import annotations

import functools
import struct
import subprocess
import tempfile
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest
from cffi import FFI
from hypothesis import given, settings
from hypothesis import strategies as st

from .library import CC, ROOT, RUNTIME_FLAGS

LINEAR, RECTANGLE = "__amd_rocclr_fillBufferAligned", "__amd_rocclr_fillBufferAligned2D"
PATTERN = 0x7F40_0000_1000

make_ffi: Any = FFI  # cffi is untyped
ffi: Any = make_ffi()
ffi.cdef(
    """
    struct rl_fill {
        uint64_t destination, row_bytes, rows, pitch, pattern; uint32_t pattern_bytes, pattern_at;
    };
    struct rl_memset { uint64_t destination, width, height, pitch; uint32_t element_bytes, value; };
    bool rl_fill_read(struct rl_fill *fill, const char *kernel, uint32_t kernarg_bytes, const void *kernarg,
                      const uint32_t grid[3], const uint16_t workgroup[3]);
    bool rl_fill_is_memset(const struct rl_fill *fills, const uint8_t (*patterns)[16], uint32_t count,
                           const struct rl_memset *node);
    void rl_fill_set_pattern(void *kernarg, const struct rl_fill *fill, uint64_t pattern);
    """
)


@functools.cache
def library() -> Any:
    folder = ROOT / "build" / "tests"
    folder.mkdir(parents=True, exist_ok=True)
    output = Path(tempfile.mkdtemp(prefix="fill-", dir=folder)) / "libfill.so"
    subprocess.run(
        [CC, *RUNTIME_FLAGS, str(ROOT / "runtime" / "kernels" / "fill.c"), "-o", str(output)],
        check=True,
        timeout=120,
    )
    return ffi.dlopen(str(output))


@dataclass(frozen=True)
class Memset:
    destination: int = 0x7F20_0000_0004
    width: int = 100
    height: int = 1
    pitch: int = 0
    element_bytes: int = 4
    value: int = 0x12345678


@dataclass(frozen=True)
class Packet:
    """One fill dispatch: kernel, argument block, geometry, and the pattern that its pointer leads to."""

    kernel: str
    kernarg: bytes
    grid: tuple[int, int, int]
    workgroup: tuple[int, int, int]
    pattern: bytes


def linear(destination: int, size: int, pattern: bytes) -> Packet:
    unit = next(unit for unit in (16, 8, 4, 2, 1) if len(pattern) % unit == 0)
    grid = -(-min(size // len(pattern), 4096) // 256) * 256
    units = len(pattern) // unit
    block = struct.pack("<QQIIQII", destination, PATTERN, units, unit, destination + size, grid * units, 256)
    return Packet(LINEAR, block, (grid, 1, 1), (256, 1, 1), pattern)


def rectangle(node: Memset, pattern: bytes) -> Packet:
    unit = len(pattern)
    views = [node.destination if unit == 1 << index else 0 for index in range(4)]
    width = node.width * node.element_bytes
    block = struct.pack("<QQQQQIIQQQQ", *views, PATTERN, 1, 0, 0, width, node.height, node.pitch // unit)
    grid = (-(-(width // unit) // 16) * 16, -(-node.height // 16) * 16, 1)
    return Packet(RECTANGLE, block, grid, (16, 16, 1), pattern)


def native(node: Memset) -> list[Packet]:
    """What HIP dispatches: a row is split at 16-byte boundaries, whose middle has the pattern 16 bytes long."""
    pattern = node.value.to_bytes(4, "little")[: node.element_bytes]
    if node.height > 1:
        return [rectangle(node, pattern)]
    size = node.width * node.element_bytes
    head = min(-node.destination % 16, size)
    body = (size - head) // 16 * 16
    parts = (
        (0, head, pattern),
        (head, body, pattern * (16 // len(pattern))),
        (head + body, size - head - body, pattern),
    )
    return [linear(node.destination + offset, part, filling) for offset, part, filling in parts if part]


def read(packet: Packet) -> Any:
    fill = ffi.new("struct rl_fill *")
    good = library().rl_fill_read(
        fill, packet.kernel.encode(), len(packet.kernarg), packet.kernarg, packet.grid, packet.workgroup
    )
    return fill if good else None


def is_memset(packets: list[Packet], node: Memset) -> bool:
    fills = ffi.new("struct rl_fill[]", len(packets))
    patterns = ffi.new("uint8_t[][16]", len(packets))
    for index, packet in enumerate(packets):
        fill = read(packet)
        if fill is None:
            return False
        fills[index] = fill[0]
        ffi.memmove(patterns[index], packet.pattern, len(packet.pattern))
    return bool(
        library().rl_fill_is_memset(fills, patterns, len(packets), ffi.new("struct rl_memset *", vars(node)))
    )


@st.composite
def memset(draw: st.DrawFn) -> Memset:
    element = draw(st.sampled_from([1, 2, 4]))
    height = draw(st.sampled_from([1, 1, 3, 40]))
    width = draw(st.integers(1, 200))
    return Memset(
        destination=0x7F20_0000_0000 + element * draw(st.integers(0, 64)),
        width=width,
        height=height,
        pitch=4 * draw(st.integers(width, width + 100)) if height > 1 else 0,
        element_bytes=element,
        value=draw(st.integers(0, 2**32 - 1)),
    )


@settings(max_examples=150, deadline=None)
@given(memset())
def test_the_fills_of_a_memset_node_are_that_node(node: Memset) -> None:
    assert is_memset(native(node), node)


@settings(max_examples=150, deadline=None)
@given(memset(), st.data())
def test_fills_of_another_node_are_not(node: Memset, data: st.DataObject) -> None:
    size = node.element_bytes
    other = data.draw(
        st.sampled_from(
            [
                replace(node, destination=node.destination + size),
                replace(node, width=node.width + 1),
                replace(node, height=node.height + 1, pitch=node.pitch or 4 * node.width),
                replace(node, value=node.value ^ 1),
                *([replace(node, pitch=node.pitch + 4)] if node.height > 1 else []),
            ]
        )
    )
    assert not is_memset(native(node), other)


@settings(max_examples=100, deadline=None)
@given(memset(), st.data())
def test_missing_repeated_and_swapped_fills_are_not_the_node(node: Memset, data: st.DataObject) -> None:
    packets = native(node)
    which = data.draw(st.integers(0, len(packets) - 1))
    assert not is_memset([*packets, packets[which]], node)
    assert not is_memset(packets[:which] + packets[which + 1 :], node)
    assert len(packets) == 1 or not is_memset(packets[::-1], node)


def test_a_copied_block_points_to_the_copied_pattern_and_is_else_the_same() -> None:
    for node in (Memset(), Memset(height=3, pitch=512)):
        for packet in native(node):
            fill = read(packet)
            assert fill.pattern == PATTERN and fill.pattern_bytes == len(packet.pattern)
            block = ffi.new("uint8_t[]", list(packet.kernarg))
            library().rl_fill_set_pattern(block, fill, 0x1122_3344_5566_7788)
            at = 8 if packet.kernel == LINEAR else 32
            wanted = packet.kernarg[:at] + bytes.fromhex("8877665544332211") + packet.kernarg[at + 8 :]
            assert bytes(ffi.buffer(block)) == wanted


@pytest.mark.parametrize(
    ("kernel", "change"),
    [
        (LINEAR, {"kernel": "__amd_rocclr_copyBuffer"}),
        (LINEAR, {"kernel": "__amd_rocclr_fillBuffer"}),
        (LINEAR, {"kernarg": bytes(64)}),
        (LINEAR, {"workgroup": (128, 1, 1)}),
        (LINEAR, {"grid": (512, 1, 1)}),
        (LINEAR, {"kernarg": struct.pack("<QQIIQII", 4096, PATTERN, 1, 3, 8192, 256, 256)}),
        (LINEAR, {"kernarg": struct.pack("<QQIIQII", 4096, PATTERN, 0, 4, 8192, 0, 256)}),
        (LINEAR, {"kernarg": struct.pack("<QQIIQII", 4096, PATTERN, 5, 4, 8192, 1280, 256)}),
        (LINEAR, {"kernarg": struct.pack("<QQIIQII", 8192, PATTERN, 1, 4, 4096, 256, 256)}),
        (RECTANGLE, {"kernarg": struct.pack("<QQQQQIIQQQQ", 0, 0, 0, 0, PATTERN, 1, 0, 0, 4, 3, 64)}),
        (RECTANGLE, {"kernarg": struct.pack("<QQQQQIIQQQQ", 4096, 4096, 0, 0, PATTERN, 1, 0, 0, 4, 3, 64)}),
        (RECTANGLE, {"kernarg": struct.pack("<QQQQQIIQQQQ", 0, 0, 4096, 0, PATTERN, 1, 0, 0, 4, 99, 64)}),
    ],
)
def test_what_is_not_laid_out_as_a_known_fill_is_none(kernel: str, change: dict[str, Any]) -> None:
    node = Memset(0x7F20_0000_0000, width=16) if kernel == LINEAR else Memset(height=3, pitch=512)
    packet = native(node)[0]
    assert packet.kernel == kernel and read(packet)
    assert read(replace(packet, **change)) is None
