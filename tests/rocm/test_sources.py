# SPDX-License-Identifier: Apache-2.0
"""Which archive is taken from apt's set-up."""

from __future__ import annotations

from pathlib import Path

import pytest
from redline_codegen.debian import (
    Archive,
    DebianError,
    Dependency,
    Fetcher,
    Package,
    Source,
    Suite,
    closure,
    main_archive,
    parse_deb822,
    parse_list,
    read_sources,
    satisfies,
    upstream_version,
)

KEYRING = "/usr/share/keyrings/debian-archive-keyring.gpg"


def test_a_one_line_entry_is_read_with_its_options() -> None:
    text = (
        "# a comment\n"
        "deb-src http://mirror.test/debian trixie main\n"
        f"deb [ signed-by={KEYRING},/etc/own.asc trusted=yes ] http://mirror.test/debian/ sid main contrib\n"
        "deb cdrom:[Debian 13]/ trixie main\n"
    )
    assert parse_list(text)[0] == Source(
        ("http://mirror.test/debian/",), ("sid",), ("main", "contrib"), f"{KEYRING} /etc/own.asc", True
    )


def test_a_deb822_file_is_read_with_comments_continuations_and_disabled_stanzas() -> None:
    text = (
        "# made by the installer\n"
        "Types: deb deb-src\n"
        "URIs: http://one.test/debian\n"
        "# in the middle\n"
        " http://two.test/debian\n"
        "suites: trixie trixie-updates\n"
        "Components: main\n"
        f"Signed-By: {KEYRING}\n"
        "\n"
        "Types: deb\nURIs: http://off.test/debian\nSuites: trixie\nComponents: main\nEnabled: no\n"
        "\n \n"
        "Types: deb-src\nURIs: http://source.test/debian\nSuites: trixie\nComponents: main\n"
    )
    uris = ("http://one.test/debian", "http://two.test/debian")
    assert parse_deb822(text) == [Source(uris, ("trixie", "trixie-updates"), ("main",), KEYRING)]


def test_an_inline_key_is_kept_whole() -> None:
    text = (
        "Types: deb\nURIs: http://one.test/debian\nSuites: sid\nComponents: main\nSigned-By:\n"
        " -----BEGIN PGP PUBLIC KEY BLOCK-----\n .\n mQINBF\n -----END PGP PUBLIC KEY BLOCK-----\n"
    )
    signed_by = parse_deb822(text)[0].signed_by
    assert signed_by.splitlines()[0] == "-----BEGIN PGP PUBLIC KEY BLOCK-----"
    assert signed_by.splitlines()[1:3] == [".", "mQINBF"]


@pytest.mark.parametrize(
    "uri", ["http://m.test/debian", "https://m.test/pub/debian/", "mirror+file:/etc/apt/mirrors/debian.list"]
)
def test_the_main_archive_is_found_behind_security_and_third_parties(uri: str) -> None:
    sources = parse_list(
        "deb http://m.test/debian-security trixie-security main\n"
        "deb https://vendor.test/linux/debian trixie stable\n"
        "deb https://other.test/apt trixie main\n"
        f"deb {uri} trixie main\n"
    )
    assert main_archive(sources) == Archive(uri)


def test_an_archive_that_is_signed_with_debians_key_comes_before_one_with_a_likely_name() -> None:
    sources = parse_list(
        f"deb https://vendor.test/debian trixie main\ndeb [signed-by={KEYRING}] http://m.test/d trixie main\n"
    )
    assert main_archive(sources).uri == "http://m.test/d"


def test_a_system_without_a_debian_archive_is_told_what_to_do() -> None:
    with pytest.raises(DebianError, match="no Debian archive; give one with --mirror"):
        main_archive(parse_list("deb http://m.test/ubuntu noble main\ndeb cdrom:/debian trixie main\n"))


def test_only_files_that_apt_would_read_are_read(tmp_path: Path) -> None:
    entry = "deb http://m.test/debian {} main\n"
    (tmp_path / "sources.list").write_text(entry.format("one"))
    parts = tmp_path / "sources.list.d"
    parts.mkdir()
    (parts / "b.list").write_text(entry.format("three"))
    (parts / "a.sources").write_text(
        "Types: deb\nURIs: http://m.test/debian\nSuites: two\nComponents: main\n"
    )
    (parts / "c.list.disabled").write_text(entry.format("off"))
    suites = [source.suites[0] for source in read_sources(tmp_path / "sources.list", parts)]
    assert suites == ["one", "two", "three"]
    assert read_sources(tmp_path / "none", tmp_path / "none.d") == []


@pytest.mark.parametrize(
    ("version", "upstream"),
    [
        ("7.2.4-1~exp2", "7.2.4"),
        ("7.2.4+dfsg-1~exp1", "7.2.4"),
        ("1:22.1.8-1~deb13u5", "22.1.8"),
        ("6.0+git20231212.4510c28+dfsg-3+b2", "6.0"),
        ("2.41-12+deb13u5", "2.41"),
    ],
)
def test_a_debian_version_gives_its_upstream_release(version: str, upstream: str) -> None:
    assert upstream_version(version) == upstream


class FakeSuite(Suite):
    """A suite whose packages are given."""

    def __init__(self, name: str, *packages: Package):
        super().__init__(Archive(""), name, Path("unused"))
        self._packages = {package.name: package for package in packages}

    def package(self, name: str) -> Package | None:
        return self._packages.get(name)


def needs(*names: str) -> tuple[tuple[Dependency, ...], ...]:
    return tuple((Dependency(name),) for name in names)


def test_dependencies_come_from_the_first_suite_with_a_version_that_will_do() -> None:
    if not satisfies("1", Dependency("", "<=", "1")):
        pytest.skip("needs dpkg")
    root = Package("root", "1", "new", ((Dependency("a", ">=", "2~"),), (Dependency("x"), Dependency("b"))))
    old = FakeSuite("old", Package("a", "1.9", "old"), Package("b", "1", "old", needs("a", "skipped-base")))
    new = FakeSuite("new", Package("a", "2", "new"), Package("b", "2", "new"))
    chosen = closure([root], [old, new], lambda name: name.endswith("-base"))
    assert {name: package.suite for name, (_, package) in chosen.items()} == {"a": "new", "b": "old"}


def test_a_dependency_that_no_suite_carries_is_named() -> None:
    root = Package("root", "1", "old", needs("absent"))
    with pytest.raises(DebianError, match="root 1 depends on absent, which old do not carry"):
        closure([root], [FakeSuite("old")], lambda name: False)


def test_one_suite_is_opened_once(tmp_path: Path) -> None:
    fetcher = Fetcher(tmp_path, "http://m.test/debian")
    assert fetcher.suite("sid") is fetcher.suite("sid")
