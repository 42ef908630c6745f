# SPDX-License-Identifier: Apache-2.0
"""redline-codegen: from hip_runtime_api.h and policies.yaml to the committed files of libredline.so."""

from __future__ import annotations

import argparse
import difflib
import gc
import json
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from . import pm4, rocm
from .diff import command as diff
from .diff.upgrade import refuse_unsafe
from .emit import read_text, render, write_atomically, write_files
from .errors import InputError
from .explain import explain, stats
from .inputs import current_release, read_api, read_snapshots, snapshot_path
from .model import Api
from .policy import Policy, check_policy, load_policy
from .snapshot import to_text


def main(argv: list[str] | None = None) -> int:
    arguments = _parser().parse_args(argv)
    # A header's tree is many objects and no garbage; looking for some costs a sixth of the time.
    gc.set_threshold(1_000_000)
    try:
        return int(arguments.run(arguments))
    except InputError as error:
        print(f"redline-codegen: {error}", file=sys.stderr)
        return 1
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    except OSError as error:
        place = f"{error.filename}: " if error.filename else ""
        print(f"redline-codegen: {place}{error.strerror}.", file=sys.stderr)
        return 1


def run_generate(arguments: argparse.Namespace) -> int:
    files, source = _rendered(arguments)
    changed = write_files(files, arguments.root)
    print(f"Read {source}.")
    print(f"{len(files)} files, {len(changed)} changed" + "".join(f"\n  {path}" for path in changed))
    return 0


def run_check(arguments: argparse.Namespace) -> int:
    files, source = _rendered(arguments, as_committed=True)
    differing = 0
    for path, text in files.items():
        committed = read_text(arguments.root / path)
        if committed != text:
            differing += 1
            sys.stdout.writelines(_line_diff(path, committed or "", text))
    print(f"Read {source}.")
    print(f"{len(files)} files, {differing} differ from what would be generated")
    return 1 if differing else 0


def run_snapshot(arguments: argparse.Namespace) -> int:
    snapshots = read_snapshots(arguments.root)
    api, source = read_api(arguments.header, arguments.library, arguments.root, snapshots)
    target = arguments.output or snapshot_path(arguments.root, api.release)
    text = to_text(api)
    changed = read_text(target) != text
    if changed:
        write_atomically(target, text)
    print(f"Read {source}.")
    print(f"{target} {'written' if changed else 'unchanged'}")
    return 0


def run_stats(arguments: argparse.Namespace) -> int:
    api, policy, _, source = _inputs(arguments)
    counts = stats(api, policy)
    if arguments.json:
        print(json.dumps(counts, indent=1))
        return 0
    print(f"Read {source}.")
    for key, value in counts.items():
        if isinstance(value, dict):
            print(_bold(key.replace("_", " ")))
            for name, number in value.items():
                print(f"  {number:5d}  {name}")
        else:
            print(f"{_bold(key.replace('_', ' '))}: {value}")
    return 0


def run_explain(arguments: argparse.Namespace) -> int:
    api, policy, snapshots, _ = _inputs(arguments)
    facts = explain(arguments.name, api, policy, snapshots)
    if arguments.json:
        print(json.dumps(facts, indent=1))
        return 0
    for key, value in facts.items():
        shown = "yes" if value is True else "no" if value is False else value
        for line in shown if isinstance(shown, list) else [shown]:
            if line is not None:
                print(f"{_bold(f'{key:14}'.replace('_', ' '))} {line}")
    return 0


def _inputs(arguments: argparse.Namespace, as_committed: bool = False) -> tuple[Api, Policy, list[Api], str]:
    """What every command but `snapshot` reads, checked against each other.

    `as_committed` prefers the snapshot of the release that generated/ was made from: another ROCm that happens to
    be installed is then no difference.
    """
    policy = load_policy(arguments.root / "policies.yaml")
    snapshots = read_snapshots(arguments.root)
    named = arguments.header or arguments.library or {"HIP_HEADER", "HIP_LIBRARY"} & set(os.environ)
    release = current_release(arguments.root) if as_committed and not named else None
    made_from = next((known for known in snapshots if known.release == release), None)
    if made_from:
        api, source = made_from, f"snapshot {snapshot_path(arguments.root, made_from.release).name}"
    else:
        api, source = read_api(arguments.header, arguments.library, arguments.root, snapshots)
    check_policy(policy, api, snapshots)
    return api, policy, snapshots, source


