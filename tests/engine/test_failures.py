# SPDX-License-Identifier: Apache-2.0
"""One failing allocation, or one failing call of ours, at any place: the application is right all the same."""

from __future__ import annotations

import os
import subprocess
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from engine.replay import ROOT, needs_hip, run

pytestmark = needs_hip

FLAGS = [
    "-std=gnu11",
    "-O1",
    "-fPIC",
    "-fvisibility=hidden",
    "-DRL_FAULT_INJECTION",
    f"-I{ROOT}/generated",
    f"-I{ROOT}/runtime",
]


@pytest.fixture(scope="session")
def failing(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("failing")
    compiler = os.environ.get("CC", "cc")
    generated = ("native_table.c", "shims_hip.c", "shims_hsa.c")
    sources = [*sorted((ROOT / "runtime").rglob("*.c")), *(ROOT / "generated" / name for name in generated)]

    def compiled(source: Path) -> str:
        made = folder / f"{source.stem}.o"
        subprocess.run([compiler, *FLAGS, "-c", str(source), "-o", str(made)], check=True, timeout=60)
        return str(made)

    with ThreadPoolExecutor(2) as pool:
        objects = list(pool.map(compiled, sources))
    library = folder / "libredline.so"
    script = f"-Wl,--version-script={ROOT}/generated/redline.map"
    link = [compiler, "-shared", "-Wl,-soname,libredline.so", script, "-o", str(library), *objects]
    subprocess.run([*link, "-ldl", "-lpthread"], check=True, timeout=60)
    return library


# The places of one run are spread over the tests; other places in each of the three applications.
@pytest.mark.parametrize(
    ("app", "site", "places"),
    [
        ("diamond", "alloc", range(1, 100, 6)),
        ("child_graph", "alloc", range(3, 130, 9)),
        ("recapture", "alloc", range(5, 340, 24)),
        ("diamond", "native", range(1, 30, 2)),
        ("exec_destroy", "native", range(2, 200, 17)),
    ],
)
def test_one_failure_leaves_the_application_right(failing: Path, app: str, site: str, places: range) -> None:
    for place in places:
        done = run(app, library=failing, settings={"RL_FAULT": f"{site}:{place}:1"})
        assert done.verdict == f"PASS {app}" and done.status == 0, f"{site} {place}: {done.said}"


@pytest.mark.parametrize(
    ("app", "site", "places"),
    [("diamond", "alloc", range(80, 230, 17)), ("variables", "native", range(1038, 1120, 9))],
)
def test_one_failure_of_a_verification_leaves_the_application_right(
    failing: Path, app: str, site: str, places: range
) -> None:
    failed = 0
    for place in places:
        settings = {"RL_FAULT": f"{site}:{place}:1", "REDLINE_VERIFY": "1"}
        done = run(app, library=failing, settings=settings)
        assert done.verdict == f"PASS {app}" and done.status == 0, f"{site} {place}: {done.said}"
        assert not done.report["counters"]["replays_different"], f"{site} {place}: {done.said}"
        failed += any(
            count for name, count in done.report["counters"].items() if name.startswith("not_verified")
        )
    assert failed > 3


def test_all_allocations_failing_leaves_everything_to_hip(failing: Path) -> None:
    done = run("chain", library=failing, settings={"RL_FAULT": "alloc:1:1000000000"})
    assert done.verdict == "PASS chain" and done.status == 0, done.said
    assert done.launches("replayed") == 0
