"""The rules that hold for every address."""

import gzip
import json

import httpx
import pytest

from stoker.engine.model.interfaces import StoreError
from stoker.kernel.diagnostics import Diagnostic, DiagnosticError, Position
from stoker.kernel.errors import (
    ACTION_NOT_SUPPORTED,
    INVALID_VERSION,
    UNAVAILABLE,
    ActionInProgressError,
    ErrorType,
    LimitExceededError,
    NotSupportedError,
    RequestError,
)

from .conftest import ClientFor, FakePolicy
from .fake_service import FakeService


@pytest.mark.parametrize(
    ("method", "path"), [("GET", "/stacks"), ("POST", "/stacks"), ("GET", "/no")]
)
async def test_request_without_token_is_401_with_a_challenge(
    client_for: ClientFor, base: str, method: str, path: str
) -> None:
    answer = await client_for(token=None, identity_uri="http://keystone/v3").request(
        method, base + path
    )
    assert answer.status_code == 401
    assert answer.headers["WWW-Authenticate"] == 'Keystone uri="http://keystone/v3"'
    assert answer.json()["error"]["code"] == 401
    assert answer.json()["error"]["title"] == "Unauthorized"


async def test_every_answer_carries_a_request_id(client_for: ClientFor, base: str) -> None:
    for path in ("/", "/nowhere", base + "/stacks", base + "/stacks/x"):
        answer = await client_for().get(path)
        assert answer.headers["x-openstack-request-id"].startswith("req-")


async def test_request_id_reaches_the_engine(
    client: httpx.AsyncClient, base: str, service: FakeService
) -> None:
    view = service.add("s")
    answer = await client.get(f"{base}/stacks/s/{view.address.id}")
    assert service.asked[-1][1].request_id == answer.headers["x-openstack-request-id"]


async def test_other_project_in_the_path_is_403(client: httpx.AsyncClient) -> None:
    answer = await client.get(f"/v1/{'0' * 32}/stacks")
    assert answer.status_code == 403
    assert answer.json()["error"]["type"] == "HTTPForbidden"


async def test_admin_may_name_any_project(client_for: ClientFor, base: str) -> None:
    assert (await client_for("admin").get(base + "/stacks")).status_code == 200


async def test_policy_refusal_is_403(
    client: httpx.AsyncClient, base: str, policy: FakePolicy
) -> None:
    policy.forbidden.add("stacks:index")
    answer = await client.get(base + "/stacks")
    assert answer.status_code == 403
    assert answer.json()["error"]["type"] == "Forbidden"


@pytest.mark.parametrize("path", ["/nosuch", "/stacks/", "/stacks/a/b/c/d"])
async def test_unknown_address_is_a_404_fault(
    client: httpx.AsyncClient, base: str, path: str
) -> None:
    answer = await client.get(base + path)
    assert answer.status_code == answer.json()["code"] == 404
    assert answer.json()["error"]["type"] == "HTTPNotFound"


async def test_unknown_method_is_405(client: httpx.AsyncClient, base: str) -> None:
    answer = await client.request("PROPFIND", base + "/stacks")
    assert answer.status_code == answer.json()["code"] == 405


@pytest.mark.parametrize(
    ("method", "path"), [("GET", "/validate"), ("PUT", "/stacks"), ("HEAD", "/stacks")]
)
async def test_wrong_method_is_405_with_allow(
    client: httpx.AsyncClient, base: str, method: str, path: str
) -> None:
    answer = await client.request(method, base + path)
    assert answer.status_code == 405
    assert "POST" in answer.headers["Allow"]
    if method != "HEAD":
        assert answer.json()["error"]["type"] == "HTTPMethodNotAllowed"


async def test_options_is_204_with_allow(client: httpx.AsyncClient, base: str) -> None:
    answer = await client.options(base + "/stacks")
    assert (answer.status_code, answer.headers["Allow"]) == (204, "GET,POST")


async def test_fault_has_the_shape_that_clients_know(client: httpx.AsyncClient, base: str) -> None:
    answer = await client.get(base + "/stacks/nosuch")
    body = answer.json()
    assert answer.status_code == body["code"] == 404
    assert body["title"] == "Not Found"
    assert body["explanation"]
    assert body["error"]["type"] == "EntityNotFound"
    assert body["error"]["traceback"] is None
    assert "nosuch" in body["error"]["message"]


async def test_unexpected_fault_is_500_without_detail(
    client: httpx.AsyncClient, base: str, service: FakeService
) -> None:
    service.refusal = ZeroDivisionError("secret")
    answer = await client.get(base + "/stacks")
    assert answer.status_code == 500
    assert answer.json()["error"] == {"type": "ZeroDivisionError", "traceback": None}
    assert "secret" not in answer.text


