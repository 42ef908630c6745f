# SPDX-License-Identifier: Apache-2.0
"""How the software GPU is built and what `make` says when something is missing."""

from __future__ import annotations

import subprocess
from pathlib import Path

from elftools.elf.elffile import ELFFile
from elftools.elf.sections import SymbolTableSection

ROOT = Path(__file__).resolve().parents[2]
SECONDS = 60


def test_a_compiler_that_fortifies_by_itself_does_not_forbid_the_jump_out_of_a_fault(tmp_path: Path) -> None:
    """A kernel with a barrier faults on a fiber's stack; glibc's checked longjmp would end the program there."""
    target = tmp_path / "softgpu" / "obj" / "model" / "fault.o"
    command = ["make", f"BUILD={tmp_path}", "SOFTGPU_CC=cc -D_FORTIFY_SOURCE=2", str(target)]
    subprocess.run(command, cwd=ROOT, check=True, capture_output=True, timeout=SECONDS)
    with target.open("rb") as file:
        table = ELFFile(file).get_section_by_name(".symtab")
        assert isinstance(table, SymbolTableSection)
        jumps = {symbol.name for symbol in table.iter_symbols() if "longjmp" in symbol.name}
    assert jumps == {"siglongjmp"}


def test_applications_without_hip_headers_say_how_to_get_them(tmp_path: Path) -> None:
    done = subprocess.run(
        ["make", f"APP_ROCM={tmp_path}", "apps"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=SECONDS,
        check=False,
    )
    assert done.returncode != 0
    sentence = f"{tmp_path}/include/hip/hip_runtime_api.h is missing: run `make rocm` first."
    assert done.stderr.splitlines()[0] == sentence
