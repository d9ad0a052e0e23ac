import json
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

import httpx
import pytest

from localcloud.core.settings import Settings
from localcloud.process.app import CloudApp


async def test_password_gives_token_with_catalog(
    running: Any,
) -> None:
    demo = await running.login("demo")
    body = demo.body
    assert body["methods"] == ["password"]
    assert body["user"]["name"] == "demo"
    assert body["user"]["domain"] == {"id": "default", "name": "Default"}
    assert body["project"]["name"] == "demo"
    assert [r["name"] for r in body["roles"]] == ["heat_stack_owner", "member", "reader"]
    urls = {entry["type"]: entry["endpoints"][0]["url"] for entry in body["catalog"]}
    assert urls["identity"] == "http://127.0.0.1:35357/identity"
    assert urls["orchestration"] == f"http://127.0.0.1:8004/v1/{body['project']['id']}"
    assert len(body["audit_ids"]) == 1


async def test_users_and_projects_have_ids_or_names(running: Any, demo: Any) -> None:
    password = running.password("demo")
    ids = {"id": demo.body["user"]["id"], "password": password}
    names = {"name": "demo", "domain": {"name": "Default"}, "password": password}
    for user in (ids, names):
        for project in (
            {"id": demo.body["project"]["id"]},
            {"name": "demo", "domain": {"name": "default"}},
        ):
            answer = await running.attempt(
                {
                    "identity": {"methods": ["password"], "password": {"user": user}},
                    "scope": {"project": project},
                }
            )
            assert answer.json()["token"]["project"]["id"] == demo.body["project"]["id"]


@pytest.mark.parametrize(
    ("auth", "status"),
    [
        ({}, 400),
        ({"identity": {"methods": []}}, 400),
        ({"identity": {"methods": ["password"]}}, 400),
        ({"identity": {"methods": ["password"], "password": {"user": {"name": "demo"}}}}, 400),
        ({"identity": {"methods": ["telepathy"], "telepathy": {}}}, 401),
        ({"identity": {"methods": ["token"], "token": {"id": "nonsense"}}}, 401),
        ({"identity": {"methods": ["token"], "token": {"id": "ü" * 10000}}}, 401),
        (
            {
                "identity": {
                    "methods": ["password"],
                    "password": {"user": {"id": "nobody", "password": "x"}},
                }
            },
            401,
        ),
    ],
)
async def test_bad_authentication_is_refused_with_error_body(
    running: Any, auth: dict[str, Any], status: int
) -> None:
    answer = await running.attempt(auth)
    assert answer.status_code == status
    assert answer.json()["error"]["code"] == status


async def test_wrong_password_and_unknown_user_look_alike(running: Any) -> None:
    wrong = await running.attempt(running.auth("demo", "wrong"))
    unknown = await running.attempt(running.auth("nobody", "wrong"))
    assert wrong.status_code == unknown.status_code == 401
    assert wrong.json() == unknown.json()


async def test_scopes_are_project_domain_system_or_none(running: Any) -> None:
    domain = await running.login("admin", domain={"id": "default"})
    assert domain.body["domain"]["id"] == "default"
    system = await running.login("admin", system={"all": True})
    assert system.body["system"] == {"all": True}
    unscoped = await running.authenticated({**running.auth("demo"), "scope": "unscoped"})
    assert not {"project", "roles", "catalog"} & unscoped.body.keys()
    refused = await running.attempt({**running.auth("demo"), "scope": {"system": {"all": True}}})
    assert refused.status_code == 401
    other = await running.attempt(
        running.auth("demo", project={"name": "admin", "domain": {"id": "default"}})
    )
    assert other.status_code == 401


async def test_token_from_token_does_not_outlive_it(running: Any, demo: Any, clock: Any) -> None:
    clock.advance(600)
    auth = {"identity": {"methods": ["token"], "token": {"id": demo.token}}}
    second = await running.authenticated(auth)
    assert second.body["methods"] == ["password", "token"]
    assert second.body["expires_at"] == demo.body["expires_at"]
    assert second.body["audit_ids"][1] == demo.body["audit_ids"][0]


async def test_a_token_ends_after_its_hour(demo: Any, clock: Any) -> None:
    assert (await demo("GET", "/auth/projects")).status_code == 200
    clock.advance(3601)
    assert (await demo("GET", "/auth/projects")).status_code == 401


async def test_services_validate_tokens_and_users_see_their_own(admin: Any, demo: Any) -> None:
    for caller in (admin, demo):
        seen = await caller("GET", "/auth/tokens", X_Subject_Token=demo.token)
        assert seen.status_code == 200
        assert seen.headers["x-subject-token"] == demo.token
        assert seen.json()["token"] == demo.body
    short = await admin("GET", "/auth/tokens?nocatalog", X_Subject_Token=demo.token)
    assert "catalog" not in short.json()["token"]
    head = await admin("HEAD", "/auth/tokens", X_Subject_Token=demo.token)
    assert (head.status_code, head.content) == (200, b"")
    assert (await demo("GET", "/auth/tokens", X_Subject_Token=admin.token)).status_code == 403
    assert (await admin("GET", "/auth/tokens", X_Subject_Token="x")).status_code == 404
    assert (await admin("GET", "/auth/tokens")).status_code == 400


async def test_services_use_expired_tokens_for_two_days(
    running: Any, demo: Any, clock: Any
) -> None:
    clock.advance(3700)
    service = await running.login("stoker")
    query = "/auth/tokens?allow_expired=1"
    seen = await service("GET", query, X_Subject_Token=demo.token)
    assert seen.json()["token"]["user"]["name"] == "demo"
    assert (await service("GET", "/auth/tokens", X_Subject_Token=demo.token)).status_code == 404
    clock.advance(2 * 86400)
    service = await running.login("stoker")
    assert (await service("GET", query, X_Subject_Token=demo.token)).status_code == 404


