# SPDX-License-Identifier: Apache-2.0
"""Log and exit report: complete, valid, never in the way."""

from __future__ import annotations

import json
import os
import re
import subprocess
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

Build = Callable[..., Path]
ROOT = Path(__file__).resolve().parents[2]
SOURCES = [
    "report/options.c",
    "report/log.c",
    "report/reasons.c",
    "report/report.c",
    "report/summary.c",
    "base/fork.c",
]
SENTENCES = dict(re.findall(r'X\((\w+), "(.*)"\)', (ROOT / "runtime" / "report" / "reasons.h").read_text()))
REASON = {name: number for number, name in enumerate(SENTENCES)}


@pytest.fixture(scope="module")
def driver(build: Build) -> Path:
    return build("report_driver", [*SOURCES, "report_driver.c"])


@pytest.fixture(scope="module")
def preload(build: Build) -> Path:
    return build("report.so", SOURCES)


def run(driver: Path, *words: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [str(driver), *words], env=environment, capture_output=True, text=True, timeout=60, check=False
    )


def report(driver: Path, file: Path, *words: str) -> Any:
    done = run(driver, *words, REDLINE_REPORT=str(file))
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    return json.loads(file.read_text())


def test_the_version_is_the_projects() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["version"]
    assert f'#define RL_VERSION "{project}"' in (ROOT / "runtime" / "report" / "version.h").read_text()


def test_every_reason_has_its_own_plain_sentence() -> None:
    sentences = [sentence for name, sentence in SENTENCES.items() if name != "NONE"]
    assert len(set(sentences)) == len(sentences) > 5
    assert all(sentence and not sentence.endswith(".") for sentence in sentences)


def test_nothing_is_written_unless_asked(driver: Path) -> None:
    done = run(driver, "state:1:0", "exec:1:3:1:0:2:because", "log:1:5:hello")
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_a_process_without_hip_is_left_alone(preload: Path, tmp_path: Path) -> None:
    for command in (["/bin/true"], ["/bin/sh", "-c", "true; exit 3"]):
        plain = subprocess.run(command, env={}, capture_output=True, check=False)
        ours = subprocess.run(command, env={"LD_PRELOAD": str(preload)}, capture_output=True, check=False)
        assert (ours.returncode, ours.stdout, ours.stderr) == (plain.returncode, b"", b"")
    environment = {"LD_PRELOAD": str(preload), "REDLINE_REPORT": "stderr"}
    asked = subprocess.run(["/bin/true"], env=environment, capture_output=True, text=True, check=True)
    assert re.fullmatch(
        r"redline: version \S+, process \d+ \(true\)\nredline: HIP was not used\n", asked.stderr
    )
    assert asked.stdout == ""


def test_json_tells_state_hip_counters_and_reasons(driver: Path, tmp_path: Path) -> None:
    told = report(
        driver,
        tmp_path / "r.json",
        "hip:/opt/rocm/lib/libamdhip64.so.7:7.2.4",
        "state:1:0",
        f"exec:1:12:1:99:{REASON['NONE']}",
        f"exec:1:5:7:0:{REASON['TOPOLOGY_DIFFERS']}:node 3 has an edge to node 9",
    )
    assert told["hip"] == {
        "path": "/opt/rocm/lib/libamdhip64.so.7",
        "version": "7.2.4",
        "dispatch_table": True,
    }
    assert (told["state"], told["reason"], told["program"]) == ("active", None, "report_driver")
    assert told["counters"]["execs_created"] == 2
    assert told["execs"] == [
        {"id": 1, "nodes": 12, "launches": {"native": 1, "replayed": 99}, "reason": None},
        {
            "id": 2,
            "nodes": 5,
            "launches": {"native": 7, "replayed": 0},
            "reason": {
                "name": "TOPOLOGY_DIFFERS",
                "sentence": SENTENCES["TOPOLOGY_DIFFERS"],
                "detail": "node 3 has an edge to node 9",
            },
        },
    ]
    assert told["reasons"] == {"TOPOLOGY_DIFFERS": 1}
    assert list(tmp_path.iterdir()) == [tmp_path / "r.json"]


