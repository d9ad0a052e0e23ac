"""Each rule finds its bad example at the marked line, and nothing in its good one."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import stoker
from stoker.cli.authoring.lint.catalogue import all_rules
from stoker.cli.authoring.lint.rule import Rule
from stoker.cli.authoring.lint.validation_codes import VALIDATION_CODES
from tests.lint.examples import documents_of, findings_of, marked_lines

RULES = all_rules()
SOURCES = Path(stoker.__file__).parent
ROOMS = ("template", "schema", "resources", "cli/arguments")
CODE = re.compile(
    r"(?:Diagnostic|report|failed|refusal|refuse|_refuse|_report|_error)"
    r'\(\s*"([a-z][a-z0-9]*(?:-[a-z0-9]+)+)"'
)


@pytest.fixture(params=RULES.values(), ids=lambda rule: rule.name)
def rule(request: pytest.FixtureRequest) -> Rule:
    """Return each rule."""
    found: Rule = request.param
    return found


def test_bad_example_is_found_at_its_line(rule: Rule, tmp_path: Path) -> None:
    found = findings_of(rule, rule.bad, tmp_path)
    own = sorted(each.line or 0 for each in found if each.code == rule.name)
    expected = [line for text in documents_of(rule, rule.bad) for line in marked_lines(text or "")]
    assert own == expected
    assert {each.code for each in found} - {rule.name} == rule.also, found


def test_good_example_has_no_findings(rule: Rule, tmp_path: Path) -> None:
    assert findings_of(rule, rule.good, tmp_path) == []


def test_rule_is_documented_in_sentences(rule: Rule) -> None:
    for text in (rule.summary, rule.why, rule.remedy):
        assert text.endswith(".")
        assert text[0].isupper() or text.startswith("stoker")


def test_there_are_many_rules_of_lint_itself() -> None:
    assert sum(not rule.is_of_validation for rule in RULES.values()) >= 120


def test_all_codes_of_validation_are_known() -> None:
    known = RULES.keys() | VALIDATION_CODES
    sources = [path for room in ROOMS for path in (SOURCES / room).rglob("*.py")]
    found = {code for path in sources for code in CODE.findall(path.read_text("utf-8"))}
    assert len(found) > 80
    assert sorted(found - known) == []
    assert sorted(RULES.keys() & VALIDATION_CODES) == []
