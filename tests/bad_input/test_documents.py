"""Documents and requests that are wrong are refused, named, and leave nothing behind."""

from __future__ import annotations

import http.client
import json
from dataclasses import dataclass, field
from typing import Any

import httpx
import pytest

from tests.isolation.people import Person, demo, left, newcomer
from tests.recovery.service import Service

VERSION = {"heat_template_version": "2018-08-31"}
RANDOM = {"type": "OS::Heat::RandomString"}


@dataclass(frozen=True)
class Bad:
    """A refused body: the error type, and the words that its message must contain."""

    claim: str
    error: str
    names: str
    body: dict[str, Any] = field(default_factory=dict)


def text(content: str) -> dict[str, Any]:
    """A body whose template comes as text."""
    return {"template": f"heat_template_version: 2018-08-31\n{content}"}


def resource(**body: Any) -> dict[str, Any]:
    """A body with one resource ``a``."""
    return {"template": {**VERSION, "resources": {"a": body}}}


def random(**properties: Any) -> dict[str, Any]:
    """A body with one random string ``a``."""
    return resource(type="OS::Heat::RandomString", properties=properties)


def value(of: Any) -> dict[str, Any]:
    """A body with one value ``a``."""
    return resource(type="OS::Heat::Value", properties={"value": of})


def server(**properties: Any) -> dict[str, Any]:
    """A body with one server ``a``."""
    return resource(type="OS::Nova::Server", properties=properties)


def parameter(declared: dict[str, Any], **given: Any) -> dict[str, Any]:
    """A body with one parameter ``x``."""
    template = {**VERSION, "parameters": {"x": declared}, "resources": {"a": RANDOM}}
    return {"template": template, "parameters": given}


def good(**fields: Any) -> dict[str, Any]:
    """A body whose template is fine."""
    return {"template": {**VERSION, "resources": {"a": RANDOM}}, **fields}


