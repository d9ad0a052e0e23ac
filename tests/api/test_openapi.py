"""The API describes itself, completely and in a form that tools accept."""

import inspect
from collections.abc import Iterator
from typing import Any

import pytest
from openapi_spec_validator import OpenAPIV31SpecValidator

from stoker.api.rest import openapi
from stoker.api.rest.requests.parameters import Parameter
from stoker.api.rest.router import Router
from stoker.api.rest.routes import ROUTES

from .conftest import ClientFor

DOCUMENT = openapi.document("http://api:8004")


def operations() -> Iterator[tuple[str, str, dict[str, Any]]]:
    for path, item in DOCUMENT["paths"].items():
        for method, operation in item.items():
            if method != "parameters":
                yield method.upper(), path, operation


def test_the_document_is_valid() -> None:
    OpenAPIV31SpecValidator(openapi.document("http://api:8004", passwords=True)).validate()


@pytest.mark.parametrize(("version", "token"), [("v1", None), ("v1.0", None), ("v1", "user")])
async def test_the_document_is_served_without_a_token(
    client_for: ClientFor, version: str, token: str | None
) -> None:
    answer = await client_for(token=token).get(f"/{version}/openapi.json")
    assert answer.status_code == 200
    assert answer.headers["content-type"] == "application/json"
    assert answer.json() == DOCUMENT


async def test_the_document_is_only_read(client_for: ClientFor) -> None:
    assert (await client_for(token=None).post("/v1/openapi.json")).status_code == 401
    assert (await client_for().post("/v1/openapi.json")).status_code == 404


async def test_document_names_server_as_clients_see_it(client_for: ClientFor) -> None:
    forwarded = {"X-Forwarded-Proto": "https", "X-Forwarded-Host": "public"}
    client = client_for(token=None, behind_proxy=True)
    answer = await client.get("/v1/openapi.json", headers=forwarded)
    assert answer.json()["servers"] == [{"url": "https://public/v1"}]


async def test_the_document_says_how_requests_are_authenticated(client_for: ClientFor) -> None:
    token, password = {"X-Auth-Token": []}, {"X-Auth-User": [], "X-Auth-Key": []}
    for passwords, security in ((False, [token]), (True, [token, password])):
        client = client_for(token=None, passwords=passwords)
        document = (await client.get("/v1/openapi.json")).json()
        assert document["security"] == security
        assert document["components"]["securitySchemes"].keys() == {k for e in security for k in e}


def test_every_route_is_described_and_nothing_else() -> None:
    router = Router(ROUTES)
    found = set()
    for method, path, operation in operations():
        match = next(m for m in router.matches(path) if method in m.operations)
        route = match.operations[method]
        found.add(id(route))
        assert operation["x-policies"] == list(route.rules)
        assert operation["summary"] in " ".join(inspect.cleandoc(route.handler.__doc__).split())
        assert str(route.status) in operation["responses"]
        assert {p["name"] for p in operation.get("parameters", ())} == {p.name for p in route.query}
    missing = [route for route in ROUTES if id(route) not in found]
    assert {route.path.partition("/stacks/")[2].partition("}")[0] for route in missing} == {
        "{stack_name:arn"  # an ARN is another spelling of a name
    }


def test_every_declared_parameter_belongs_to_a_route() -> None:
    declared = {
        f"{module.__name__}.{name}"
        for module in {inspect.getmodule(route.handler) for route in ROUTES}
        for name, value in vars(module).items()
        if isinstance(value, Parameter)
        if not any(value in route.query for route in ROUTES)
    }
    assert declared == set()
