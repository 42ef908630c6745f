# SPDX-License-Identifier: Apache-2.0
"""Finds headers and libraries to read, in a fixed order, and says which was used; what generated/ was made from."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass, replace
from pathlib import Path

from .dispatch import read_tables
from .errors import InputError
from .header import HIP, HSA, hip_version, read_headers
from .model import Api, release_key
from .snapshot import read_snapshot
from .symbols import read_library

HEADER = Path("hip/hip_runtime_api.h")
_MADE_FROM = re.compile(r'^#define RL_(ROCM_RELEASE|HIP_VERSION) "([^"]+)"', re.MULTILINE)
_LIBRARY_FOLDERS = ("lib", "lib64", "lib/x86_64-linux-gnu", "lib/aarch64-linux-gnu")


@dataclass(frozen=True, slots=True)
class Installation:
    """One place that has HIP. `include` is the folder above `hip/`; libraries are None where not found."""

    include: Path
    hip_library: Path | None
    hsa_library: Path | None
    origin: str


def read_api(
    header: Path | None,
    library: Path | None,
    root: Path,
    snapshots: list[Api],
    environment: dict[str, str] | None = None,
) -> tuple[Api, str]:
    """The API of the first source that exists, and a sentence that names it.

    The order is: the given paths, HIP_HEADER and HIP_LIBRARY, ROCM_PATH, /opt/rocm*, the system's include
    folders, what `make rocm` fetched, and the last of `snapshots`.
    """
    environment = dict(os.environ) if environment is None else environment
    installation = find_installation(header, library, root, environment)
    if installation is None:
        if not snapshots:
            raise InputError(
                f"No HIP header was found and {root / 'api'} holds no snapshot; run `make rocm`."
            )
        newest = snapshots[-1]
        return newest, f"snapshot {snapshot_path(root, newest.release).name} (no ROCm was found)"
    api = api_of(installation, snapshots)
    shown = installation.include / HEADER
    return api, f"{shown} of ROCm {api.release} ({installation.origin})"


def api_of(installation: Installation, snapshots: list[Api]) -> Api:
    """Reads headers and libraries of one installation.

    Where a library or the HSA headers are absent, the snapshot of the same HIP version supplies that part: it
    was made from the release's own files.
    """
    folders = [installation.include]
    version = hip_version(folders)
    same = next((known for known in snapshots if known.hip_version == version), None)
    release = _release_label(installation.include) or (same.release if same else version)
    tables = read_tables(installation.include) or (same.hip.tables if same else {})
    parts = {"hip": replace(read_headers(HIP, folders), tables=tables)}
    if (installation.include / HSA.includes[0]).is_file():
        parts["hsa"] = read_headers(HSA, folders)
    elif same and "hsa" in same.parts:
        parts["hsa"] = same.parts["hsa"]
    for name, path in (("hip", installation.hip_library), ("hsa", installation.hsa_library)):
        if name in parts:
            known = same.parts[name].library if same and name in same.parts else None
            parts[name] = replace(parts[name], library=read_library(path) if path else known)
    if installation.hip_library and parts["hip"].library:
        _refuse_foreign(installation.hip_library, parts["hip"].library.soname, version)
    return Api(release, version, parts)


def _refuse_foreign(path: Path, soname: str, version: str) -> None:
    """The library of another release would give its version nodes, silently, to this header's functions."""
    wanted = f"libamdhip64.so.{version.partition('.')[0]}"
    if soname != wanted:
        raise InputError(f"This is {soname}, but the header is that of HIP {version}, {wanted}.", path)


def find_installation(
    header: Path | None, library: Path | None, root: Path, environment: dict[str, str]
) -> Installation | None:
    if header or library:
        return _given(header, library, "--header/--library")
    from_environment = [environment.get(name) for name in ("HIP_HEADER", "HIP_LIBRARY")]
    if any(from_environment):
        given_header, given_library = (Path(value) if value else None for value in from_environment)
        return _given(given_header, given_library, "HIP_HEADER/HIP_LIBRARY")
    for prefix, origin in _prefixes(root, environment):
        found = _below(prefix, origin)
        if found:
            return found
    return None


