from collections.abc import Callable

import httpx
import pytest
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import BaseRoute

from localcloud.core.cloud import Cloud, LazyService
from localcloud.web.http import (
    ConflictError,
    context,
    glance_error,
    keystone_error,
    neutron_error,
    nova_error,
    read_object,
    route,
)

RENDERERS = {"/k": keystone_error, "/n": nova_error, "/q": neutron_error, "/g": glance_error}


class Things(LazyService):
    """The smallest service that answers."""

    type = name = "things"
    version = {"id": "v1", "status": "CURRENT"}
    documents = {"/": {"id": "v1"}}

    def __init__(self, cloud: Cloud, prefix: str) -> None:
        self.prefix = self.endpoint = prefix
        self.render = RENDERERS[prefix]
        super().__init__(cloud)

    def routes(self) -> list[BaseRoute]:
        return [
            *self.version_routes(),
            route("GET", "/v1/things", who),
            route("POST", "/v1/things", create),
            route("GET", "/v1/broken", broken),
        ]


@pytest.fixture
def things(cloud: Cloud) -> Callable[[str], Things]:
    return lambda prefix: Things(cloud, prefix)


async def who(request: Request) -> Response:
    return JSONResponse(context(request).user_id)


async def create(request: Request) -> None:
    await read_object(request, "thing")
    raise ConflictError("There is one already.", type="ThingExists")


async def broken(request: Request) -> None:
    raise RuntimeError("secret detail")


MakeClient = Callable[..., httpx.AsyncClient]
MakeThings = Callable[[str], Things]


async def test_service_answers_with_and_without_trailing_slash(
    client_of: MakeClient, things: MakeThings
) -> None:
    async with client_of(things("/k")) as client:
        for path in ("/k/v1/things", "/k/v1/things/"):
            assert (await client.get(path)).json() == "demo-user"


async def test_every_answer_has_a_request_id(client_of: MakeClient, things: MakeThings) -> None:
    async with client_of(things("/k")) as client:
        for path in ("/k", "/k/v1/things", "/k/none", "/k/v1/broken"):
            answer = await client.get(path)
            assert answer.headers["x-openstack-request-id"].startswith("req-")


async def test_public_paths_need_no_token_and_others_do(
    client_of: MakeClient, things: MakeThings
) -> None:
    async with client_of(things("/n"), token=None) as client:
        assert (await client.get("/n/")).status_code == 200
        refused = await client.get("/n/v1/things")
        assert refused.status_code == 401
        assert refused.headers["www-authenticate"].startswith("Keystone uri=")
        assert refused.json()["unauthorized"]["code"] == 401


@pytest.mark.parametrize(
    ("prefix", "expected"),
    [
        ("/k", {"error": {"code": 409, "message": "There is one already.", "title": "Conflict"}}),
        ("/n", {"conflictingRequest": {"code": 409, "message": "There is one already."}}),
        (
            "/q",
            {
                "NeutronError": {
                    "type": "ThingExists",
                    "message": "There is one already.",
                    "detail": "",
                }
            },
        ),
    ],
)
async def test_errors_have_the_shape_of_their_service(
    client_of: MakeClient, things: MakeThings, prefix: str, expected: object
) -> None:
    async with client_of(things(prefix)) as client:
        answer = await client.post(f"{prefix}/v1/things", json={"thing": {}})
        assert (answer.status_code, answer.json()) == (409, expected)


async def test_unknown_path_is_404_wrong_method_405(
    client_of: MakeClient, things: MakeThings
) -> None:
    async with client_of(things("/k")) as client:
        assert (await client.get("/k/v1/none")).status_code == 404
        wrong = await client.delete("/k/v1/things")
        assert wrong.status_code == 405
        assert "GET" in wrong.headers["allow"]
        assert (await client.get("/nothing/here")).status_code == 404


async def test_bad_bodies_are_refused(client_of: MakeClient, things: MakeThings) -> None:
    async with client_of(things("/k")) as client:
        for body in (b"{", b"[]", b"{}", b'{"thing": 1}', b"[" * 100_000):
            answer = await client.post("/k/v1/things", content=body)
            assert answer.status_code == 400, body[:20]
        huge = await client.post("/k/v1/things", content=b" " * (1 << 20) + b"{}")
        assert huge.status_code == 413


async def test_a_failure_inside_shows_nothing_of_the_inside(
    client_of: MakeClient, things: MakeThings
) -> None:
    async with client_of(things("/k")) as client:
        answer = await client.get("/k/v1/broken")
        assert answer.status_code == 500
        assert "secret" not in answer.text
        assert answer.headers["x-openstack-request-id"] in answer.text


async def test_the_root_lists_versions_of_all_services(
    client_of: MakeClient, things: MakeThings
) -> None:
    async with client_of(things("/k"), things("/n"), token=None) as client:
        answer = await client.get("/")
        assert answer.status_code == 300
        assert len(answer.json()["versions"]) == 2
        assert (await client.get("/healthcheck")).text == "OK"
