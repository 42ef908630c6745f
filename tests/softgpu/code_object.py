# SPDX-License-Identifier: Apache-2.0
"""What a committed code object says of its kernels: metadata, symbols, descriptors."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from elftools.elf.elffile import ELFFile


def unpack(data: bytes, at: int = 0) -> tuple[Any, int]:
    """One MessagePack value (the types that code object metadata has) and the offset behind it."""
    tag = data[at]
    at += 1
    if tag < 0x80:
        return tag, at
    if tag in (0xC2, 0xC3):
        return tag == 0xC3, at
    if tag in (0xCC, 0xCD, 0xCE, 0xCF):
        width = 1 << (tag - 0xCC)
        return int.from_bytes(data[at : at + width], "big"), at + width
    if 0xA0 <= tag < 0xC0 or tag in (0xD9, 0xDA):
        width = {0xD9: 1, 0xDA: 2}.get(tag, 0)
        size = int.from_bytes(data[at : at + width], "big") if width else tag & 31
        return data[at + width : at + width + size].decode(), at + width + size
    if tag < 0xA0 or 0xDC <= tag <= 0xDF:
        width = 0 if tag < 0xA0 else 2 if tag in (0xDC, 0xDE) else 4
        count = int.from_bytes(data[at : at + width], "big") if width else tag & 15
        is_map = tag < 0x90 or tag >= 0xDE
        at, items = at + width, []
        for _ in range(count * (2 if is_map else 1)):
            item, at = unpack(data, at)
            items.append(item)
        return (dict(zip(items[::2], items[1::2], strict=True)) if is_map else items), at
    raise ValueError(f"MessagePack tag {tag:#x}")


class CodeObject:
    def __init__(self, path: Path) -> None:
        with path.open("rb") as file:
            elf: Any = ELFFile(file)  # typed Any: the sections that are read exist in every code object
            self.abi_version = elf["e_ident"]["EI_ABIVERSION"]
            section = elf.get_section_by_name(".note")
            note = next(n for n in section.iter_notes() if n["n_name"] == "AMDGPU")
            description = note["n_desc"] if isinstance(note["n_desc"], bytes) else note["n_descdata"]
            self.metadata: dict[str, Any] = unpack(description)[0]
            dynamic = elf.get_section_by_name(".dynsym")
            self.symbols = {s.name: (s["st_value"], s["st_size"]) for s in dynamic.iter_symbols()}
            rodata = elf.get_section_by_name(".rodata")
            self._rodata, self._rodata_address = rodata.data(), rodata["sh_addr"]
        self.kernels: dict[str, dict[str, Any]] = {k[".name"]: k for k in self.metadata["amdhsa.kernels"]}

    def descriptor(self, kernel: str) -> bytes:
        at = self.symbols[kernel + ".kd"][0] - self._rodata_address
        data: bytes = self._rodata[at : at + 64]
        return data