async def test_debug_sends_the_traceback(
    client_for: ClientFor, base: str, service: FakeService
) -> None:
    service.refusal = ZeroDivisionError("detail")
    answer = await client_for(debug=True).get(base + "/stacks")
    assert "ZeroDivisionError: detail" in answer.json()["error"]["traceback"]


@pytest.mark.parametrize(
    ("refusal", "status", "error_type"),
    [
        (ActionInProgressError("busy"), 409, "ActionInProgress"),
        (LimitExceededError("too many"), 400, "RequestLimitExceeded"),
        (NotSupportedError("cannot"), 400, "NotSupported"),
        (NotSupportedError("cannot", ACTION_NOT_SUPPORTED), 400, "ResourceActionNotSupported"),
        (NotSupportedError("cannot", ErrorType("SomethingNew", 400)), 400, "SomethingNew"),
        (RequestError("down", UNAVAILABLE), 503, "ServiceUnavailable"),
        (RequestError("failed", ErrorType("Failed", 500)), 500, "Failed"),
    ],
)
async def test_error_type_decides_status_and_name(
    client: httpx.AsyncClient,
    base: str,
    service: FakeService,
    refusal: RequestError,
    status: int,
    error_type: str,
) -> None:
    service.refusal = refusal
    answer = await client.get(base + "/stacks")
    assert answer.status_code == status
    assert answer.json()["error"]["type"] == error_type
    assert answer.json()["error"]["message"] == refusal.message


async def test_database_outage_is_503_with_retry_after(
    client: httpx.AsyncClient, base: str, service: FakeService
) -> None:
    service.refusal = StoreError("connection to 10.1.2.3 refused", passing=True)
    answer = await client.get(base + "/stacks")
    assert answer.status_code == 503
    assert int(answer.headers["Retry-After"]) > 0
    assert answer.json()["error"]["type"] == "ServiceUnavailable"
    assert "database" in answer.json()["error"]["message"]
    assert "10.1.2.3" not in answer.text


async def test_findings_are_returned_with_positions(
    client: httpx.AsyncClient, base: str, service: FakeService
) -> None:
    place = Position("a.yaml", 3, 5)
    service.refusal = DiagnosticError(
        [
            Diagnostic("one", "first", ("resources", "a", 0), position=place, suggestion="try b"),
            Diagnostic("two", "second", error_type=INVALID_VERSION),
        ]
    )
    answer = await client.post(base + "/stacks", json={"stack_name": "s", "template": {}})
    error = answer.json()["error"]
    assert answer.status_code == 400
    assert error["type"] == "StackValidationFailed"
    assert error["diagnostics"][0] == {
        "severity": "error",
        "code": "one",
        "message": "first",
        "path": "resources.a[0]",
        "file": "a.yaml",
        "line": 3,
        "column": 5,
        "suggestion": "try b",
    }
    assert error["diagnostics"][1]["message"] == "second"
    assert "first" in error["message"]
    assert "second" in error["message"]


@pytest.mark.parametrize(
    ("content", "kind"),
    [
        ("[]", "application/json"),
        ('"abc"', "application/json"),
        ("null", "application/json"),
        ("", "application/json"),
        ("<a/>", "application/xml"),
        ('{"stack_name": "s"}', "application/xml"),
        ("{bad", "application/json"),
        ('{"a":' * 200_000, "application/json"),
        (r'{"stack_name": "\ud800", "template": {}}', "application/json"),
    ],
)
async def test_body_that_is_no_json_object_is_400(
    client: httpx.AsyncClient, base: str, content: str, kind: str
) -> None:
    answer = await client.post(base + "/stacks", content=content, headers={"Content-Type": kind})
    assert answer.status_code == 400
    assert answer.json()["error"]["type"] == "HTTPBadRequest"


async def test_object_with_wrong_content_type_is_refused(
    client: httpx.AsyncClient, base: str
) -> None:
    content = json.dumps({"stack_name": "s", "template": {}})
    headers = {"Content-Type": "application/x-www-form-urlencoded"}  # as curl does
    answer = await client.post(base + "/stacks", content=content, headers=headers)
    assert answer.status_code == 400
    words = "It is sent as application/x-www-form-urlencoded: send application/json."
    assert words in answer.json()["error"]["message"]


@pytest.mark.parametrize("kind", ["application/json", "text/plain", "", "application/json; a=b"])
async def test_json_is_read_with_known_content_types(
    client: httpx.AsyncClient, base: str, kind: str
) -> None:
    content = json.dumps({"stack_name": "s", "template": {}})
    answer = await client.post(base + "/stacks", content=content, headers={"Content-Type": kind})
    assert answer.status_code == 201


