# SPDX-License-Identifier: Apache-2.0
"""Writes and builds the stand-in for a release's libamdhip64: see standin.h."""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path
from typing import Any

import jinja2
from redline_codegen.emit import DISPATCH
from redline_codegen.model import Api, Function, declare
from redline_codegen.policy import find_function, load_policy
from redline_codegen.snapshot import read_snapshot

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
CC = os.environ.get("CC", "cc")
FLAGS = ["-std=gnu11", "-Wall", "-Wextra", "-Werror", "-g", "-O1", "-fPIC", "-fvisibility=hidden", "-pthread"]


SOURCES = ("record.c", "objects.c", "graphs.c", "execs.c", "captures.c")

NEWEST = "7.2.4"
"""Whose types generated/hip_api.h has; prototypes are that release's for older libraries too."""


def recorded_functions(api: Api) -> list[Function]:
    """Functions of the policy, and those that the runtime calls, as far as the release exports them."""
    policy = load_policy(ROOT / "policies.yaml")
    newest = read_snapshot(ROOT / "api" / f"rocm-{NEWEST}.json")
    assert api.hip.library
    exported = {symbol.name for symbol in api.hip.library.symbols}
    found = [
        find_function(policy, entry, newest) for entry in policy.entries.values() if entry.library == "hip"
    ]
    found += [newest.hip.functions.get(name) for name in policy.called]
    return [f for f in found if f and f.name in exported and f.returns in ("hipError_t", "void")]


def mutators(api: Api) -> list[tuple[str, str, int]]:
    """Functions that change a graph, node or exec and may fail half-way: name, kind, index of the parameter.

    A destroy is not among them: what it is given is gone from the records whatever it answers.
    """
    policy = load_policy(ROOT / "policies.yaml")
    functions = {function.name: function for function in recorded_functions(api)}
    found = []
    for entry in policy.entries.values():
        function = functions.get(entry.name)
        if function is None or entry.policy_class == "passthrough" or "Destroy" in entry.name:
            continue
        for effect in entry.effects:
            if not effect.makes and effect.object != "stream":
                names = [parameter.name for parameter in function.parameters]
                found.append((entry.name, effect.object, names.index(effect.parameter)))
    return found


def write_callers(folder: Path, release: str = NEWEST) -> None:
    """exported.h: prototypes for programs; mutators.h: a table for tests that go through all of them."""
    api = read_snapshot(ROOT / "api" / f"rocm-{release}.json")
    environment = _environment()
    context = {"release": api.release, "recorded": recorded_functions(api), "mutators": mutators(api)}
    for name in ("exported.h", "mutators.h"):
        (folder / name).write_text(environment.get_template(f"{name}.j2").render(context))


def _environment() -> jinja2.Environment:
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(HERE),
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        keep_trailing_newline=True,
        autoescape=False,
    )
    environment.filters.update(declare=declare, parameters=_parameters, types=_types)
    return environment


def _tables(api: Api, appended: tuple[str, ...]) -> list[dict[str, Any]]:
    """The release's dispatch tables under the names HIP registers them by, with functions appended to the first."""
    tables: list[dict[str, Any]] = []
    for dispatch in DISPATCH.values():
        table = api.hip.tables.get(dispatch.struct)
        if table:
            more = () if tables else appended
            tables.append({"registered": dispatch.registered, "functions": (*table.functions, *more)})
    return tables


def write_sources(
    api: Api, folder: Path, without: frozenset[str], extra: tuple[str, ...], tables: list[dict[str, Any]]
) -> Path:
    """The generated sources; `without` names exports to leave out, `extra` names exports to add."""
    assert api.hip.library
    environment = _environment()
    text = "".join((HERE / source).read_text() for source in SOURCES)
    model = set(re.findall(r"^hipError_t model_(hip\w+)\(", text, re.MULTILINE))
    recorded = [function for function in recorded_functions(api) if function.name not in without]
    names = {function.name for function in recorded}
    symbols = {symbol.name: symbol.node for symbol in api.hip.library.symbols if symbol.name not in without}
    symbols.update(dict.fromkeys(extra, next(reversed(api.hip.library.nodes))))
    modelled = [function for function in recorded if function.name in model]
    context = {
        "release": api.release,
        "recorded": recorded,
        "modelled": modelled,
        "modelled_names": {function.name for function in modelled},
        "plain": sorted(set(symbols) - names),
        "recorded_names": names,
        "tables": tables,
        "words": {
            name: (table["registered"], word)
            for table in tables
            for word, name in enumerate(table["functions"], start=1)
            if name in symbols
        },
        "nodes": [
            {
                "name": node,
                "parents": parents,
                "names": sorted(n for n, its in symbols.items() if its == node),
            }
            for node, parents in api.hip.library.nodes.items()
        ],
    }
    for name in ("standin.c", "standin.map", "within.h"):
        (folder / name).write_text(environment.get_template(f"{name}.j2").render(context))
    return folder


def _parameters(function: Function) -> str:
    return ", ".join(declare(p.type, p.name) for p in function.parameters) or "void"


def _types(function: Function) -> str:
    return ", ".join(p.type for p in function.parameters) or "void"


def build(
    folder: Path,
    release: str = NEWEST,
    *flags: str,
    name: str = "",
    without: frozenset[str] = frozenset(),
    extra: tuple[str, ...] = (),
    versioned: bool = True,
    tables: bool = True,
    appended: tuple[str, ...] = (),
) -> Path:
    """Builds the stand-in into the folder and returns the library, named by its soname unless `name` is given."""
    api = read_snapshot(ROOT / "api" / f"rocm-{release}.json")
    assert api.hip.library
    folder.mkdir(parents=True, exist_ok=True)
    write_sources(api, folder, without, (*extra, *appended), _tables(api, appended) if tables else [])
    soname = name or api.hip.library.soname
    library = folder / soname
    command = [CC, *FLAGS, *flags, f"-I{folder}", f"-I{HERE}", f"-I{ROOT / 'generated'}", "-shared"]
    command += [f"-Wl,-soname,{soname}"]
    command += [f"-Wl,--version-script={folder / 'standin.map'}"] if versioned else []
    command += [str(folder / "standin.c"), *(str(HERE / source) for source in SOURCES), "-o", str(library)]
    subprocess.run(command, check=True, timeout=120)
    return library
