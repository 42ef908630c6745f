# SPDX-License-Identifier: Apache-2.0
"""Packages from any suite of the Debian archive, without touching the system's apt.

The archive and its keys are those of the machine's own apt set-up; lists, cache and status are private to one
folder. Nothing is installed: packages are downloaded (apt checks signatures and hashes) and unpacked where
the caller says. Every failure is a DebianError of one sentence. A Suite may be used from several threads.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import threading
from collections import deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import urlsplit

from .errors import InputError

KEYRINGS = [Path(f"/usr/share/keyrings/debian-archive-keyring.{suffix}") for suffix in ("gpg", "pgp")]

# The system's `Acquire` settings (proxies, timeouts) are kept, but for those that choose what is downloaded.
NOT_INHERITED = ("Acquire::IndexTargets", "Acquire::Languages", "Acquire::GzipIndexes", "Acquire::Changelogs")

LIST_LINE = re.compile(
    r"deb\s+(?:\[(?P<options>[^\]]*)\]\s*)?(?P<uri>\S+)\s+(?P<suite>\S+)\s*(?P<components>.*)"
)
DEPENDENCY = re.compile(
    r"(?P<name>[^\s:(]+)(?::\S+)?\s*(?:\((?P<operator>[<>=]+)\s*(?P<version>[^)\s]+)\s*\))?"
)
OPERATORS = {"<<": "lt", "<=": "le", "=": "eq", ">=": "ge", ">>": "gt"}


class DebianError(InputError):
    """Something could not be had from the archive."""


@dataclass(frozen=True)
class Source:
    """One binary entry of apt's source files; `signed_by` is as written: paths, or an inline armoured key."""

    uris: tuple[str, ...]
    suites: tuple[str, ...]
    components: tuple[str, ...]
    signed_by: str = ""
    trusted: bool = False


@dataclass(frozen=True)
class Archive:
    """A Debian mirror and the keys it is checked with."""

    uri: str
    signed_by: str = ""
    trusted: bool = False


@dataclass(frozen=True)
class Dependency:
    """One alternative of a Depends group; `operator` is empty when any version will do."""

    name: str
    operator: str = ""
    version: str = ""


@dataclass(frozen=True)
class Package:
    """The newest version of one binary package in a suite."""

    name: str
    version: str
    suite: str
    depends: tuple[tuple[Dependency, ...], ...] = field(repr=False, default=())

    @property
    def upstream(self) -> str:
        return upstream_version(self.version)


def upstream_version(version: str) -> str:
    """The leading numbers of a Debian version: `1:7.2.4+dfsg-1~exp1` -> `7.2.4`."""
    found = re.match(r"(?:\d+:)?(\d+(?:\.\d+)*)", version)
    return found.group(1) if found else version


def _yes(word: str) -> bool:
    return word.strip().lower() in {"yes", "true", "1", "on", "with", "enable"}


def parse_list(text: str) -> list[Source]:
    """The binary entries of a one-line-style `.list` file."""
    sources = []
    for line in text.splitlines():
        found = LIST_LINE.fullmatch(line.split("#", 1)[0].strip())
        if not found:
            continue
        pairs = [option.partition("=") for option in (found["options"] or "").split()]
        options = {name.lower(): value for name, _, value in pairs}
        sources.append(
            Source(
                (found["uri"],),
                (found["suite"],),
                tuple(found["components"].split()),
                options.get("signed-by", "").replace(",", " "),
                _yes(options.get("trusted", "")),
            )
        )
    return sources


def parse_deb822(text: str) -> list[Source]:
    """The enabled binary entries of a deb822-style `.sources` file."""
    sources = []
    lines = "\n".join(line for line in text.splitlines() if not line.startswith("#"))
    for stanza in re.split(r"\n\s*\n", lines):
        fields: dict[str, str] = {}
        name = ""
        for line in stanza.splitlines():
            if line[:1].isspace():
                fields[name] = fields.get(name, "") + "\n" + line.strip()
            elif ":" in line:
                name, _, value = line.partition(":")
                name = name.strip().lower()
                fields[name] = value.strip()
        if "deb" not in fields.get("types", "").split() or not _yes(fields.get("enabled", "yes")):
            continue
        sources.append(
            Source(
                tuple(fields.get("uris", "").split()),
                tuple(fields.get("suites", "").split()),
                tuple(fields.get("components", "").split()),
                fields.get("signed-by", "").strip(),
                _yes(fields.get("trusted", "")),
            )
        )
    return sources