async def test_an_encoded_body_is_refused_with_the_reason(
    client: httpx.AsyncClient, base: str
) -> None:
    content = gzip.compress(b'{"stack_name": "s", "template": {}}')
    headers = {"Content-Type": "application/json", "Content-Encoding": "gzip"}
    answer = await client.post(base + "/stacks", content=content, headers=headers)
    assert answer.status_code == 400
    assert "It is encoded (gzip): send it plain." in answer.json()["error"]["message"]


async def test_body_beyond_the_limit_is_refused(client_for: ClientFor, base: str) -> None:
    client = client_for(max_json_body_size=100)

    async def chunks():
        for _ in range(20):
            yield b"x" * 10

    for content in (b"{" + b" " * 200, chunks()):
        answer = await client.post(base + "/stacks", content=content)
        assert answer.status_code == 400
        assert answer.json()["error"]["type"] == "RequestLimitExceeded"


async def test_signal_beyond_its_limit_is_refused(client_for: ClientFor, base: str) -> None:
    client = client_for(max_signal_size=100)
    answer = await client.post(base + "/stacks/s/1/resources/r/signal", content=b" " * 200)
    assert answer.json()["error"]["type"] == "RequestLimitExceeded"
    longer = await client.post(base + "/stacks", content=b"{" + b" " * 200)
    assert longer.json()["error"]["type"] != "RequestLimitExceeded"


async def test_answers_are_ascii(
    client: httpx.AsyncClient, base: str, service: FakeService
) -> None:
    view = service.add("s", description="ž")
    answer = await client.get(f"{base}/stacks/s/{view.address.id}")
    assert answer.content.isascii()
    assert answer.json()["stack"]["description"] == "ž"


@pytest.mark.parametrize("value", ["zz", "1", "yes", ""])
async def test_boolean_of_the_query_is_true_or_false(
    client: httpx.AsyncClient, base: str, value: str
) -> None:
    answer = await client.get(base + "/stacks", params={"show_nested": value})
    assert answer.status_code == 400
    assert answer.json()["error"]["type"] == "HTTPBadRequest"


async def test_boolean_in_query_ignores_case(
    client: httpx.AsyncClient, base: str, service: FakeService
) -> None:
    await client.get(base + "/stacks", params={"show_nested": "TRUE"})
    assert service.asked[-1][1].show_nested


@pytest.mark.parametrize("value", ["x", "-1", "1.5", "9" * 5000, "2147483648"])
async def test_integer_of_the_query_is_not_negative(
    client: httpx.AsyncClient, base: str, value: str
) -> None:
    answer = await client.get(base + "/stacks", params={"limit": value})
    assert answer.status_code == 400
    assert answer.json()["error"]["type"] == "HTTPBadRequest"


async def test_links_follow_the_host_of_the_request(
    client: httpx.AsyncClient, base: str, service: FakeService
) -> None:
    service.add("s")
    answer = await client.get(base + "/stacks", headers={"Host": "other:99"})
    assert answer.json()["stacks"][0]["links"][0]["href"].startswith("http://other:99/v1/")


async def test_forwarded_headers_count_only_behind_a_proxy(
    client_for: ClientFor, base: str, service: FakeService
) -> None:
    service.add("s")
    forwarded = {
        "X-Forwarded-Proto": "https",
        "X-Forwarded-Host": "public",
        "X-Forwarded-Prefix": "/heat/",
    }
    hrefs = [
        (await client.get(base + "/stacks", headers=forwarded)).json()["stacks"][0]["links"][0]
        for client in (client_for(), client_for(behind_proxy=True))
    ]
    assert hrefs[0]["href"].startswith("http://api:8004/v1/")
    assert hrefs[1]["href"].startswith("https://public/heat/v1/")


async def test_scripts_of_configured_sites_may_use_the_api(
    client_for: ClientFor, base: str
) -> None:
    client = client_for(cors_origins=("http://dashboard",))
    preflight = {"Origin": "http://dashboard", "Access-Control-Request-Method": "PUT"}
    answer = await client.options(base + "/stacks", headers=preflight)
    assert answer.headers["access-control-allow-origin"] == "http://dashboard"
    other = await client.options(base + "/stacks", headers={**preflight, "Origin": "http://evil"})
    assert "access-control-allow-origin" not in other.headers


@pytest.mark.parametrize("path", ["/stacks/a%00b", "/stacks?name=a%00b"])
async def test_nul_in_the_address_is_400(
    client: httpx.AsyncClient, base: str, service: FakeService, path: str
) -> None:
    assert (await client.get(base + path)).status_code == 400
    assert not service.asked
