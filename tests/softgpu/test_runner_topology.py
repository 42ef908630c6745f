# SPDX-License-Identifier: Apache-2.0
"""The topology folder that ROCr reads."""

from __future__ import annotations

from pathlib import Path

import pytest

from softgpu.topology import TARGETS, files, write


def properties(text: str) -> dict[str, int]:
    return {name: int(value) for name, value in (line.split() for line in text.splitlines())}


@pytest.mark.parametrize("name", sorted(TARGETS))
def test_a_target_s_version_spells_its_name(name: str) -> None:
    version = TARGETS[name].version
    assert f"gfx{version // 10000}{version // 100 % 100:x}{version % 100:x}" == name


@pytest.mark.parametrize("gpus", [1, 2, 5])
def test_nodes_memory_caches_and_links_are_as_many_as_the_properties_say(gpus: int) -> None:
    contents = files(TARGETS["gfx1201"], gpus, 2, 1 << 30)
    nodes = {int(path.split("/")[1]) for path in contents if path.startswith("nodes/")}
    assert nodes == set(range(gpus + 1))
    for node in nodes:
        says = properties(contents[f"nodes/{node}/properties"])
        for counter, folder in (("mem_banks_count", "mem_banks"), ("io_links_count", "io_links")):
            there = [path for path in contents if path.startswith(f"nodes/{node}/{folder}/")]
            assert len(there) == says[counter]
        if node:
            assert contents[f"nodes/{node}/gpu_id"] == f"{node + 1}\n"
            assert says["capability"] >> 30 & 1 == 0, "no debugger: the model backend aborts on it"
            assert says["capability"] >> 27 & 1 == 1, "host memory is registered by SVM attributes"
            assert says["num_sdma_engines"] == 2


def test_a_folder_that_holds_something_else_is_replaced_whole(tmp_path: Path) -> None:
    folder = tmp_path / "topology"
    write(folder, TARGETS["gfx1100"])
    (folder / "nodes/1/properties").write_text("wrong 1\n")
    write(folder, TARGETS["gfx1201"], gpus=2)
    assert (folder / "nodes/2/gpu_id").read_text() == "3\n"
    assert properties((folder / "nodes/1/properties").read_text())["gfx_target_version"] == 120001
    assert [path.name for path in tmp_path.iterdir()] == ["topology"]
