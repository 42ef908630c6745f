# SPDX-License-Identifier: Apache-2.0
"""REDLINE_VERIFY=1: replays leave what HIP leaves; one that does not is found, and HIP's result stays."""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path
from typing import NamedTuple

import pytest
from engine.replay import FIXTURES, ROOT, Run, build_program, needs_hip, run
from engine.test_applications import EXPECTED, LATE, NEEDS, SLOW
from engine.test_hazards import built
from engine.test_random_graphs import AT_ONCE, GRAPHS, LAUNCHES, WRONG_NATIVELY
from engine.variant import STATEMENT, variant

VERIFY = {"REDLINE_VERIFY": "1"}
MODES = {"gfx1100": SLOW, "gfx1201": ("--sdma", "0", *LATE)}
# A launch that is queued behind a wait for what its own thread does afterwards; launches with too many of them.
NEVER_IDLE = {"stream_value"}
ARGUMENTS = {"many_launches": ("150",)}

CHECKS = (
    "memory-behind-pointers-is-kept",
    "arguments-are-read-as-their-layout-says",
    "memory-of-the-host-is-kept-from-where-hip-says-that-it-begins",
    "memory-that-cannot-be-read-is-unknown",
    "too-much-memory-is-not-kept",
    "copy-that-fails-is-a-reason",
    "copy-that-is-late-keeps-what-it-uses",
    "the-same-result-is-equal",
    "only-bytes-that-differ-are-written",
    "result-is-put-back-after-a-copy-that-failed",
    "wrong-result-is-found-and-replaced",
    "result-that-hip-does-not-repeat-is-no-difference",
    "stray-bytes-of-a-replay-are-found-and-put-back",
    "bytes-that-somebody-else-writes-meanwhile-stay",
)


def right(app: str, done: Run) -> None:
    assert done.verdict == f"PASS {app}" and done.status == 0, done.said
    assert "softgpu:" not in done.said, done.said


@needs_hip
@pytest.mark.parametrize("app", EXPECTED)
@pytest.mark.parametrize("gfx", MODES)
def test_replays_of_an_application_leave_what_hip_leaves(gfx: str, app: str) -> None:
    options = ("--gfx", gfx, *MODES[gfx], *NEEDS.get(app, ()))
    done = run(app, *ARGUMENTS.get(app, ()), options=options, settings=VERIFY)
    right(app, done)
    counters, unverified = done.report["counters"], done.launches("replayed")
    assert done.reasons == EXPECTED[app][2] and not counters["replays_different"], done.said
    # A wait may run out on a busy machine; such a launch is a replay.
    assert unverified == counters["not_verified_in_time"], counters
    if app not in ARGUMENTS:
        assert counters["replays_verified"] + unverified == EXPECTED[app][1], counters
    assert (counters["replays_verified"] > 0) == (EXPECTED[app][1] > 0 and app not in NEVER_IDLE), counters


# Target, first seed, how many.
SHARES = (
    [(gfx, first, AT_ONCE) for gfx in MODES for first in range(0, GRAPHS, AT_ONCE)]
    if "STRESS_SECONDS" in os.environ
    else [("gfx1100", 0, 6), ("gfx1201", 100, 6)]
)


@needs_hip
@pytest.mark.stress
@pytest.mark.parametrize(("gfx", "first", "count"), SHARES)
def test_replays_of_random_graphs_leave_what_hip_leaves(
    gfx: str, first: int, count: int, tmp_path: Path
) -> None:
    program = build_program(ROOT / "tests" / "engine" / "random_graphs.c", tmp_path / "random_graphs")
    options = ("--gfx", gfx, *MODES[gfx])
    wrong = sorted(seed for seed in WRONG_NATIVELY if first <= seed < first + count)
    for start, end in zip([first, *(seed + 1 for seed in wrong)], [*wrong, first + count], strict=True):
        if start == end:
            continue
        arguments = (str(start), str(end - start))
        done = run(program, *arguments, options=options, settings=FIXTURES | VERIFY, seconds=300)
        right("random_graphs", done)
        counters, unverified = done.report["counters"], done.launches("replayed")
        assert not counters["replays_different"] and not done.reasons, done.said
        assert counters["replays_verified"] + unverified == (end - start) * (LAUNCHES - 1), counters
        assert unverified == counters["not_verified_in_time"], counters


