# SPDX-License-Identifier: Apache-2.0
"""Generates softgpu/pm4/pm4_tables.c, the register, field, packet and event tables of the PM4 executor.

Sources: the register and packet tables in the tinygrad wheel (gfx11, gfx12, opcodes, events), gfx10.csv (AMD's
public headers), packets.json (body layouts) and policy.json (who owns a register, which fields cannot change a
result). Nothing here comes from, or goes to, the product's own encoder.

    python softgpu/pm4/tables/generate.py                 download the wheel if need be, write the table
    python softgpu/pm4/tables/generate.py --check         exit 1 if the committed table differs
    python softgpu/pm4/tables/generate.py --wheel FILE    use this wheel

Exit code 77: the wheel is not there and cannot be downloaded.
"""

from __future__ import annotations

import argparse
import ast
import csv
import fnmatch
import hashlib
import json
import re
import subprocess
import sys
import zipfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

VERSION = "0.14.0"
SHA256 = "d2a5bea33c637fdf105963632329876b3d3253d38295ac1ffd2ff81646d93be3"
HERE = Path(__file__).resolve().parent
OUTPUT = HERE.parent / "pm4_tables.c"
SCRATCH = HERE.parents[2] / "build" / "pm4-tables"
AUTOGEN = "tinygrad/runtime/autogen/am/"
REGISTER_FILES = ("gc_11_0_0", "gc_11_0_3", "gc_11_5_0", "gc_12_0_0")
EVENT_FILES = {"11": "soc_11.py", "12": "soc_12.py"}
GENERATIONS = ("10", "11", "12")
SET_SH_REG_START = 0x2C00
GC_BASE_0 = 0x1260  # segment 0 of the graphics block: the wheel counts COMPUTE registers from here


@dataclass(frozen=True)
class Field:
    """Bits low..high; kind is the C enumerator; note says why it is free or must be zero."""

    name: str
    low: int
    high: int
    kind: str
    note: str


@dataclass(frozen=True)
class Register:
    """One SH register: SET_SH_REG offset, owner, reset value (None: not known), fields from bit 0 up."""

    name: str
    offset: int
    owner: str
    reset: int | None
    fields: tuple[Field, ...]


def wheel_file(given: Path | None) -> Path | None:
    """The pinned wheel, downloaded into the build folder when it is not there; None when it cannot be had."""
    path = given or SCRATCH / f"tinygrad-{VERSION}-py3-none-any.whl"
    if not path.exists() and given is None:
        SCRATCH.mkdir(parents=True, exist_ok=True)
        command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--dest", str(SCRATCH)]
        subprocess.run([*command, f"tinygrad=={VERSION}"], check=False, capture_output=True, timeout=300)
    if not path.exists():
        return None
    digest = hashlib.sha256(path.read_bytes()).hexdigest()
    if digest != SHA256:
        raise SystemExit(f"{path.name}: SHA-256 is {digest}, the pinned one is {SHA256}")
    return path


def wheel_text(wheel: zipfile.ZipFile, name: str) -> str:
    return wheel.read(AUTOGEN + name).decode()


def wheel_registers(wheel: zipfile.ZipFile) -> dict[str, dict[str, Any]]:
    """Per register file: name -> (offset, segment, {field: (low, high)}); read as literals, never run."""
    tables: dict[str, dict[str, Any]] = {}
    for node in ast.parse(wheel_text(wheel, "regs.py")).body:
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
            name = node.targets[0].id
            if name in REGISTER_FILES:
                tables[name] = ast.literal_eval(node.value)
    return tables


def own(name: str, policy: dict[str, Any]) -> tuple[str, int | None]:
    """Owner and reset value by policy.json; a register that it does not name is an error."""
    for pattern, (owner, reset) in policy["registers"].items():
        if fnmatch.fnmatchcase(name, pattern):
            return owner, reset
    raise SystemExit(f"policy.json says nothing about {name}")


def make_register(
    name: str, offset: int, bits: dict[str, tuple[int, int]], policy: dict[str, Any]
) -> Register:
    free: dict[str, str] = policy["free"]
    fields = []
    for field, (low, high) in sorted(bits.items(), key=lambda item: item[1]):
        note = free.get(f"{name}.{field}", "")
        fields.append(Field(field, low, high, "SG_FREE" if note else "SG_VALUE", note))
    owner, reset = own(name, policy)
    return Register(name, offset, owner, reset, tuple(fields))


