# SPDX-License-Identifier: Apache-2.0
"""Register and packet tables that the runtime's own table is compared with.

gfx11 and gfx12: the tables in the tinygrad wheel, which were made from the Linux kernel's headers. Get it with
`pip download --no-deps -d build/pm4-tables tinygrad==0.14.0`; without it, tests that need it are skipped. gfx10:
facts from PAL (gfx9_plus_merged_offset.h, gfx9_plus_merged_registers.h), in gfx10_registers.json.
"""

from __future__ import annotations

import ast
import functools
import json
import re
import zipfile
from pathlib import Path

import pytest

from .expected import family

ROOT = Path(__file__).resolve().parents[2]
GC_BASE = 0x1260  # of the segment that the COMPUTE_ registers lie in
SH_BASE = 0x2C00
TABLE_OF = {"gfx1101": "gc_11_0_3", "gfx11.0": "gc_11_0_0", "gfx11.5": "gc_11_5_0", "gfx12.0": "gc_12_0_0"}

Fields = dict[str, tuple[int, int]]
Registers = dict[str, tuple[int, Fields]]


def wheel_text(name: str) -> str:
    """One file of the wheel; skips the test by name when the wheel is absent."""
    found = sorted(ROOT.glob("build/**/tinygrad-*.whl"))
    if not found:
        pytest.skip("the tinygrad wheel with AMD's register tables is absent from build/")
    with zipfile.ZipFile(found[-1]) as wheel:
        return wheel.read(f"tinygrad/runtime/autogen/am/{name}").decode()


@functools.cache
def registers(gfx: str) -> Registers:
    """Compute registers by name: SET_SH_REG offset, and fields in lower case with lowest and highest bit."""
    if gfx.startswith("gfx10"):
        facts = json.loads(Path(__file__).with_name("gfx10_registers.json").read_text())
        return {
            name: (offset, {field: (bits[0], bits[1]) for field, bits in fields.items()})
            for name, (offset, fields) in facts.items()
        }
    text = wheel_text("regs.py")
    start = text.index(f"\n{TABLE_OF.get(gfx) or TABLE_OF[family(gfx)]} = {{")
    block = text[start : text.index("\n}", start)]
    lines = re.findall(r"^\s*'reg(COMPUTE_\w+)': (\(.*\)),$", block, re.MULTILINE)
    result: Registers = {}
    for name, entry in lines:
        address, _, fields = ast.literal_eval(entry)
        if "DESTINATION_EN" not in name:
            result[name] = (address + GC_BASE - SH_BASE, fields)
    return result


@functools.cache
def opcodes() -> dict[str, int]:
    found = re.findall(r"^PACKET3_([A-Z0-9_]+) = (0x[0-9A-F]+)$", wheel_text("pm4_nv.py"), re.MULTILINE)
    return {name: int(value, 16) for name, value in found}


@functools.cache
def packet_fields() -> dict[str, Fields]:
    """Fields of packets by packet and name, with lowest and highest bit of whatever dword they are in."""
    result: dict[str, Fields] = {}
    text = wheel_text("pm4_nv.py")
    masked = r"^PACKET3_(\w+?)__(\w+) = lambda x: \(\(\(\(unsigned\)\(x\)\) & (0[xX]\w+)\) << (\d+)\)"
    for packet, name, mask, low in re.findall(masked, text, re.MULTILINE):
        width = int(mask, 16).bit_length()
        result.setdefault(packet, {})[name] = (int(low), int(low) + width - 1)
    for name, low in re.findall(
        r"^PACKET3_ACQUIRE_MEM_GCR_CNTL_(\w+) = lambda x: \(\(x\) << (\d+)\)", text, re.MULTILINE
    ):
        result.setdefault("ACQUIRE_MEM", {})[name] = (int(low), int(low))
    for name, low in re.findall(r"^PACKET3_RELEASE_MEM_GCR_(\w+) = \(1 << (\d+)\)", text, re.MULTILINE):
        result.setdefault("RELEASE_MEM", {})[name] = (int(low), int(low))
    return result
