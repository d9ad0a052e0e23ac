"""No request body makes a service fail inside."""

import itertools
from typing import Any

import httpx

from localcloud.process.app import CloudApp

VALUES: tuple[Any, ...] = (
    None,
    True,
    7,
    -1,
    1e300,
    "",
    "x",
    "\x00",
    "ü" * 300,
    [],
    [1],
    {},
    {"id": 1},
)
NAMES = (
    "name",
    "id",
    "type",
    "blob",
    "url",
    "interface",
    "service_id",
    "parent_id",
    "domain_id",
    "user_id",
    "project_id",
    "tenant_id",
    "roles",
    "tags",
    "expires_at",
    "trustee_user_id",
    "impersonation",
    "remaining_uses",
    "redelegation_count",
    "password",
    "original_password",
    "default_project_id",
    "access_rules",
    "secret",
    "identity",
    "scope",
    "access",
    "signature",
    "params",
    "headers",
    "token",
    "host",
    "status",
    "member",
    "method",
    "visibility",
    "min_disk",
    "options",
    "enabled",
    "region",
    "parent_region_id",
)
GOOD = {
    "name": "n",
    "type": "ec2",
    "blob": '{"access": "a", "secret": "s"}',
    "url": "http://x",
    "interface": "public",
    "access": "x",
    "signature": "x",
    "token": "eA==",
    "impersonation": True,
}
WRAPPERS = {
    "/auth/tokens": "auth",
    "/ec2tokens": "ec2Credentials",
    "/s3tokens": "credentials",
    "/projects": "project",
    "/domains": "domain",
    "/users": "user",
    "/groups": "group",
    "/roles": "role",
    "/services": "service",
    "/endpoints": "endpoint",
    "/regions": "region",
    "/credentials": "credential",
    "/OS-TRUST/trusts": "trust",
    "/application_credentials": "application_credential",
}


def requests_of(app: CloudApp, ids: dict[str, str]) -> list[tuple[str, str]]:
    """Every method and path that takes a body, with ids that exist where that is possible."""
    found = []
    for service in app.services:
        for route in service.routes():
            path = getattr(route, "path", "")
            for name, value in ids.items():
                path = path.replace("{" + name + "}", value)
            methods = (getattr(route, "methods", None) or set()) & {"POST", "PUT", "PATCH"}
            found += [(method, service.prefix + path) for method in methods]
    return found


async def test_no_body_makes_a_service_fail(app: CloudApp, running: Any, admin: Any) -> None:
    user, project = admin.body["user"]["id"], admin.body["project"]["id"]
    headers = {"X-Auth-Token": admin.token}
    client: httpx.AsyncClient = running.client
    image = (await client.post("/image/v2/images", json={}, headers=headers)).json()["id"]
    role = await admin.named("roles", "member")
    ids = {"user_id": user, "actor_id": user, "target_id": project, "role_id": role}
    own = {"projects": project, "users": user, "images": image, "roles": role}
    for method, path in requests_of(app, ids):
        kind = path.split("/")[3] if path.count("/") > 2 else ""
        url = path.replace("{id}", own.get(kind, "none"))
        wrapper = next((w for end, w in WRAPPERS.items() if end in path), None)
        bodies = [
            {**GOOD, name: value}
            for name, value in zip(NAMES, itertools.cycle(VALUES), strict=False)
        ]
        for body in [*bodies, *VALUES]:
            content = body if wrapper is None else {wrapper: body}
            answer = await client.request(method, url, json=content, headers=headers)
            assert answer.status_code < 500, (method, url, content, answer.text)
