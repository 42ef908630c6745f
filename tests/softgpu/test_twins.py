# SPDX-License-Identifier: Apache-2.0
"""Native twins: each means what its kernel means and asks for what the code object says."""

from __future__ import annotations

import re
import shutil
import struct
import subprocess
import threading
from pathlib import Path
from typing import Any

import pytest
from cffi import FFI
from softgpu.code_object import CodeObject

ROOT = Path(__file__).resolve().parents[2]
TWINS = ROOT / "softgpu" / "twins"
FIXTURES = ROOT / "softgpu" / "kernels" / "fixtures"
TARGETS = ["gfx1030", "gfx1100", "gfx1151", "gfx1201"]
OBJECTS = ["kernels.co", "wave64.co", "v4.co"]
BLOCK = 64
ONE = (1, 1, 1)
STREAM_WAIT = "__amd_rocclr_streamOpsWait"
MASK = 0xFFFFFFFF
STAGED_CLANG = ROOT / "build" / "toolchain" / "bin" / "clang"
CLANG = str(STAGED_CLANG) if STAGED_CLANG.exists() else shutil.which("clang")


class Twins:
    """libtwins of one compiler with what a test needs to launch a kernel on host memory."""

    def __init__(self, library: Path) -> None:
        make: Any = FFI  # cffi is untyped
        self.ffi = make()
        header = (TWINS / "twin.h").read_text()
        header = re.sub(r"^#.*$", "", re.sub(r"/\*.*?\*/", "", header, flags=re.S), flags=re.M)
        self.ffi.cdef(header)
        self.lib: Any = self.ffi.dlopen(str(library))

    def array(self, ctype: str, values: Any) -> Any:
        return self.ffi.new(f"{ctype}[]", list(values) if isinstance(values, bytes) else values)

    def address(self, pointer: Any) -> int:
        return int(self.ffi.cast("uintptr_t", pointer))

    def run(
        self,
        kernel: str,
        kernarg: bytes,
        grid: tuple[int, int, int] = (BLOCK, 1, 1),
        workgroup: tuple[int, int, int] = (BLOCK, 1, 1),
        **fields: Any,
    ) -> str:
        """The error sentence, empty when the kernel ran."""
        error = self.ffi.new("char[]", 256)
        block = self.ffi.new("uint8_t[]", kernarg or b"\0")
        name = self.ffi.new("char[]", kernel.encode())
        dispatch = self.ffi.new("struct sg_dispatch *")
        dispatch.kernel, dispatch.kernarg, dispatch.kernarg_size = name, block, len(kernarg)
        dispatch.grid, dispatch.workgroup, dispatch.wave_size = list(grid), list(workgroup), 32
        for field, value in fields.items():
            setattr(dispatch, field, value)
        if self.lib.sg_twin_run(dispatch, error, 256) == 0:
            return ""
        text: str = self.ffi.string(error).decode()
        assert text
        return text


