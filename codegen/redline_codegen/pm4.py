# SPDX-License-Identifier: Apache-2.0
"""`redline-codegen pm4 dump`: indirect buffers as readable text, by the decoder of runtime/pm4/pm4.c."""

from __future__ import annotations

import argparse
import ctypes
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from .compiler import find_compiler
from .errors import InputError

SOURCES = ("pm4/pm4.c", "pm4/pm4.h", "pm4/pm4_table.h")
MAGIC = b"RLPM4IB1"
HEADER_BYTES = 32  # struct rl_pm4_dump: magic, target[16], dwords, reserved
MAX_DWORDS = 0xFFFFF


def add_arguments(parser: argparse.ArgumentParser, root: Path) -> None:
    parser.add_argument("action", choices=["dump"], help="print buffers packet by packet")
    parser.add_argument(
        "files",
        type=Path,
        nargs="+",
        metavar="FILE",
        help="a dump of REDLINE_DUMP, a trace of the software GPU, or with --target the bare words of a buffer",
    )
    parser.add_argument(
        "--target", metavar="GFX", help="gfx target of files that are bare words, e.g. gfx1100"
    )
    parser.add_argument("--root", type=Path, default=root, metavar="DIR", help="project folder (%(default)s)")


def run(arguments: argparse.Namespace) -> int:
    """1 when a buffer holds something that a buffer must not."""
    findings = 0
    for path in arguments.files:
        if len(arguments.files) > 1:
            print(f"{path}:")
        findings += _dump(path, arguments.target, arguments.root)
    return 1 if findings else 0


def _dump(path: Path, target: str | None, root: Path) -> int:
    try:
        data = path.read_bytes()
    except OSError as error:
        raise InputError(f"{path}: {error.strerror}") from error
    if data.startswith(MAGIC):
        target, words = _dump_words(path, data)
    elif data.startswith(b"{"):
        sys.stdout.writelines(_trace_text(path, data))
        return 0
    elif target is None:
        raise InputError(f"{path}: neither a dump nor a trace; name the target of bare words with --target")
    else:
        words = data
    if len(words) % 4 or len(words) // 4 > MAX_DWORDS:
        raise InputError(f"{path}: {len(words)} bytes are no buffer: whole dwords, {MAX_DWORDS} at most")
    text, findings = decode(target, words, root)
    print(f"{target}, {len(words) // 4} dwords" + (f", {findings} findings (!!)" if findings else ""))
    sys.stdout.write(text)
    return findings


def _dump_words(path: Path, data: bytes) -> tuple[str, bytes]:
    target = data[8:24].rstrip(b"\0").decode("ascii", "replace")
    dwords = int.from_bytes(data[24:28], "little")
    words = data[HEADER_BYTES:]
    if len(words) != 4 * dwords:
        raise InputError(f"{path}: the header says {dwords} dwords, the file has {len(words)} bytes of them")
    return target, words


def _trace_text(path: Path, data: bytes) -> Iterator[str]:
    """The buffers of a trace of the software GPU, which holds the text and not the words."""
    for number, line in enumerate(data.decode("utf-8", "replace").splitlines(), 1):
        try:
            event: dict[str, Any] = json.loads(line)
        except ValueError as error:
            raise InputError(f"{path}:{number}: not a trace: {error}") from error
        if event.get("kind") != "pm4_ib":
            continue
        place = f"queue {event.get('queue')}, packet {event.get('index')}"
        yield f"{place}: {event.get('dwords')} dwords at {event.get('buffer')}\n"
        for text in event.get("pm4", []):
            yield f"{text}\n"


def decode(target: str, words: bytes, root: Path) -> tuple[str, int]:
    """Text and number of findings of a buffer; `words` are little-endian dwords."""
    library = _library(root)
    found = library.rl_pm4_find_target(target.encode())
    if not found:
        raise InputError(f"{target!r} is no target that the runtime knows (exact names, such as gfx1100)")
    count = len(words) // 4
    array = (ctypes.c_uint32 * count).from_buffer_copy(words)
    findings = ctypes.c_size_t()
    size = library.rl_pm4_print(found, array, count, None, 0, ctypes.byref(findings))
    text = ctypes.create_string_buffer(size + 1)
    library.rl_pm4_print(found, array, count, text, size + 1, None)
    return text.value.decode(), findings.value


def _library(root: Path) -> ctypes.CDLL:
    """build/libredline_pm4.so, compiled when it is missing or older than its sources."""
    sources = [root / "runtime" / name for name in SOURCES]
    output = root / "build" / "libredline_pm4.so"
    missing = next((source for source in sources if not source.is_file()), None)
    if missing:
        raise InputError(f"{missing} is missing: --root names the project folder")
    if not output.is_file() or output.stat().st_mtime < max(source.stat().st_mtime for source in sources):
        output.parent.mkdir(exist_ok=True)
        with tempfile.TemporaryDirectory(dir=output.parent) as folder:
            made = Path(folder) / output.name
            command = [
                *find_compiler(),
                "-std=gnu11",
                "-O2",
                "-fPIC",
                "-shared",
                f"-I{root / 'runtime'}",
                str(sources[0]),
                "-o",
                str(made),
            ]
            tried = subprocess.run(command, capture_output=True, text=True, check=False)
            if tried.returncode:
                raise InputError(f"{sources[0]} does not compile:\n{tried.stderr.strip()}")
            os.replace(made, output)
    library = ctypes.CDLL(str(output))
    library.rl_pm4_find_target.restype = ctypes.c_void_p
    library.rl_pm4_find_target.argtypes = [ctypes.c_char_p]
    library.rl_pm4_print.restype = ctypes.c_size_t
    library.rl_pm4_print.argtypes = [
        ctypes.c_void_p,
        ctypes.POINTER(ctypes.c_uint32),
        ctypes.c_size_t,
        ctypes.c_char_p,
        ctypes.c_size_t,
        ctypes.POINTER(ctypes.c_size_t),
    ]
    return library