def test_passive_says_why(driver: Path, tmp_path: Path) -> None:
    told = report(driver, tmp_path / "r.json", f"state:0:{REASON['NOT_BOUND']}:hipGraphAddNode")
    assert told["state"] == "passive"
    assert told["reason"]["detail"] == "hipGraphAddNode"
    done = run(driver, f"state:0:{REASON['NOT_BOUND']}:hipGraphAddNode", REDLINE_REPORT="stderr")
    assert f"every call went to HIP: {SENTENCES['NOT_BOUND']}: hipGraphAddNode\n" in done.stderr


def test_text_has_a_line_for_each_exec(driver: Path) -> None:
    done = run(driver, "state:1:0", f"exec:2:4:3:8:{REASON['USER_OBJECT']}:", REDLINE_REPORT="stderr")
    lines = done.stderr.splitlines()
    assert lines.count("redline: execs created: 2") == 1
    expected = f"4 nodes, launches: 3 native, 8 replayed; native because {SENTENCES['USER_OBJECT']}"
    assert lines[-2:] == [f"redline: exec {i}: {expected}" for i in (1, 2)]
    assert all(line.startswith("redline: ") for line in lines)


def test_many_execs_share_a_line_and_nothing_is_lost(driver: Path, tmp_path: Path) -> None:
    told = report(driver, tmp_path / "r.json", "state:1:0", f"exec:1000:2:3:4:{REASON['NODE_TYPE']}")
    assert len(told["execs"]) == 256
    others = {"count": 744, "nodes": 1488, "launches": {"native": 2232, "replayed": 2976}}
    assert told["other_execs"] == others
    assert told["reasons"] == {"NODE_TYPE": 1000}


@settings(max_examples=40, deadline=None)
@given(detail=st.binary(max_size=400).map(lambda text: text.translate(None, b"\0:")))
def test_any_bytes_make_valid_json_and_valid_utf8(
    driver: Path, tmp_path_factory: pytest.TempPathFactory, detail: bytes
) -> None:
    file = tmp_path_factory.mktemp("bytes") / "r.json"
    command: list[bytes] = [os.fsencode(driver), b"state:1:0", b"exec:1:1:1:1:2:" + detail]
    subprocess.run(command, env={"REDLINE_REPORT": str(file)}, check=True, timeout=20)
    told = json.loads(file.read_bytes().decode("utf-8"))
    if detail.isascii() and len(detail) < 256:
        assert told["execs"][0]["reason"]["detail"] == detail.decode()


def test_a_relative_file_stays_where_the_program_started(driver: Path, tmp_path: Path) -> None:
    command = [str(driver), "state:1:0", "chdir:/"]
    subprocess.run(command, env={"REDLINE_REPORT": "r.txt"}, cwd=tmp_path, check=True, timeout=20)
    assert (tmp_path / "r.txt").read_text().startswith("redline: version ")


def test_a_name_may_contain_the_process(driver: Path, tmp_path: Path) -> None:
    run(driver, "state:1:0", "fork:1", REDLINE_REPORT=str(tmp_path / "r-%p.json"))
    files = sorted(tmp_path.iterdir())
    assert len(files) == 2
    assert {f"r-{json.loads(file.read_text())['process']}.json" for file in files} == {
        file.name for file in files
    }


def test_a_process_without_hip_never_replaces_a_report(driver: Path, tmp_path: Path) -> None:
    file = tmp_path / "r.json"
    assert report(driver, file)["state"] == "unused"
    assert report(driver, file, "state:1:0")["state"] == "active"
    assert report(driver, file)["state"] == "active"
    assert list(tmp_path.iterdir()) == [file]


def test_c068_a_forked_child_has_its_own_empty_report(driver: Path, tmp_path: Path) -> None:
    told = report(driver, tmp_path / "r.json", "state:1:0", "exec:3:1:1:1:2:x", "fork")
    assert (told["state"], len(told["execs"])) == ("active", 3)
    run(
        driver,
        "state:1:0",
        "hip:a:b",
        "exec:3:1:1:1:2:x",
        "fork:1",
        REDLINE_REPORT=str(tmp_path / "f-%p.json"),
    )
    children = [json.loads(file.read_text()) for file in tmp_path.glob("f-*.json")]
    assert sorted(len(child["execs"]) for child in children) == [0, 3]
    assert sorted(child["counters"]["execs_created"] for child in children) == [0, 3]


