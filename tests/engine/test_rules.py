# SPDX-License-Identifier: Apache-2.0
"""Each rule of the engine is needed: with it taken out of the code, an application is wrong or hangs.

A rule is one or more statements of runtime/ with a marker; see variant.py.
"""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import NamedTuple

import pytest
from engine.replay import FIXTURES, ROOT, build_program, needs_hip, passed, run
from engine.variant import STATEMENT, variant

pytestmark = needs_hip

LATE = ("--delay-us", "200:2000")


class Rule(NamedTuple):
    """`instead` takes the place of the rule's statements; the application shows that it is needed."""

    name: str
    app: str
    instead: str = ";"
    settings: tuple[str, ...] = ()


RULES = [
    Rule("waits-are-waited-for", "copy_launch_copy"),
    Rule(
        "the-last-reservation-is-the-streams-own",
        "null_stream",
        instead="if (slot.open) return native(queue, count);",
    ),
    Rule("slots-are-given-up-before-hip-waits", "null_stream", settings=("ROC_CPU_WAIT_FOR_SIGNAL=1",)),
    Rule("a-changed-exec-is-observed-again", "exec_params"),
    Rule("a-destroyed-stream-has-no-state", "destroyed_stream"),
    Rule("arguments-are-copied", "chain", instead="memset(arguments, 0, size);"),
    Rule("levels-are-those-of-the-graph", "chain"),
]


@pytest.mark.parametrize("rule", RULES, ids=[rule.name for rule in RULES])
def test_rule_is_needed(rule: Rule, tmp_path: Path) -> None:
    library = variant(tmp_path, {rule.name: rule.instead})
    settings = dict(setting.split("=") for setting in rule.settings)
    try:
        done = run(rule.app, options=LATE, settings=settings, library=library, seconds=15)
    except subprocess.TimeoutExpired:
        return
    assert done.verdict != f"PASS {rule.app}", f"right without it: {rule.name}\n{done.said}"


def test_variant_without_a_change_is_right(tmp_path: Path) -> None:
    library = variant(tmp_path, {"waits-are-waited-for": STATEMENT})
    assert passed("copy_launch_copy", *LATE, library=library).launches("replayed") == 9


def test_nodes_that_cannot_be_told_apart_run_one_after_the_other(tmp_path: Path) -> None:
    """Without argument layouts the branches of the fan-out look the same: HIP's order of submission is kept."""
    library = variant(tmp_path, {"layouts-tell-nodes-apart": "return layout->known = false;"})
    done = passed("fan_out", *LATE, library=library, trace=True)
    assert done.launches("replayed") == 3
    assert "\n".join(done.buffers[0]["pm4"]).count("EVENT_WRITE") == 74


@pytest.mark.parametrize("ours", [True, False], ids=["with-our-ring", "without-our-ring"])
def test_a_replay_is_started_by_our_own_ring(tmp_path: Path, ours: bool) -> None:
    """HIP rings for its barrier while the slot in front of it is INVALID: nobody looks there again by themselves."""
    program = build_program(ROOT / "tests" / "engine" / "host_reads.c", tmp_path / "host_reads")
    later = "for (volatile int i = 0; i < 20000000; i++) ;"  # until HIP's ring has been heard
    library = variant(
        tmp_path,
        {
            "waits-are-waited-for": later + STATEMENT,
            "replays-ring-for-themselves": STATEMENT if ours else ";",
        },
    )
    if not ours:
        with pytest.raises(subprocess.TimeoutExpired):
            run(program, settings=FIXTURES, library=library, seconds=5)
        return
    done = run(program, settings=FIXTURES, library=library)
    assert done.verdict == "PASS host_reads" and done.launches("replayed") == 19, done.said
