"""Unusual or wrong declarations of parameters, and their other messages."""

from __future__ import annotations

from typing import Any

import pytest
from tests.evaluating import with_helpers
from tests.parameters.declaring import declare_or_raise

from stoker.kernel.diagnostics import Diagnostic, DiagnosticError, Severity
from stoker.resources.base.registry import Registry
from stoker.template.describe.parameters import describe_parameter, described_parameters
from stoker.template.document import parse
from stoker.template.evaluate.evaluation import Evaluation
from stoker.template.evaluate.validation import as_template_diagnostics
from stoker.template.versions import VERSIONS

HOT = VERSIONS[-1]
CFN = VERSIONS[0]


def evaluation(declaration: Any, groups: Any = None) -> Evaluation:
    template = {
        "heat_template_version": "2021-04-16",
        "parameters": {"p": declaration},
        "parameter_groups": groups,
    }
    return Evaluation(parse(template), with_helpers(parameters={"p": "x"}), Registry())


def kinds(found: Any) -> list[tuple[Severity, str]]:
    return [(d.severity, d.code) for d in found]


def first(section: Any, version: Any) -> Diagnostic:
    with pytest.raises(DiagnosticError) as caught:
        declare_or_raise(section, version)
    return caught.value.first


def test_description_and_label_keep_their_form() -> None:
    snippet = {"type": "string", "label": 5, "description": ["d"]}
    parameter = declare_or_raise({"p": snippet}, HOT)["p"]
    described = describe_parameter(parameter, None, None)
    assert (described["Label"], described["Description"]) == (5, ["d"])


def test_unknown_custom_constraint_refuses_stacks_warns_templates() -> None:
    tested = evaluation({"type": "string", "constraints": [{"custom_constraint": "net_cidrs"}]})
    assert kinds(tested.validate()) == [(Severity.ERROR, "invalid-parameter-value")]
    assert tested.validate().errors[0].suggestion == 'did you mean "net_cidr"?'
    assert kinds(as_template_diagnostics(tested.validate())) == [
        (Severity.WARNING, "invalid-parameter-value")
    ]
    assert "p" in tested.resolved.declarations


def test_modulo_has_step_and_offset_only() -> None:
    modulo = {"modulo": {"step": 2, "offset": 0, "stride": 1}}
    found = first({"p": {"type": "number", "constraints": [modulo]}}, HOT)
    assert found.path == ("parameters", "p", "constraints", 0, "modulo", "stride")


def test_wrong_declaration_is_the_only_reported_fault() -> None:
    tested = evaluation({"type": "strnig"}, [{"parameters": ["p"]}])
    assert kinds(tested.validate()) == [(Severity.ERROR, "invalid-parameter-declaration")]


def test_unfit_default_is_reported_at_its_position() -> None:
    hot = {"type": "string", "default": "abc", "constraints": [{"length": {"max": 2}}]}
    cfn = {"Type": "String", "Default": "abc", "MaxLength": 2}
    assert first({"p": hot}, HOT).path == ("parameters", "p", "default")
    assert first({"p": cfn}, CFN).path == ("Parameters", "p", "Default")


@pytest.mark.parametrize("groups", [{}, 0, "", False])
def test_parameter_groups_are_a_list(groups: Any) -> None:
    found = evaluation({"type": "string"}, groups).validate()
    assert kinds(found) == [(Severity.ERROR, "invalid-parameter-group")]


def test_only_common_pseudo_parameters_are_not_described() -> None:
    snippet = {"type": "string", "default": "x"}
    names = ("OS::stack_name", "OS::other", "AWS::Region", "AWS::other", "p")
    declared = declare_or_raise(dict.fromkeys(names, snippet), HOT)
    assert list(described_parameters(declared, {}, {})) == ["OS::other", "AWS::other", "p"]


def test_empty_list_of_allowed_values_allows_nothing() -> None:
    snippet = {"type": "string", "default": "x", "constraints": [{"allowed_values": []}]}
    assert first({"p": snippet}, HOT).message.endswith("the list of allowed values is empty")
