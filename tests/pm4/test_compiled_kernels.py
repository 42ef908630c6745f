# SPDX-License-Identifier: Apache-2.0
"""Descriptors of compiled kernels: all are lowered but those with scratch."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from elftools.elf.elffile import ELFFile

from .library import ROOT, Dispatch, Kernel, RefusedError, ffi, library, lower
from .validator import validate

FIXTURES = sorted((ROOT / "softgpu" / "kernels" / "fixtures").glob("gfx*/*.co"))


def descriptors(path: Path) -> Iterator[tuple[str, bytes]]:
    """Name and 64 bytes of each kernel descriptor of a code object."""
    with path.open("rb") as file:
        elf: Any = ELFFile(file)
        loads = list(elf.iter_segments("PT_LOAD"))
        for symbol in elf.get_section_by_name(".dynsym").iter_symbols():
            if symbol.name.endswith(".kd"):
                address = symbol["st_value"]
                load = next(s for s in loads if 0 <= address - s["p_vaddr"] < s["p_filesz"])
                start = address - load["p_vaddr"]
                yield symbol.name.removesuffix(".kd"), load.data()[start : start + 64]


@pytest.mark.parametrize("path", FIXTURES, ids=lambda path: f"{path.parent.name}-{path.stem}")
def test_compiled_kernels_are_lowered(path: Path) -> None:
    gfx = path.parent.name
    found = dict(descriptors(path))
    assert found
    for index, (name, descriptor) in enumerate(found.items()):
        raw = ffi.new("struct rl_kernel *")
        library().rl_kernel_read(raw, 0x7F10_0000_0000, descriptor)
        raw.entry = 0x7F10_0000_0000 + 256 * index  # code of these fixtures is not loaded anywhere
        kernel = Kernel(*(getattr(raw, field) for field in Kernel.__dataclass_fields__))
        dispatch = Dispatch(lds_bytes=kernel.group_bytes)
        if name == "chase":
            with pytest.raises(RefusedError, match="SCRATCH"):
                lower(gfx, [kernel], [dispatch])
        else:
            assert validate(lower(gfx, [kernel], [dispatch])) == []
