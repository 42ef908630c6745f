# SPDX-License-Identifier: Apache-2.0
"""An upgrade: generation refuses unsafe drift until it is acknowledged, and the build says when one is due."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from codegen.test_snapshot import contents
from conftest import ROOT, include_folder
from redline_codegen.cli import main
from redline_codegen.diff import upgrade
from redline_codegen.errors import InputError
from redline_codegen.model import Parameter

from diff.conftest import policy
from diff.test_acknowledge import acknowledge, entry, unsafe
from diff.test_rules import GRAPH, now, resigned


@pytest.fixture(autouse=True)
def only_snapshots(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Generation reads the newest snapshot, whatever this machine has, unless a test is about finding a ROCm."""
    if "notice" not in request.node.name:
        monkeypatch.setattr("redline_codegen.inputs.find_installation", lambda *given: None)


def generate(project: Path) -> int:
    return main(["generate", "--root", str(project)])


def test_generation_refuses_unsafe_drift_and_names_it(
    made_from_643: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    before = contents(made_from_643)
    assert generate(made_from_643) == 1
    told = capsys.readouterr().err
    assert "ROCm 7.2.4 changes what generated/, made from 6.4.3, relies on" in told
    assert re.findall(r"^  ([0-9a-f]{12}) ", told, re.MULTILINE) == [f.fingerprint for f in unsafe()]
    assert "hipDrvGraphAddMemsetNode" in told and "hipLaunchAttributeValue" in told
    assert contents(made_from_643) == before


def test_generation_follows_what_was_acknowledged(made_from_643: Path) -> None:
    acknowledge(made_from_643, *(line for finding in unsafe() for line in entry(finding)))
    assert generate(made_from_643) == 0
    assert '#define RL_ROCM_RELEASE "7.2.4"' in (made_from_643 / "generated" / "hip_api.h").read_text()
    assert generate(made_from_643) == 0
    assert main(["diff", "current", str(ROOT / "api" / "rocm-7.2.4.json"), "--root", str(made_from_643)]) == 0


def test_generation_refuses_a_wrong_acknowledgement(
    made_from_643: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    acknowledge(
        made_from_643,
        *(line for f in unsafe() for line in entry(f)),
        '  - fingerprint: "0123456789ab"',
        "    why: x",
    )
    assert generate(made_from_643) == 1
    assert "0123456789ab matches no finding" in capsys.readouterr().err


def test_generation_refuses_when_there_is_nothing_to_compare_with(
    made_from_643: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (made_from_643 / "api" / "rocm-6.4.3.json").unlink()
    assert generate(made_from_643) == 1
    assert "api/ has no snapshot of it" in capsys.readouterr().err


def test_same_release_is_generated_without_a_comparison(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(upgrade, "compare", lambda *given: pytest.fail("compared"))
    assert generate(project) == 0


def test_other_header_under_the_same_release_is_refused(project: Path) -> None:
    changed = resigned("hipGraphDestroy", GRAPH, Parameter("more", "int"))(now())
    with pytest.raises(InputError, match="signature-changed hipGraphDestroy"):
        upgrade.refuse_unsafe(changed, policy(), [now()], project)
    upgrade.refuse_unsafe(changed, policy(), [], project)


def test_first_generation_has_nothing_to_refuse(project: Path) -> None:
    (project / "generated" / "hip_api.h").unlink()
    assert generate(project) == 0


def test_notice_is_one_line_when_a_newer_rocm_is_installed(
    made_from_643: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ROCM_PATH", str(include_folder("7.2.4").parent))
    assert main(["diff", "--notice", "--root", str(made_from_643)]) == 0
    told = capsys.readouterr()
    assert told.err == "" and told.out.count("\n") == 1
    assert "(ROCM_PATH) is newer than ROCm 6.4.3" in told.out
    assert f"{len(unsafe())} unsafe, 0 decide" in told.out and "`redline-codegen diff`" in told.out


@pytest.mark.parametrize("release", ["6.4.3", "7.2.4"])
def test_notice_is_silent_about_the_same_or_an_older_rocm(
    project: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, release: str
) -> None:
    monkeypatch.setenv("ROCM_PATH", str(include_folder(release).parent))
    assert main(["diff", "--notice", "--root", str(project)]) == 0
    assert capsys.readouterr() == ("", "")


def test_notice_never_stops_a_build(
    made_from_643: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Not for a policy that does not load, a ROCm that does not parse, or a project that is not generated yet."""
    monkeypatch.setenv("ROCM_PATH", str(include_folder("7.2.4").parent))
    (made_from_643 / "policies.yaml").write_text("nonsense: [")
    assert main(["diff", "--notice", "--root", str(made_from_643)]) == 0
    told = capsys.readouterr()
    assert told.out.count("\n") == 1 and "could not be compared" in told.out
    rocm = tmp_path / "rocm" / "include" / "hip"
    rocm.mkdir(parents=True)
    (rocm / "hip_runtime_api.h").write_text("not C")
    monkeypatch.setenv("ROCM_PATH", str(tmp_path / "rocm"))
    assert main(["diff", "--notice", "--root", str(made_from_643)]) == 0
    (made_from_643 / "generated" / "hip_api.h").unlink()
    assert main(["diff", "--notice", "--root", str(made_from_643)]) == 0
    assert capsys.readouterr() == ("", "")
