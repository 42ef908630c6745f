# SPDX-License-Identifier: Apache-2.0
"""The library among others: other preloads, copies of HIP, ways of loading it, forks, exits. Nobody notices it.

Everything runs over the stand-in, without the preload first; what is printed then has to be printed with it.
"""

from __future__ import annotations

import json
import os
import subprocess
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from conftest import library_objects
from standin import standin

ROOT = Path(__file__).resolve().parents[2]
HERE = Path(__file__).resolve().parent / "interposers"
OURS = ROOT / "build" / "libredline.so"
CC = os.environ.get("CC", "cc")


@dataclass
class Bench:
    """Builds programs and runs them; `hip` is the stand-in in its own folder."""

    folder: Path
    hip: Path
    built: dict[str, Path] = field(default_factory=dict)

    def build(
        self, name: str, source: str, *flags: str, hip: Path | None = None, shared: bool = False
    ) -> Path:
        if name not in self.built:
            target = self.folder / name
            include = [f"-I{self.hip.parent}", f"-I{ROOT / 'tests' / 'standin'}", f"-I{ROOT / 'generated'}"]
            kind = ["-shared", "-fPIC", "-DAS_MODULE"] if shared else []
            link = [str(hip), f"-Wl,-rpath,{hip.parent}"] if hip else []
            command = [
                CC,
                "-std=gnu11",
                "-Wall",
                "-Wextra",
                "-Werror",
                "-O1",
                "-g",
                "-pthread",
                *flags,
                *kind,
            ]
            command += [*include, str(HERE / source), *link, "-ldl", "-o", str(target)]
            subprocess.run(command, check=True, timeout=60)
            self.built[name] = target
        return self.built[name]

    def module(self, name: str, hip: Path) -> Path:
        return self.build(name, "scenario.c", hip=hip, shared=True)

    def run(
        self, *command: str | Path, preload: str = "", **environment: str
    ) -> subprocess.CompletedProcess[str]:
        inherited = {k: v for k, v in os.environ.items() if not k.startswith(("REDLINE", "LD_"))}
        return subprocess.run(
            [str(part) for part in command],
            env={**inherited, "LD_PRELOAD": preload, **environment},
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )

    def same(
        self, *command: str | Path, before: str = "", after: str = "", **environment: str
    ) -> dict[str, Any]:
        """Runs with and without ours among the other preloads; gives our report of the second run."""
        others = ":".join(part for part in (before, after) if part)
        native = self.run(*command, preload=others)
        report = self.folder / "report.json"
        report.unlink(missing_ok=True)
        preload = ":".join(part for part in (before, str(OURS), after) if part)
        ours = self.run(*command, preload=preload, REDLINE_REPORT=str(report), **environment)
        assert (native.returncode, native.stderr) == (0, "") or native.returncode == 3
        assert (ours.stdout, ours.stderr, ours.returncode) == (
            native.stdout,
            native.stderr,
            native.returncode,
        )
        return json.loads(report.read_text()) if report.exists() else {}


@pytest.fixture(scope="module")
def bench(tmp_path_factory: pytest.TempPathFactory) -> Bench:
    folder = tmp_path_factory.mktemp("interposers")
    hip = standin.build(folder / "hip")
    standin.write_callers(hip.parent)
    return Bench(folder, hip)


@pytest.fixture(scope="module")
def host(bench: Bench) -> Path:
    return bench.build("host", "host.c")


def active(report: dict[str, Any]) -> None:
    assert (report["state"], report["reason"]) == ("active", None)
    assert report["counters"]["execs_created"] > 0


def passive(report: dict[str, Any], reason: str) -> str:
    """Checks the reason and gives its detail."""
    assert report["state"] == "passive"
    assert report["reason"]["name"] == reason
    assert report["counters"]["execs_created"] == 0 or reason == "TWO_HIPS"
    return str(report["reason"].get("detail", ""))


def test_linked_program(bench: Bench) -> None:
    report = bench.same(bench.build("scenario", "scenario.c", hip=bench.hip))
    active(report)
    assert Path(report["hip"]["path"]).name == bench.hip.name


def test_switched_off(bench: Bench) -> None:
    passive(bench.same(bench.build("scenario", "scenario.c", hip=bench.hip), REDLINE="0"), "SWITCHED_OFF")


def test_c052_module_that_brings_hip_by_dlopen_local(bench: Bench, host: Path) -> None:
    active(bench.same(host, f"local:{bench.module('module.so', bench.hip)}", "run"))


