# SPDX-License-Identifier: Apache-2.0
"""An id of a public case in a test is explained in docs/cases.md, and what the page says of tests is so."""

from __future__ import annotations

import re

from conftest import nothing_said

from cases.page import ID, PAGE, TESTS, citations, citing_files, in_c, in_python, page, read_cases

REFRESH = "run `PYTHONPATH=tests .venv/bin/python -m cases.page`"


def test_each_case_that_a_test_cites_is_explained() -> None:
    told = read_cases()
    nothing_said(
        f"{case}, cited by {places[0]}, has no line in tests/cases/cases.yaml"
        for case, places in citations().items()
        if case not in told
    )


def test_the_page_is_what_the_tests_cite() -> None:
    if PAGE.read_text() != page(read_cases(), citations()):
        nothing_said([f"docs/cases.md is not what the tests cite: {REFRESH}"])


def test_each_case_is_one_sentence_with_its_source() -> None:
    told = read_cases()
    assert list(told) == sorted(told)
    for case, line in told.items():
        assert ID.fullmatch(case) and line.keys() == {"what", "seen"}
        assert line["what"].endswith(".") and ". " not in line["what"] and "|" not in line["what"], case


def test_each_hazard_that_a_test_cites_has_its_row() -> None:
    rows = set(
        re.findall(r"^\| ([HO]\d+) \|", (TESTS.parent / "docs" / "hazards.md").read_text(), re.MULTILINE)
    )
    for path in citing_files():
        cited = set(re.findall(r"(?<![-\w])[HO]\d{1,2}\b", path.read_text()))
        assert cited <= rows, f"{path.name}: {', '.join(sorted(cited - rows))}"


def test_citations_are_found_where_they_stand() -> None:
    python = '''"""C001."""
CASES = {
    "fan_out": 1,  # C002, C003
}
@mark(
    ["C004: a fork"]
)
def test_one() -> None:
    """C005"""
def test_c006_c007_two() -> None: ...
'''
    c = """/* SPDX-License-Identifier: Apache-2.0 */
/* C001: all of it. */
static int none;

/* C002 */
static void first(int a,
                  int b)
{
    call(); /* C003 */
}

int *second(void)
{
    /* C004 */
}
"""
    assert list(in_python(python)) == [
        ("C001", ""),
        ("C002", "[fan_out]"),
        ("C003", "[fan_out]"),
        ("C004", "::test_one"),
        ("C005", "::test_one"),
        ("C006", "::test_c006_c007_two"),
        ("C007", "::test_c006_c007_two"),
    ]
    assert list(in_c(c)) == [("C001", ""), ("C002", ": first"), ("C003", ": first"), ("C004", ": second")]
