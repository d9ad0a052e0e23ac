"""HTTP to the cloud: tokens, catalog, refusals."""

from __future__ import annotations

from collections.abc import Callable

import httpx
import pytest

from stoker.cli.client.client import Client, RefusedError
from stoker.cli.client.credentials import Credentials, in_environment
from stoker.cli.client.stacks import find_stack
from stoker.cli.console.failures import CommandError, InputError

CREDENTIALS = Credentials("http://cloud/identity/v3", "demo", "secret", project_name="demo")
CATALOG = [
    {
        "type": "orchestration",
        "endpoints": [{"interface": "public", "region_id": "R", "url": "http://cloud/v1/p"}],
    }
]


def login(request: httpx.Request, token: str = "t") -> httpx.Response:
    body = {"token": {"project": {"id": "p"}, "catalog": CATALOG}}
    return httpx.Response(201, json=body, headers={"X-Subject-Token": token})


def client(answer: Callable[[httpx.Request], httpx.Response], url: str | None = None) -> Client:
    def handle(request: httpx.Request) -> httpx.Response:
        if request.url.path.endswith("/auth/tokens"):
            return login(request)
        return answer(request)

    return Client(CREDENTIALS, url, httpx.MockTransport(handle))


def test_requests_go_to_catalog_address_with_token() -> None:
    seen: list[httpx.Request] = []

    def answer(request: httpx.Request) -> httpx.Response:
        seen.append(request)
        return httpx.Response(200, json={"stacks": []})

    assert client(answer).get("orchestration", "/stacks") == {"stacks": []}
    assert str(seen[0].url) == "http://cloud/v1/p/stacks"
    assert seen[0].headers["X-Auth-Token"] == "t"


def test_url_option_takes_precedence_over_catalog() -> None:
    seen: list[str] = []

    def answer(request: httpx.Request) -> httpx.Response:
        seen.append(str(request.url))
        return httpx.Response(200, json={})

    client(answer, "http://elsewhere:8004/").get("orchestration", "/stacks")
    assert seen == ["http://elsewhere:8004/v1/p/stacks"]


def test_an_expired_token_is_renewed_once() -> None:
    answers = [httpx.Response(401), httpx.Response(200, json={"good": True})]
    assert client(lambda _: answers.pop(0)).get("orchestration", "/x") == {"good": True}


@pytest.mark.parametrize(
    "body",
    [
        {"code": 400, "error": {"message": "it is wrong", "type": "X"}},
        {"itemNotFound": {"code": 400, "message": "it is wrong"}},
        {"NeutronError": {"type": "X", "message": "it is wrong", "detail": ""}},
        {"message": "it is wrong"},
    ],
)
def test_refusals_of_all_services_are_understood(body: object) -> None:
    with pytest.raises(RefusedError) as caught:
        client(lambda _: httpx.Response(400, json=body)).get("orchestration", "/x")
    assert caught.value.message == "it is wrong"
    assert caught.value.status == 400


def test_answer_without_json_is_reported_in_one_sentence() -> None:
    with pytest.raises(RefusedError, match="answers 502"):
        client(lambda _: httpx.Response(502, text="<html>")).get("orchestration", "/x")


def test_service_missing_in_catalog_is_named() -> None:
    with pytest.raises(CommandError, match="no compute service"):
        client(lambda _: httpx.Response(200)).get("compute", "/servers")


def test_nothing_answering_is_one_sentence_with_a_remedy() -> None:
    def answer(request: httpx.Request) -> httpx.Response:
        raise httpx.ConnectError("connection refused")

    with pytest.raises(CommandError, match="stoker serve"):
        client(answer).get("orchestration", "/x")


def test_wrong_credentials_are_one_sentence() -> None:
    def refuse(request: httpx.Request) -> httpx.Response:
        return httpx.Response(401, json={"error": {"message": "who are you?"}})

    with pytest.raises(CommandError, match=r"refuses the credentials: who are you\?"):
        Client(CREDENTIALS, None, httpx.MockTransport(refuse)).get("orchestration", "/x")


def test_openstack_variables_make_credentials() -> None:
    found = in_environment(
        {
            "OS_AUTH_URL": "http://cloud/v3/",
            "OS_USERNAME": "demo",
            "OS_PASSWORD": "secret",
            "OS_PROJECT_NAME": "demo",
            "OS_USER_DOMAIN_NAME": "People",
        }
    )
    assert found is not None
    assert (found.auth_url, found.user_domain) == ("http://cloud/v3", "People")


def test_incomplete_variables_are_bad_input() -> None:
    with pytest.raises(InputError, match="username and password"):
        in_environment({"OS_AUTH_URL": "http://cloud/v3"})


def test_no_variables_are_no_credentials() -> None:
    assert in_environment({"PATH": "/bin"}) is None


def test_an_address_of_something_else_is_one_sentence() -> None:
    with pytest.raises(CommandError, match="is the address right"):
        find_stack(client(lambda _: httpx.Response(200, json=["hello"])), "web")