def test_c063_copy_inside_a_wheel(bench: Bench, host: Path) -> None:
    wheel = standin.build(bench.folder / "wheel", name="libamdhip64-1a2b3c4d.so.7")
    active(bench.same(host, f"local:{bench.module('in_wheel.so', wheel)}", "run"))


@pytest.fixture(scope="module")
def copies(bench: Bench) -> tuple[Path, Path]:
    """Modules over two different copies."""
    other = standin.build(bench.folder / "other", name="libamdhip64-ffff.so.7")
    return bench.module("module.so", bench.hip), bench.module("other.so", other)


@pytest.mark.parametrize(
    "steps",
    [
        ("local:{0}", "local:{1}", "run", "run"),
        ("local:{0}", "run", "local:{1}", "run"),
        ("local:{1}", "run", "local:{0}", "run", "run", "close", "run"),
        ("global:{0}", "run", "local:{1}", "run"),
        ("global:{0}", "local:{1}", "run"),
    ],
)
def test_c063_two_copies(bench: Bench, host: Path, copies: tuple[Path, Path], steps: tuple[str, ...]) -> None:
    """Each caller reaches the copy that it reaches without us, also when the second one comes later."""
    report = bench.same(host, *(step.format(*copies) for step in steps))
    detail = passive(report, "TWO_HIPS")
    assert "libamdhip64.so.7" in detail
    assert "libamdhip64-ffff.so.7" in detail


def test_c063_second_copy_beside_a_linked_program(bench: Bench, copies: tuple[Path, Path]) -> None:
    program = bench.build("linked_host", "host.c", str(HERE / "scenario.c"), "-DAS_MODULE", hip=bench.hip)
    passive(bench.same(program, "own", f"local:{copies[1]}", "run", "own"), "TWO_HIPS")


def test_library_that_is_not_clr(bench: Bench) -> None:
    marks = frozenset(f"amd_dbgapi_get_{what}" for what in ("build_name", "git_hash", "build_id"))
    hip = standin.build(bench.folder / "not_clr", without=marks)
    assert str(hip) in passive(bench.same(bench.build("not_clr_program", "scenario.c", hip=hip)), "NOT_CLR")


def test_c048_library_without_version_nodes(bench: Bench) -> None:
    hip = standin.build(bench.folder / "unversioned", versioned=False)
    passive(bench.same(bench.build("unversioned_program", "scenario.c", hip=hip)), "NOT_CLR")


def test_function_that_nobody_knows_and_that_no_table_leads_to(bench: Bench) -> None:
    hip = standin.build(bench.folder / "unknown", extra=("hipFrobnicate", "frobnicate", "hsaFrobnicate"))
    assert (
        passive(bench.same(bench.build("unknown_program", "scenario.c", hip=hip)), "UNKNOWN_FUNCTION")
        == "hipFrobnicate"
    )


def test_c061_two_hundred_functions_that_nobody_knows(bench: Bench) -> None:
    """They are behind the dispatch table: as long as nobody calls one they change nothing."""
    hip = standin.build(bench.folder / "more", appended=tuple(f"hipNewThing{i}" for i in range(200)))
    active(bench.same(bench.build("more_program", "scenario.c", hip=hip)))


def test_more_functions_that_nobody_knows_than_can_be_watched(bench: Bench) -> None:
    hip = standin.build(bench.folder / "most", appended=tuple(f"hipNewThing{i}" for i in range(300)))
    program = bench.build("most_program", "scenario.c", hip=hip)
    assert passive(bench.same(program), "UNKNOWN_FUNCTION").startswith("hipNewThing")


@pytest.mark.parametrize("release", ["6.4.3", "5.2.3"])
def test_c050_c095_older_release_lacks_functions(bench: Bench, release: str) -> None:
    hip = standin.build(bench.folder / release, release)
    active(bench.same(bench.build(f"on_{release}", "scenario.c", hip=hip)))


def test_c055_wrapper_preloaded_after_us(bench: Bench) -> None:
    """It sees every launch, and each launch reaches HIP once."""
    wrapper = bench.build("wrapper.so", "wrapper.c", shared=True)
    active(bench.same(bench.build("scenario", "scenario.c", hip=bench.hip), after=str(wrapper)))


def test_c055_wrapper_preloaded_before_us(bench: Bench) -> None:
    wrapper = bench.build("wrapper.so", "wrapper.c", shared=True)
    active(bench.same(bench.build("scenario", "scenario.c", hip=bench.hip), before=str(wrapper)))


