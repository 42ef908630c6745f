# SPDX-License-Identifier: Apache-2.0
"""The two inputs of a comparison: a snapshot, a header, a ROCm or include folder, a library, `current`, `installed`."""

from __future__ import annotations

import os
import re
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from multiprocessing import get_context
from pathlib import Path

from ..errors import InputError
from ..inputs import HEADER, Installation, api_of, current_release, find_installation, snapshot_path
from ..model import Api, Part
from ..snapshot import read_snapshot
from ..symbols import read_library

_STEMS = {"hip": "libamdhip64.so", "hsa": "libhsa-runtime64.so"}
_HEAD = re.compile(r'"release": "([^"]+)",\s*"hip_version": "([^"]+)"')


@dataclass(frozen=True, slots=True)
class Side:
    """`source` is what the user named, for messages."""

    api: Api
    source: str

    @property
    def title(self) -> str:
        return f"ROCm {self.api.release} ({self.source})"


def read_sides(old: str, new: str, root: Path) -> tuple[Side, Side]:
    """Both inputs, at the same time where both are headers to parse."""
    if any(_is_quick(argument) for argument in (old, new)):
        return read_side(old, root), read_side(new, root)
    with ProcessPoolExecutor(2, mp_context=get_context("fork")) as pool:
        pending = [pool.submit(read_side, argument, root) for argument in (old, new)]
        return pending[0].result(), pending[1].result()


def _is_quick(argument: str) -> bool:
    return argument == "current" or argument.endswith(".json") or ".so" in Path(argument).name


def read_side(argument: str, root: Path) -> Side:
    """Reads one input; raises InputError with one sentence when it cannot be."""
    if argument == "current":
        release = current_release(root)
        if release is None:
            raise InputError("There is no generated/hip_api.h that says what it was made from.", root)
        path = snapshot_path(root, release)
        if not path.is_file():
            raise InputError(
                "The snapshot of what generated/ was made from is missing; `redline-codegen snapshot` writes one.",
                path,
            )
        return Side(_snapshot(path), argument)
    if argument == "installed":
        installation = find_installation(None, None, root, dict(os.environ))
        if installation is None:
            raise InputError("No ROCm was found on this machine; name its folder or run `make rocm`.")
        return _labelled(api_of(installation, []), argument, root)
    path = Path(argument)
    if path.is_dir():
        return _labelled(api_of(_installation(path), []), argument, root)
    if not path.is_file():
        raise InputError("There is no such file or folder.", path)
    start = _first_bytes(path)
    if start.startswith(b"\x7fELF"):
        return Side(_library_alone(path), argument)
    if start.lstrip()[:1] in (b"{", b"[") or path.suffix == ".json":
        return Side(_snapshot(path), argument)
    installation = find_installation(path, None, root, {})
    assert installation is not None
    return _labelled(api_of(Installation(installation.include, None, None, argument), []), argument, root)


def _first_bytes(path: Path) -> bytes:
    try:
        with path.open("rb") as file:
            return file.read(64)
    except OSError as error:
        raise InputError(f"It cannot be read ({error.strerror}).", path) from None


def _installation(folder: Path) -> Installation:
    """A ROCm folder with its libraries, or a bare include folder without any."""
    if (folder / "include" / HEADER).is_file():
        found = find_installation(folder / "include", None, folder, {})
        assert found is not None
        return found
    if (folder / HEADER).is_file():
        return Installation(folder, None, None, str(folder))
    raise InputError(f"There is neither include/{HEADER} nor {HEADER} in this folder.", folder)


def _snapshot(path: Path) -> Api:
    api = read_snapshot(path)
    if not api.hip.functions:
        raise InputError("Not a complete snapshot: it declares no function.", path)
    return api


def _library_alone(path: Path) -> Api:
    """Exports only: a library says nothing about prototypes, and headers beside it may be another release's."""
    library = read_library(path)
    name = next((name for name, stem in _STEMS.items() if library.soname.startswith(stem)), None)
    if name is None:
        raise InputError(f"This is neither {' nor '.join(_STEMS.values())}.", path)
    return Api(library.soname, "", {name: Part({}, {}, {}, {}, {}, {}, library)})


def _labelled(api: Api, source: str, root: Path) -> Side:
    """A header knows HIP's version, not ROCm's: the committed snapshot of that version has the release."""
    if api.release == api.hip_version:
        for path in sorted((root / "api").glob("rocm-*.json")):
            with path.open(encoding="utf-8", errors="replace") as file:
                known = _HEAD.search(file.read(400))
            if known and known.group(2) == api.hip_version:
                return Side(Api(known.group(1), api.hip_version, api.parts), source)
    return Side(api, source)
