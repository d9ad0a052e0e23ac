"""The environment of the whole service."""

from pathlib import Path
from typing import Any

import pytest
from tests.engine_world import template

from stoker.resources.base.registry import Registry
from stoker.server.global_environment import environment_in
from stoker.template.document import parse
from stoker.template.environment.environment import EMPTY, Environment, parse_environment
from stoker.template.evaluate.evaluation import Evaluation
from stoker.template.evaluate.inputs import Inputs

TYPES = Registry()
NAMES = ("key", "size", "plain")


def values(whole: Environment, own: dict[str, Any] | None = None, **given: Any) -> dict[str, Any]:
    """The parameters of a stack whose template declares three of them."""
    declared = {name: {"type": "string", "default": "declared"} for name in NAMES}
    inputs = Inputs(environment=parse_environment(own), service_environment=whole, parameters=given)
    evaluation = Evaluation(parse(template({}, parameters=declared)), inputs, TYPES)
    assert not list(evaluation.validate())
    return {name: evaluation.parameters[name] for name in NAMES}


def test_service_files_merge_and_warn_of_other_sections(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / "a.yaml").write_text(
        "resource_registry: {A: OS::Heat::None, B: OS::Heat::None}\nparameters: {x: 1, y: 1}\n"
    )
    (tmp_path / "b.yaml").write_text(
        "resource_registry: {B: OS::Heat::Value}\nparameter_defaults: {z: 1}\nparameters: {y: 2}\n"
    )
    assert environment_in(tmp_path) == Environment(
        resource_registry={"A": "OS::Heat::None", "B": "OS::Heat::Value"},
        parameters={"x": 1, "y": 2},
        parameter_defaults={"z": 1},
    )
    assert not caplog.records
    (tmp_path / "c.yaml").write_text("encrypted_param_names: [x]\n")
    environment_in(tmp_path)
    assert "no effect" in caplog.text
    assert "encrypted_param_names" in caplog.text
    assert environment_in(tmp_path / "nosuch") == EMPTY


def test_service_values_apply_where_stack_has_none() -> None:
    whole = Environment(
        parameters={"key": "all", "of_others": "x"}, parameter_defaults={"size": "all"}
    )
    assert values(whole) == {"key": "all", "size": "all", "plain": "declared"}
    assert values(whole, {"parameters": {"key": "own"}})["key"] == "own"
    assert values(whole, {"parameter_defaults": {"size": "own"}})["size"] == "own"
    assert values(whole, key="asked", size="asked")["key"] == "asked"


def test_stack_parameters_must_still_be_declared() -> None:
    inputs = Inputs(environment=parse_environment({"parameters": {"other": 1}}))
    evaluation = Evaluation(parse(template({})), inputs, TYPES)
    assert "other" in str(list(evaluation.validate()))


def test_service_defaults_reach_nested_stacks_values_do_not() -> None:
    declared = {
        "size": {"type": "string", "default": "d"},
        "key": {"type": "string", "default": "d"},
    }
    shown = {name: {"value": {"get_param": name}} for name in declared}
    nested = template({}, parameters=declared, outputs=shown)
    around = template({"inner": {"type": "inner.yaml"}})
    inputs = Inputs(
        files={"inner.yaml": str(nested)},
        service_environment=Environment(
            parameters={"key": "all"}, parameter_defaults={"size": "all"}
        ),
    )
    evaluation = Evaluation(parse(around), inputs, TYPES)
    assert not list(evaluation.validate())
    inner = Evaluation(
        parse(nested),
        Inputs(depth=1, service_environment=inputs.service_environment),
        TYPES,
    )
    assert (inner.parameters["size"], inner.parameters["key"]) == ("all", "d")


@pytest.mark.parametrize("given", [{}, {"key": "own"}])
def test_declared_default_must_fit_unless_replaced(
    given: dict[str, Any],
) -> None:
    length = {"length": {"min": 3}}
    declared = {"key": {"type": "string", "default": "", "constraints": [length]}}
    nested = template({}, parameters=declared)
    around = template({"inner": {"type": "inner.yaml", "properties": given}})
    files = {"inner.yaml": str(nested)}
    for document, values in ((around, {}), (nested, given)):

        def said(defaults: dict[str, Any], document: Any = document, values: Any = values) -> str:
            environment = parse_environment({"parameter_defaults": defaults})
            inputs = Inputs(files=files, environment=environment, parameters=values)
            return str(list(Evaluation(parse(document), inputs, TYPES).validate()))

        assert "the default does not fit" in said({})
        assert said({"key": "abc"}) == "[]"
        assert ("at least 3" in said({"key": "x"})) == (not given)
