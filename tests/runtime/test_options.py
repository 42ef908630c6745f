# SPDX-License-Identifier: Apache-2.0
"""Options: read once, and what is not understood is said and ignored."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

Build = Callable[..., Path]
NONE, STDERR, TEXT, JSON = range(4)


@dataclass(frozen=True)
class Options:
    enabled: bool
    log: int
    report: int
    file: str
    problems: list[str]


@pytest.fixture(scope="module")
def driver(build: Build) -> Path:
    sources = [
        "report/options.c",
        "report/log.c",
        "report/reasons.c",
        "report/report.c",
        "report/summary.c",
        "base/fork.c",
        "report_driver.c",
    ]
    return build("report_driver", sources)


def read(driver: Path, environment: dict[str, str] | dict[bytes, bytes], *words: str) -> Options:
    command = [str(driver), *words, "options"]
    done = subprocess.run(command, env=environment, capture_output=True, timeout=20, check=True, cwd="/")
    lines = done.stdout.decode(errors="replace").split("\n")
    enabled, log, report, file = lines[0].split(" ", 3)
    return Options(enabled == "1", int(log), int(report), file, lines[1:-1])


def test_without_any_option_the_library_is_on_and_silent(driver: Path) -> None:
    assert read(driver, {}) == Options(True, 0, NONE, "", [])
    assert read(driver, {"REDLINE": "", "REDLINE_LOG": "", "REDLINE_REPORT": ""}) == read(driver, {})


@pytest.mark.parametrize(
    ("value", "enabled"),
    [("0", False), ("1", True), ("off", False), ("no", False), ("False", False), ("ON", True)],
)
def test_redline_0_switches_off(driver: Path, value: str, enabled: bool) -> None:
    assert read(driver, {"REDLINE": value}) == Options(enabled, 0, NONE, "", [])


@pytest.mark.parametrize(("value", "level"), [("error", 0), ("info", 1), ("debug", 2), ("INFO", 1)])
def test_redline_log_chooses_the_level(driver: Path, value: str, level: int) -> None:
    assert read(driver, {"REDLINE_LOG": value}).log == level


def test_redline_report_goes_to_stderr_or_a_file_whose_name_chooses_the_form(driver: Path) -> None:
    assert read(driver, {"REDLINE_REPORT": "stderr"}).report == STDERR
    assert read(driver, {"REDLINE_REPORT": "/dev/stderr"}).report == STDERR
    assert read(driver, {"REDLINE_REPORT": "/a/b"}) == Options(True, 0, TEXT, "/a/b", [])
    assert read(driver, {"REDLINE_REPORT": "/a/b.json"}) == Options(True, 0, JSON, "/a/b.json", [])
    assert read(driver, {"REDLINE_REPORT": "b.json"}, "chdir:/usr").file == "//b.json"


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("REDLINE", "maybe"),
        ("REDLINE_LOG", "loud"),
        ("REDLINE_REPORT", "stdout"),
        ("REDLINE_REPORT", "/dev/stdout"),
        ("REDLINE_REPORT", "/proc/self/fd/1"),
        ("REDLINE_REPORT", "x" * 5000),
    ],
)
def test_an_unknown_value_is_said_once_and_ignored(driver: Path, name: str, value: str) -> None:
    options = read(driver, {name: value})
    assert (options.enabled, options.log, options.report) == (True, 0, NONE)
    assert len(options.problems) == 1
    assert options.problems[0].startswith(f"{name}={value[:60]} is not understood (")


def test_a_misspelt_name_is_said(driver: Path) -> None:
    options = read(driver, {"REDLINE_LOGS": "info", "REDLINER": "1", "XREDLINE_LOG": "info"})
    assert options == Options(
        True, 0, NONE, "", ["REDLINE_LOGS=info is not an option of this version: ignored"]
    )


def test_the_environment_is_read_once(driver: Path) -> None:
    assert read(driver, {"REDLINE_LOG": "info"}, "setenv:REDLINE_LOG:debug", "setenv:REDLINE:0").log == 1
    assert read(driver, {}, "setenv:REDLINE:0").enabled


NAMES = st.one_of(
    st.sampled_from([b"REDLINE", b"REDLINE_LOG", b"REDLINE_REPORT"]),
    st.binary(max_size=12).map(lambda tail: b"REDLINE_" + tail.translate(None, b"\0=")),
)
VALUES = st.one_of(
    st.binary(max_size=300).map(lambda value: value.translate(None, b"\0")),
    st.sampled_from([b"0", b"1", b"info", b"stderr", b"stdout", b"%p", b"%s%n", b"a.json", b".json"]),
)


@settings(max_examples=60, deadline=None)
@given(environment=st.dictionaries(NAMES, VALUES, max_size=12))
def test_any_environment_gives_valid_options_and_printable_problems(
    driver: Path, environment: dict[bytes, bytes]
) -> None:
    kept = {name: value for name, value in environment.items() if name != b"REDLINE_REPORT"}
    options = read(driver, kept)
    assert options.log in (0, 1, 2)
    assert options.report == NONE
    assert len(options.problems) <= 8
    assert all(problem.isascii() and problem.isprintable() for problem in options.problems)
