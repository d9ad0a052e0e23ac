"""Users with tokens of a running service, and the rows in its database."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import httpx
import sqlalchemy as sa

from tests.recovery.service import NO_CERTIFICATES, Service, until

TABLES = ("contents", "inputs", "stacks", "operations", "resources", "events", "signals")


@dataclass(frozen=True)
class Person:
    """A user with a token for a project."""

    url: str
    token: str
    project: str
    user: str = ""

    def ask(self, method: str, path: str, body: Any = None, **options: Any) -> httpx.Response:
        """A request below the person's own project."""
        return self.ask_project(self.project, method, path, body, **options)

    def ask_project(
        self, project: str, method: str, path: str, body: Any = None, **options: Any
    ) -> httpx.Response:
        """A request below some project."""
        headers = {"X-Auth-Token": self.token}
        address = f"{self.url}/v1/{project}{path}"
        options = {"timeout": 60, "verify": NO_CERTIFICATES, **options}
        return httpx.request(method, address, json=body, headers=headers, **options)

    def create(self, name: str, template: Any, **fields: Any) -> str:
        """A new stack's id, once the stack is complete."""
        body = {"stack_name": name, "template": template, **fields}
        answer = self.ask("POST", "/stacks", body)
        assert answer.status_code == 201, answer.text
        stack_id = str(answer.json()["stack"]["id"])
        until(lambda: self.status(name, stack_id) == "CREATE_COMPLETE", f"{name} is complete")
        return stack_id

    def status(self, name: str, stack_id: str) -> str:
        """The status of a stack, joined as the API joins it."""
        answer = self.ask("GET", f"/stacks/{name}/{stack_id}?resolve_outputs=false")
        assert answer.status_code == 200, answer.text
        return str(answer.json()["stack"]["stack_status"])

    def wait_deleted(self, name: str, stack_id: str) -> None:
        """Return when the stack is deleted."""
        until(lambda: self.status(name, stack_id) == "DELETE_COMPLETE", f"{name} is deleted")


def demo(service: Service) -> Person:
    """The ordinary user of the local cloud."""
    return Person(service.url, *service.authenticate())


def admin(service: Service) -> Person:
    """The administrator of the local cloud."""
    return Person(service.url, *service.authenticate("stoker-admin"))


def newcomer(
    service: Service, name: str, role: str = "member", project: str | None = None
) -> Person:
    """A user with one role in one project, a new one unless it is given."""
    token, _ = service.authenticate("stoker-admin")
    identity = f"{service.cloud_url}/identity/v3"
    headers = {"X-Auth-Token": token}

    def call(method: str, path: str, body: Any = None) -> Any:
        answer = httpx.request(
            method,
            identity + path,
            json=body,
            headers=headers,
            timeout=30,
            verify=NO_CERTIFICATES,
        )
        answer.raise_for_status()
        return answer.json() if answer.content else None

    if project is None:
        project = call("POST", "/projects", {"project": {"name": name}})["project"]["id"]
    body = {"name": name, "password": name, "domain_id": "default"}
    user = call("POST", "/users", {"user": body})["user"]["id"]
    role_id = call("GET", f"/roles?name={role}")["roles"][0]["id"]
    call("PUT", f"/projects/{project}/users/{user}/roles/{role_id}")
    return Person(service.url, token_of(service, user, name, project), project, user)


def token_of(service: Service, user: str, password: str, project: str) -> str:
    """A token for a user in a project."""
    auth = {
        "identity": {
            "methods": ["password"],
            "password": {"user": {"id": user, "password": password}},
        },
        "scope": {"project": {"id": project}},
    }
    url = f"{service.cloud_url}/identity/v3/auth/tokens"
    answer = httpx.post(url, json={"auth": auth}, timeout=30, verify=NO_CERTIFICATES)
    answer.raise_for_status()
    return answer.headers["X-Subject-Token"]


def rows(service: Service) -> dict[str, int]:
    """Return the number of rows of each table."""
    url = service.environment.get("STOKER_DATABASE", f"sqlite:///{service.data_dir}/stoker.db")
    with sa.create_engine(url, poolclass=sa.NullPool).connect() as database:
        counts = {table: sa.text(f"SELECT count(*) FROM {table}") for table in TABLES}
        return {table: database.execute(count).scalar_one() for table, count in counts.items()}


def left(service: Service) -> dict[str, int]:
    """All that a request may leave behind: rows, trusts, servers, networks."""
    trusts = service.cloud("/identity/v3/OS-TRUST/trusts")["trusts"]
    servers = service.cloud("/compute/v2.1/servers?all_tenants=1")["servers"]
    networks = service.cloud("/network/v2.0/networks")["networks"]
    found = {"trusts": len(trusts), "servers": len(servers), "networks": len(networks)}
    return {**rows(service), **found}