def hidden(grid: tuple[int, int, int], workgroup: tuple[int, int, int]) -> bytes:
    """Hidden arguments of code object version 5 as HIP writes them."""
    counts = [g // w for g, w in zip(grid, workgroup, strict=True)]
    remainders = [g % w for g, w in zip(grid, workgroup, strict=True)]
    return struct.pack("<3I3H3H16x3QH", *counts, *workgroup, *remainders, 0, 0, 0, 3).ljust(256, b"\0")


def padded(kernarg: bytes) -> bytes:
    return kernarg.ljust((len(kernarg) + 7) & ~7, b"\0")


def build(compiler: str, folder: Path) -> Path:
    library = folder / "libtwins.so"
    sources = [str(s) for s in sorted(TWINS.glob("*.c"))]
    flags = ["-std=gnu11", "-O2", "-Wall", "-Wextra", "-Werror", "-fPIC", "-shared"]
    subprocess.run([compiler, *flags, *sources, "-o", str(library)], check=True, timeout=120)
    return library


@pytest.fixture(scope="module", params=["gcc", "clang"] if CLANG else ["gcc"])
def twins(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Twins:
    compiler = CLANG if request.param == "clang" and CLANG else "gcc"
    return Twins(build(compiler, tmp_path_factory.mktemp(f"twins-{request.param}")))


@pytest.mark.skipif(
    not CLANG, reason="no clang on the PATH or in build/toolchain: twins are checked with gcc alone"
)
def test_clang_builds_the_twins_without_a_warning(tmp_path: Path) -> None:
    assert build(str(CLANG), tmp_path).exists()


def floats(twins: Twins, values: list[float]) -> Any:
    return twins.array("float", values)


def test_vector_add_covers_exactly_n_elements(twins: Twins) -> None:
    a, b = floats(twins, [float(i) for i in range(100)]), floats(twins, [float(2 * i) for i in range(100)])
    out = floats(twins, [-1.0] * 128)
    kernarg = struct.pack("<3Qi", *map(twins.address, (a, b, out)), 100)
    assert twins.run("vadd", kernarg, (128, 1, 1)) == ""
    assert list(out) == [3.0 * i for i in range(100)] + [-1.0] * 28


def test_unsigned_updates_wrap(twins: Twins) -> None:
    data = twins.array("uint32_t", [0xFFFFFFF0 + i for i in range(8)])
    assert twins.run("mul_add", struct.pack("<Q3I", twins.address(data), 7, 9, 8)) == ""
    assert list(data) == [((0xFFFFFFF0 + i) * 7 + 9) & MASK for i in range(8)]


def test_simple_kernels(twins: Twins) -> None:
    a = twins.array("uint32_t", 64)
    b = twins.array("uint32_t", 64)
    out = twins.array("uint32_t", 64)
    at, bt, ot = map(twins.address, (a, b, out))
    assert twins.run("iota", struct.pack("<Q2I", at, 5, 64)) == ""
    assert list(a) == list(range(5, 69))
    for name in ("set", "slow_set"):
        assert twins.run(name, struct.pack("<Q2I", bt, len(name), 64)) == ""
        assert list(b) == [len(name)] * 64
    assert twins.run("add", struct.pack("<3QI", ot, at, bt, 64)) == ""
    assert list(out) == [x + 8 for x in range(5, 69)]
    assert twins.run("scale", struct.pack("<Q2I", ot, 3, 64)) == ""
    for name in ("copy", "slow_copy"):
        twins.ffi.memmove(b, bytes(256), 256)
        assert twins.run(name, struct.pack("<2QI", bt, ot, 64)) == ""
        assert list(b) == [3 * (x + 8) for x in range(5, 69)]


def test_struct_argument_keeps_its_holes(twins: Twins) -> None:
    grid, block = (96, 1, 1), (32, 1, 1)
    out = twins.array("uint64_t", 96)
    polynomial = struct.pack("<B7xQH2x4I4x", 2, 1 << 40, 3, 5, 6, 7, 8)
    kernarg = padded(struct.pack("<Q", twins.address(out)) + polynomial + struct.pack("<I", 90))
    assert twins.run("evaluate", kernarg + hidden(grid, block), grid, block) == ""
    assert list(out)[:90] == [5 * (3 * i) ** 2 + 6 * 3 * i + 7 + (1 << 40) for i in range(90)]
    assert list(out)[90:] == [0] * 6


def test_block_and_grid_size_come_from_the_hidden_arguments(twins: Twins) -> None:
    grid, block = (8, 6, 4), (4, 2, 2)
    out = twins.array("uint32_t", 6 * 24)
    kernarg = struct.pack("<Q", twins.address(out))
    assert twins.run("sizes", kernarg + hidden(grid, block), grid, block) == ""
    assert list(out)[:72] == [*block, *grid] * 12
    wrong = kernarg + hidden(grid, (2, 2, 2))
    assert twins.run("sizes", wrong, grid, block) == ""
    assert list(out)[:3] == [2, 2, 2]


def test_a_partial_last_group_runs_the_items_that_exist(twins: Twins) -> None:
    grid, block = (10, 1, 1), (4, 1, 1)
    x, y = floats(twins, [float(i) for i in range(12)]), floats(twins, [1.0] * 12)
    kernarg = struct.pack("<2Qfi", twins.address(x), twins.address(y), 2.0, 12)
    assert twins.run("saxpy", kernarg + hidden(grid, block), grid, block) == ""
    assert list(y) == [2.0 * i + 1.0 for i in range(10)] + [1.0] * 2


def test_version_4_reads_its_packet(twins: Twins) -> None:
    packet = twins.array("uint8_t", struct.pack("<6H3I", 0, 1, 32, 1, 1, 0, 64, 1, 1).ljust(64, b"\0"))
    out = twins.array("uint32_t", 2)
    kernarg = struct.pack("<Q", twins.address(out))
    assert twins.run("sizes_v4", kernarg, (64, 1, 1), (32, 1, 1), dispatch_packet=packet) == ""
    assert list(out) == [32, 64]
    assert "dispatch packet" in twins.run("sizes_v4", kernarg, (64, 1, 1), (32, 1, 1))


def test_static_lds_and_barrier(twins: Twins) -> None:
    data = twins.array("uint32_t", list(range(128)))
    kernarg = struct.pack("<Q", twins.address(data))
    assert twins.run("reverse_static", kernarg, (128, 1, 1), lds_bytes=256) == ""
    assert list(data) == list(range(63, -1, -1)) + list(range(127, 63, -1))
    assert "static arrays need 256" in twins.run("reverse_static", kernarg, (128, 1, 1), lds_bytes=255)


def test_dynamic_lds_starts_behind_the_static_part_and_is_bounded(twins: Twins) -> None:
    grid, block = (256, 1, 1), (128, 1, 1)
    data = twins.array("uint32_t", list(range(256)))
    kernarg = struct.pack("<Q", twins.address(data)) + hidden(grid, block)
    assert twins.run("reverse_dynamic", kernarg, grid, block, lds_bytes=512) == ""
    assert list(data) == list(range(127, -1, -1)) + list(range(255, 127, -1))
    assert "more local memory" in twins.run("reverse_dynamic", kernarg, grid, block, lds_bytes=508)


def test_lds_argument_and_many_barriers(twins: Twins) -> None:
    grid, block = (1024, 1, 1), (256, 1, 1)
    values = twins.array("uint32_t", [i * i for i in range(1024)])
    out = twins.array("uint32_t", 4)
    kernarg = struct.pack("<2Q2I", twins.address(out), twins.address(values), 64, 1000) + hidden(grid, block)
    assert twins.run("block_sum", kernarg, grid, block, lds_bytes=64 + 1024) == ""
    assert list(out) == [sum(i * i for i in range(k, min(k + 256, 1000))) & MASK for k in range(0, 1024, 256)]
    assert "more local memory" in twins.run("block_sum", kernarg, grid, block, lds_bytes=64 + 1020)


def test_atomics_of_several_threads_add_up(twins: Twins) -> None:
    counter = twins.array("uint32_t", 1)
    kernarg = struct.pack("<Q", twins.address(counter))

    def count() -> None:
        assert twins.run("count", kernarg, (50_000, 1, 1), (1000, 1, 1)) == ""

    threads = [threading.Thread(target=count) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert counter[0] == 150_000


def test_histogram(twins: Twins) -> None:
    data = twins.array("uint32_t", [i * 7 for i in range(100)])
    bins, largest = twins.array("uint32_t", 16), twins.array("uint32_t", 1)
    kernarg = struct.pack("<3QI", *map(twins.address, (bins, largest, data)), 100)
    assert twins.run("histogram", kernarg, (128, 1, 1)) == ""
    assert list(bins) == [sum(i * 7 % 16 == b for i in range(100)) for b in range(16)]
    assert largest[0] == 99 * 7


def test_variables_are_those_of_the_device(twins: Twins) -> None:
    held = {
        "gain": twins.array("uint32_t", [5]),
        "offsets": twins.array("uint32_t", [1, 2, 3, 4]),
        "calls": twins.array("uint32_t", [0]),
    }
    resolve = twins.ffi.callback(
        "uint64_t(void *, const char *)", lambda _, name: twins.address(held[twins.ffi.string(name).decode()])
    )
    out = twins.array("uint32_t", 64)
    kernarg = struct.pack("<QI", twins.address(out), 64)
    assert twins.run("apply_variables", kernarg, **{"global": resolve}) == ""
    held["gain"][0] = 6
    assert twins.run("apply_variables", kernarg, **{"global": resolve}) == ""
    assert list(out) == [6 * i + (i & 3) + 1 for i in range(64)]
    assert held["calls"][0] == 2
    nothing = twins.ffi.callback("uint64_t(void *, const char *)", lambda _, name: 0)
    assert "no variable gain" in twins.run("apply_variables", kernarg, **{"global": nothing})
    assert "no variable gain" in twins.run("apply_variables", kernarg)


def test_three_dimensional_ids(twins: Twins) -> None:
    grid, block = (8, 6, 4), (4, 3, 2)
    out = twins.array("uint32_t", 192)
    assert twins.run("ids", struct.pack("<Q", twins.address(out)) + hidden(grid, block), grid, block) == ""
    want = [
        x % 4 | (y % 3) << 5 | (z % 2) << 10 | (x // 4) << 15 | (y // 3) << 20 | (z // 2) << 25
        for z in range(4)
        for y in range(6)
        for x in range(8)
    ]
    assert list(out) == want


@pytest.mark.parametrize("wave", [32, 64])
def test_lanes_follow_the_wave_size(twins: Twins, wave: int) -> None:
    out = twins.array("uint32_t", 128)
    assert twins.run("lanes", struct.pack("<Q", twins.address(out)), (128, 1, 1), wave_size=wave) == ""
    assert list(out) == [wave << 8 | i % wave for i in range(128)]


def test_dispatch_packet(twins: Twins) -> None:
    fields = struct.pack("<6H5I2Q", 0, 1, 64, 1, 1, 0, 128, 1, 1, 0, 96, 1, 2)
    packet = twins.array("uint8_t", fields.ljust(64, b"\0"))
    out = twins.array("uint32_t", 4)
    kernarg = struct.pack("<Q", twins.address(out))
    assert twins.run("read_packet", kernarg, (128, 1, 1), dispatch_packet=packet) == ""
    assert list(out) == [64, 128, 96, 1]


def chase(seed: int, start: int) -> int:
    following = list(range(64))
    for k in range(64):
        other = (seed + 7 * k) % 64
        following[k], following[other] = following[other], following[k]
    at, total = start % 64, 0
    for _ in range(64):
        at = following[at]
        total = (total * 31 + at) & MASK
    return total


def test_scratch(twins: Twins) -> None:
    seeds = twins.array("uint32_t", [i * 13 for i in range(64)])
    out = twins.array("uint32_t", 64)
    kernarg = struct.pack("<2QI", twins.address(out), twins.address(seeds), 60)
    assert "scratch" in twins.run("chase", kernarg, scratch_bytes=128)
    assert twins.run("chase", kernarg, scratch_bytes=260) == ""
    assert list(out) == [chase(i * 13, i) for i in range(60)] + [0] * 4


@pytest.mark.parametrize(
    "kernel",
    ["vadd", "saxpy", "__amd_rocclr_copyBuffer", "__amd_rocclr_copyBufferRect"],
)
def test_a_short_kernarg_segment_is_refused(twins: Twins, kernel: str) -> None:
    assert "kernarg segment of 20 bytes" in twins.run(kernel, bytes(20))


def test_what_cannot_run_is_refused_by_name(twins: Twins) -> None:
    assert twins.run("no_such_kernel", b"") == "kernel no_such_kernel has no twin on this host"
    assert "size of 0" in twins.run("set", bytes(16), (0, 1, 1))
    assert "1024 is the most" in twins.run("set", bytes(16), (2048, 1, 1), (1025, 1, 1))
    assert "wave of 16" in twins.run("set", bytes(16), wave_size=16)
    assert twins.lib.sg_twin_known(b"vadd") and twins.lib.sg_twin_known(b"__amd_rocclr_copyBuffer")
    assert not twins.lib.sg_twin_known(b"vadd.kd")


def test_a_million_work_items_each_run_once(twins: Twins) -> None:
    count = 1 << 20
    data = twins.array("uint32_t", count)
    assert twins.run("set", struct.pack("<Q2I", twins.address(data), 7, count), (count, 1, 1)) == ""
    assert bytes(twins.ffi.buffer(data)) == struct.pack("<I", 7) * count


# HIP's own kernels.


def copy_buffer(
    twins: Twins, source: Any, destination: Any, size: int, *, width: int, step: tuple[int, int]
) -> bytes:
    remainder = size % width
    to = twins.address(destination)
    end = to + size - remainder
    return struct.pack("<3Q2IQ2I", twins.address(source), to, size, remainder, width, end, *step)


@pytest.mark.parametrize("width", [4, 16])
@pytest.mark.parametrize("size", [1, 15, 64, 4096 + 7, 100_003])
def test_hip_copy_buffer(twins: Twins, size: int, width: int) -> None:
    data = bytes(i * 31 % 251 for i in range(size))
    source, destination = twins.array("uint8_t", data), twins.array("uint8_t", b"\xee" * (size + 32))
    kernarg = copy_buffer(twins, source, destination, size, width=width, step=(512, 256))
    assert twins.run("__amd_rocclr_copyBuffer", kernarg, (512, 1, 1), (256, 1, 1)) == ""
    assert bytes(destination) == data + b"\xee" * 32


def test_hip_copy_buffer_shows_a_stride_that_leaves_holes(twins: Twins) -> None:
    source, destination = twins.array("uint32_t", [7] * 64), twins.array("uint32_t", 64)
    kernarg = copy_buffer(twins, source, destination, 256, width=4, step=(32, 16))
    assert twins.run("__amd_rocclr_copyBuffer", kernarg, (16, 1, 1), (16, 1, 1)) == ""
    assert list(destination) == ([7] * 16 + [0] * 16) * 2
    still = kernarg[:40] + bytes(8)
    assert "never ends" in twins.run("__amd_rocclr_copyBuffer", still, (16, 1, 1), (16, 1, 1))


@pytest.mark.parametrize(("width", "length"), [(1, 1), (2, 1), (4, 1), (8, 1), (16, 1), (4, 3)])
def test_hip_fill_buffer(twins: Twins, width: int, length: int) -> None:
    pattern = twins.array("uint8_t", list(range(1, width * length + 1)))
    size = width * length * 50
    buffer = twins.array("uint8_t", bytes(size + 16))
    start = twins.address(buffer)
    items = 32
    step = (items * length, 16)
    kernarg = struct.pack("<2Q2IQ2I", start, twins.address(pattern), length, width, start + size, *step)
    assert twins.run("__amd_rocclr_fillBufferAligned", kernarg, (items, 1, 1), (16, 1, 1)) == ""
    assert bytes(buffer) == bytes(pattern) * 50 + bytes(16)


def test_hip_fill_rectangle(twins: Twins) -> None:
    pattern, buffer = twins.array("uint32_t", [9]), twins.array("uint32_t", 8 * 6)
    kernarg = struct.pack("<5QI4x4Q", 0, 0, twins.address(buffer), 0, twins.address(pattern), 1, 10, 3, 4, 8)
    grid, block = (16, 16, 1), (16, 16, 1)
    name = "__amd_rocclr_fillBufferAligned2D"
    assert twins.run(name, kernarg + hidden(grid, block), grid, block) == ""
    assert list(buffer) == [9 if 1 <= i // 8 < 5 and 2 <= i % 8 < 5 else 0 for i in range(48)]
    assert "hidden block size" in twins.run(name, kernarg + hidden(grid, (8, 8, 1)), grid, block)


@pytest.mark.parametrize(("kernel", "width"), [("copyBufferRect", 1), ("copyBufferRectAligned", 4)])
def test_hip_copy_rectangle(twins: Twins, kernel: str, width: int) -> None:
    source = twins.array("uint8_t", [i % 256 for i in range(10 * 8 * 4 * width)])
    destination = twins.array("uint8_t", 10 * 8 * 4 * width)
    kernarg = struct.pack(
        "<2Q16x4Q4Q4Q",
        twins.address(source),
        twins.address(destination),
        10,
        80,
        13,
        0,
        10,
        80,
        1,
        0,
        5,
        4,
        3,
        width,
    )
    grid, block = (16, 8, 4), (16, 8, 2)
    assert twins.run("__amd_rocclr_" + kernel, kernarg + hidden(grid, block), grid, block) == ""
    want = bytearray(len(destination))
    for z in range(3):
        for y in range(4):
            at = z * 80 + y * 10
            want[(1 + at) * width : (6 + at) * width] = bytes(source)[(13 + at) * width : (18 + at) * width]
    assert bytes(destination) == bytes(want)


def test_hip_copy_aligned(twins: Twins) -> None:
    source, destination = twins.array("uint32_t", list(range(64))), twins.array("uint32_t", 64)
    for width, scale in ((4, 1), (16, 4)):
        twins.ffi.memmove(destination, bytes(256), 256)
        addresses = twins.address(source), twins.address(destination)
        kernarg = padded(struct.pack("<5QI", *addresses, 2, 1, 3, width))
        grid = (64, 1, 1)
        assert twins.run("__amd_rocclr_copyBufferAligned", kernarg + hidden(grid, grid), grid, grid) == ""
        want = [0] * 64
        want[scale : 4 * scale] = range(2 * scale, 5 * scale)
        assert list(destination) == want


def test_hip_stream_write_and_batch(twins: Twins) -> None:
    word = twins.array("uint64_t", [0xFFFFFFFFFFFFFFFF, 0])
    at = twins.address(word)
    assert twins.run("__amd_rocclr_streamOpsWrite", struct.pack("<3Q", at, 0, 5), ONE, ONE) == ""
    assert word[0] == 0xFFFFFFFF00000005
    assert twins.run("__amd_rocclr_streamOpsWrite", struct.pack("<3Q", 0, at, 6), ONE, ONE) == ""
    assert word[0] == 6
    entries = struct.pack("<I4x2QI20x", 2, at, 8, 0) + struct.pack("<I4x2QI20x", 4, at, 8, 1)
    entries += struct.pack("<I4x2QI20x", 5, at + 8, 1 << 40, 0)
    block = twins.array("uint8_t", entries)
    assert twins.run("__amd_rocclr_batchMemOp", struct.pack("<QI", twins.address(block), 3), ONE, ONE) == ""
    assert list(word) == [8, 1 << 40]


AT_LEAST, EQUAL, AND, NOR = range(4)


@pytest.mark.parametrize(
    "case",
    [(AT_LEAST, 5, 4, 6), (EQUAL, 5, 4, 5), (AND, 1, 8, 5), (NOR, 8, -1, 1)],
)
@pytest.mark.parametrize("bits", [32, 64])
def test_hip_stream_wait_ends_when_memory_says_so(
    twins: Twins, bits: int, case: tuple[int, int, int, int]
) -> None:
    condition, value, before, after = case
    every = (1 << 64) - 1
    word = twins.array("uint64_t", [before & every])
    address = twins.address(word)
    asked = threading.Event()

    def cancelled(_: Any) -> bool:
        asked.set()
        return False

    callback = twins.ffi.callback("bool(void *)", cancelled)
    pointers = (address, 0) if bits == 32 else (0, address)
    kernarg = struct.pack("<5Q", *pointers, value, condition, every)
    result: list[str] = []

    def wait() -> None:
        result.append(twins.run(STREAM_WAIT, kernarg, ONE, ONE, cancelled=callback))

    thread = threading.Thread(target=wait)
    thread.start()
    assert asked.wait(30) and not result
    word[0] = after
    thread.join(30)
    assert result == [""]


def test_hip_stream_wait_can_be_cancelled(twins: Twins) -> None:
    word = twins.array("uint32_t", [0])
    yes = twins.ffi.callback("bool(void *)", lambda _: True)
    kernarg = struct.pack("<5Q", twins.address(word), 0, 1, 1, MASK)
    assert "cancelled" in twins.run(STREAM_WAIT, kernarg, ONE, ONE, cancelled=yes)


# ROCr's own shaders, recognised by their argument block.


def rocr(twins: Twins, kernarg: bytes, items: int) -> str:
    name = twins.lib.sg_twin_rocr_shader(kernarg, len(kernarg), twins.array("uint32_t", [items, 1, 1]))
    if not name:
        return ""
    text: str = twins.ffi.string(name).decode()
    assert twins.run(text, kernarg, (items, 1, 1)) == ""
    return text


def test_rocr_copies_and_fill(twins: Twins) -> None:
    source, destination = twins.array("uint8_t", bytes(range(200))), twins.array("uint8_t", 200)
    s, d = twins.address(source), twins.address(destination)
    four = [0, 3, 64, 190, 199]
    kernarg = b"".join(struct.pack("<2Q", s + x, d + x) for x in four) + struct.pack("<I", 256)
    assert rocr(twins, kernarg, 256) == "rocr.copy_aligned"
    assert bytes(destination) == bytes(range(199)) + b"\0"
    kernarg = b"".join(struct.pack("<2Q", s + x, d + x + 1) for x in (0, 128, 199)) + struct.pack("<I", 256)
    assert rocr(twins, kernarg, 256) == "rocr.copy_misaligned"
    assert bytes(destination) == b"\0" + bytes(range(199))
    kernarg = struct.pack("<3Q2I", d, d + 64, d + 100, 0x01020304, 64)
    assert rocr(twins, kernarg, 64) == "rocr.fill"
    assert bytes(destination)[:101] == b"\4\3\2\1" * 25 + bytes([99])
    assert rocr(twins, kernarg, 128) == ""


# What the code objects say.


def layouts(twins: Twins) -> dict[str, Any]:
    found, index = {}, 0
    while layout := twins.lib.sg_twin_layout(index):
        found[twins.ffi.string(layout.kernel).decode()] = layout
        index += 1
    return found


KINDS = {"by_value": 0, "global_buffer": 1, "dynamic_shared_pointer": 2}


@pytest.mark.parametrize("name", OBJECTS)
@pytest.mark.parametrize("target", TARGETS)
def test_twins_agree_with_the_metadata_of_the_code_objects(twins: Twins, target: str, name: str) -> None:
    code = CodeObject(FIXTURES / target / name)
    assert code.metadata["amdhsa.target"].rsplit("-", 1)[1] == target
    versions = (code.abi_version, code.metadata["amdhsa.version"])
    assert versions == ((2, [1, 1]) if name == "v4.co" else (3, [1, 2]))
    for kernel, facts in code.kernels.items():
        layout = layouts(twins)[kernel]
        explicit = [a for a in facts[".args"] if not a[".value_kind"].startswith("hidden_")]
        twin = [(a.offset, a.size, a.kind) for a in layout.arguments[0 : layout.argument_count]]
        assert twin == [(a[".offset"], a[".size"], KINDS[a[".value_kind"]]) for a in explicit], kernel
        behind = [a[".offset"] for a in facts[".args"] if a[".value_kind"] == "hidden_block_count_x"]
        assert layout.hidden_offset == (behind[0] if behind else 0), kernel
        assert layout.explicit_size == max(a[".offset"] + a[".size"] for a in explicit), kernel
        assert layout.explicit_size <= facts[".kernarg_segment_size"], kernel
        assert layout.lds_static == facts[".group_segment_fixed_size"], kernel
        assert layout.scratch <= facts[".private_segment_fixed_size"], kernel
        assert (layout.scratch > 0) == (facts[".private_segment_fixed_size"] > 0), kernel
        assert facts[".wavefront_size"] == (64 if name == "wave64.co" else 32), kernel


@pytest.mark.parametrize("target", TARGETS)
def test_every_twin_has_a_kernel_and_every_kernel_a_twin(twins: Twins, target: str) -> None:
    kernels = {k for name in OBJECTS for k in CodeObject(FIXTURES / target / name).kernels}
    assert kernels == set(layouts(twins))


@pytest.mark.parametrize("target", TARGETS)
def test_code_objects_have_the_properties_they_are_there_for(target: str) -> None:
    kernels, v4 = CodeObject(FIXTURES / target / "kernels.co"), CodeObject(FIXTURES / target / "v4.co")
    assert [kernels.symbols[v][1] for v in ("gain", "offsets", "calls")] == [4, 16, 4]
    packet_readers = {
        kernel
        for code in (kernels, v4)
        for kernel in code.kernels
        if struct.unpack_from("<H", code.descriptor(kernel), 56)[0] & 2
    }
    assert packet_readers == {"read_packet", "saxpy_v4", "sizes_v4"}
    scratch = {k for k in kernels.kernels if struct.unpack_from("<I", kernels.descriptor(k), 4)[0]}
    assert scratch == {"chase"}