def registers_of_wheel(table: dict[str, Any], policy: dict[str, Any]) -> list[Register]:
    found = []
    for name, (offset, segment, bits) in table.items():
        # DESTINATION_EN_SEn is a second name of STATIC_THREAD_MGMT_SEn.
        if name.startswith("regCOMPUTE_") and segment == 0 and "DESTINATION_EN" not in name:
            relative = offset + GC_BASE_0 - SET_SH_REG_START
            found.append(make_register(name.removeprefix("reg"), relative, bits, policy))
    return sorted(found, key=lambda register: register.offset)


def registers_of_csv(path: Path, policy: dict[str, Any]) -> list[Register]:
    bits: dict[tuple[int, str], dict[str, tuple[int, int]]] = {}
    with path.open() as stream:
        for row in csv.DictReader(line for line in stream if not line.startswith("#")):
            key = (int(row["offset"], 16), row["register"])
            bits.setdefault(key, {})[row["field"]] = (int(row["low"]), int(row["high"]))
    return [make_register(name, offset, fields, policy) for (offset, name), fields in sorted(bits.items())]


def opcodes(wheel: zipfile.ZipFile) -> dict[str, int]:
    found = re.findall(r"^PACKET3_(\w+) = (0x[0-9A-Fa-f]+)$", wheel_text(wheel, "pm4_nv.py"), re.MULTILINE)
    return {name: int(value, 16) for name, value in found}


def check_against_wheel(document: dict[str, Any], wheel: zipfile.ZipFile) -> int:
    """Compares packets.json with the bit helpers of the wheel where both name a field; counts these fields."""
    packets = document["packets"]
    pattern = r"^PACKET3_(\w+?)__(\w+) = lambda x: \(+\(unsigned\)\(x\)\)+ & (0[xX][0-9A-Fa-f]+)\) << (\d+)\)"
    count = 0
    for packet, field, mask, shift in re.findall(pattern, wheel_text(wheel, "pm4_nv.py"), re.MULTILINE):
        layout = [row for row in packets.get(packet, {"fields": []})["fields"] if row[3] == field.lower()]
        for _, low, high, name, *_ in layout:
            if f"{packet}.{name}" in document["disagreements"]:
                continue
            # The wheel gives size_hi the 8 bits of the packet header; drivers write 24 for "everything".
            width = 8 if (packet, name) == ("ACQUIRE_MEM", "coher_size_hi") else high - low + 1
            if low != int(shift) or width != int(mask, 16).bit_length():
                raise SystemExit(
                    f"{packet}.{name}: {low}..{high} in packets.json, {mask} << {shift} in the wheel"
                )
            count += 1
    return count


def events(wheel: zipfile.ZipFile) -> dict[str, dict[int, str]]:
    """Event names per generation; gfx10 has no table in the wheel and uses the numbers of gfx11."""
    named: dict[str, dict[int, str]] = {}
    for generation, name in EVENT_FILES.items():
        lines = wheel_text(wheel, name).splitlines()
        line = next(text for text in lines if text.startswith("enum_VGT_EVENT_TYPE"))
        named[generation] = {int(value): event for event, value in re.findall(r"\((\w+):=(\d+)\)", line)}
    named["10"] = named["11"]
    return named


def c_string(text: str) -> str:
    return json.dumps(text) if text else "NULL"


def c_field(field: Field) -> str:
    note = f"\n     {c_string(field.note)}" if field.note else " NULL"
    return f'{{"{field.name}", {field.low}, {field.high}, {field.kind},{note}}}'


def emit_registers(name: str, registers: list[Register], emitted: dict[tuple[Field, ...], str]) -> list[str]:
    """The register table of one file; `emitted` holds the field arrays that earlier files already have."""
    lines: list[str] = []
    rows: list[str] = []
    for register in registers:
        if register.fields not in emitted:
            emitted[register.fields] = f"{name}_{register.name.lower()}"
            lines.append(f"static const struct sg_field {emitted[register.fields]}[] = {{")
            lines += [f"    {c_field(field)}," for field in register.fields]
            lines.append("};")
        identifier = emitted[register.fields]
        known = "false, 0" if register.reset is None else f"true, {register.reset}"
        owner = f"SG_OWNER_{register.owner.upper()}"
        rows.append(
            f'    {{"{register.name}", {register.offset:#x}, {owner}, {known}, {identifier}, '
            f"{len(register.fields)}}},"
        )
    return [*lines, f"static const struct sg_register {name}_registers[] = {{", *rows, "};", ""]


