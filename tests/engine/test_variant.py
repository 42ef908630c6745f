# SPDX-License-Identifier: Apache-2.0
"""Rules are found by their markers, statements are taken out whole, and no marker is without a test."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest
from conftest import nothing_said
from engine.variant import marked, without

HERE = Path(__file__).parent


def used() -> dict[str, str]:
    """Rule -> the test file that takes it out: the first argument of Rule(), the keys of variant()'s."""
    found = {}
    for path in sorted(HERE.parent.glob("*/test_*.py")):
        for node in ast.walk(ast.parse(path.read_text())):
            if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Name):
                continue
            named: list[ast.expr | None] = []
            if node.func.id == "Rule":
                named = [node.args[0]]
            elif node.func.id == "variant" and isinstance(node.args[1], ast.Dict):
                named = list(node.args[1].keys)
            found.update({rule.value: path.name for rule in named if isinstance(rule, ast.Constant)})
    return {str(rule): name for rule, name in found.items()}


def test_each_marked_rule_is_taken_out_by_a_test_and_the_other_way_round() -> None:
    places, tests = marked(), used()
    untested = [f"{rule} is marked in runtime/, and no test takes it out" for rule in places.keys() - tests]
    unmarked = [
        f"{tests[rule]} takes out {rule}, which nothing in runtime/ marks" for rule in tests.keys() - places
    ]
    nothing_said(sorted([*untested, *unmarked]))
    assert len(places) > 5


@pytest.mark.parametrize(
    "statement",
    [
        "go(); /* rule: r */",
        '/* rule: r */\n    go(1,\n       ";");',
        "if (a(b)) /* rule: r */\n        go();",
        "if (a) { /* rule: r */\n        go();\n    } else if (b)\n        go();\n    else {\n    }",
        "for (i = 0; i < 2; i++) /* rule: r */\n        if (a) /* why; because */\n            go();",
        "return b ? c : /* rule: r */\n        d[';'];",
        "struct s s = { .a = { 1, 2 } }; /* rule: r */",
    ],
    ids=["call", "in-front", "if", "if-else", "loop", "return", "declaration"],
)
def test_statement_goes_whole_and_nothing_else(statement: str) -> None:
    taken = without(f"{{\n    if (a)\n    {statement}\n    stay();\n}}\n", {"r": ";"})
    assert re.sub(r"/\*.*?\*/|\s", "", taken) == "{if(a);stay();}"


def test_every_statement_of_a_rule_goes_and_no_other() -> None:
    source = "go(1); /* rule: r */\ngo(2); /* rule: other */\ngo(3); /* rule: r */\n"
    assert without(source, {"r": "STATEMENT STATEMENT"}) == (
        "go(1); go(1); /* rule: r */\ngo(2); /* rule: other */\ngo(3); go(3); /* rule: r */\n"
    )
