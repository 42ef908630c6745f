# SPDX-License-Identifier: Apache-2.0
"""Write a folder shaped like the KFD sysfs topology: one CPU node and any number of GPUs of one target.

ROCr reads it through HSA_MODEL_TOPOLOGY. The property names are those of the kernel's kfd_topology.c; what ROCr needs
of a modelled GPU: gpu_id is the node number plus one, no debugger capability (bit 30), 64-bit doorbells, at least one
cache, an I/O link each way. Capability bit 27 (SVM) lets ROCr register host memory at its own address.
"""

from __future__ import annotations

import argparse
import os
import shutil
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

MIB = 1 << 20
GIB = 1 << 30

CAPABILITY_WATCH_POINTS = 1 << 7 | 2 << 8
CAPABILITY_DOORBELL_64 = 2 << 12
CAPABILITY_SVM = 1 << 27
CAPABILITY_COHERENT_HOST = 1 << 28

HEAP_SYSTEM = 0
HEAP_VISIBLE = 1
LINK_PCIE = 2
CACHE_DATA_SIMD = 0x1 | 0x8


@dataclass(frozen=True)
class Target:
    """What the topology says about one gfx target.

    `version` is gfx_target_version (major * 10000 + minor * 100 + stepping), `family` the driver's family number.
    """

    name: str
    version: int
    device_id: int
    family: int
    simd_arrays: int
    arrays_per_engine: int
    cu_per_array: int
    integrated: bool = False


TARGETS: Mapping[str, Target] = {
    target.name: target
    for target in (
        Target("gfx1030", 100300, 0x73BF, 143, 4, 2, 10),
        Target("gfx1031", 100301, 0x73DF, 143, 4, 2, 10),
        Target("gfx1032", 100302, 0x73FF, 143, 4, 2, 8),
        Target("gfx1100", 110000, 0x744C, 145, 12, 2, 8),
        Target("gfx1101", 110001, 0x747E, 145, 6, 2, 10),
        Target("gfx1102", 110002, 0x7480, 145, 4, 2, 8),
        Target("gfx1151", 110501, 0x1586, 150, 4, 2, 10),
        Target("gfx1200", 120000, 0x7590, 152, 4, 2, 8),
        Target("gfx1201", 120001, 0x7550, 152, 8, 2, 8),
    )
}


def _bank(heap: int, size: int) -> dict[str, int]:
    return {"heap_type": heap, "size_in_bytes": size, "flags": 0, "width": 256, "mem_clk_max": 1250}


def _link(source: int, target: int) -> dict[str, int]:
    return {
        "type": LINK_PCIE,
        "version_major": 0,
        "version_minor": 0,
        "node_from": source,
        "node_to": target,
        "weight": 20,
        "min_latency": 0,
        "max_latency": 0,
        "min_bandwidth": 0,
        "max_bandwidth": 0,
        "recommended_transfer_size": 0,
        "flags": 1,
    }


def _cpu(gpus: int) -> dict[str, int]:
    cores = os.cpu_count() or 1
    return {
        "cpu_cores_count": cores,
        "simd_count": 0,
        "mem_banks_count": 1,
        "caches_count": 0,
        "io_links_count": gpus,
        "p2p_links_count": 0,
        "cpu_core_id_base": 0,
        "gfx_target_version": 0,
        "vendor_id": 0,
        "device_id": 0,
        "location_id": 0,
        "num_sdma_engines": 0,
        "max_engine_clk_ccompute": 3000,
    }


def _gpu(target: Target, index: int, gpus: int, sdma: int) -> dict[str, int]:
    cus = target.simd_arrays * target.cu_per_array
    return {
        "cpu_cores_count": 0,
        "simd_count": cus * 2,
        "mem_banks_count": 1,
        "caches_count": 3,
        "io_links_count": gpus,
        "p2p_links_count": 0,
        "cpu_core_id_base": 0,
        "simd_id_base": 0x80001000 + 0x1000 * index,
        "max_waves_per_simd": 16,
        "lds_size_in_kb": 64,
        "gds_size_in_kb": 0,
        "num_gws": 64,
        "wave_front_size": 32,
        "array_count": target.simd_arrays,
        "simd_arrays_per_engine": target.arrays_per_engine,
        "cu_per_simd_array": target.cu_per_array,
        "simd_per_cu": 2,
        "max_slots_scratch_cu": 32,
        "gfx_target_version": target.version,
        "vendor_id": 0x1002,
        "device_id": target.device_id,
        "location_id": 0x300 + 0x100 * index,
        "domain": 0,
        "drm_render_minor": 128 + index,
        "hive_id": 0,
        "num_sdma_engines": sdma,
        "num_sdma_xgmi_engines": 0,
        "num_sdma_queues_per_engine": 8,
        "num_cp_queues": 24,
        "max_engine_clk_fcompute": 2000,
        "local_mem_size": 0,
        "fw_version": 2400,
        "capability": CAPABILITY_WATCH_POINTS
        | CAPABILITY_DOORBELL_64
        | CAPABILITY_SVM
        | CAPABILITY_COHERENT_HOST,
        "debug_prop": 1495,
        "sdma_fw_version": 24,
        "unique_id": 1 + index,
        "num_xcc": 1,
        "max_engine_clk_ccompute": 3000,
        "family_id": target.family,
    }