def test_c055_wrapper_of_a_hip_without_tables(bench: Bench) -> None:
    """In front of us some calls may not reach us, behind us it would not see replays."""
    hip = standin.build(bench.folder / "bare", tables=False)
    wrapper = bench.build("wrapper.so", "wrapper.c", shared=True)
    program = bench.build("bare_program", "scenario.c", hip=hip)
    active(bench.same(program))
    assert passive(bench.same(program, after=str(wrapper)), "WRAPPED") == str(wrapper)
    detail = passive(bench.same(program, before=str(wrapper)), "NOT_BOUND")
    assert detail == f"hipGraphLaunch is bound to {wrapper}"


def test_c055_two_builds_of_ours(bench: Bench) -> None:
    """The one behind is passive; every call reaches HIP once."""
    second = bench.folder / "libredline-second.so"
    objects = map(str, library_objects().values())
    script = f"-Wl,--version-script={ROOT / 'generated' / 'redline.map'}"
    subprocess.run(
        [CC, "-shared", "-Wl,-soname,libredline-second.so", script, "-o", str(second), *objects, "-ldl"],
        check=True,
    )
    program = bench.build("scenario", "scenario.c", hip=bench.hip)
    native = bench.run(program)
    log = bench.folder / "two"
    both = bench.run(program, preload=f"{OURS}:{second}", REDLINE_REPORT=f"{log}.%p.json")
    assert (both.returncode, both.stdout, both.stderr) == (0, native.stdout, "")


def test_c051_plugin_bound_past_us(bench: Bench) -> None:
    """RTLD_DEEPBIND: HIP's dispatch table leads the one half of the calls to us, too."""
    program = bench.build("linked_host", "host.c", str(HERE / "scenario.c"), "-DAS_MODULE", hip=bench.hip)
    steps = (f"deep:{bench.module('module.so', bench.hip)}", "run")
    ours, both = bench.same(program, "own"), bench.same(program, "own", *steps)
    active(both)
    assert both["counters"]["execs_created"] == 2 * ours["counters"]["execs_created"]


def test_c051_program_that_could_reach_a_hip_without_tables_past_us(bench: Bench) -> None:
    hip = standin.build(bench.folder / "bare", tables=False)
    program = bench.build("bare_host", "host.c", str(HERE / "scenario.c"), "-DAS_MODULE", hip=hip)
    detail = passive(bench.same(program, "own"), "NOT_BOUND")
    assert detail == "the program itself can look it up with dlsym()"


def test_c054_constructors_threads_and_malloc_before_us(bench: Bench) -> None:
    """Another preloaded library uses HIP in its constructor and its destructor, in a thread, and in its malloc."""
    early = bench.build("early.so", "early.c", hip=bench.hip, shared=True)
    program = bench.build("scenario", "scenario.c", hip=bench.hip)
    bench.same(program, before=str(early))
    bench.same(program, after=str(early))


def test_dlclose_of_hip(bench: Bench, host: Path) -> None:
    """HIP goes away as it does without us, and is found again."""
    module = bench.module("module.so", bench.hip)
    steps = [f"local:{module}", "run", "close"]
    active(bench.same(host, *steps * 4))


def test_dlmopen(bench: Bench, host: Path) -> None:
    module = bench.module("module.so", bench.hip)
    bench.same(host, f"new:{module}", "run")
    report = bench.same(host, f"local:{module}", "run", f"new:{module}", "run")
    active(report)
    native = bench.run(host, f"new:{module}", "run")
    ours = bench.run(host, f"new:{OURS}", f"new:{module}", "run")
    assert (ours.stdout, ours.stderr, ours.returncode) == (native.stdout, "", 0)


def test_loaded_too_late(bench: Bench, host: Path) -> None:
    """Opened by the program instead of preloaded: some callers would not be bound to us."""
    module = bench.module("module.so", bench.hip)
    report = bench.folder / "late.json"
    native = bench.run(host, f"local:{module}", "run")
    ours = bench.run(host, f"global:{OURS}", f"local:{module}", "run", REDLINE_REPORT=str(report))
    assert (ours.stdout, ours.stderr, ours.returncode) == (native.stdout, "", 0)
    passive(json.loads(report.read_text()), "NOT_BOUND")


@pytest.mark.parametrize("way", ["return", "thread", "within"])
def test_c067_ways_to_leave(bench: Bench, way: str) -> None:
    bench.same(bench.build("leaving", "leaving.c", hip=bench.hip), way)


def test_c068_forks_while_threads_hold_locks(bench: Bench) -> None:
    bench.same(bench.build("forks", "forks.c", hip=bench.hip))


def test_c057_programs_without_hip(bench: Bench) -> None:
    bench.same(bench.build("plain", "plain.c"))
    bench.same("/bin/sh", "-c", "echo shell; exec true")
    bench.same(CC, "-E", "-x", "c", os.devnull)
