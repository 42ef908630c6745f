# SPDX-License-Identifier: Apache-2.0
"""Argument layouts from code objects: what compilers wrote, and nothing but a refusal for damaged images."""

from __future__ import annotations

import os
import struct
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import cffi
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

ROOT = Path(__file__).resolve().parents[2]
FIXTURES = ROOT / "softgpu" / "kernels" / "fixtures"
IMAGES = sorted(FIXTURES.glob("*/*.co"))
CC = os.environ.get("CC", "cc")
PT_LOAD = 1

DECLARATIONS = """
    struct rl_layout { bool known, prints; uint32_t count; struct { uint32_t offset, size; } argument[64]; };
    struct rl_image {
        bool (*read)(const struct rl_image *image, uint64_t offset, void *to, size_t bytes);
        const void *memory;
        size_t size;
        bool loaded;
        uint64_t first;
    };
    bool rl_metadata_read(const struct rl_image *image,
                          void (*visit)(const char *symbol, size_t length, const struct rl_layout *layout,
                                        void *context), void *context);
    bool rl_image_read_carefully(const struct rl_image *image, uint64_t offset, void *to, size_t bytes);
"""

Layouts = dict[str, list[tuple[int, int]]]


@pytest.fixture(scope="session")
def reader(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    made = tmp_path_factory.mktemp("metadata") / "metadata.so"
    sources = [
        str(ROOT / "runtime" / name) for name in ("kernels/metadata.c", "base/memory.c", "base/fork.c")
    ]
    flags = [
        "-std=gnu11",
        "-O1",
        "-g",
        "-Wall",
        "-Wextra",
        "-Werror",
        "-shared",
        "-fPIC",
        f"-I{ROOT}/runtime",
    ]
    subprocess.run([CC, *flags, *sources, "-o", str(made), "-lpthread"], check=True, timeout=60)
    ffi: Any = cffi.FFI()  # type: ignore[no-untyped-call]
    ffi.cdef(DECLARATIONS)
    yield ffi, ffi.dlopen(str(made))


def loaded(data: bytes) -> bytes:
    """The image as a loader lays it out: each segment at its address."""
    offset, size, count = (*struct.unpack_from("<Q", data, 0x20), *struct.unpack_from("<HH", data, 0x36))
    memory = bytearray()
    for at in range(offset, offset + count * size, size):
        kind, _, start, address, _, length, room, _ = struct.unpack_from("<IIQQQQQQ", data, at)
        if kind == PT_LOAD:
            memory.extend(bytes(max(0, address + room - len(memory))))
            memory[address : address + length] = data[start : start + length]
    return bytes(memory)


def layouts(reader: Any, data: bytes, is_loaded: bool = False) -> Layouts | None:
    ffi, library = reader
    found: Layouts = {}

    def keep(symbol: Any, length: int, layout: Any, _context: Any) -> None:
        name = ffi.buffer(symbol, length)[:].decode(errors="replace")
        if layout.known:
            found[name] = [(layout.argument[i].offset, layout.argument[i].size) for i in range(layout.count)]

    visit = ffi.callback("void(const char *, size_t, const struct rl_layout *, void *)", keep)
    memory = ffi.from_buffer(data)
    image = ffi.new("struct rl_image *")
    image.read = ffi.addressof(library, "rl_image_read_carefully")
    image.memory, image.size, image.loaded = memory, len(data), is_loaded
    good = library.rl_metadata_read(image, visit, ffi.NULL)
    return found if good else None


@pytest.mark.parametrize("path", IMAGES, ids=lambda path: f"{path.parent.name}-{path.stem}")
def test_layouts_are_those_of_the_source(reader: Any, path: Path) -> None:
    found = layouts(reader, path.read_bytes())
    assert found
    if path.stem == "kernels":
        assert found["mul_add.kd"] == [(0, 8), (8, 4), (12, 4), (16, 4)]
        assert found["add.kd"] == [(0, 8), (8, 8), (16, 8), (24, 4)]
        assert found["evaluate.kd"] == [(0, 8), (8, 40), (48, 4)]
        assert found["count.kd"] == [(0, 8)]


@pytest.mark.parametrize("path", IMAGES, ids=lambda path: f"{path.parent.name}-{path.stem}")
def test_layouts_are_read_from_loaded_segments_as_well(reader: Any, path: Path) -> None:
    data = path.read_bytes()
    assert layouts(reader, loaded(data), is_loaded=True) == layouts(reader, data)


def test_an_image_cut_off_anywhere_is_refused(reader: Any) -> None:
    data = (FIXTURES / "gfx1100" / "wave64.co").read_bytes()
    for size in range(0, len(data), 7):
        layouts(reader, data[:size])
        layouts(reader, data[:size], is_loaded=True)


@settings(max_examples=300, deadline=None)
@given(places=st.lists(st.tuples(st.integers(0, 1 << 20), st.integers(0, 255)), min_size=1, max_size=8))
def test_damaged_images_do_no_harm(reader: Any, places: list[tuple[int, int]]) -> None:
    data = bytearray((FIXTURES / "gfx1201" / "wave64.co").read_bytes())
    for at, value in places:
        data[at % len(data)] = value
    layouts(reader, bytes(data))


def test_memory_that_is_gone_is_a_failure(reader: Any) -> None:
    ffi, library = reader
    image = ffi.new("struct rl_image *")
    image.read = ffi.addressof(library, "rl_image_read_carefully")
    image.memory, image.size = ffi.cast("void *", 4096), 1 << 20
    assert not library.rl_metadata_read(image, ffi.NULL, ffi.NULL)