def test_a_report_that_cannot_be_written_is_one_line_on_stderr(driver: Path, tmp_path: Path) -> None:
    for name in (tmp_path / "missing" / "r.json", tmp_path, Path("/dev/full")):
        done = run(driver, "state:1:0", REDLINE_REPORT=str(name))
        assert (done.returncode, done.stdout) == (0, "")
        assert re.fullmatch(r"redline: the report was not written to \S+: error \d+\n", done.stderr)
    assert list(tmp_path.iterdir()) == []


def test_a_device_is_written_to_and_not_replaced(driver: Path, tmp_path: Path) -> None:
    done = run(driver, "state:1:0", REDLINE_REPORT="/dev/null")
    assert (done.returncode, done.stderr) == (0, "")
    assert Path("/dev/null").is_char_device()
    fifo = tmp_path / "fifo"
    os.mkfifo(fifo)
    done = run(driver, "state:1:0", REDLINE_REPORT=str(fifo))
    assert "error" in done.stderr
    assert fifo.is_fifo()


@pytest.mark.parametrize("name", ["/dev/stderr", "/dev/fd/2", "/proc/self/fd/2"])
def test_a_file_that_the_program_writes_to_is_never_replaced(driver: Path, tmp_path: Path, name: str) -> None:
    """Its standard error is a file of the user's, and the report goes behind what stands there."""
    file = tmp_path / "errors.txt"
    file.write_text("the program's\n")
    with file.open("a") as errors:
        subprocess.run(
            [str(driver), "state:1:0"], env={"REDLINE_REPORT": name}, stderr=errors, check=True, timeout=20
        )
    assert file.read_text().startswith("the program's\nredline: version ")
    assert list(tmp_path.iterdir()) == [file]


def test_a_limit_on_file_sizes_does_not_kill_the_program(driver: Path, tmp_path: Path) -> None:
    script = 'ulimit -f 0; exec "$0" state:1:0'
    environment = {"REDLINE_REPORT": str(tmp_path / "r.json")}
    command = ["/bin/sh", "-c", script, str(driver)]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False, timeout=20)
    assert done.returncode == 0
    assert "the report was not written" in done.stderr
    assert list(tmp_path.iterdir()) == []


def test_a_link_leads_to_the_file_that_is_replaced(driver: Path, tmp_path: Path) -> None:
    (tmp_path / "real.json").write_text("old")
    (tmp_path / "link.json").symlink_to("real.json")
    assert report(driver, tmp_path / "link.json", "state:1:0")["state"] == "active"
    assert (tmp_path / "link.json").is_symlink()
    assert json.loads((tmp_path / "real.json").read_text())["state"] == "active"


def test_problems_with_options_are_said_once_when_hip_is_used(driver: Path, tmp_path: Path) -> None:
    words = ["state:1:0", "state:1:0", "state:0:2"]
    problem = "REDLINE_LOG=loud is not understood (error, info or debug): ignored"
    assert run(driver, *words, REDLINE_LOG="loud").stderr == f"redline: {problem}\n"
    assert run(driver, REDLINE_LOG="loud").stderr == ""
    run(driver, *words, REDLINE_LOG="loud", REDLINE_REPORT=str(tmp_path / "r.json"))
    assert json.loads((tmp_path / "r.json").read_text())["option_problems"] == [problem]


def test_the_log_says_what_its_level_allows(driver: Path) -> None:
    words = ["log:0:1:wrong", "log:1:1:told", "log:2:1:detail"]
    expected = ["redline: wrong\n", "redline: told\n", "redline: detail\n"]
    for level, name in enumerate(["error", "info", "debug"]):
        assert run(driver, *words, REDLINE_LOG=name).stderr == "".join(expected[: level + 1])


def test_a_change_of_reason_is_logged_and_a_repetition_is_not(driver: Path) -> None:
    done = run(
        driver, "state:1:0", f"exec:1:2:0:0:{REASON['NATIVE_FAILED']}:hipErrorUnknown", REDLINE_LOG="info"
    )
    assert done.stderr.splitlines()[1:] == [
        f"redline: exec 1 is launched by HIP: {SENTENCES['NATIVE_FAILED']}: hipErrorUnknown"
    ]


