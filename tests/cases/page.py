# SPDX-License-Identifier: Apache-2.0
"""Makes docs/cases.md: each public case with one line and the tests that cite it.

    PYTHONPATH=tests .venv/bin/python -m cases.page

The lines are in cases.yaml; a test cites a case by having its id in a comment, a docstring or its name.
"""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterator
from pathlib import Path

import yaml
from redline_codegen.emit import write_atomically

ROOT = Path(__file__).resolve().parents[2]
TESTS = ROOT / "tests"
PAGE = ROOT / "docs" / "cases.md"
HEAD = """# Public cases

What went wrong for others, in public, with HIP graphs, interposers and generators, and which tests here cite it.
Made by `tests/cases/page.py` from `tests/cases/cases.yaml` and the ids in the tests; not edited by hand. The library's
own hazards, by `H` and `O` number, are in [hazards.md](hazards.md).
"""
ID = re.compile(r"\bC\d{3}\b")
NAMED = re.compile(r"_c(\d{3})(?=_)")
C_FUNCTION = re.compile(r"^(?:[\w*]+[ \n])+\*?(\w+)\([^;{}]*\)\n\{", re.MULTILINE)
FIRST_WORD = re.compile(r'\W*"([\w-]+)"')


def read_cases() -> dict[str, dict[str, str]]:
    """Id -> what, seen."""
    cases: dict[str, dict[str, str]] = yaml.safe_load(Path(__file__).with_name("cases.yaml").read_text())
    return cases


def citing_files() -> list[Path]:
    """Every file that can cite, in order; those that explain the cases are none."""
    files = (path for path in TESTS.rglob("*.*") if path.suffix in (".py", ".c", ".h"))
    return sorted(path for path in files if path.parent != Path(__file__).parent)


def citations() -> dict[str, list[str]]:
    """Id -> the tests that cite it, as a reader would look for them."""
    found: dict[str, list[str]] = {}
    for path in citing_files():
        place = path.relative_to(TESTS).as_posix()
        within = in_python if path.suffix == ".py" else in_c
        for case, where in within(path.read_text()):
            places = found.setdefault(case, [])
            if f"{place}{where}" not in places:
                places.append(f"{place}{where}")
    return found


def in_python(text: str) -> Iterator[tuple[str, str]]:
    """Ids with the function that they are in, `::name`, else with what the line begins with, `[name]`."""
    spans = [
        (min([node.lineno, *(one.lineno for one in node.decorator_list)]), node.end_lineno or 0, node.name)
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.FunctionDef)
    ]
    for number, line in enumerate(text.splitlines(), 1):
        named = NAMED.findall(line) if line.startswith("def test_") else []
        for case in [*(f"C{digits}" for digits in named), *ID.findall(line)]:
            inside = [f"::{name}" for first, last, name in spans if first <= number <= last]
            begins = FIRST_WORD.match(line)
            yield case, inside[-1] if inside else f"[{begins.group(1)}]" if begins else ""


def in_c(text: str) -> Iterator[tuple[str, str]]:
    """Ids with the function that they are in or in front of, `: name`; the file's opening comment is of all of it."""
    functions = [(match.start(), match.group(1)) for match in C_FUNCTION.finditer(text)]
    for match in ID.finditer(text):
        opening = text.rfind("/*", 0, match.start())
        indented = opening > 0 and text[opening - 1] != "\n"
        before = [name for start, name in functions if start < opening]
        behind = [name for start, name in functions if start > opening]
        of_the_file = not re.sub(r"/\*.*?\*/", "", text[:opening], flags=re.DOTALL).strip()
        name = before[-1:] if indented else [] if of_the_file else behind[:1]
        yield match.group(), f": {name[0]}" if name else ""


def page(cases: dict[str, dict[str, str]], cited: dict[str, list[str]]) -> str:
    lines = {case: f"| {case} | {told['what']} | {told['seen']} |" for case, told in cases.items()}
    rows = [
        f"{lines[case]} {', '.join(f'`{place}`' for place in cited[case])} |"
        for case in lines
        if case in cited
    ]
    return "\n".join(
        [
            HEAD,
            "| id | what went wrong | seen in | cited by, in `tests/` |",
            "| --- | --- | --- | --- |",
            *rows,
            "",
            "## Cited by no test",
            "",
            "| id | what went wrong | seen in |",
            "| --- | --- | --- |",
            *(line for case, line in lines.items() if case not in cited),
            "",
        ]
    )


if __name__ == "__main__":
    write_atomically(PAGE, page(read_cases(), citations()))
    sys.exit(0)