INVALID = "StackValidationFailed"
REQUEST = "HTTPBadRequest"
CIRCLE = {
    name: {"type": "OS::Heat::Value", "properties": {"value": {"get_resource": other}}}
    for name, other in (("a", "b"), ("b", "a"))
}
CASES = (
    Bad("yaml-with-a-tab", REQUEST, "<template>:3:1", text("resources:\n\ta: 1\n")),
    Bad("yaml-that-does-not-end", REQUEST, "<template>:2:16", text("resources: {a: [1\n")),
    Bad("a-list-as-template", REQUEST, "<template>:1:1", {"template": "- a\n- b\n"}),
    Bad("half-a-surrogate", REQUEST, "<template>:2:", text('description: "\\ud800"\n')),
    Bad("deep-nesting", REQUEST, "100 levels", text("resources: " + "[" * 5000 + "]" * 5000)),
    Bad(
        "an-alias-bomb",
        REQUEST,
        "aliases repeat more than 100000 values",
        text(
            "conditions:\n  c0: &c0 [1, 1, 1, 1, 1, 1, 1, 1, 1]\n"
            + "".join(f"  c{i}: &c{i} [{', '.join([f'*c{i - 1}'] * 9)}]\n" for i in range(1, 12))
        ),
    ),
    Bad("an-unknown-section", INVALID, "resorces", {"template": {**VERSION, "resorces": {}}}),
    Bad(
        "an-unknown-version",
        "InvalidTemplateVersion",
        "2099-01-01",
        {"template": {"heat_template_version": "2099-01-01"}},
    ),
    Bad("no-version", REQUEST, "version", {"template": {"resources": {"a": RANDOM}}}),
    Bad("resources-as-a-list", INVALID, "resources", {"template": {**VERSION, "resources": [1]}}),
    Bad(
        "an-unknown-type",
        INVALID,
        "<template>:4:5: resources.web.type",
        text("resources:\n  web:\n    type: OS::Nova::Sever\n"),
    ),
    Bad("an-unknown-key", INVALID, "resources.a.propertys", resource(**RANDOM, propertys={})),
    Bad(
        "a-slash-in-a-name", INVALID, "a/b", {"template": {**VERSION, "resources": {"a/b": RANDOM}}}
    ),
    Bad(
        "an-unknown-property",
        INVALID,
        "resources.a.properties: : Unknown Property lenght",
        random(lenght=3),
    ),
    Bad("a-wrong-type", INVALID, "resources.a.properties.length", random(length="abc")),
    Bad("a-number-out-of-range", INVALID, "resources.a.properties.length", random(length=10**6)),
    Bad("arguments-of-a-function", INVALID, "value: : Arguments to", value({"get_attr": "x"})),
    Bad(
        "a-reference-to-nothing",
        "InvalidTemplateReference",
        "nope",
        value({"get_resource": "nope"}),
    ),
    Bad("a-parameter-that-is-not-declared", INVALID, "nope", value({"get_param": "nope"})),
    Bad(
        "a-circle",
        "CircularDependencyException",
        "a -> b -> a",
        {"template": {**VERSION, "resources": CIRCLE}},
    ),
    Bad(
        "an-unknown-condition", INVALID, "resources.a.condition", resource(**RANDOM, condition="z")
    ),
    Bad(
        "a-dependency-on-nothing",
        "InvalidTemplateReference",
        "resources.a.depends_on",
        resource(**RANDOM, depends_on="zz"),
    ),
    Bad(
        "endless-yaql",
        INVALID,
        "yaql",
        value({"yaql": {"expression": "sequence().sum()", "data": {}}}),
    ),
    Bad("broken-yaql", INVALID, "yaql", value({"yaql": {"expression": "$.((", "data": {}}})),
    Bad(
        "a-billion-repetitions",
        INVALID,
        "repetitions",
        value({"repeat": {"template": "abc", "for_each": {n: list(range(1000)) for n in "abc"}}}),
    ),
    Bad(
        "a-missing-parameter", "UserParameterMissing", "parameters.x", parameter({"type": "string"})
    ),
    Bad("a-surplus-parameter", "UnknownUserParameter", "zz", good(parameters={"zz": 1})),
    Bad("a-parameter-of-the-wrong-type", INVALID, "abc", parameter({"type": "number"}, x="abc")),
    Bad("an-unknown-parameter-type", "InvalidSchemaError", "strin", parameter({"type": "strin"})),
    Bad(
        "a-pattern-that-takes-for-ever",
        INVALID,
        "parameters.x",
        parameter(
            {"type": "string", "constraints": [{"allowed_pattern": "(a+)+$"}]}, x="a" * 40 + "!"
        ),
    ),
    Bad("an-unknown-image", INVALID, "no image 'nope'", server(image="nope", flavor="m1.tiny")),
    Bad("an-unknown-flavor", INVALID, "no flavor 'nope'", server(image="cirros", flavor="nope")),
    Bad(
        "an-unknown-network",
        INVALID,
        "resources.a.properties.networks[0].network",
        server(image="cirros", flavor="m1.tiny", networks=[{"network": "nope"}]),
    ),
    Bad("a-name-that-begins-with-a-digit", INVALID, '"1a"', good(stack_name="1a")),
    Bad("a-name-with-a-space", INVALID, '"a b"', good(stack_name="a b")),
    Bad("a-name-of-256-characters", INVALID, "255", good(stack_name="a" * 256)),
    Bad("a-name-that-is-no-text", INVALID, "stack_name", good(stack_name=5)),
    Bad("a-timeout-that-is-no-number", REQUEST, "timeout_mins", good(timeout_mins="abc")),
    Bad("a-negative-timeout", REQUEST, "timeout_mins", good(timeout_mins=-1)),
    Bad("parameters-as-a-list", "ValueError", "parameters", good(parameters=[1])),
    Bad("a-file-that-is-no-text", "ValueError", '"f"', good(files={"f": 1})),
    Bad(
        "an-environment-that-does-not-end", REQUEST, "<environment>:1:4", good(environment="a: [b")
    ),
    Bad(
        "an-unknown-section-of-the-environment",
        REQUEST,
        "parametres",
        good(environment={"parametres": {}}),
    ),
    Bad("a-long-tag", REQUEST, "80", good(tags="x" * 81)),
    Bad("no-template", REQUEST, "template", {}),
    Bad("a-number-as-template", REQUEST, "template", {"template": 5}),
)


@pytest.fixture(scope="module")
def user(service: Service) -> Person:
    return demo(service)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.claim)
def test_bad_request_is_refused_with_its_position(
    service: Service, user: Person, case: Bad
) -> None:
    before = left(service)
    answer = user.ask("POST", "/stacks", {"stack_name": "bad", **case.body})
    assert answer.status_code == 400, answer.text
    fault = answer.json()
    assert (fault["code"], fault["title"]) == (400, "Bad Request")
    assert fault["error"]["type"] == case.error
    assert case.names in fault["error"]["message"]
    assert fault["error"]["traceback"] is None
    assert "Traceback" not in answer.text
    assert left(service) == before


