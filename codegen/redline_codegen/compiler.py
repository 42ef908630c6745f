# SPDX-License-Identifier: Apache-2.0
"""The system's C compiler as a source of facts: preprocessed text, and the values of constant expressions."""

from __future__ import annotations

import json
import os
import shutil
import struct
import subprocess
import tempfile
from io import BytesIO
from pathlib import Path
from typing import Any

from elftools.elf.elffile import ELFFile

from .errors import InputError

STANDARD = ["-x", "c", "-std=gnu11", "-D__HIP_PLATFORM_AMD__"]

# pycparser knows C11 without the GNU extensions that libc's headers and HIP's use; each of these removes one.
FOR_PYCPARSER = [
    "-D__attribute__(x)=",
    "-D__extension__=",
    "-D__restrict=",
    "-D__inline=inline",
    "-D__inline__=inline",
    "-D__asm__(x)=",
    "-D__float128=double",
    "-D_Float128=redline_float128",
]


def find_compiler() -> list[str]:
    """The C compiler's command: `CC` if set, a path or a command with arguments, else cc, gcc or clang."""
    chosen = os.environ.get("CC")
    commands = [[chosen], chosen.split()] if chosen else [["cc"], ["gcc"], ["clang"]]
    for command in commands:
        if command and shutil.which(command[0]):
            return command
    looked_for = chosen or "cc, gcc, clang"
    raise InputError(f"No C compiler found (looked for {looked_for}); install gcc or clang or set CC.")


def preprocess(includes: list[str], include_folders: list[Path]) -> str:
    """Text for pycparser of a file that includes `includes`, with line markers and `#define` lines kept."""
    # glibc declares its 128-bit type for clang in terms of one that pycparser does not know, and for gcc not at all.
    source = "typedef double redline_float128;\n" + "".join(f"#include <{name}>\n" for name in includes)
    arguments = [*STANDARD, "-E", "-dD", *FOR_PYCPARSER, *(f"-I{folder}" for folder in include_folders), "-"]
    return _run(arguments, source).decode()


def evaluate(includes: list[str], include_folders: list[Path], expressions: list[str]) -> list[int]:
    """Values of integer constant expressions, as the compiler computes them after `includes`."""
    if not expressions:
        return []
    lines = [f"#include <{name}>" for name in includes]
    lines.append("const long long redline_values[] = {")
    # The marker makes the compiler name the expression it cannot compute.
    lines += [f"# 1 {json.dumps(expression)}\n(long long)({expression})," for expression in expressions]
    lines.append("};")
    with tempfile.TemporaryDirectory() as folder:
        target = Path(folder) / "values.o"
        arguments = [*STANDARD, "-w", "-c", "-o", str(target), *(f"-I{f}" for f in include_folders), "-"]
        _run(arguments, "\n".join(lines) + "\n")
        image = ELFFile(BytesIO(target.read_bytes()))
        table: Any = image.get_section_by_name(".symtab")
        symbol = table.get_symbol_by_name("redline_values")[0]
        data = image.get_section(symbol["st_shndx"]).data()
    start = symbol["st_value"]
    order = "<" if image.little_endian else ">"
    return list(struct.unpack_from(f"{order}{len(expressions)}q", data, start))


def _run(arguments: list[str], source: str) -> bytes:
    command = [*find_compiler(), *arguments]
    done = subprocess.run(
        command, input=source.encode(), capture_output=True, check=False, env={**os.environ, "LC_ALL": "C"}
    )
    if done.returncode:
        lines = done.stderr.decode(errors="replace").splitlines()
        first = next((line for line in lines if "error" in line), lines[0] if lines else "no message")
        raise InputError(f"The C compiler refused the header: {first}")
    return done.stdout
