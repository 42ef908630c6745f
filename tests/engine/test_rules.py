# SPDX-License-Identifier: Apache-2.0
"""Each rule of the engine is needed: with it taken out of the code, an application is wrong or hangs.

A rule is one or more statements of runtime/ with a marker; see variant.py.
"""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import NamedTuple

import pytest
from engine.replay import needs_hip, passed, run
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
    Rule("blocking-streams-are-looked-at-first", "null_stream"),
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
