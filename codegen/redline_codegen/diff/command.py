# SPDX-License-Identifier: Apache-2.0
"""The command line of `redline-codegen diff`.

Exit codes: 0 nothing at or above `--fail-on`, 1 findings or a wrong acknowledgement, 2 misuse, 3 an input could not
be read, in which case nothing is written.
"""

from __future__ import annotations

import argparse
import datetime
import sys
from pathlib import Path

from ..emit import write_atomically
from ..errors import InputError
from ..inputs import read_snapshots
from ..policy import load_policy
from .compare import compare
from .finding import SEVERITIES, Severity
from .forms import FORMS
from .review import Review, review
from .sides import read_sides
from .suggest import to_suggestions
from .upgrade import earlier_steps, notice

FOUND, MISUSE, UNREADABLE = 1, 2, 3


def add_arguments(parser: argparse.ArgumentParser, root: Path) -> None:
    parser.add_argument(
        "sides",
        nargs="*",
        metavar="OLD NEW",
        help="each a snapshot, a header, a ROCm or include folder, a library, `current` (what generated/ was made "
        "from) or `installed`; the default is `current installed`, and one alone is compared with `current`",
    )
    parser.add_argument("--all", action="store_true", help="also what no entry point of ours reaches")
    output = parser.add_mutually_exclusive_group()
    output.add_argument(
        "--format",
        action="append",
        type=_form,
        metavar="FORM[=FILE]",
        help=f"{', '.join(FORMS)}; repeatable: every form comes from the one comparison (default: text)",
    )
    parser.add_argument(
        "--fail-on",
        choices=[*SEVERITIES, "never"],
        default=Severity.DECIDE.label,
        help="exit 1 from this class on (default: %(default)s)",
    )
    output.add_argument(
        "--suggest", action="store_true", help="print the YAML to add to policies.yaml instead"
    )
    output.add_argument(
        "--notice",
        action="store_true",
        help="print one line if a newer ROCm is installed than generated/ was made from, else nothing; always exit 0",
    )
    parser.add_argument("--root", type=Path, default=root, metavar="DIR", help="project folder (%(default)s)")
    parser.epilog = (
        "Exit codes: 0 nothing at or above --fail-on, 1 findings or a wrong acknowledgement, 2 wrong usage, "
        "3 an input could not be read."
    )


def run(arguments: argparse.Namespace) -> int:
    if arguments.notice:
        line = notice(arguments.root)
        print(line, end="\n" if line else "")
        return 0
    if len(arguments.sides) > 2:
        return _complain(f"two inputs are compared, {len(arguments.sides)} were given", MISUSE)
    try:
        reviewed = _reviewed(arguments)
    except InputError as error:
        return _complain(str(error), UNREADABLE)
    except OSError as error:
        return _complain(f"{error.filename or 'An input'}: It cannot be read ({error.strerror}).", UNREADABLE)
    if arguments.suggest:
        sys.stdout.write(to_suggestions(reviewed))
    else:
        chosen = arguments.format or [("text", None)]
        rendered = [(file, FORMS[name](reviewed, arguments.root)) for name, file in chosen]
        for file, text in rendered:
            if file is None:
                sys.stdout.write(text)
                continue
            try:
                write_atomically(file, text)
            except OSError as error:
                return _complain(f"{file}: It cannot be written ({error.strerror}).", MISUSE)
    return FOUND if reviewed.fails(SEVERITIES.get(arguments.fail_on)) else 0


def _reviewed(arguments: argparse.Namespace) -> Review:
    root: Path = arguments.root
    given: list[str] = arguments.sides
    old, new = given if len(given) == 2 else ("current", given[0] if given else "installed")
    policy = load_policy(root / "policies.yaml")
    comparison = compare(*read_sides(old, new, root), policy, root, arguments.all)
    if not comparison.parts:
        raise InputError(
            f"{old} and {new} have neither headers nor a library in common, so nothing was compared."
        )
    earlier = earlier_steps(read_snapshots(root), policy, root) if policy.acknowledged else frozenset
    return review(comparison, policy, earlier, datetime.date.today())


def _form(text: str) -> tuple[str, Path | None]:
    name, given, file = text.partition("=")
    if name not in FORMS or (given and not file):
        raise argparse.ArgumentTypeError(f"{text!r} is none of {', '.join(FORMS)}, with =FILE if wanted")
    return name, Path(file) if given else None


def _complain(sentence: str, code: int) -> int:
    print(f"redline-codegen diff: {sentence}", file=sys.stderr)
    return code