def test_nothing_is_logged_at_each_launch(driver: Path, tmp_path: Path) -> None:
    file = tmp_path / "r.json"
    words = ["state:1:0", f"again:30:{REASON['TOO_SMALL']}"]
    done = run(driver, *words, REDLINE_LOG="info", REDLINE_REPORT=str(file))
    assert done.stderr.splitlines()[1:] == [f"redline: exec 1 is launched by HIP: {SENTENCES['TOO_SMALL']}"]
    told = json.loads(file.read_text())
    assert told["execs"][0]["launches"]["native"] == 30
    assert told["execs"][0]["reason"]["name"] == "TOO_SMALL"


def test_a_flood_of_messages_is_dropped_and_counted(driver: Path, tmp_path: Path) -> None:
    file = tmp_path / "r.json"
    done = run(driver, "state:1:0", "log:1:20000:again", REDLINE_LOG="info", REDLINE_REPORT=str(file))
    written = done.stderr.count("again")
    assert 10 < written < 1000
    assert written + json.loads(file.read_text())["messages_dropped"] + 1 >= 20000


def test_a_closed_stderr_is_never_written_to(driver: Path, tmp_path: Path) -> None:
    script = 'exec 2>&-; exec "$0" state:1:0 log:0:3:no chdir:/ options'
    environment = {"REDLINE_LOG": "debug", "REDLINE_REPORT": "stderr"}
    done = subprocess.run(
        ["/bin/sh", "-c", script, str(driver)], env=environment, capture_output=True, check=True
    )
    assert done.stderr == b""


def test_a_reader_that_is_gone_does_not_kill_the_program(driver: Path) -> None:
    reading, writing = os.pipe()
    os.close(reading)
    command = [str(driver), "state:1:0", "log:0:3:nobody", "options"]
    done = subprocess.run(
        command,
        env={"REDLINE_LOG": "debug", "REDLINE_REPORT": "stderr"},
        stdout=subprocess.PIPE,
        stderr=writing,
        restore_signals=True,
        check=False,
    )
    os.close(writing)
    assert (done.returncode, bool(done.stdout)) == (0, True)


@pytest.mark.parametrize("how", ["main", "exit-in-thread"])
def test_c067_exit_while_threads_still_report(driver: Path, tmp_path: Path, how: str) -> None:
    for turn in range(10):
        file = tmp_path / f"{turn}.json"
        words = ["state:1:0", "busy", *([how] if how != "main" else [])]
        done = run(driver, *words, REDLINE_REPORT=str(file), REDLINE_LOG="info")
        assert done.returncode == 0
        detail = json.loads(file.read_text())["execs"][0]["reason"]
        assert detail is None or re.fullmatch(r"(\d+ of thread \d+)?", detail["detail"])


def test_threads_and_exit_are_clean_under_the_thread_sanitizer(sanitized: Build, tmp_path: Path) -> None:
    program = sanitized("report_thread", [*SOURCES, "report_driver.c"], "thread")
    done = run(program, "state:1:0", "busy", "exec:300:1:1:1:2:x", REDLINE_REPORT=str(tmp_path / "r.json"))
    assert (done.returncode, done.stderr) == (0, "")


def test_any_report_is_clean_under_the_address_sanitizer(sanitized: Build, tmp_path: Path) -> None:
    program = sanitized("report_address", [*SOURCES, "report_driver.c"], "address,undefined")
    for name in ("r.json", "r.txt"):
        words = [
            "hip:" + "p" * 400 + ".so:v",
            "state:1:0",
            "exec:300:1:1:1:2:" + "d" * 600,
            "log:0:40:" + "m" * 900,
        ]
        done = run(program, *words, REDLINE_REPORT=str(tmp_path / name))
        assert done.returncode == 0
        assert "Sanitizer" not in done.stderr
        assert "runtime error" not in done.stderr
    path = json.loads((tmp_path / "r.json").read_text())["hip"]["path"]
    assert (len(path), path[:4], path[-6:]) == (255, "...p", "ppp.so")
