# SPDX-License-Identifier: Apache-2.0
"""Code that goes away waits for no replay of other code: HIP waits for nothing there, and so does the library."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from engine.replay import needs_hip
from progress.running import MODES, TARGETS, build, finished

pytestmark = needs_hip

HOLDS = ("function", "value", "event")
WHATS = ("other", "again", "loaded_meanwhile", "library", "replayed_before", "exec_destroyed")
STREAMS = ("null", "blocking", "nonblocking", "thread", "urgent", "lazy")
COMBINATIONS = [(hold, what) for what in WHATS for hold in HOLDS]


@pytest.fixture(scope="session")
def unload(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build("unload", tmp_path_factory.mktemp("unload"))


def streams_of(target: int, combination: int) -> list[str]:
    """All of them under stress; otherwise one, which differs between combinations and between targets."""
    turn = combination + combination // len(HOLDS) + target * len(HOLDS)
    return list(STREAMS) if "STRESS_SECONDS" in os.environ else [STREAMS[turn % len(STREAMS)]]


@pytest.mark.stress
@pytest.mark.parametrize(
    ("gfx", "hold", "what", "stream", "mode"),
    [
        (gfx, hold, what, stream, list(MODES)[(n + t) % len(MODES)])
        for t, gfx in enumerate(TARGETS)
        for n, (hold, what) in enumerate(COMBINATIONS)
        for stream in streams_of(t, n)
    ],
)
def test_unloading_code_does_not_wait_for_replays_of_other_code(
    unload: Path, gfx: str, hold: str, what: str, stream: str, mode: str
) -> None:
    options = ("--gfx", gfx, *MODES[mode])
    finished(unload, hold, what, stream, options=options, library=None)
    done = finished(unload, hold, what, stream, options=options)
    assert done.launches("replayed") > 0, done.report
