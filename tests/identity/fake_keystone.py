"""An identity service in memory: as much of version 3 as the service uses."""

from __future__ import annotations

import json
import uuid
from dataclasses import dataclass, field
from typing import Any

import httpx

from stoker.identity.settings import IdentitySettings, User
from stoker.kernel.clock import isoformat

AUTH_URL = "http://keystone:5000"
NOW = 1_790_000_000.0
SERVICE = User("stoker", "service-secret", project_name="service")
DOMAIN_ADMIN = User("admin", "domain-secret", domain_name="stacks", scope_domain_name="stacks")


def settings(**options: Any) -> IdentitySettings:
    return IdentitySettings(AUTH_URL, SERVICE, stack_domain_admin=DOMAIN_ADMIN, **options)


class VirtualClock:
    """A clock that moves only on request."""

    def __init__(self) -> None:
        self.time = NOW

    def now(self) -> float:
        return self.time


@dataclass
class FakeKeystone:
    """Answers requests; ``asked`` are their methods and paths."""

    tokens: dict[str, dict[str, Any]] = field(default_factory=dict)
    passwords: dict[str, str] = field(
        default_factory=lambda: {"stoker": "service-secret", "admin": "domain-secret"}
    )
    objects: dict[str, dict[str, dict[str, Any]]] = field(
        default_factory=lambda: {
            "projects": {},
            "users": {},
            "credentials": {},
            "roles": {"r1": {"id": "r1", "name": "heat_stack_user"}},
            "trusts": {},
        }
    )
    assignments: list[str] = field(default_factory=list)
    asked: list[tuple[str, str]] = field(default_factory=list)
    bodies: list[Any] = field(default_factory=list)
    status: int | None = None
    ec2_status: int = 200
    lost: list[str] = field(default_factory=list)  # kinds: the next create gets no response
    never_made: list[str] = field(default_factory=list)  # the same, and makes nothing
    # Seconds for which ``allow_expired`` tokens stay valid after they expire.
    expired_if_asked: str = "1"

    def add_token(self, token: str, **fields: Any) -> str:
        body = {
            "user": {"id": "u1", "name": "demo", "domain": {"id": "default"}},
            "project": {"id": "p1", "name": "demo", "domain": {"id": "default"}},
            "roles": [{"name": "member"}],
            "expires_at": isoformat(NOW + 3600),
            **fields,
        }
        self.tokens[token] = {k: v for k, v in body.items() if v is not None}
        return token

    def transport(self) -> httpx.MockTransport:
        return httpx.MockTransport(self.answer)

    def answer(self, request: httpx.Request) -> httpx.Response:
        path = request.url.path.removeprefix("/v3")
        self.asked.append((request.method, path))
        body = json.loads(request.content) if request.content else None
        self.bodies.append(body)
        if self.status is not None:
            return httpx.Response(self.status)
        if (request.method, path) == ("POST", "/auth/tokens"):
            return self._authenticate(body["auth"])
        if request.headers.get("X-Auth-Token") not in self.tokens:
            return httpx.Response(401)
        if (request.method, path) == ("GET", "/auth/tokens"):
            found = self.tokens.get(request.headers["X-Subject-Token"])
            expired = found is not None and found["expires_at"] <= isoformat(NOW)
            if expired and request.url.params.get("allow_expired", "0") != self.expired_if_asked:
                found = None
            return httpx.Response(200, json={"token": found}) if found else httpx.Response(404)
        if path == "/ec2tokens":
            return self._ec2()
        return self._object(request, path.removeprefix("/OS-TRUST").split("/")[1:], body)

    def _authenticate(self, auth: dict[str, Any]) -> httpx.Response:
        user = auth["identity"]["password"]["user"]
        name = user.get("name") or self.objects["users"][user["id"]]["name"]
        trust = auth.get("scope", {}).get("OS-TRUST:trust")
        if self.passwords.get(name) != user["password"]:
            return httpx.Response(401)
        if trust is not None and trust["id"] not in self.objects["trusts"]:
            return httpx.Response(404)
        token = uuid.uuid4().hex
        domain = "domain" in auth.get("scope", {})
        project = auth.get("scope", {}).get("project", {})
        self.add_token(
            token,
            user={"id": f"id-{name}", "name": name},
            project=None if domain else {"id": project.get("id", "id-service")},
            domain={"id": "stacks"} if domain else None,
            catalog=[
                {
                    "type": "orchestration",
                    "endpoints": [
                        {"interface": "public", "region": "R", "url": "http://heat:8004/v1/x"}
                    ],
                },
                {
                    "type": "cloudformation",
                    "endpoints": [
                        {"interface": "public", "region": "R", "url": "http://CFN:8000/v1"}
                    ],
                },
            ],
        )
        content = {"token": self.tokens[token]}
        return httpx.Response(201, json=content, headers={"X-Subject-Token": token})

    def _ec2(self) -> httpx.Response:
        if self.ec2_status != 200:
            return httpx.Response(self.ec2_status, json={"error": {"message": "no"}})
        content = {"token": self.tokens["signed"]}
        return httpx.Response(200, json=content, headers={"X-Subject-Token": "signed"})

    def _object(self, request: httpx.Request, parts: list[str], body: Any) -> httpx.Response:
        kind, rest = parts[0], parts[1:]
        known = self.objects[kind]
        if request.method == "PUT":
            self.assignments.append("/".join(parts))
            return httpx.Response(204)
        if request.method == "GET" and rest:
            found_one = known.get(rest[0])
            content = {kind.removesuffix("s"): found_one}
            return httpx.Response(200, json=content) if found_one else httpx.Response(404)
        if request.method == "GET":
            wanted = dict(request.url.params).items()
            found = [o for o in known.values() if all(o.get(k) == v for k, v in wanted)]
            return httpx.Response(200, json={kind: found})
        if request.method == "POST":
            made = {"id": uuid.uuid4().hex, **body[kind.removesuffix("s")]}
            if kind in self.never_made:
                self.never_made.remove(kind)
                return httpx.Response(504)
            known[made["id"]] = made
            if kind in self.lost:
                self.lost.remove(kind)
                return httpx.Response(502)
            if kind == "users":
                self.passwords[made["name"]] = made["password"]
            return httpx.Response(201, json={kind.removesuffix("s"): made})
        if rest[0] not in known:
            return httpx.Response(404)
        if request.method == "DELETE":
            del known[rest[0]]
            return httpx.Response(204)
        self.passwords[known[rest[0]]["name"]] = body["user"]["password"]
        return httpx.Response(200, json={"user": known[rest[0]]})
