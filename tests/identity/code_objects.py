# SPDX-License-Identifier: Apache-2.0
"""Code objects with other kernels under known names, made from the committed ones.

Machine code, sizes and everything else stay where they are: only the names of kernels are written over, in the
symbols of their descriptors and in the metadata, so a new name is at most two letters shorter than the old one (or
four). The symbol of the machine code itself keeps its name, and by that the software GPU knows what to run.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator, Mapping
from pathlib import Path

SYMBOL_TABLES = (2, 11)
NOTE = 7
LDS_BYTES_AT = 0
LDS_KEY = b".group_segment_fixed_size"
TWO_BYTES = 0xCD
OTHER_NAMES = {
    "iota": "old0",
    "scale": "iota",
    "count": "saxpy",
    "saxpy": "count",
    "sizes": "lanes",
    "lanes": "sizes",
}
STRING_HEADS = {0: b"", 1: b"\xd9", 2: b"\xda\x00", 4: b"\xdb\x00\x00\x00"}


def packed(text: bytes, room: int) -> bytes:
    """A MessagePack string that fills as many bytes as the short form of one of `room` bytes."""
    spare = room - len(text)
    if spare == 0:
        return bytes([0xA0 | len(text)]) + text
    return STRING_HEADS[spare] + bytes([len(text)]) + text


def find_all(data: bytes, wanted: bytes) -> Iterator[int]:
    at = data.find(wanted)
    while at >= 0:
        yield at
        at = data.find(wanted, at + 1)


class CodeObject:
    def __init__(self, source: Path) -> None:
        self.data = bytearray(source.read_bytes())
        offset = struct.unpack_from("<Q", self.data, 0x28)[0]
        size, count = struct.unpack_from("<HH", self.data, 0x3A)
        self.sections = [
            struct.unpack_from("<IIQQQQIIQQ", self.data, offset + i * size) for i in range(count)
        ]

    def symbols(self) -> Iterator[tuple[int, bytes, int, int]]:
        """Where each name stands, the name, its section and its value."""
        for section in self.sections:
            if section[1] not in SYMBOL_TABLES:
                continue
            strings = self.sections[section[6]][4]
            for at in range(section[4], section[4] + section[5], 24):
                name, _, _, index, value, _ = struct.unpack_from("<IBBHQQ", self.data, at)
                start = strings + name
                yield start, bytes(self.data[start : self.data.index(0, start)]), index, value

    def renamed(self, names: Mapping[str, str]) -> CodeObject:
        """The kernels of `names` under their new names, all at once: two may change places."""
        changes: list[tuple[int, bytes]] = []
        for start, name, _, _ in self.symbols():
            new = names.get(name.removesuffix(b".kd").decode()) if name.endswith(b".kd") else None
            if new is not None:
                changes.append((start, f"{new}.kd".encode().ljust(len(name), b"\0")))
        if not changes:
            raise ValueError(f"no kernel of {sorted(names)}")
        for section in (one for one in self.sections if one[1] == NOTE):
            note = bytes(self.data[section[4] : section[4] + section[5]])
            for old, new in names.items():
                for suffix in ("", ".kd"):
                    before = packed(f"{old}{suffix}".encode(), len(old) + len(suffix))
                    after = packed(f"{new}{suffix}".encode(), len(old) + len(suffix))
                    changes += [(section[4] + at, after) for at in find_all(note, before)]
        for at, text in changes:
            self.data[at : at + len(text)] = text
        return self

    def with_lds(self, kernel: str, lds: int) -> CodeObject:
        """The kernel asks for `lds` bytes of local memory, as if its static arrays were larger.

        HIP goes by the metadata, where the old size has to be a number of two bytes; the loader by the descriptor.
        """
        for _, name, index, value in self.symbols():
            if name == f"{kernel}.kd".encode():
                section = self.sections[index]
                struct.pack_into("<I", self.data, value - section[3] + section[4] + LDS_BYTES_AT, lds)
        key, name = packed(LDS_KEY, len(LDS_KEY)), packed(kernel.encode(), len(kernel))
        size = self.data.rindex(key, 0, self.data.index(packed(b".name", 5) + name)) + len(key)
        if self.data[size] != TWO_BYTES:
            raise ValueError(f"the local memory of {kernel} is no number of two bytes")
        struct.pack_into(">H", self.data, size + 1, lds)
        return self

    def write(self, target: Path) -> None:
        target.write_bytes(self.data)


def prepare(fixtures: Path, folder: Path, targets: tuple[str, ...]) -> None:
    """The committed code objects and, beside them, the other.co that identity.h describes."""
    for gfx in targets:
        (folder / gfx).mkdir()
        for source in (fixtures / gfx).glob("*.co"):
            (folder / gfx / source.name).write_bytes(source.read_bytes())
        other = CodeObject(fixtures / gfx / "kernels.co").renamed(OTHER_NAMES)
        other.with_lds("reverse_static", 512).write(folder / gfx / "other.co")