def _cache(level: int, kib: int, index: int) -> dict[str, int]:
    return {
        "processor_id_low": 0x80001000 + 0x1000 * index,
        "level": level,
        "size": kib,
        "cache_line_size": 128,
        "cache_lines_per_tag": 1,
        "association": 16,
        "latency": 0,
        "type": CACHE_DATA_SIMD,
        "sibling_map": 1,
    }


def files(target: Target, gpus: int, sdma: int, vram: int) -> dict[str, str]:
    """The topology as relative path -> contents. `vram` is bytes of device memory for each GPU."""
    out: dict[str, str] = {"generation_id": "1\n"}

    def properties(path: str, values: Mapping[str, int]) -> None:
        out[f"{path}/properties"] = "".join(f"{name} {value}\n" for name, value in values.items())

    out["system_properties"] = "platform_oem 0\nplatform_id 0\nplatform_rev 0\n"
    out["nodes/0/gpu_id"] = "0\n"
    out["nodes/0/name"] = "\n"
    properties("nodes/0", _cpu(gpus))
    properties("nodes/0/mem_banks/0", _bank(HEAP_SYSTEM, 16 * GIB))
    for index in range(gpus):
        node = index + 1
        properties(f"nodes/0/io_links/{index}", _link(0, node))
        out[f"nodes/{node}/gpu_id"] = f"{node + 1}\n"
        out[f"nodes/{node}/name"] = f"softgpu {target.name}\n"
        properties(f"nodes/{node}", _gpu(target, index, gpus, sdma))
        properties(f"nodes/{node}/mem_banks/0", _bank(HEAP_VISIBLE, vram))
        others = [0, *(other + 1 for other in range(gpus) if other != index)]
        for link, other in enumerate(others):
            properties(f"nodes/{node}/io_links/{link}", _link(node, other))
        for number, (level, kib) in enumerate(((1, 32), (2, 4096), (3, 65536))):
            properties(f"nodes/{node}/caches/{number}", _cache(level, kib, index))
    return out


def _holds(folder: Path, contents: Mapping[str, str]) -> bool:
    try:
        return all((folder / path).read_text() == text for path, text in contents.items())
    except OSError:
        return False


def write(folder: Path, target: Target, gpus: int = 1, sdma: int = 2, vram: int = 8 * GIB) -> Path:
    """Write the topology to `folder`, complete or not at all, unless it holds just that; return `folder`."""
    contents = files(target, gpus, sdma, vram)
    if _holds(folder, contents):
        return folder
    folder.parent.mkdir(parents=True, exist_ok=True)
    partial = Path(tempfile.mkdtemp(dir=folder.parent, prefix=".topology-"))
    partial.chmod(0o755)
    for path, text in contents.items():
        place = partial / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(text)
    old = partial.with_suffix(".old")
    try:
        if folder.exists():
            folder.rename(old)
        partial.rename(folder)
    except OSError:
        # Another run wrote it at the same time.
        if not _holds(folder, contents):
            raise
    finally:
        shutil.rmtree(partial, ignore_errors=True)
        shutil.rmtree(old, ignore_errors=True)
    return folder


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("folder", type=Path)
    parser.add_argument("gfx", choices=sorted(TARGETS))
    parser.add_argument("--gpus", type=int, default=1)
    parser.add_argument("--sdma", type=int, default=2, help="copy engines of each GPU")
    parser.add_argument("--vram-mib", type=int, default=8 * GIB // MIB)
    args = parser.parse_args()
    write(args.folder, TARGETS[args.gfx], args.gpus, args.sdma, args.vram_mib * MIB)


if __name__ == "__main__":
    main()
