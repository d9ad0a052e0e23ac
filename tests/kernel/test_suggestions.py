"""Suggestions: bounded for each document, and the same whatever came before and however slow."""

from __future__ import annotations

import pytest
from tests.evaluating import with_helpers

from stoker.kernel.diagnostics import (
    MAX_COMPARED,
    DiagnosticError,
    did_you_mean,
    renew_suggestions,
)
from stoker.resources.base.registry import Registry
from stoker.template.document import parse
from stoker.template.environment.environment import parse_environment
from stoker.template.evaluate.evaluation import Evaluation

WORDS = [f"word{n}" for n in range(2000)]


def compare_all() -> None:
    """Use up the comparisons that one document may make."""
    renew_suggestions()
    for _ in range(MAX_COMPARED // len(WORDS)):
        assert did_you_mean("wodr1", WORDS) is not None


def test_comparisons_for_one_document_are_bounded() -> None:
    compare_all()
    assert did_you_mean("wodr1", WORDS) is None


def test_a_template_has_suggestions_whatever_was_compared_before() -> None:
    text = "heat_template_version: 2021-04-16\nresorces: {}\n"
    compare_all()
    with pytest.raises(DiagnosticError) as caught:
        parse(text)
    assert caught.value.first.suggestion == 'did you mean "resources"?'


def test_an_environment_has_suggestions_whatever_was_compared_before() -> None:
    compare_all()
    with pytest.raises(DiagnosticError) as caught:
        parse_environment({"paramters": {}})
    assert caught.value.first.suggestion == 'did you mean "parameters"?'


def test_an_evaluation_has_suggestions_whatever_was_compared_before() -> None:
    template = parse(
        "heat_template_version: 2021-04-16\n"
        "resources: {a: {type: OS::Heat::Value, properties: {value: 1, valu: 1}}}\n"
    )
    compare_all()
    found = Evaluation(template, with_helpers(), Registry()).validate()
    assert [each.suggestion for each in found.errors] == ['did you mean "value"?']
