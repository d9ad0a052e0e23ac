"""Phrases in replies that clients and test suites search for. Further text may surround them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from tests.isolation.people import Person, demo
from tests.recovery.service import Service, until

VERSION = {"heat_template_version": "2021-04-16"}
LENGTH = {"type": "OS::Heat::RandomString", "properties": {"length": 8}}


def _test(**properties: Any) -> dict[str, Any]:
    return {"type": "OS::Heat::TestResource", "properties": properties}


def _template(parameters: Any = None, **resources: Any) -> dict[str, Any]:
    return {**VERSION, "parameters": parameters or {}, "resources": resources}


def _string(**properties: Any) -> dict[str, Any]:
    return _template(a={"type": "OS::Heat::RandomString", "properties": properties})


MISSING = {"missing": {"type": "string"}}
PARAMETER = {"param1": {"type": "string", "immutable": True}}

VALUE_OF_NO_ATTRIBUTE = {
    "type": "OS::Heat::Value",
    "properties": {"value": {"get_attr": ["a", "no"]}},
}
KEPT = {"stack_name": "kept", "template": VERSION}

PREVIEWS: list[tuple[Any, str]] = [
    (_string(wrong=1), "Property error: : resources.a.properties: : Unknown Property wrong"),
    (
        _template(a={"type": "OS::Heat::Value"}),
        "Property error: : resources.a.properties: : Property value not assigned",
    ),
    (
        _string(length="x"),
        "Property error: : resources.a.properties.length: : Value 'x' is not an integer",
    ),
    (_string(length=999), "999 is out of range (min: 1, max: 512)"),
    (_template(a=_test(fail="maybe")), '"maybe" is not a valid boolean'),
    (
        _template(a=_test(action_wait_secs={"zz": 1})),
        "Property error: : resources.a.properties.action_wait_secs: : Unknown Property zz",
    ),
    (
        _template(MISSING, a=LENGTH),
        "The Parameter (missing) was not provided",
    ),
    (
        _template(a={"type": "OS::Heat::Value", "properties": {"value": {"get_param": "missing"}}}),
        "resources.a.properties.value: : The Parameter (missing) was not provided.",
    ),
    (_template(a={"type": "No::Such"}), "The Resource Type (No::Such) could not be found."),
    (
        _template(a={**LENGTH, "depends_on": "b"}, b={**LENGTH, "depends_on": "a"}),
        "Circular Dependency Found",
    ),
    (
        _template(a={**LENGTH, "depends_on": "zz"}),
        'The specified reference "zz" (in a) is incorrect',
    ),
    (
        _template(
            a=LENGTH,
            b={"type": "OS::Heat::Value", "properties": {"value": {"get_attr": ["a", "no"]}}},
        ),
        "The Referenced Attribute (a no) is incorrect",
    ),
    (_template(a={**LENGTH, "condition": "zz"}), 'Invalid condition "zz"'),
    (_template(a={"properties": {}}), "Each resource must contain a type key"),
    (
        _template(a={**LENGTH, "foo": 1}),
        '"foo" is not a valid keyword inside a',
    ),
    ({**VERSION, "Resources": {}}, "The template section is invalid: Resources"),
    ({"heat_template_version": "2012-01-01", "resources": {}}, "The template version is invalid"),
    ({"resources": {}}, "Template not in valid format: Template format version not found."),
    (
        "[1, 2]",
        "Template not in valid format: The template is not a JSON object or YAML mapping",
    ),
    ("a: [", "Template not in valid format: Error parsing template"),
    (None, "No template specified"),
]

REQUESTS: list[tuple[str, str, Any, str]] = [
    ("GET", "/stacks/nosuch", None, "The Stack (nosuch) could not be found."),
    (
        "POST",
        "/stacks",
        {"stack_name": "kept", "template": VERSION},
        "The Stack (kept) already exists.",
    ),
    (
        "POST",
        "/stacks",
        {"stack_name": "kept", "template": {**VERSION, "resources": {"a": {"type": "No::Such"}}}},
        "The Stack (kept) already exists.",
    ),
    (
        "POST",
        "/stacks",
        {"stack_name": "1 bad", "template": VERSION},
        'must contain only alphanumeric or "_-." characters, must start with alpha',
    ),
    ("POST", "/stacks", {"template": VERSION}, "No stack name specified"),
    ("GET", "KEPT/resources/zz", None, "The Resource (zz) could not be found in Stack kept."),
    ("GET", "KEPT/resources/a/events/zz", None, "No event zz found"),
    ("GET", "KEPT/outputs/zz", None, "Specified output key zz not found"),
    (
        "POST",
        "KEPT/actions",
        {"cancel_update": None},
        "Cancelling update when stack is CREATE_COMPLETE is not supported.",
    ),
    ("POST", "KEPT/actions", {"foo": None}, "Invalid action foo specified"),
    ("POST", "KEPT/actions", {"check": None, "suspend": None}, "Multiple actions specified"),
    (
        "PUT",
        "KEPT",
        {"template": _template(PARAMETER, a=LENGTH), "parameters": {"param1": "two"}},
        "The following parameters are immutable and may not be updated: param1",
    ),
    (
        "PUT",
        "KEPT",
        {"template": _template(a=LENGTH), "parameters": {"zz": "1"}},
        "The Parameter (zz) was not defined in template.",
    ),
    ("GET", "KEPT/resources?nested_depth=x", None, "Only integer is acceptable by 'nested_depth'."),
    (
        "GET",
        "KEPT/resources?nested_depth=-1",
        None,
        "Value '-1' is invalid for 'nested_depth' which only accepts non-negative integer",
    ),
    ("GET", "KEPT/resources?foo=1", None, "Invalid filter parameters ['foo']"),
    (
        "GET",
        "/stacks?show_nested=zz",
        None,
        'Unrecognized value "zz" for "show_nested", acceptable values are: true, false.',
    ),
    (
        "GET",
        "/stacks?global_tenant=true",
        None,
        "You are not authorized to use stacks:global_index.",
    ),
    ("GET", "/resource_types/No::Such", None, "The Resource Type (No::Such) could not be found."),
    (
        "GET",
        "/template_versions/heat_template_version.2021-04-16/functions",
        None,
        "A function for including a file inline.",
    ),
]


@pytest.fixture(scope="module")
def person(service: Service) -> Iterator[Person]:
    """The owner of the stack ``kept``, which has a resource ``a`` and an immutable parameter."""
    someone = demo(service)
    given = {"parameters": {"param1": "one"}}
    stack_id = someone.create("kept", _template(PARAMETER, a=LENGTH), **given)
    yield someone
    someone.ask("DELETE", f"/stacks/kept/{stack_id}")


@pytest.fixture(scope="module")
def kept(person: Person) -> str:
    answer = person.ask("GET", "/stacks/kept", follow_redirects=True)
    return f"/stacks/kept/{answer.json()['stack']['id']}"


@pytest.mark.parametrize(("template", "phrase"), PREVIEWS, ids=[phrase for _, phrase in PREVIEWS])
def test_a_wrong_template_is_refused_with(person: Person, template: Any, phrase: str) -> None:
    body = {"stack_name": "phrases", "template": template}
    answer = person.ask("POST", "/stacks/preview", body)
    assert answer.status_code in (400, 404)
    assert phrase in answer.json()["error"]["message"]


@pytest.mark.parametrize(
    ("method", "path", "body", "phrase"), REQUESTS, ids=[phrase for *_, phrase in REQUESTS]
)
def test_a_request_is_answered_with(
    person: Person, kept: str, method: str, path: str, body: Any, phrase: str
) -> None:
    answer = person.ask(method, path.replace("KEPT", kept), body, follow_redirects=True).json()
    text = answer["error"]["message"] if "error" in answer else str(answer)
    assert phrase in text


WAITING = {
    "heat_template_version": "2021-04-16",
    "resources": {
        "handle": {"type": "OS::Heat::WaitConditionHandle"},
        "w": {
            "type": "OS::Heat::WaitCondition",
            "properties": {"handle": {"get_resource": "handle"}, "timeout": 1},
        },
    },
}
VICTIM = {"resource_registry": {"Victim": "victim.yaml"}}
OOPS = """
heat_template_version: 2021-04-16
resources: {oops: {type: OS::Heat::TestResource, properties: {fail: true, wait_secs: 0}}}
"""

FAILURES: list[tuple[dict[str, Any], str, str]] = [
    (
        {"template": _template(a=_test(fail=True))},
        "Resource CREATE failed: ValueError: resources.a: Test Resource failed a",
        "ValueError: resources.a: Test Resource failed a",
    ),
    (
        {
            "template": _template(victim={"type": "Victim"}),
            "environment": VICTIM,
            "files": {"victim.yaml": OOPS},
        },
        "Resource CREATE failed: ValueError: resources.victim.resources.oops: Test Resource failed",
        "ValueError: resources.victim.resources.oops: Test Resource failed oops",
    ),
    (
        {"template": WAITING},
        "Resource CREATE failed: WaitConditionTimeout: resources.w: 0 of 1 received",
        "WaitConditionTimeout: resources.w: 0 of 1 received",
    ),
]


def test_failures_name_kind_and_path_to_cause(person: Person) -> None:
    stacks = []
    for number, (body, _, _) in enumerate(FAILURES):
        name = f"failing{number}"
        answer = person.ask("POST", "/stacks", {"stack_name": name, **body})
        assert answer.status_code == 201, answer.text
        stacks.append((name, answer.json()["stack"]["id"]))
    for (name, stack_id), (_, of_stack, of_resource) in zip(stacks, FAILURES, strict=True):
        until(lambda n=name, i=stack_id: person.status(n, i) == "CREATE_FAILED", "it fails")
        path = f"/stacks/{name}/{stack_id}"
        stack = person.ask("GET", path).json()["stack"]
        assert stack["stack_status_reason"].startswith(of_stack)
        events = person.ask("GET", f"{path}/events").json()["events"]
        reasons = [event["resource_status_reason"] for event in events]
        assert any(reason.startswith(of_resource) for reason in reasons), reasons
        person.ask("DELETE", path)


NESTED = """
heat_template_version: 2021-04-16
resources: {a: {type: OS::Heat::RandomString}}
outputs: {broken: {value: {get_param: foo}}}
"""


def test_output_shows_error_of_nested_output(person: Person) -> None:
    template = {
        **VERSION,
        "resources": {"parent": {"type": "one.yaml"}},
        "outputs": {"shown": {"value": {"get_attr": ["parent", "broken"]}}},
    }
    stack_id = person.create("output-error", template, files={"one.yaml": NESTED})
    path = f"/stacks/output-error/{stack_id}"
    output = person.ask("GET", f"{path}/outputs/shown").json()["output"]
    assert output["output_value"] is None
    phrase = "Error in parent output broken: The Parameter (foo) was not provided."
    assert output["output_error"] == phrase
    person.ask("DELETE", path)


def test_functions_have_descriptions_that_clients_compare(person: Person) -> None:
    address = "/template_versions/heat_template_version.2021-04-16/functions"
    functions = person.ask("GET", address).json()["template_functions"]
    words = {each["functions"]: each["description"] for each in functions}
    assert words["get_file"] == "A function for including a file inline."