def read_sources(sourcelist: Path, sourceparts: Path) -> list[Source]:
    """All entries of apt's main list and its `sources.list.d`, in apt's own order."""
    parts = sorted(sourceparts.iterdir()) if sourceparts.is_dir() else []
    sources = []
    for file in [sourcelist, *parts]:
        if file.suffix not in {".list", ".sources"} or not file.is_file():
            continue
        text = file.read_text(encoding="utf-8", errors="replace")
        sources += parse_deb822(text) if file.suffix == ".sources" else parse_list(text)
    return sources


def _likeness(source: Source, uri: str) -> int:
    """How much an entry looks like the main Debian archive; 0: it is something else."""
    path = urlsplit(uri).path
    words = {uri.lower(), *(suite.lower() for suite in source.suites)}
    if (
        uri.startswith("cdrom:")
        or "main" not in source.components
        or any("security" in word for word in words)
    ):
        return 0
    named = re.search(r"(^|[/._-])debian([/._-]|$)", path) is not None
    signed = "debian-archive-" in source.signed_by
    return 4 * signed + 2 * path.rstrip("/").endswith("/debian") + named


def main_archive(sources: Iterable[Source]) -> Archive:
    """The first entry that is most surely the main Debian archive (not security, not a third party's)."""
    entries = [(source, uri) for source in sources for uri in source.uris]
    best = max(entries, key=lambda entry: _likeness(*entry), default=None)
    if best is None or _likeness(*best) == 0:
        raise DebianError("apt's set-up on this machine names no Debian archive; give one with --mirror")
    return Archive(best[1], best[0].signed_by, best[0].trusted)


def _apt(command: Sequence[str], config: Path | None = None, cwd: Path | None = None) -> str:
    """Output of an apt tool; its first error line becomes the exception."""
    environment = {**os.environ, "LC_ALL": "C.UTF-8"}
    if config is not None:
        environment["APT_CONFIG"] = str(config)
    try:
        done = subprocess.run(
            command, env=environment, cwd=cwd, capture_output=True, text=True, errors="replace", check=False
        )
    except FileNotFoundError:
        raise DebianError(
            f"this machine has no {command[0]}; packages can only be fetched with Debian's apt"
        ) from None
    if done.returncode:
        raise DebianError(f"{command[0]} says: {_reason(done.stderr)}")
    return done.stdout


def _reason(stderr: str) -> str:
    """The first error that apt reports, without the address, which says less than the reason behind it."""
    lines = [line[2:].strip() for line in stderr.splitlines() if line.startswith("E:")] or [stderr.strip()]
    return re.sub(r"^Failed to fetch \S+\s+", "", lines[0]) or "unknown error"


def system_archive(mirror: str | None = None) -> Archive:
    """The archive of the machine's apt set-up, or `mirror` with the keys of Debian's keyring package."""
    if mirror:
        return Archive(mirror)
    shell = _apt(
        [
            "apt-config",
            "shell",
            "SOURCELIST",
            "Dir::Etc::sourcelist/f",
            "SOURCEPARTS",
            "Dir::Etc::sourceparts/d",
        ]
    )
    places = dict(re.findall(r"^(\w+)='(.*)'$", shell, re.MULTILINE))
    return main_archive(read_sources(Path(places["SOURCELIST"]), Path(places["SOURCEPARTS"])))


def _newer(one: str, other: str) -> bool:
    return satisfies(one, Dependency("", ">>", other))


def satisfies(version: str, wanted: Dependency) -> bool:
    """Whether a version meets a dependency's bound, by Debian's ordering."""
    if not wanted.operator:
        return True
    command = ["dpkg", "--compare-versions", version, OPERATORS[wanted.operator], wanted.version]
    return subprocess.run(command, check=False).returncode == 0


def _parse_depends(stanza: str) -> tuple[tuple[Dependency, ...], ...]:
    groups = []
    for name in ("Pre-Depends", "Depends"):
        found = re.search(rf"^{name}: (.*)$", stanza, re.MULTILINE)
        for group in found.group(1).split(",") if found else []:
            alternatives = [DEPENDENCY.match(alternative.strip()) for alternative in group.split("|")]
            groups.append(
                tuple(
                    Dependency(a["name"], a["operator"] or "", a["version"] or "") for a in alternatives if a
                )
            )
    return tuple(groups)