@pytest.mark.parametrize(
    ("claim", "content"),
    [
        ("cut-off", b'{"stack_name": "x", "template": {'),
        ("not-a-number", b'{"stack_name": "x", "template": {"a": NaN}}'),
        ("half-a-surrogate", b'{"stack_name": "\\ud800", "template": {}}'),
        ("no-utf-8", b'{"stack_name": "\xff", "template": {}}'),
        ("deep", b'{"template": ' + b"[" * 100_000 + b"]" * 100_000 + b"}"),
        ("a-list", b"[]"),
        ("nothing", b""),
    ],
)
def test_body_without_json_object_is_refused(
    service: Service, user: Person, claim: str, content: bytes
) -> None:
    before = left(service)
    answer = httpx.post(
        f"{service.url}/v1/{user.project}/stacks",
        content=content,
        headers={"X-Auth-Token": user.token, "Content-Type": "application/json"},
        timeout=60,
    )
    assert answer.status_code == 400, answer.text
    assert answer.json()["error"]["type"] == "HTTPBadRequest"
    assert left(service) == before


def test_oversized_body_is_refused_unread(service: Service) -> None:
    user = demo(service)
    connection = http.client.HTTPConnection("127.0.0.1", service.port, timeout=30)
    connection.putrequest("POST", f"/v1/{user.project}/stacks")
    connection.putheader("X-Auth-Token", user.token)
    connection.putheader("Content-Type", "application/json")
    connection.putheader("Content-Length", str(10**12))
    connection.endheaders()
    answer = connection.getresponse()
    assert answer.status == 400
    assert json.loads(answer.read())["error"]["type"] == "RequestLimitExceeded"
    connection.close()


def test_missing_or_wrong_token_is_refused(service: Service) -> None:
    before = left(service)
    user = demo(service)
    for token in ("", "wrong", "x" * 5000):
        stranger = Person(user.url, token, user.project)
        answer = stranger.ask("POST", "/stacks", {"stack_name": "bad", **good()})
        assert answer.status_code == 401, answer.text
    assert left(service) == before


def test_a_token_that_was_revoked_is_refused(service: Service) -> None:
    someone = newcomer(service, "revoked")
    assert someone.ask("GET", "/stacks").status_code == 200
    httpx.delete(
        f"{service.cloud_url}/identity/v3/auth/tokens",
        headers={"X-Auth-Token": someone.token, "X-Subject-Token": someone.token},
        timeout=30,
    ).raise_for_status()
    fresh = Person(someone.url, someone.token, someone.project)
    # a token is believed for a while without asking again; what needs a trust asks
    answer = fresh.ask("POST", "/stacks", {"stack_name": "bad", **good()})
    assert answer.status_code in (401, 403), answer.text


def test_ten_thousand_mistakes_have_bounded_answer(user: Person) -> None:
    declared = {f"p{i}": {"type": "string"} for i in range(10_000)}
    body = {"stack_name": "bad", "template": {**VERSION, "parameters": declared}}
    answer = user.ask("POST", "/stacks", body)
    assert answer.status_code == 400
    assert "there are 10000 findings in all" in answer.json()["error"]["message"]
    assert len(answer.content) < 100_000


LONG = "x" * 500_000


@pytest.mark.parametrize(
    "body",
    [
        {"template": {**VERSION, "parameters": {LONG: {"type": "string"}}}},
        good(environment={LONG: 1}),
        good(environment={"resource_registry": {LONG: 5}}),
        good(timeout_mins=LONG),
        good(tags=LONG),
        good(stack_name=LONG),
    ],
    ids=["parameter", "section", "type", "timeout", "tag", "name"],
)
def test_long_mistake_has_bounded_answer(user: Person, body: dict[str, Any]) -> None:
    answer = user.ask("POST", "/stacks", {"stack_name": "bad", **body})
    assert answer.status_code == 400
    assert len(answer.content) < 50_000


@pytest.mark.parametrize(
    "query", ["limit=x", "limit=-1", "show_deleted=maybe", "limit=9" + "9" * 50]
)
def test_a_query_that_is_no_query_is_refused(user: Person, query: str) -> None:
    assert user.ask("GET", f"/stacks?{query}").status_code == 400


def test_a_query_with_a_thousand_values_is_answered(user: Person) -> None:
    query = "&".join(f"id=x{i}" for i in range(1000))
    assert user.ask("GET", f"/stacks?{query}").status_code in (200, 400)
