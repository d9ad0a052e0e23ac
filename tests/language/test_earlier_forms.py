"""Functions that had another form in earlier versions of the language."""

from __future__ import annotations

from typing import Any

import pytest

from stoker.kernel.diagnostics import Severity
from stoker.resources.base.registry import Registry
from stoker.template.document import parse
from stoker.template.evaluate.evaluation import Evaluation
from stoker.template.evaluate.inputs import Inputs

TYPES = Registry()


class Live:
    """The one resource, as if it existed."""

    def reference(self, name: str) -> str:
        return f"{name}-id"

    def attribute(self, name: str, attribute: str) -> Any:
        return "v" if attribute == "value" else None


def _evaluated(version: str, call: Any) -> Any:
    """The value of a call, or the text of the error."""
    template = {
        "heat_template_version": version,
        "resources": {"r": {"type": "OS::Heat::Value", "properties": {"value": "v"}}},
        "outputs": {"o": {"value": call}},
    }
    evaluation = Evaluation(parse(template), Inputs(), TYPES)
    errors = [d.message for d in evaluation.validate() if d.severity is Severity.ERROR]
    (output,) = evaluation.outputs(Live())
    return errors or output.error or output.value


@pytest.mark.parametrize(
    ("version", "call", "value"),
    [
        ("2015-10-15", {"get_attr": ["r"]}, {"value": "v"}),
        ("2015-10-15", {"list_join": ["-", "", ["a"]]}, "a"),
        ("2015-04-30", {"list_join": ["-", None]}, ""),
        (
            "2016-04-08",
            {"repeat": {"template": "x", "for_each": {"x": ["a"]}, "permutations": "maybe"}},
            ["a"],
        ),
    ],
)
def test_the_form_of_a_version_gives_its_value(version: str, call: Any, value: Any) -> None:
    assert _evaluated(version, call) == value


@pytest.mark.parametrize(
    ("version", "call", "message"),
    [
        ("2013-05-23", {"get_attr": ["r"]}, "the attribute is missing"),
        ("2015-04-30", {"get_attr": ["r"]}, "the attribute is missing"),
        ("2015-04-30", {"list_join": ["-", ""]}, "only lists can be joined"),
        (
            "2015-04-30",
            {"list_join": ["-", ["a"], ["b"]]},
            "Arguments to",
        ),
        (
            "2017-09-01",
            {"repeat": {"template": "x", "for_each": {"x": ["a"]}, "permutations": "maybe"}},
            "true or false",
        ),
    ],
)
def test_what_a_version_does_not_have_is_refused(version: str, call: Any, message: str) -> None:
    assert message in str(_evaluated(version, call))
