# SPDX-License-Identifier: Apache-2.0
"""Whatever way a program comes by HIP's functions: it is right, and what is replayed is what it asked for last."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from engine.replay import needs_hip

from routes import routed
from routes.routed import APPS, HERE, HIP, TARGETS, Programs, both

pytestmark = needs_hip

MUTATORS = "hipGraphExec*,hipGraphNode*,hipGraphKernel*,hipGraphMem*,hipModuleUnload,hipDeviceReset"
CAPTURES = (
    "hipStreamBeginCapture*,hipStreamEndCapture*,hipGraphInstantiate*,hipGraphExecDestroy,hipStreamDestroy"
)
SPLITS = {"all": "*", "launches": "hipGraphLaunch", "mutators": MUTATORS, "captures": CAPTURES}
ROUTES = ("handle", "proc", "entry")


@pytest.fixture(scope="module")
def programs(tmp_path_factory: pytest.TempPathFactory) -> Programs:
    folder = tmp_path_factory.mktemp("routes")
    routed.write(folder)
    return Programs(folder)


CASES = [
    (app, split, ROUTES[(i + j) % len(ROUTES)], TARGETS[(i + j) % len(TARGETS)])
    for i, app in enumerate(
        (
            "exec_params",
            "child_graph",
            "recapture",
            "exec_destroy",
            "torch_replay",
            "memset_nodes",
            "per_thread_stream",
            "capturing_stream",
        )
    )
    for j, split in enumerate(SPLITS)
]


@pytest.mark.parametrize(("app", "split", "route", "gfx"), CASES)
def test_c046_linked_program_with_calls_that_were_looked_up(
    programs: Programs, app: str, split: str, route: str, gfx: str
) -> None:
    """Two components of one process hold the same objects: one is linked to HIP, the other has looked it up."""
    program = programs.routed(APPS / f"{app}.c", linked=True)
    native = both(program, gfx=gfx)
    ours = both(program, gfx=gfx, ROUTE=route, ROUTED=SPLITS[split])
    assert ours.report["hip"]["dispatch_table"]
    assert ours.report["counters"] == native.report["counters"]
    assert [e["launches"] for e in ours.execs] == [e["launches"] for e in native.execs], ours.report


@pytest.mark.parametrize("gfx", TARGETS)
@pytest.mark.parametrize("route", ROUTES)
def test_c052_program_that_looks_everything_up_is_replayed(programs: Programs, route: str, gfx: str) -> None:
    """Not linked to HIP at all, as JAX, TensorFlow, IREE and many bindings are."""
    ours = both(programs.routed(APPS / "chain.c", linked=False), gfx=gfx, ROUTE=route)
    assert ours.launches("replayed") == 5
    assert ours.report["counters"]["captures_ended"] == 1


@pytest.mark.parametrize("flags", ["", "l", "g"])
def test_c052_plugin_that_brings_hip(programs: Programs, flags: str) -> None:
    host = programs.compile("host", HERE / "host.c", "-ldl")
    plugin = programs.plugin(APPS / "chain.c", "-Dmain=start")
    assert both(host, flags, str(plugin)).launches("replayed") == 5


@pytest.mark.parametrize("flags", ["", "l", "d", "dl", "dg"])
def test_c051_plugin_beside_a_program_that_is_linked(programs: Programs, flags: str) -> None:
    host = programs.compile("linked_host", HERE / "host.c", *routed.LINK, "-ldl")
    plugin = programs.plugin(APPS / "chain.c", "-Dmain=start")
    assert both(host, flags, str(plugin)).launches("replayed") == 5


@pytest.mark.parametrize("flags", ["l", "d", "dl"])
@pytest.mark.parametrize("gfx", TARGETS)
def test_c051_plugin_that_is_opened_between_replays_and_changes_an_exec(
    programs: Programs, flags: str, gfx: str
) -> None:
    program, plugin = programs.linked(HERE / "changed_by.c"), programs.plugin(HERE / "change.c")
    assert both(program, f"{flags}:{plugin}", gfx=gfx).launches("replayed") > 2


@pytest.mark.parametrize("gfx", TARGETS)
@pytest.mark.parametrize("route", ["handle", "proc", "entry", "default", "next"])
def test_c046_function_that_is_looked_up_between_replays_changes_an_exec(
    programs: Programs, route: str, gfx: str
) -> None:
    assert both(programs.linked(HERE / "changed_by.c"), route, gfx=gfx).launches("replayed") > 2


@pytest.fixture(scope="module")
def renamed(programs: Programs) -> dict[str, Path]:
    """HIP under other names: of the file alone, of the soname, too, and behind a link."""
    real = HIP / "lib" / "libamdhip64.so.7"
    names = {name: programs.folder / f"{name}.so" for name in ("file", "soname", "link")}
    shutil.copy(real, names["file"])
    names["soname"].write_bytes(real.read_bytes().replace(b"\0libamdhip64.so.7\0", b"\0libxxxhip64.so.7\0"))
    names["link"].symlink_to(real.resolve())
    return names


@pytest.mark.parametrize("name", ["file", "soname", "link"])
@pytest.mark.parametrize("gfx", TARGETS)
def test_c063_hip_under_another_name_is_replayed(
    programs: Programs, renamed: dict[str, Path], name: str, gfx: str
) -> None:
    program = programs.routed(APPS / "chain.c", linked=False)
    ours = both(program, gfx=gfx, ROUTE="handle", ROUTED_HIP=str(renamed[name]))
    assert ours.launches("replayed") == 5


def test_c063_plugin_that_is_bound_to_hip_under_another_name(
    programs: Programs, renamed: dict[str, Path]
) -> None:
    """The file has another name and the usual soname: the loader takes it for what the plugin needs."""
    program = programs.routed(HERE / "open.c", linked=False)
    plugin = programs.plugin(APPS / "chain.c", "-Dmain=start")
    ours = both(program, str(renamed["file"]), str(plugin))
    assert ours.launches("replayed") == 5
