# SPDX-License-Identifier: Apache-2.0
"""Copy engines: packets in order, each ended before the next, late; sub-window copies of gfx11 and gfx12."""

from __future__ import annotations

import functools
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from cffi import FFI
from hypothesis import given, settings
from hypothesis import strategies as st
from softgpu.model_lib import MODEL, ROOT, CopyQueue, Gpu, Memory, Queue, Waiter, Writer, low_high, until

needs_model = pytest.mark.skipif(not MODEL.exists(), reason="no build/softgpu/libsoftgpu.so (`make softgpu`)")

DECLARATIONS = """
struct sg_copy { int kind; uint32_t dwords; uint64_t source, target, bytes; uint32_t rows, slices;
    uint64_t source_pitch, source_slice, target_pitch, target_slice, value; uint32_t mask, function;
    const uint32_t *data; };
bool sg_copy_decode(struct sg_copy *, const uint32_t *, uint64_t available, unsigned major, char *, size_t);
void sg_copy_run(const struct sg_copy *);
"""

EQUAL = 3


def copy(source: int, target: int, size: int) -> list[int]:
    return [1, size - 1, 0, *low_high(source), *low_high(target)]


def fill(target: int, value: int, size: int) -> list[int]:
    return [11 | 2 << 30, *low_high(target), value, size - 4]


def fence(target: int, value: int) -> list[int]:
    return [5, *low_high(target), value]


def poll(target: int, value: int, mask: int = 0xFFFFFFFF) -> list[int]:
    return [8 | EQUAL << 28 | 1 << 31, *low_high(target), value, mask, 0]


def add(target: int, value: int) -> list[int]:
    return [10 | 47 << 25, *low_high(target), *low_high(value), 0, 0, 0]


def timestamp(target: int) -> list[int]:
    return [13 | 2 << 8, *low_high(target)]


@pytest.fixture
def gpu() -> Iterator[Gpu]:
    gpu = Gpu()
    yield gpu
    gpu.close()


@needs_model
def test_packets_run_in_order_each_ended_before_the_next(gpu: Gpu) -> None:
    queue, a, b, c, state = CopyQueue(gpu), Memory(gpu), Memory(gpu), Memory(gpu), Memory(gpu)
    for offset in range(0, a.size, 4):
        a.word(offset).value = offset * 7 + 1
    queue.push(
        timestamp(state.address + 16),
        copy(a.address, b.address, a.size),
        copy(b.address, c.address, a.size),
        fence(state.address, 99),
        add(state.address + 8, (1 << 64) - 1),
        timestamp(state.address + 24),
    )
    state.wide(8).value = 5
    queue.drain()
    assert c.map[:] == a.map[:]
    assert (state.word().value, state.wide(8).value) == (99, 4)
    assert 0 < state.wide(16).value < state.wide(24).value


@needs_model
def test_a_fill_writes_its_bytes_and_no_more(gpu: Gpu) -> None:
    queue, a = CopyQueue(gpu), Memory(gpu)
    queue.push(fill(a.address + 64, 0xA1B2C3D4, 128))
    queue.drain()
    assert [a.word(offset).value for offset in (60, 64, 188, 192)] == [0, 0xA1B2C3D4, 0xA1B2C3D4, 0]


@needs_model
def test_a_poll_waits_while_other_queues_go_on(gpu: Gpu) -> None:
    queue, other, gate, out = CopyQueue(gpu), Queue(gpu), Memory(gpu), Memory(gpu)
    queue.push(poll(gate.address, 3), fence(out.address, 1))
    other.push(Writer(gpu, 3, gate).packet())
    queue.drain()
    assert out.word().value == 1


@needs_model
def test_a_copy_reads_its_source_when_it_runs_not_when_it_is_queued(gpu: Gpu) -> None:
    queue, gate, source, target = CopyQueue(gpu), Memory(gpu), Memory(gpu), Memory(gpu)
    source.word().value = 1
    queue.push(poll(gate.address, 1), copy(source.address, target.address, 4))
    source.word().value = 2
    gate.word().value = 1
    queue.drain()
    assert target.word().value == 2


@needs_model
def test_a_copy_and_a_kernel_run_side_by_side(gpu: Gpu) -> None:
    queue, compute, waiter, a, b = CopyQueue(gpu), Queue(gpu), Waiter(gpu), Memory(gpu), Memory(gpu)
    compute.push(waiter.packet())
    a.word().value = 8
    queue.push(copy(a.address, b.address, a.size))
    queue.drain()
    assert (b.word().value, compute.read_index) == (8, 0)
    waiter.release()


@needs_model
def test_the_ring_wraps(gpu: Gpu) -> None:
    queue, out = CopyQueue(gpu), Memory(gpu)
    for number in range(1, 2049):
        queue.push(add(out.address, 1))
        if number % 256 == 0:
            queue.drain()
    assert out.wide().value == 2048