class Suite:
    """One suite (`trixie`, `experimental`, ...) of an archive with an apt state of its own below `state`."""

    def __init__(
        self, archive: Archive, name: str, state: Path, say: Callable[[str], None] = lambda text: None
    ):
        self.name = name
        self._archive = archive
        self._state = state.resolve() / name
        self._say = say
        self._lock = threading.Lock()
        self._index: bytes | None = None
        self._failure: DebianError | None = None

    def package(self, name: str) -> Package | None:
        """The package's newest version, or None if the suite has none. Fetches the index on first use."""
        index = self._read_index()
        newest: Package | None = None
        heading = f"\nPackage: {name}\n".encode()
        at = index.find(heading)
        while at >= 0:
            end = index.find(b"\n\n", at + 1)
            stanza = index[at + 1 : end if end >= 0 else len(index)].decode(errors="replace")
            found = re.search(r"^Version: (\S+)$", stanza, re.MULTILINE)
            if found and (newest is None or _newer(found.group(1), newest.version)):
                newest = Package(name, found.group(1), self.name, _parse_depends(stanza))
            at = index.find(heading, at + 1)
        return newest

    def download(self, packages: Iterable[Package]) -> list[Path]:
        """The .deb files of these packages; what an interrupted run left is used."""
        chosen = list(packages)
        folder = self._state / "debs"
        folder.mkdir(parents=True, exist_ok=True)
        names = ", ".join(f"{package.name} {package.version}" for package in chosen)
        self._say(f"{self.name}: downloading {names}")
        with self._lock:
            wanted = [f"{package.name}={package.version}" for package in chosen]
            _apt(["apt-get", "-qq", "download", *wanted], self._state / "apt.conf", folder)
        files = []
        for package in chosen:
            files += sorted(folder.glob(f"{package.name}_{package.version.replace(':', '%3a')}_*.deb"))
        return files

    def _read_index(self) -> bytes:
        with self._lock:
            if self._failure is not None:
                raise self._failure
            if self._index is None:
                try:
                    self._index = self._fetch_index()
                except DebianError as error:
                    self._failure = DebianError(f"suite {self.name} could not be read: {error}")
                    raise self._failure from None
            return self._index

    def _fetch_index(self) -> bytes:
        self._say(f"{self.name}: fetching the suite's index")
        self._write_state()
        _apt(["apt-get", "-qq", "-o", "APT::Update::Error-Mode=any", "update"], self._state / "apt.conf")
        indexes = sorted((self._state / "lists").glob("*_Packages"))
        if not indexes:
            raise DebianError("apt fetched no package index")
        return b"\n" + b"\n".join(index.read_bytes() for index in indexes)

    def _write_state(self) -> None:
        state = self._state
        for folder in ("lists/partial", "cache/archives/partial", "empty"):
            (state / folder).mkdir(parents=True, exist_ok=True)
        (state / "status").touch()
        # Mirrors lag, and experimental is refreshed at leisure; signatures and hashes are still checked.
        options = ["arch=amd64", "check-valid-until=no"]
        keys = self._keys()
        if keys:
            options.append(f"signed-by={','.join(str(key) for key in keys)}")
        if self._archive.trusted:
            options.append("trusted=yes")
        (state / "sources.list").write_text(
            f"deb [{' '.join(options)}] {self._archive.uri} {self.name} main\n", encoding="utf-8"
        )
        (state / "apt.conf").write_text("\n".join(self._settings()) + "\n", encoding="utf-8")

    def _keys(self) -> list[Path]:
        """The system's key for its own suite, and Debian's keyring, which also covers the other suites."""
        signed_by = self._archive.signed_by
        if "-----BEGIN" in signed_by:
            inline = self._state / "archive.asc"
            lines = ["" if line.strip() == "." else line.strip() for line in signed_by.splitlines()]
            inline.write_text("\n".join(lines) + "\n", encoding="utf-8")
            named = [inline]
        else:
            named = [Path(word) for word in signed_by.split() if word.startswith("/")]
        return [key for key in dict.fromkeys([*named, *KEYRINGS]) if key.is_file()]

    def _settings(self) -> list[str]:
        state = self._state
        inherited = [
            line
            for line in _apt(["apt-config", "dump"]).splitlines()
            if line.startswith("Acquire::") and not line.startswith(NOT_INHERITED)
        ]
        return [
            *inherited,
            # Neither the system's configuration (it may hold hooks) nor its pins are read.
            f'Dir::Etc::main "{state}/empty/main";',
            f'Dir::Etc::parts "{state}/empty";',
            f'Dir::Etc::preferences "{state}/empty/preferences";',
            f'Dir::Etc::preferencesparts "{state}/empty";',
            f'Dir::Etc::sourcelist "{state}/sources.list";',
            f'Dir::Etc::sourceparts "{state}/empty";',
            f'Dir::State "{state}";',
            f'Dir::State::lists "{state}/lists";',
            f'Dir::State::status "{state}/status";',
            f'Dir::Cache "{state}/cache";',
            f'Dir::Log "{state}/log";',
            'APT::Architecture "amd64";',
            'APT::Architectures { "amd64"; };',
            # Root drops to this user for downloads; another one could not enter a private folder.
            'APT::Sandbox::User "root";',
            'Acquire::Languages "none";',
            'Acquire::GzipIndexes "false";',
        ]