async def test_a_revoked_token_is_worthless(admin: Any, demo: Any) -> None:
    assert (await demo("DELETE", "/auth/tokens", X_Subject_Token=demo.token)).status_code == 204
    assert (await demo("GET", "/auth/projects")).status_code == 401
    assert (await admin("GET", "/auth/tokens", X_Subject_Token=demo.token)).status_code == 404


async def test_new_password_ends_tokens_of_old_one(running: Any, demo: Any, clock: Any) -> None:
    clock.advance(1)
    user_id = demo.body["user"]["id"]
    change = {"original_password": running.password("demo"), "password": "new"}
    wrong = await demo(
        "POST", f"/users/{user_id}/password", {"user": {**change, "original_password": "x"}}
    )
    assert wrong.status_code == 401
    answer = await running.anonymous("POST", f"/users/{user_id}/password", {"user": change})
    assert answer.status_code == 204
    assert (await demo("GET", "/auth/projects")).status_code == 401
    assert (await running.attempt(running.auth("demo"))).status_code == 401
    assert (await running.attempt(running.auth("demo", "new"))).status_code == 201


@pytest.mark.parametrize("kind", ["user", "project", "domain"])
async def test_disabling_user_project_or_domain_ends_access(
    running: Any, admin: Any, kind: str
) -> None:
    domain = await admin.made("/domains", "domain", name="d")
    project = await admin.made("/projects", "project", name="p", domain_id=domain["id"])
    user = await admin.made("/users", "user", name="u", domain_id=domain["id"], password="s")
    role = await admin.named("roles", "member")
    grant = f"/projects/{project['id']}/users/{user['id']}/roles/{role}"
    assert (await admin("PUT", grant)).status_code == 204
    auth = running.auth("u", "s", domain["id"], project={"id": project["id"]})
    caller = await running.authenticated(auth)
    target = {"user": user, "project": project, "domain": domain}[kind]
    await admin("PATCH", f"/{kind}s/{target['id']}", {kind: {"enabled": False}})
    assert (await caller("GET", "/auth/catalog")).status_code == 401
    assert (await running.attempt(auth)).status_code == 401


async def test_the_own_scopes_are_listed(running: Any, admin: Any, demo: Any) -> None:
    assert [p["name"] for p in await demo.found("/auth/projects")] == ["demo"]
    assert await demo.found("/auth/domains") == []
    assert await demo.found("/auth/system") == []
    assert {p["name"] for p in await admin.found("/auth/projects")} == {"admin", "demo"}
    assert [d["id"] for d in await admin.found("/auth/domains")] == ["default"]
    assert await admin.found("/auth/system") == [{"all": True}]
    types = {entry["type"] for entry in await demo.found("/auth/catalog")}
    assert {"identity", "image", "orchestration"} <= types


async def test_tokens_revocations_and_passwords_survive_a_restart(
    reopened: Callable[[], CloudApp], settings: Settings
) -> None:
    path = settings.cloud_dir / "credentials.json"
    issue, check = "/identity/v3/auth/tokens", "/identity/v3/auth/catalog"

    @asynccontextmanager
    async def started() -> AsyncIterator[httpx.AsyncClient]:
        app = reopened()
        async with app.running():
            transport = httpx.ASGITransport(app=app)
            async with httpx.AsyncClient(transport=transport, base_url=settings.url) as client:
                yield client

    tokens = []
    async with started() as client:
        before = path.read_text()
        password = json.loads(before)["users"]["demo"]["password"]
        user = {"name": "demo", "domain": {"id": "default"}, "password": password}
        auth = {"identity": {"methods": ["password"], "password": {"user": user}}}
        for _ in range(2):
            answer = await client.post(issue, json={"auth": auth})
            tokens.append(answer.headers["x-subject-token"])
        headers = {"X-Auth-Token": tokens[1], "X-Subject-Token": tokens[1]}
        await client.delete(issue, headers=headers)
    async with started() as client:
        answers = [await client.get(check, headers={"X-Auth-Token": t}) for t in tokens]
        assert [answer.status_code for answer in answers] == [200, 401]
    assert path.read_text() == before
    assert path.stat().st_mode & 0o777 == 0o600


async def test_lost_credentials_are_generated_again(
    reopened: Callable[[], CloudApp], settings: Settings
) -> None:
    path = settings.cloud_dir / "credentials.json"
    async with reopened().running():
        before = json.loads(path.read_text())
    path.unlink()
    app = reopened()
    async with app.running():
        after = json.loads(path.read_text())
        assert before["users"]["demo"]["password"] != after["users"]["demo"]["password"]
        password = after["users"]["demo"]["password"]
        user = {"name": "demo", "domain": {"id": "default"}, "password": password}
        auth = {"identity": {"methods": ["password"], "password": {"user": user}}}
        transport = httpx.ASGITransport(app=app)
        async with httpx.AsyncClient(transport=transport, base_url=settings.url) as client:
            answer = await client.post("/identity/v3/auth/tokens", json={"auth": auth})
            assert answer.status_code == 201


async def test_passwords_can_be_given_to_any_command(
    reopened: Callable[[], CloudApp], settings: Settings
) -> None:
    """A leading "-" would make it an option: ``--os-password -oRap`` cannot be parsed."""
    async with reopened().running():
        users = json.loads((settings.cloud_dir / "credentials.json").read_text())["users"]
    assert users
    assert all(user["password"].isalnum() for user in users.values())
