"""No request that a service accepts by default takes more than 2 s or 200 MiB to evaluate.

Each request is evaluated in a process of its own. Seconds are those of the processor; a margin is
left for slow and busy machines.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.evaluating import with_helpers
from tests.language.attacks import ATTACKS
from tests.language.attacks.request import BODY, TEXT, Request
from tests.language.bounded import cost_of

from stoker.kernel.diagnostics import DiagnosticError
from stoker.resources.base.registry import Registry
from stoker.template.describe.description import describe_template
from stoker.template.document import parse
from stoker.template.environment.environment import parse_environment
from stoker.template.evaluate.evaluation import Evaluation
from stoker.template.evaluate.static_analysis import RecordedReferences

TYPES = Registry()
SECONDS = 2.0
MEBIBYTES = 200
MARGIN = 2.5  # a machine may be this many times slower than the one that the bound is meant for


def evaluate(request: Request) -> list[str]:
    """All that a service asks of a template before anything is made; the findings."""
    try:
        template = parse(request.template)
        environment = parse_environment(request.environment)
        inputs = with_helpers(
            environment=environment, parameters=request.parameters, files=request.files
        )
        evaluation = Evaluation(template, inputs, TYPES)
        findings = evaluation.validate()
        if not findings.errors:
            _ = evaluation.dependencies, evaluation.attributes_used, evaluation.custom_checks()
            json.dumps(describe_template(evaluation, show_nested=True))
            facts = RecordedReferences()
            for name in evaluation.names:
                evaluation.definition(name, facts)
            for output in evaluation.outputs(facts):
                json.dumps(output.value)
        return [str(found) for found in findings]
    except DiagnosticError as error:
        return [str(found) for found in error.diagnostics]


@pytest.fixture(scope="module", autouse=True)
def libraries() -> None:
    """Load modules and types once, for the processes to come."""
    call = {"yaql": {"expression": 'regex("a").matches("a")'}}
    data = {"heat_template_version": "2021-04-16", "outputs": {"o": {"value": call}}}
    assert evaluate(Request(json.dumps(data))) == []


def assert_bounded(request: Request) -> None:
    """The request is accepted, and evaluated within the bounds."""
    assert len(request.template.encode()) <= TEXT
    assert request.size <= BODY
    cost = cost_of(lambda: sum(map(len, evaluate(request))))
    if cost.seconds > SECONDS * MARGIN:
        # On a machine that others share, the same work may be charged several times its cost.
        cost = cost_of(lambda: sum(map(len, evaluate(request))))
    assert cost.error is None
    assert cost.seconds <= SECONDS * MARGIN
    assert cost.mebibytes <= MEBIBYTES
    assert cost.result <= BODY * 3, "the findings are longer than the request"


# One attack in this many is played with every run of the tests, the rest by ``make test-long``.
EVERY = 3


@pytest.mark.parametrize(
    "make",
    [
        pytest.param(make, id=name, marks=() if number % EVERY == 0 else pytest.mark.long)
        for number, (name, make) in enumerate(ATTACKS.items())
    ],
)
def test_evaluation_is_bounded(make: Callable[[], Request]) -> None:
    assert_bounded(make())


def _times(count: int, item: Any) -> list[Any]:
    return [item] * count


def _named(count: int, item: Any) -> dict[str, Any]:
    return {f"k{number}": item for number in range(count)}


REFERENCES = [{"get_param": "list"}, {"get_param": "map"}, {"get_param": "text"}, {"get_file": "f"}]
AMPLIFIERS: list[Callable[[Any, int], Any]] = [
    lambda inner, width: {"list_concat": _times(width, inner)},
    lambda inner, width: {"list_concat_unique": _times(width, inner)},
    lambda inner, width: {"map_merge": _times(width, inner)},
    lambda inner, width: {"list_join": ["-" * width, _times(width, inner)]},
    lambda inner, width: {"str_split": ["x", inner]},
    lambda inner, width: {"str_replace": {"template": "x" * width, "params": {"x": inner}}},
    lambda inner, width: {"str_replace": {"template": inner, "params": _named(width, "x")}},
    lambda inner, width: {"repeat": {"template": inner, "for_each": {"x": ["x"] * width}}},
    lambda inner, width: {"repeat": {"template": "xy", "for_each": {"x": inner, "y": inner}}},
    lambda inner, width: {"yaql": {"expression": "$.data * 2", "data": inner}},
    lambda inner, width: {"filter": [_times(width, "x"), inner]},
    lambda inner, width: {"digest": ["sha512", inner]},
    lambda inner, width: {"make_url": {"host": "h", "path": inner}},
    lambda inner, width: {"if": [{"equals": [inner, inner]}, inner, inner]},
    lambda inner, width: _times(width, inner),
    lambda inner, width: _named(width, inner),
]


@st.composite
def amplified(draw: st.DrawFn) -> Request:
    """References to large values in functions in functions, in as many places as are allowed."""
    content: Any = draw(st.sampled_from(REFERENCES))
    for _ in range(draw(st.integers(1, 6))):
        grown = draw(st.sampled_from(AMPLIFIERS))(content, draw(st.sampled_from([1, 3, 30, 300])))
        content = grown if len(json.dumps(grown)) < 50_000 else content
    places = min(draw(st.sampled_from([1, 30, 900])), 400_000 // (len(json.dumps(content)) + 80))
    resource = {"type": "OS::Heat::Value", "properties": {"value": content}}
    data = {
        "heat_template_version": "2021-04-16",
        "parameters": {
            "list": {"type": "comma_delimited_list"},
            "map": {"type": "json"},
            "text": {"type": "string"},
        },
        "resources": {f"r{number}": resource for number in range(places)},
        "outputs": {"o": {"value": content}},
    }
    given = {"list": ["x"] * 20_000, "map": _named(10_000, {}), "text": "x" * 100_000}
    return Request(json.dumps(data), {"f": "xy" * 50_000}, parameters=given)


@settings(
    deadline=None,
    max_examples=12,
    derandomize=True,
    database=None,
    suppress_health_check=list(HealthCheck),
)
@given(amplified())
def test_functions_of_functions_are_bounded(request: Request) -> None:
    assert_bounded(request)