@needs_model
def test_an_unknown_packet_stops_the_gpu_with_a_report(gpu: Gpu, capfd: pytest.CaptureFixture[str]) -> None:
    compute, queue = Queue(gpu), CopyQueue(gpu)
    queue.push([0x42, 0])
    until(lambda: compute.inactive.value == 32, "the error")
    compute.inactive.value = -1
    queue.drain()
    assert "copy engine packet 00000042" in capfd.readouterr().err


@needs_model
def test_a_copy_from_freed_memory_is_reported(gpu: Gpu, capfd: pytest.CaptureFixture[str]) -> None:
    compute, queue, a, b, out = Queue(gpu), CopyQueue(gpu), Memory(gpu), Memory(gpu), Memory(gpu)
    a.free()
    queue.push(copy(a.address, b.address, 64), fence(out.address, 1))
    until(lambda: compute.inactive.value == 0x20000000, "the error")
    assert out.word().value == 0, "waiters go on only when the application knows"
    compute.inactive.value = -1
    queue.drain()
    assert out.word().value == 1
    assert "use after free" in capfd.readouterr().err


@functools.cache
def decoder() -> tuple[Any, Any]:
    """copy.c alone."""
    library = Path(tempfile.mkdtemp(prefix="softgpu-copy-")) / "copy.so"
    source = ROOT / "softgpu" / "model" / "copy.c"
    subprocess.run(
        [
            "cc",
            "-std=gnu11",
            "-Wall",
            "-Wextra",
            "-Werror",
            "-shared",
            "-fPIC",
            "-o",
            str(library),
            str(source),
        ],
        check=True,
    )
    ffi: Any = FFI()  # type: ignore[no-untyped-call]
    ffi.cdef(DECLARATIONS)
    return ffi, ffi.dlopen(str(library))


def window(
    major: int,
    shift: int,
    sides: list[tuple[int, tuple[int, int, int], int, int]],
    size: tuple[int, int, int],
) -> list[int]:
    """A sub-window packet; a side is (address, (x, y, z), pitch, slice) in elements."""
    words = [1 | 4 << 8 | shift << 29]
    for address, (x, y, z), pitch, slice_pitch in sides:
        place = z | (pitch - 1) << (16 if major >= 12 else 13)
        words += [*low_high(address), x | y << 16, place, slice_pitch - 1]
    return [*words, (size[0] - 1) | (size[1] - 1) << 16, size[2] - 1]


small = st.integers(min_value=0, max_value=3)


@settings(deadline=None)
@given(
    major=st.sampled_from([10, 11, 12]),
    shift=st.integers(min_value=0, max_value=4),
    source=st.tuples(small, small, small),
    target=st.tuples(small, small, small),
    size=st.tuples(*[st.integers(min_value=1, max_value=4)] * 3),
    extra=st.tuples(*[st.integers(min_value=0, max_value=2)] * 4),
)
def test_a_sub_window_copy_moves_the_window_and_nothing_else(
    major: int,
    shift: int,
    source: tuple[int, int, int],
    target: tuple[int, int, int],
    size: tuple[int, int, int],
    extra: tuple[int, int, int, int],
) -> None:
    ffi, library = decoder()
    element = 1 << shift
    pitch, rows = [7 + extra[0], 7 + extra[1]], [7 + extra[2], 7 + extra[3]]
    slices = [pitch[side] * rows[side] for side in range(2)]
    buffers = [
        ffi.new("uint8_t[]", bytes((k * 3 + side) % 251 for k in range(slices[side] * 7 * element)))
        for side in range(2)
    ]
    want = bytearray(ffi.buffer(buffers[1]))
    before = bytes(ffi.buffer(buffers[0]))
    for z in range(size[2]):
        for y in range(size[1]):
            at = [
                ((corner[2] + z) * slices[side] + (corner[1] + y) * pitch[side] + corner[0]) * element
                for side, corner in enumerate((source, target))
            ]
            want[at[1] : at[1] + size[0] * element] = before[at[0] : at[0] + size[0] * element]
    address = [int(ffi.cast("uintptr_t", buffer)) for buffer in buffers]
    words = window(
        major,
        shift,
        [(address[0], source, pitch[0], slices[0]), (address[1], target, pitch[1], slices[1])],
        size,
    )
    decoded, text = ffi.new("struct sg_copy *"), ffi.new("char[256]")
    packet = ffi.new("uint32_t[]", words)
    assert library.sg_copy_decode(decoded, packet, len(words), major, text, 256), ffi.string(text)
    assert decoded.dwords == 13
    library.sg_copy_run(decoded)
    assert bytes(ffi.buffer(buffers[1])) == bytes(want)


@pytest.mark.parametrize("words", [copy(4096, 8192, 64), fill(4096, 1, 64), poll(4096, 1), add(4096, 1)])
def test_a_packet_cut_off_by_the_write_pointer_is_refused(words: list[int]) -> None:
    ffi, library = decoder()
    decoded, text = ffi.new("struct sg_copy *"), ffi.new("char[256]")
    packet = ffi.new("uint32_t[]", words)
    assert library.sg_copy_decode(decoded, packet, len(words), 11, text, 256)
    assert not library.sg_copy_decode(decoded, packet, len(words) - 1, 11, text, 256)
    assert b"ends after the write pointer" in ffi.string(text)
