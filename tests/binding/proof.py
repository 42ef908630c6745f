# SPDX-License-Identifier: Apache-2.0
"""The binding proof: a real program over a real libamdhip64, with and without libredline.so preloaded."""

from __future__ import annotations

import os
import re
import subprocess
from dataclasses import dataclass, replace
from pathlib import Path

from redline_codegen.compiler import find_compiler
from redline_codegen.header import HIP, read_headers
from redline_codegen.model import Api, Function
from redline_codegen.rocm import library_path, loader_command
from redline_codegen.symbols import read_library

from binding.caller import called_functions, program

_BINDING = re.compile(
    r"binding file (\S+) \[\d+\] to (\S+) \[\d+\]: normal symbol `([^']+)'(?: \[([^\]]+)\])?"
)

_HOST = """
#include <dlfcn.h>
#include <stdio.h>
int main(int argc, char **argv)
{
    void *module = argc > 1 ? dlopen(argv[1], RTLD_NOW | RTLD_LOCAL) : 0;
    int (*run)(void) = module ? (int (*)(void))dlsym(module, "call_everything") : 0;
    if (!run) {
        fprintf(stderr, "%s\\n", dlerror());
        return 2;
    }
    return run();
}
"""


@dataclass(frozen=True)
class Run:
    """Text printed, and to which file the program's own references to each HIP symbol were bound."""

    output: str
    bound: dict[str, str]


@dataclass(frozen=True)
class Caller:
    """A built program and what identifies its HIP references in the dynamic linker's log."""

    command: list[str]
    referrer: Path


def build_linked(
    api: Api, declared: dict[str, Function], include: Path, library: Path, folder: Path
) -> Caller:
    """The program that is linked to HIP."""
    source = folder / "caller.c"
    source.write_text(program(api, declared))
    target = folder / "caller"
    _compile([str(source)], include, library, target)
    return Caller([str(target)], target)


def build_module(
    api: Api, declared: dict[str, Function], include: Path, library: Path, folder: Path
) -> Caller:
    """A program without HIP that loads the same calls as a module by dlopen(RTLD_LOCAL), as Python does."""
    source, host_source = folder / "module.c", folder / "host.c"
    source.write_text(program(api, declared))
    host_source.write_text(_HOST)
    module, host = folder / "module.so", folder / "host"
    _compile(["-DAS_MODULE", "-shared", "-fPIC", str(source)], include, library, module)
    subprocess.run([*find_compiler(), "-o", str(host), str(host_source), "-ldl"], check=True)
    return Caller([str(host), str(module)], module)


def _compile(arguments: list[str], include: Path, library: Path, target: Path) -> None:
    flags = ["-std=gnu11", "-w", "-O0", "-D__HIP_PLATFORM_AMD__", f"-I{include}", "-Wl,-z,now"]
    # The library may want a newer glibc than this system links against; its references are not ours.
    link = [str(library), "-Wl,--unresolved-symbols=ignore-in-shared-libs"]
    subprocess.run([*find_compiler(), *flags, "-o", str(target), *arguments, *link, "-ldl"], check=True)


def run(caller: Caller, rocm: Path, release: str, folder: Path, preload: Path | None) -> Run:
    """Runs the caller over the release's libraries, with the dynamic linker's log on."""
    for stale in folder.glob("bindings.*"):
        stale.unlink()
    environment = {
        **os.environ,
        "LD_DEBUG": "bindings",
        "LD_DEBUG_OUTPUT": str(folder / "bindings"),
        "LD_LIBRARY_PATH": library_path(rocm, release),
        "LC_ALL": "C",
        # 5.2.3 asks for an executable stack, which glibc 2.41 no longer grants to a library that is loaded late.
        "GLIBC_TUNABLES": "glibc.rtld.execstack=2",
    }
    if preload:
        environment["LD_PRELOAD"] = f"./{preload.name}"  # a whole path may hold a space, which ends it
    command = [*(loader_command(rocm, release) or []), *caller.command]
    where = preload.parent if preload else folder
    done = subprocess.run(
        command, env=environment, cwd=where, capture_output=True, text=True, timeout=300, check=False
    )
    if done.returncode:
        raise RuntimeError(f"{' '.join(command)} ended with {done.returncode}: {done.stderr[-2000:]}")
    log = "".join(path.read_text(errors="replace") for path in folder.glob("bindings.*"))
    bound = {
        match.group(3): Path(match.group(2)).name
        for match in _BINDING.finditer(log)
        if Path(match.group(1)) == caller.referrer
    }
    return Run(done.stdout, bound)


def api_of(release: str, include: Path, library: Path) -> Api:
    """HIP's part of one release, from its header and its real library."""
    part = replace(read_headers(HIP, [include]), library=read_library(library))
    return Api(release, "", {"hip": part})


def expected(api: Api, declared: dict[str, Function], ours: Path) -> set[str]:
    """Names that the program calls and libredline exports: all of them have to be bound to it."""
    exported = {symbol.name for symbol in read_library(ours).symbols}
    return exported & {function.name for function in called_functions(api, declared)}


def not_ours(result: Run, wanted: set[str], ours: Path) -> list[str]:
    """Names of `wanted` that the program's references were not bound to `ours` for."""
    return sorted(name for name in wanted if result.bound.get(name) != ours.name)
