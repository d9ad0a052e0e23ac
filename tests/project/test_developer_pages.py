"""Checks the pages for developers: their length, and their statements about the code."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from tools import habits, sizes, subjects

from stoker.dispatch import procrastinate, turns
from stoker.store.ownership import fair_share
from stoker.store.write import group_commit
from tests.simulation.sabotage import RULES

ROOT = Path(__file__).parents[2]
SOURCE = ROOT / "src/stoker"
DEVELOP = ROOT / "docs/develop"
FIRST = DEVELOP / "README.md"
READ_FIRST = [
    FIRST,
    *(DEVELOP / f"{name}.md" for name in ("invariants", "style", "glossary")),
    ROOT / "CONTRIBUTING.md",
]
PAGES = [page for page in DEVELOP.glob("*.md") if page.stem not in ("style", "local-cloud")]
OF_OTHERS = {"None", "Retain"}
CODE = re.compile(r"`([^`\n]+)`")
BASES = (ROOT, SOURCE, SOURCE / "engine", ROOT / "tests", ROOT / "docs")
MAX_WORDS = 4000
MAX_LINES = 150
MAX_LINKS = 20
MAX_TERMS = 30
MAX_DECISION_LINES = 40
DECISIONS = sorted((DEVELOP / "decisions").glob("[0-9]*.md"))


def test_first_page_is_short() -> None:
    text = FIRST.read_text()
    assert len(text.splitlines()) <= MAX_LINES
    assert text.count("](") <= MAX_LINKS


def test_pages_before_first_change_are_short() -> None:
    assert sum(len(page.read_text().split()) for page in READ_FIRST) <= MAX_WORDS


def test_glossary_is_short() -> None:
    assert 10 < (DEVELOP / "glossary.md").read_text().count("\n| **") <= MAX_TERMS


@pytest.mark.parametrize("page", DECISIONS, ids=lambda page: page.stem)
def test_decision_has_its_form(page: Path) -> None:
    text = page.read_text()
    assert len(text.splitlines()) <= MAX_DECISION_LINES
    assert max(map(len, text.splitlines())) <= 120
    assert re.match(rf"# {page.name[:4]}\. .+\n\nStatus: (accepted|superseded by \d{{4}})\. ", text)
    assert re.findall(r"^## (.*)", text, re.MULTILINE) == [
        "Context", "Decision", "Alternatives", "Consequences"
    ]  # fmt: skip


def test_index_lists_every_decision() -> None:
    numbers = [int(page.name[:4]) for page in DECISIONS]
    assert numbers == [*range(1, len(DECISIONS) + 1)]
    index = (DEVELOP / "decisions/README.md").read_text()
    found = [line for line in index.splitlines() if line.startswith("| [")]
    assert found == [_line_of(page) for page in DECISIONS]


def _line_of(page: Path) -> str:
    head = re.match(
        r"# (\d+)\. (.+)\n\nStatus: (.+?)\. Date: [\d-]+\. Area: (.+)\.\n", page.read_text()
    )
    assert head is not None, page
    number, title, status, area = head.groups()
    return f"| [{number}]({page.name}) | {title} | {status} | {area} |"


def test_layers_of_first_page_hold() -> None:
    """The table names every package; its last column names packages that are never imported."""
    rows = re.findall(r"^\| (`[^|]*) \|[^|]*\| ([^|]*) \|$", FIRST.read_text(), re.MULTILINE)
    layers = {
        package: CODE.findall(forbidden)
        for packages, forbidden in rows
        for package in CODE.findall(packages)
        if (SOURCE / package).is_dir()
    }
    existing = {file.parent.name for file in SOURCE.glob("*/__init__.py")}
    assert existing - {package.split("/")[0] for package in layers} == set()
    found = [
        f"{package} imports {name}"
        for package, forbidden in layers.items()
        for name in sorted(set(_imports(SOURCE / package)))
        if any(f"{name}.".startswith(f"stoker.{f.replace('/', '.')}.") for f in forbidden)
    ]
    assert found == []


def _imports(folder: Path) -> Iterator[str]:
    for file in folder.rglob("*.py"):
        for node in ast.walk(ast.parse(file.read_text())):
            if isinstance(node, ast.ImportFrom) and node.module:
                yield node.module
            elif isinstance(node, ast.Import):
                yield from (alias.name for alias in node.names)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_names_of_developer_pages_exist(page: Path) -> None:
    """Classes, constants and paths in code style are those of the source."""
    defined = _defined()
    text = re.sub(r"^```.*?^```$", "", page.read_text(), flags=re.DOTALL | re.MULTILINE)
    missing = [code for code in CODE.findall(text) if not _exists(code, defined)]
    assert missing == []


def _exists(code: str, defined: set[str]) -> bool:
    if re.fullmatch(r"[A-Z][a-z]+(?:[A-Z]\w*)?|[A-Z]{2,}(?:_[A-Z]+)+|KINDS", code):
        return code in defined | OF_OTHERS
    if re.fullmatch(r"[\w-]+(?:/[\w.-]+)+/?", code):
        return any((base / code).exists() for base in BASES)
    return True


def _defined() -> set[str]:
    text = "".join(file.read_text() for file in SOURCE.rglob("*.py"))
    return set(re.findall(r"^(?:class )?([A-Z]\w+)(?: =|:|\(| \()", text, re.MULTILINE))


def test_style_has_the_limits_of_the_gates() -> None:
    text = " ".join((DEVELOP / "style.md").read_text().split())
    for limit in (
        f"{sizes.MODULE_LINES} lines and {sizes.MODULE_IMPORTS} imports",
        f"{sizes.CLASS_LINES} lines and {sizes.CLASS_METHODS} methods",
        f"{sizes.FUNCTION_LINES} lines, {sizes.FUNCTION_PARAMETERS} parameters",
        f"at most {habits.MAX_SENTENCE_WORDS} words",
        f"at most {subjects.MAX_LENGTH} characters",
        f"at most {MAX_DECISION_LINES} lines",
    ):
        assert limit in text


def test_page_of_engines_has_limits_of_code() -> None:
    text = (ROOT / "docs/operate/many-engines.md").read_text()
    for row in (
        f"starts no requests to clouds | after {procrastinate.LEASE_S:.0f} s",
        f"acquire its stacks | after {procrastinate.TAKEN_OVER_AFTER:.0f} s",
        f"without a driver | every {procrastinate.CHECK:.0f} s",
        f"only pauses | for {turns.STAYS:.0f} s",
        f"up to {procrastinate.TOGETHER}, at most every {procrastinate.FETCH_EVERY * 1000:.0f} ms",
        f"at the same time | up to {procrastinate.AT_ONCE}",
        f"takes longer than {procrastinate.BUSY} s | up to {procrastinate.FEW}, ",
        f"and {procrastinate.SPARE} of projects",
        f"for {procrastinate.PATIENCE} s, up to {procrastinate.MOST_PATIENCE:.0f} s in all",
        f"above {fair_share.TURNS:.0f} turns per second",
        f"in one transaction | up to {group_commit.MAX_CHANGES}",
        f"several projects write | up to {group_commit.MAX_CHANGES_OF_PROJECT}",
        f"up to {group_commit.LOW_VOLUME} recent changes",
        f"for {group_commit.FOLLOWUP_WAIT_SECONDS * 1000:.0f} ms",
        f"after pausing for {group_commit.PRIORITY_SECONDS} s",
    ):
        assert row in text


def test_invariants_name_rules_and_properties_of_the_simulation() -> None:
    text = (DEVELOP / "invariants.md").read_text()
    assert set(re.findall(r"\(`([a-z-]+)`\)", text)) == set(RULES)
    simulation = (ROOT / "tests/simulation").glob("*.py")
    checked = set(re.findall(r"\b(P\d+)\b", "".join(file.read_text() for file in simulation)))
    assert set(re.findall(r"^\| (P\d+) ", text, re.MULTILINE)) == checked