def _rendered(arguments: argparse.Namespace, as_committed: bool = False) -> tuple[dict[str, str], str]:
    api, policy, snapshots, source = _inputs(arguments, as_committed)
    refuse_unsafe(api, policy, snapshots, arguments.root)
    return render(api, policy, snapshots, arguments.root / "templates"), source


def _line_diff(path: str, committed: str, wanted: str) -> Iterator[str]:
    return difflib.unified_diff(
        committed.splitlines(keepends=True),
        wanted.splitlines(keepends=True),
        f"{path} (committed)",
        f"{path} (generated)",
    )


def _bold(text: str) -> str:
    return f"\033[1m{text}\033[0m" if sys.stdout.isatty() and "NO_COLOR" not in os.environ else text


def _project_root() -> Path:
    """The nearest folder upwards that has a policy, else the current one."""
    here = Path.cwd()
    found = next((folder for folder in (here, *here.parents) if (folder / "policies.yaml").is_file()), here)
    return Path(os.path.relpath(found))


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="redline-codegen",
        description="Generates the shims of libredline.so from hip_runtime_api.h and policies.yaml.",
        epilog="Without --header/--library the first of these is read: HIP_HEADER/HIP_LIBRARY, ROCM_PATH, "
        "/opt/rocm*, the system's include folders, what `redline-codegen rocm` fetched, the newest snapshot "
        "in api/. Exit codes: 0 done, 1 bad input or differences found, 2 wrong usage.",
    )
    commands = parser.add_subparsers(title="commands", required=True, metavar="COMMAND")
    sources = argparse.ArgumentParser(add_help=False)
    sources.add_argument(
        "--header", type=Path, metavar="FILE", help="hip_runtime_api.h, or the include folder above hip/"
    )
    sources.add_argument(
        "--library", type=Path, metavar="FILE", help="the libamdhip64.so whose version nodes count"
    )
    sources.add_argument(
        "--root", type=Path, default=_project_root(), metavar="DIR", help="project folder (%(default)s)"
    )
    printed = argparse.ArgumentParser(add_help=False)
    printed.add_argument("--json", action="store_true", help="print JSON")

    def command(name: str, run: Any, text: str, *parents: argparse.ArgumentParser) -> argparse.ArgumentParser:
        made = commands.add_parser(name, help=text, description=text, parents=list(parents))
        made.set_defaults(run=run)
        return made

    command("generate", run_generate, "Write generated/ and docs/policy.md, only what differs.", sources)
    command(
        "check",
        run_check,
        "Generate in memory from what generated/ was made from, and print a line diff.",
        sources,
    )
    made = command(
        "snapshot", run_snapshot, "Write the API of one release to api/rocm-<release>.json.", sources
    )
    made.add_argument("--output", type=Path, metavar="FILE", help="another file than api/rocm-<release>.json")
    command("stats", run_stats, "Count entry points by class, header and version node.", sources, printed)
    made = command("explain", run_explain, "Say all that is known about one entry point.", sources, printed)
    made.add_argument("name", metavar="NAME", help="entry point, e.g. hipGraphLaunch")
    made = command("diff", diff.run, "Say what changed between two releases and what it means here.")
    diff.add_arguments(made, _project_root())
    made = command(
        "rocm", rocm.run, "Fetch real headers and libraries of several ROCm releases into build/rocm."
    )
    rocm.add_arguments(made, _project_root())
    made = command(
        "pm4", pm4.run, "Print indirect buffers packet by packet; 1 when one holds what it must not."
    )
    pm4.add_arguments(made, _project_root())
    return parser