def emit_packets(generation: str, packets: dict[str, Any], codes: dict[str, int]) -> list[str]:
    lines: list[str] = []
    rows: list[str] = []
    for name, packet in sorted(packets.items(), key=lambda item: codes[item[0]]):
        identifier = f"gfx{generation}_{name.lower()}"
        kinds = {"value": "SG_VALUE", "zero": "SG_ZERO", "free": "SG_FREE"}
        chosen = [row for row in packet["fields"] if generation in row[4].split()]
        if chosen:
            lines.append(f"static const struct sg_packet_field {identifier}[] = {{")
            for dword, low, high, field, _, kind, note in chosen:
                lines.append(f"    {{{dword}, {c_field(Field(field, low, high, kinds[kind], note))}}},")
            lines.append("};")
        low_body, high_body = packet["body"]
        table = f"{identifier}, {len(chosen)}" if chosen else "NULL, 0"
        rows.append(f'    {{"{name}", {codes[name]:#x}, {low_body}, {high_body}, {table}}},')
    return [*lines, f"static const struct sg_packet gfx{generation}_packets[] = {{", *rows, "};", ""]


def emit(wheel: zipfile.ZipFile) -> str:
    policy = json.loads((HERE / "policy.json").read_text())
    document = json.loads((HERE / "packets.json").read_text())
    packets = document["packets"]
    checked = check_against_wheel(document, wheel)
    files = {"gfx10": registers_of_csv(HERE / "gfx10.csv", policy)}
    files |= {name: registers_of_wheel(table, policy) for name, table in wheel_registers(wheel).items()}
    lines = [
        "/* SPDX-License-Identifier: Apache-2.0 */",
        "/*",
        " * Register, field, packet and event tables of the PM4 executor.",
        " * Generated by tables/generate.py; do not edit.",
        " *",
        f" * gfx11, gfx12 registers: tinygrad {VERSION} (wheel), {AUTOGEN}regs.py",
        f" * opcodes: {AUTOGEN}pm4_nv.py; its bit helpers agree with {checked} packet fields below",
        f" * events: {AUTOGEN}soc_11.py (also for gfx10), soc_12.py",
        " * gfx10 registers: tables/gfx10.csv; packet bodies: tables/packets.json; owners, targets: tables/policy.json",
        " * (each names the public headers and drivers of AMD and Linux that its facts come from)",
        " */",
        '#include "pm4_tables.h"',
        "",
    ]
    emitted: dict[tuple[Field, ...], str] = {}
    for name, registers in files.items():
        lines += emit_registers(name, registers, emitted)
    codes = opcodes(wheel)
    for generation in GENERATIONS:
        lines += emit_packets(generation, packets, codes)
    for generation, named in sorted(events(wheel).items()):
        lines.append(f"static const char *const gfx{generation}_events[64] = {{")
        lines += [f'    [{number}] = "{event}",' for number, event in sorted(named.items())]
        lines += ["};", ""]
    lines.append("const struct sg_target sg_targets[] = {")
    for gfx, (registers_name, priv) in policy["targets"].items():
        generation = gfx[3:5]
        rule = "SG_PRIV_" + priv.upper().replace(" ", "_")
        count = len(files[registers_name])
        lines.append(f'    {{"{gfx}", {generation}, {rule}, {registers_name}_registers, {count},')
        lines.append(f"     gfx{generation}_packets, {len(packets)}, gfx{generation}_events}},")
    lines += ["};", "", "const unsigned sg_target_count = sizeof(sg_targets) / sizeof(sg_targets[0]);", ""]
    return "\n".join(lines)


def main() -> int:
    layout = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=layout)
    parser.add_argument("--wheel", type=Path, help="the tinygrad wheel to read instead of downloading it")
    parser.add_argument("--check", action="store_true", help="compare the committed table, write nothing")
    options = parser.parse_args()
    path = wheel_file(options.wheel)
    if path is None:
        print(f"pm4 tables: tinygrad {VERSION} is neither in build/ nor to be had by pip; nothing was done")
        return 77
    with zipfile.ZipFile(path) as wheel:
        text = emit(wheel)
    if OUTPUT.exists() and OUTPUT.read_text() == text:
        return 0
    if options.check:
        print(f"{OUTPUT.name} differs from what tables/generate.py emits")
        return 1
    OUTPUT.write_text(text)
    return 0


if __name__ == "__main__":
    sys.exit(main())