def _prefixes(root: Path, environment: dict[str, str]) -> list[tuple[Path, str]]:
    prefixes = []
    if environment.get("ROCM_PATH"):
        prefixes.append((Path(environment["ROCM_PATH"]), "ROCM_PATH"))
    installed = sorted(Path("/opt").glob("rocm*"), key=lambda path: release_key(path.name), reverse=True)
    default = Path("/opt/rocm")
    prefixes += [(path, str(path)) for path in ([default] if default in installed else []) + installed]
    prefixes += [(Path(path), "system include folder") for path in ("/usr/local", "/usr")]
    prefixes += [(path, "fetched by make rocm") for path in fetched(root)]
    return prefixes


def fetched(root: Path) -> list[Path]:
    """Folders of releases that `make rocm` got with a library, newest first; header-only ones come after."""
    folders = [path.parent.parent.parent for path in (root / "build" / "rocm").glob(f"*/include/{HEADER}")]
    newest = sorted(folders, key=lambda path: release_key(path.name), reverse=True)
    return sorted(newest, key=lambda path: not (path / "lib" / "libhsa-runtime64.so.1").exists())


def _below(prefix: Path, origin: str) -> Installation | None:
    if not (prefix / "include" / HEADER).is_file():
        return None
    return Installation(
        prefix / "include",
        _library(prefix, "libamdhip64.so"),
        _library(prefix, "libhsa-runtime64.so"),
        origin,
    )


def _library(prefix: Path, name: str) -> Path | None:
    for folder in _LIBRARY_FOLDERS:
        candidates = sorted((prefix / folder).glob(f"{name}*"), key=lambda path: len(path.name))
        for candidate in candidates:
            if candidate.is_file():
                return candidate
    return None


def _given(header: Path | None, library: Path | None, origin: str) -> Installation:
    if library and not library.is_file():
        raise InputError("The library does not exist.", library)
    if header is None:
        assert library is not None
        prefix = next((p for p in library.resolve().parents if (p / "include" / HEADER).is_file()), None)
        if prefix is None:
            raise InputError(
                "No include/hip/hip_runtime_api.h was found above the library; give --header.", library
            )
        header = prefix / "include" / HEADER
    header = Path(os.path.abspath(header))  # `hip_runtime_api.h` and `.` have folders above them too
    include = header if (header / HEADER).is_file() else header.parent.parent
    if not (include / HEADER).is_file():
        raise InputError(
            "There is no hip/hip_runtime_api.h here; give the header itself or its include folder.", header
        )
    beside = _below(include.parent, origin) if include.name == "include" else None
    hip_library = library or (beside.hip_library if beside else None)
    hsa_library = beside.hsa_library if beside else None
    if hsa_library is None and library:
        hsa_library = next(
            (p for p in sorted(library.parent.glob("libhsa-runtime64.so*")) if p.is_file()), None
        )
    return Installation(include, hip_library, hsa_library, origin)


def _release_label(include: Path) -> str | None:
    """ROCm's own label, from `.info/version` beside the include folder."""
    try:
        text = (include.parent / ".info" / "version").read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError):
        return None
    match = re.match(r"\d+(\.\d+)+", text)
    return match.group() if match else None


def current_versions(root: Path) -> dict[str, str]:
    """What generated/ was made from: ROCM_RELEASE and HIP_VERSION, empty where there is none yet."""
    try:
        text = (root / "generated" / "hip_api.h").read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError):
        return {}
    return dict(_MADE_FROM.findall(text))


def current_release(root: Path) -> str | None:
    return current_versions(root).get("ROCM_RELEASE")


def snapshot_path(root: Path, release: str) -> Path:
    return root / "api" / f"rocm-{release}.json"


def read_snapshots(root: Path) -> list[Api]:
    """Every committed snapshot, oldest release first."""
    found = [read_snapshot(path) for path in (root / "api").glob("rocm-*.json")]
    return sorted(found, key=lambda api: release_key(api.release))
