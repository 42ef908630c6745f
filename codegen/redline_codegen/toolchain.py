# SPDX-License-Identifier: Apache-2.0
"""A private clang and lld from Debian: a second host compiler for `make check`, and amdgcn's compiler.

`<folder>/bin/clang` and `ld.lld` are wrappers that find the libraries beside them. Host programs use the
system's libc headers and linker.
"""

from __future__ import annotations

import platform
import re
import shutil
import subprocess
from pathlib import Path

from . import debian, dynamic
from .debian import DebianError, Fetcher, Suite
from .staging import Manifest, Row, place, read_manifest, say, work_folder

NAME = "toolchain"
LLVM = "19"
ROOTS = (f"clang-{LLVM}", f"lld-{LLVM}", f"libclang-common-{LLVM}-dev")
BINARIES = Path("usr/lib") / f"llvm-{LLVM}" / "bin"
TOOLS = ("clang", "ld.lld")
LIBRARIES = (Path("usr/lib/x86_64-linux-gnu"), Path("lib/x86_64-linux-gnu"), BINARIES.parent / "lib")

# Tried after the running system's own suite; a toolchain that asks for a newer glibc is passed over.
SUITES = ("trixie", "bookworm")

# The system's C library and gcc serve the host; the rest is not needed to compile and link.
NOT_NEEDED = re.compile(
    r"-(base|common|data|dev|doc|runtime|tools)$|^(libc6|libgcc-s1|libstdc\+\+6|binutils)$|^(python3|debconf|libclang1-)"
)

WRAPPER = """#!/bin/sh
here=$(dirname "$(dirname "$(readlink -f "$0")")")
LD_LIBRARY_PATH={libraries}${{LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}}
export LD_LIBRARY_PATH
exec "$here/{binary}" "$@"
"""

HOST_PROGRAM = '#include <stdio.h>\nint main(void) { return puts("") < 0; }\n'
KERNEL = "kernel void twice(global int *data) { data[__builtin_amdgcn_workitem_id_x()] *= 2; }\n"
AMDGCN = ["-x", "cl", "-target", "amdgcn-amd-amdhsa", "-mcpu=gfx1100", "-nogpulib"]


def fetch_toolchain(folder: Path, fetcher: Fetcher) -> Row:
    """The toolchain of the first suite whose own runs here; tried out before it becomes `folder`."""
    manifest = read_manifest(folder)
    if manifest is None:
        reasons: dict[str, None] = {}
        for name in dict.fromkeys([_running_suite(), *SUITES]):
            try:
                manifest = _stage(folder, fetcher.suite(name))
                break
            except DebianError as error:
                reasons[str(error)] = None
        if manifest is None:
            raise DebianError("; ".join(reasons))
        say(f"{NAME}: ready")
    return Row(NAME, "-", manifest["suite"], "-", "-", f"clang and lld {manifest['version']}")


def _running_suite() -> str:
    """The Debian suite of this system: sid if it has no code name; on another system the first to try."""
    try:
        release = platform.freedesktop_os_release()
    except OSError:
        return SUITES[0]
    return release.get("VERSION_CODENAME", "sid") if release.get("ID") == "debian" else SUITES[0]


def _stage(folder: Path, suite: Suite) -> Manifest:
    packages = [(name, suite.package(name)) for name in ROOTS]
    roots = [package for _, package in packages if package is not None]
    if len(roots) < len(ROOTS):
        absent = ", ".join(name for name, package in packages if package is None)
        raise DebianError(f"suite {suite.name} has no {absent}")
    chosen = debian.closure(roots, [suite], lambda name: NOT_NEEDED.search(name) is not None)
    chosen |= {package.name: (suite, package) for package in roots}
    with work_folder(folder.parent, folder.name) as work:
        staged = work / "folder"
        debian.fetch_all(chosen, staged)
        shutil.rmtree(staged / "usr" / "share", ignore_errors=True)
        asked = dynamic.needed_by([staged / BINARIES, *(staged / library for library in LIBRARIES)])[1]
        if asked > dynamic.system_glibc():
            raise DebianError(
                f"{suite.name}'s clang asks for glibc {'.'.join(map(str, asked))}, newer than the system's"
            )
        _write_wrappers(staged)
        _try_out(staged / "bin" / "clang", work)
        manifest: Manifest = {
            "suite": suite.name,
            "version": roots[0].upstream,
            "packages": {name: package.version for name, (_, package) in chosen.items()},
            "files": [f"bin/{tool}" for tool in TOOLS] + [str(BINARIES / tool) for tool in TOOLS],
        }
        place(staged, folder, manifest)
    return manifest


def _write_wrappers(folder: Path) -> None:
    (folder / "bin").mkdir()
    libraries = ":".join(f"$here/{library}" for library in LIBRARIES)
    for tool in TOOLS:
        wrapper = folder / "bin" / tool
        wrapper.write_text(WRAPPER.format(libraries=libraries, binary=BINARIES / tool), encoding="utf-8")
        wrapper.chmod(0o755)


def _try_out(clang: Path, work: Path) -> None:
    """One host program and one kernel, compiled and linked."""
    (work / "host.c").write_text(HOST_PROGRAM, encoding="utf-8")
    (work / "kernel.cl").write_text(KERNEL, encoding="utf-8")
    for arguments in (["host.c", "-o", "host"], [*AMDGCN, "kernel.cl", "-o", "kernel.co"]):
        done = subprocess.run(
            [str(clang.resolve()), *arguments], cwd=work, capture_output=True, text=True, check=False
        )
        if done.returncode:
            reason = (done.stderr.strip().splitlines() or ["no reason given"])[0]
            raise DebianError(f"the fetched clang cannot compile {arguments[-3]}: {reason}")