class Wrong(NamedTuple):
    """`instead` takes the place of the rule's statements; where the replay then goes wrong in the application."""

    rule: str
    instead: str
    app: str
    found: str


COPIED = "arguments-are-copied"
SWAP = "uint64_t *p = (uint64_t *)arguments, kept = p[0]; p[0] = p[1]; p[1] = kept;"
WRONG = {
    "number": Wrong(COPIED, f"{STATEMENT} if (index == 5) arguments[12] ^= 1;", "chain", "node 15, mul_add"),
    "input-written": Wrong(COPIED, f"{STATEMENT} if (index == 0) {{ {SWAP} }}", "chain", "node 0, copy"),
    "order": Wrong("levels-are-those-of-the-graph", ";", "chain", "node 15, mul_add"),
}
DETAIL = re.compile(
    r"0x[0-9a-f]+ \(\d+ of \d+ bytes, last named by (node \d+, \w+)\): "
    r"HIP left [0-9a-f]{2}, the replay [0-9a-f]{2}; \d+ bytes differ"
)


@needs_hip
@pytest.mark.parametrize("wrong", WRONG.values(), ids=WRONG)
def test_wrong_replay_is_found_and_its_exec_is_native_from_then_on(wrong: Wrong, tmp_path: Path) -> None:
    library = variant(tmp_path, {wrong.rule: wrong.instead})
    for gfx in MODES:
        done = run(wrong.app, options=("--gfx", gfx, *LATE), settings=VERIFY, library=library)
        right(wrong.app, done)
        native, replayed, _ = EXPECTED[wrong.app]
        assert (done.launches("native"), done.launches("replayed")) == (native + replayed, 0), done.said
        assert done.report["counters"]["replays_different"] == 1, done.said
        assert not done.report["counters"]["replays_verified"], done.said
        (reason,) = [one["reason"] for one in done.execs]
        found = DETAIL.fullmatch(reason["detail"])
        assert reason["name"] == "REPLAY_DIFFERS" and found and found[1] == wrong.found, reason
        assert f"redline: exec 1 is launched by HIP: {reason['sentence']}: {reason['detail']}" in done.said


@needs_hip
def test_exec_with_a_wrong_replay_stays_native_when_it_is_changed(tmp_path: Path) -> None:
    library = variant(tmp_path, {COPIED: f"{STATEMENT} arguments[12] ^= 1;"})
    done = run("update_in_flight", settings=VERIFY, library=library)
    right("update_in_flight", done)
    assert done.launches("replayed") == 0 and done.reasons == {"REPLAY_DIFFERS"}, done.said
    assert done.report["counters"]["replays_different"] == 1, done.said


@needs_hip
def test_wrong_replay_is_not_noticed_without_the_option(tmp_path: Path) -> None:
    wrong = WRONG["number"]
    library = variant(tmp_path, {wrong.rule: wrong.instead})
    assert run(wrong.app, library=library).verdict.startswith(f"FAIL {wrong.app}")


@pytest.fixture(scope="session")
def checks(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return built("verify_checks", tmp_path_factory.mktemp("verify"))


@pytest.mark.parametrize("name", CHECKS)
def test_memory_of_a_gpu_of_our_own(checks: Path, name: str) -> None:
    done = subprocess.run([checks, name], capture_output=True, text=True, timeout=20, check=False)
    assert done.returncode == 0, done.stderr


def test_every_check_is_listed(checks: Path) -> None:
    done = subprocess.run([checks], capture_output=True, text=True, timeout=20, check=False)
    assert done.stdout.split() == list(CHECKS)