def first_carrier(suites: Iterable[Suite], wanted: Dependency) -> tuple[Suite, Package] | None:
    """The first suite with a version that will do; an unreadable one is an error only if no other has it."""
    failure: DebianError | None = None
    for suite in suites:
        try:
            package = suite.package(wanted.name)
        except DebianError as error:
            failure = failure or error
            continue
        if package is not None and satisfies(package.version, wanted):
            return suite, package
    if failure is not None:
        raise failure
    return None


def closure(
    roots: Iterable[Package], suites: Sequence[Suite], skip: Callable[[str], bool]
) -> dict[str, tuple[Suite, Package]]:
    """Everything `roots` depend on, without the roots and what `skip` names: package name -> where it is.

    Of alternatives the first that a suite carries is taken; of suites the first with a version that will do.
    """
    chosen: dict[str, tuple[Suite, Package]] = {}
    done = {root.name for root in roots}
    queue = deque(roots)
    while queue:
        package = queue.popleft()
        for group in package.depends:
            names = {alternative.name for alternative in group}
            if names & (done | chosen.keys()) or any(skip(name) for name in names):
                continue
            found = next((hit for one in group if (hit := first_carrier(suites, one))), None)
            if found is None:
                wanted = " or ".join(f"{one.name} {one.operator} {one.version}".strip() for one in group)
                where = ", ".join(suite.name for suite in suites)
                raise DebianError(
                    f"{package.name} {package.version} depends on {wanted}, which {where} do not carry"
                )
            chosen[found[1].name] = found
            queue.append(found[1])
    return chosen


def unpack(deb: Path, folder: Path) -> None:
    """Unpack a package's files below `folder`."""
    if shutil.which("dpkg-deb") is None:
        raise DebianError("this machine has no dpkg-deb to unpack packages with")
    done = subprocess.run(
        ["dpkg-deb", "-x", str(deb), str(folder)], capture_output=True, text=True, check=False
    )
    if done.returncode:
        raise DebianError(f"{deb.name} could not be unpacked: {done.stderr.strip().splitlines()[-1]}")


class Fetcher:
    """The suites of one archive, each opened once; safe to use from several threads."""

    def __init__(
        self, state: Path, mirror: str | None = None, say: Callable[[str], None] = lambda text: None
    ):
        self._state = state
        self._mirror = mirror
        self._say = say
        self._lock = threading.Lock()
        self._archive: Archive | None = None
        self._suites: dict[str, Suite] = {}

    def suite(self, name: str) -> Suite:
        with self._lock:
            if self._archive is None:
                self._archive = system_archive(self._mirror)
            if name not in self._suites:
                self._suites[name] = Suite(self._archive, name, self._state, self._say)
            return self._suites[name]

    def suites(self, names: Iterable[str]) -> list[Suite]:
        return [self.suite(name) for name in names]


def fetch(suite: Suite, packages: Iterable[Package], folder: Path) -> None:
    """Download packages of one suite and unpack them below `folder`."""
    for deb in suite.download(packages):
        unpack(deb, folder)


def fetch_all(chosen: Mapping[str, tuple[Suite, Package]], folder: Path) -> None:
    """Download and unpack what `closure` chose."""
    for suite in dict.fromkeys(suite for suite, _ in chosen.values()):
        fetch(suite, [package for home, package in chosen.values() if home is suite], folder)
