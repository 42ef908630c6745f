# SPDX-License-Identifier: Apache-2.0
"""Kernels are told apart by their code, nothing is foretold that is not known, unloading waits for nobody.

Each program prints what its cases saw. A native run is the measure: the library may change speed and nothing else.
"""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import pytest
from engine.replay import LIBRARY, ROOT, Run, build_program, needs_hip, passed, run
from engine.variant import variant

from identity.code_objects import prepare

pytestmark = needs_hip

TARGETS = ("gfx1100", "gfx1201")
LATE = ("--delay-us", "20:400")
HERE = Path(__file__).parent

# Launches by HIP, launches replayed, reasons: what is known must be replayed.
EXPECTED: dict[str, tuple[int, int, set[str]]] = {
    "same_names": (20, 76, set()),
    "reload": (27, 64, set()),
    "libraries": (10, 29, set()),
    "statics": (16, 35, set()),
    "unload": (5, 23, set()),
    # HIP keeps a fill in a child graph as it was and describes it as it should be; it found a node and refused it.
    "children": (110, 52, {"NATIVE_FAILED", "PACKETS_DIFFER"}),
    "in_place": (16, 56, set()),
    "failed_calls": (11, 40, {"NATIVE_FAILED"}),  # two of them did half of the work, or may have
    "pending_error": (11, 14, {"PENDING_ERROR"}),  # the graph of one changed meanwhile
}


class Programs:
    """Built once, run natively once for each target."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        (folder / "fixtures").mkdir()
        prepare(ROOT / "softgpu" / "kernels" / "fixtures", folder / "fixtures", TARGETS)
        self.native: dict[tuple[str, str], Run] = {}

    def run(self, name: str, *options: str, library: Path | None = LIBRARY) -> Run:
        program = self.folder / name
        if not program.exists():
            build_program(HERE / f"{name}.c", program)
        settings = {"APP_FIXTURES": str(self.folder / "fixtures")}
        return run(program, options=options, settings=settings, library=library)

    def right(self, name: str, *options: str, library: Path | None = LIBRARY) -> Run:
        done = self.run(name, *options, library=library)
        assert done.verdict == f"PASS {name}" and done.status == 0, done.said
        assert "softgpu:" not in done.said, done.said
        return done

    def natively(self, name: str, gfx: str) -> list[str]:
        if (name, gfx) not in self.native:
            self.native[name, gfx] = self.right(name, "--gfx", gfx, library=None)
        return self.native[name, gfx].printed


@pytest.fixture(scope="session")
def programs(tmp_path_factory: pytest.TempPathFactory) -> Programs:
    return Programs(tmp_path_factory.mktemp("identity"))


@pytest.mark.parametrize("late", [False, True], ids=["default", "late"])
@pytest.mark.parametrize("sdma", ["0", "2"])
@pytest.mark.parametrize("gfx", TARGETS)
@pytest.mark.parametrize("name", EXPECTED)
def test_program_does_what_it_does_natively_and_is_replayed(
    programs: Programs, name: str, gfx: str, sdma: str, late: bool
) -> None:
    done = programs.right(name, "--gfx", gfx, "--sdma", sdma, *(LATE if late else ()))
    assert done.printed == programs.natively(name, gfx), done.said
    assert (done.launches("native"), done.launches("replayed"), done.reasons) == EXPECTED[name], done.said


@pytest.mark.parametrize("gfx", TARGETS)
def test_code_of_replays_in_flight_is_there_until_they_are_done(programs: Programs, gfx: str) -> None:
    done = programs.right("in_flight", "--gfx", gfx, *LATE)
    results = dict(line.split(": ") for line in done.printed if ": " in line)
    assert results["module"] == results["library"]
    assert len(set(results.values())) == 3


class Rule(NamedTuple):
    """`instead` takes the place of the rule's statements; the program's output shows that it is needed."""

    name: str
    program: str
    instead: str = ";"


RULES = [
    Rule("functions-belong-to-modules", "same_names"),
    Rule("a-name-of-two-kernels-tells-nothing", "statics", instead="if (found) *layout = other;"),
    Rule("children-are-not-foretold", "children", instead="bool may_change = true;"),
    Rule("arguments-in-memory-are-compared", "in_place"),
    Rule("code-in-use-is-kept", "in_flight", instead="return native(executable);"),
]


@pytest.mark.parametrize("rule", RULES, ids=[rule.name for rule in RULES])
def test_rule_is_needed(programs: Programs, rule: Rule, tmp_path: Path) -> None:
    done = programs.run(rule.program, library=variant(tmp_path, {rule.name: rule.instead}))
    right = programs.natively(rule.program, "gfx1100") if rule.program in EXPECTED else done.printed
    assert done.status != 0 or done.printed != right, f"right without it: {rule.name}\n{done.said}"


@pytest.mark.parametrize(
    ("app", "native", "replayed"),
    [("large_graph", 2, 2), ("update_in_flight", 2, 10), ("recapture", 3, 5), ("chain", 1, 5)],
)
def test_a_build_that_no_test_ran_on_is_watched_once(
    tmp_path: Path, app: str, native: int, replayed: int
) -> None:
    """One launch more by HIP, in which new arguments are seen to arrive; from then on as with a build that is known."""
    library = variant(tmp_path, {"tested-builds-are-known": "(void)version; return false;"})
    done = passed(app, library=library)
    assert (done.launches("native"), done.launches("replayed")) == (native, replayed), done.said


def test_a_build_that_does_something_else_launches_after_every_change(tmp_path: Path) -> None:
    library = variant(
        tmp_path,
        {
            "tested-builds-are-known": "(void)version; return false;",
            "launches-are-compared-with-what-was-foretold": "bool right = foretold == shown;",
        },
    )
    done = passed("update_in_flight", library=library)
    assert (done.launches("native"), done.launches("replayed")) == (12, 0), done.said
