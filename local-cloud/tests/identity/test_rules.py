"""Permissions in the identity service, as in Keystone's documented policies.

The table has a row for each request and names the callers that may make it; all others are refused.
Where the cloud is stricter than Keystone, the row says so.
"""

import base64
import hashlib
import hmac
import json
from typing import Any

import pytest
from msgspec import Struct

CALLERS = frozenset(
    {
        "admin",  # administrator of the cloud
        "auditor",  # reader of the whole system
        "manager",  # manager of the owner's domain
        "ruler",  # administrator of another domain, in which the guest is a user
        "owner",  # member of a project, and owner of the objects of the table
        "reader",  # reader in the same project, and trustee of the owner's trust
        "foreign",  # member of another project
        "guest",  # user of a stack: its only role is ``heat_stack_user``
    }
)
ALL = CALLERS
READ_OWN = {"admin", "auditor", "owner"}
WRITE_OWN = {"admin", "owner"}
DOMAIN_READERS = {"admin", "auditor", "manager"}
DOMAIN_WRITERS = {"admin", "manager"}


class Row(Struct, frozen=True):
    """A request and who may make it."""

    name: str
    method: str
    path: str
    allowed: set[str] | frozenset[str]
    body: dict[str, Any] | None = None


def _ec2(user: str, project: str) -> dict[str, Any]:
    blob = '{"access": "fresh", "secret": "s"}'
    content = {"type": "ec2", "user_id": user, "project_id": project, "blob": blob}
    return {"credential": content}


def _trust(trustor: str) -> dict[str, Any]:
    return {
        "trust": {
            "trustor_user_id": trustor,
            "trustee_user_id": "{reader}",
            "project_id": "{owner_project}",
            "impersonation": True,
            "roles": [{"name": "reader"}],
        }
    }


_CREDENTIAL = "/credentials/{credential}"
_KEY = "/users/{owner}/credentials/OS-EC2/{access}"
_TRUST = "/OS-TRUST/trusts/{trust}"
_APPLICATION = "/users/{owner}/application_credentials/{application}"
_GRANT = "/projects/{project}/users/{subject}/roles"
TRUST_READERS = READ_OWN | {"reader"}
ROWS = (
    # credentials: the owner, and administrators; the auditor sees all
    Row("create_credential", "POST", "/credentials", WRITE_OWN, _ec2("{owner}", "{owner_project}")),
    Row("create_own_credential", "POST", "/credentials", {"admin", "owner", "reader", "foreign"},
        _ec2("{me}", "{my_project}")),
    Row("create_credential_without_role", "POST", "/credentials", {"admin"},  # stricter
        _ec2("{me}", "{project}")),
    Row("get_credential", "GET", _CREDENTIAL, READ_OWN),
    Row("update_credential", "PATCH", _CREDENTIAL, WRITE_OWN, {"credential": {"type": "ec2"}}),
    Row("give_credential_away", "PATCH", _CREDENTIAL, {"admin"},
        {"credential": {"user_id": "{foreign}"}}),
    Row("give_credential_to_admin", "PATCH", "/credentials/{own_credential}", {"admin"},
        {"credential": {"user_id": "{admin}"}}),
    Row("move_credential", "PATCH", "/credentials/{own_credential}", {"admin"},
        {"credential": {"project_id": "{project}"}}),
    Row("delete_credential", "DELETE", _CREDENTIAL, WRITE_OWN),
    Row("ec2_create_credential", "POST", "/users/{owner}/credentials/OS-EC2", WRITE_OWN,
        {"tenant_id": "{owner_project}"}),
    Row("ec2_create_without_role", "POST", "/users/{owner}/credentials/OS-EC2", {"admin"},
        {"tenant_id": "{project}"}),
    Row("ec2_list_credentials", "GET", "/users/{owner}/credentials/OS-EC2", READ_OWN),
    Row("ec2_get_credential", "GET", _KEY, READ_OWN),
    Row("ec2_delete_credential", "DELETE", _KEY, WRITE_OWN),
    # trusts: made by the trustor only, seen by both parties, ended by the trustor
    Row("create_trust", "POST", "/OS-TRUST/trusts", {"owner"}, _trust("{owner}")),
    Row("create_trust_for_caller", "POST", "/OS-TRUST/trusts", {"admin", "owner", "reader"},
        _trust("{me}")),  # who has the role in the project
    Row("list_trusts", "GET", "/OS-TRUST/trusts", {"admin", "auditor"}),
    Row("list_trusts_for_trustor", "GET", "/OS-TRUST/trusts?trustor_user_id={owner}", READ_OWN),
    Row("list_trusts_for_trustee", "GET", "/OS-TRUST/trusts?trustee_user_id={reader}",
        {"admin", "auditor", "reader"}),
    Row("get_trust", "GET", _TRUST, TRUST_READERS),
    Row("list_roles_for_trust", "GET", f"{_TRUST}/roles", TRUST_READERS),
    Row("get_role_for_trust", "GET", f"{_TRUST}/roles/{{member}}", TRUST_READERS),
    Row("delete_trust", "DELETE", _TRUST, WRITE_OWN),
    # application credentials: made by their user only
    Row("create_application_credential", "POST", "/users/{owner}/application_credentials",
        {"owner"}, {"application_credential": {"name": "fresh"}}),
    Row("create_own_application_credential", "POST", "/users/{me}/application_credentials",
        {"admin", "owner", "reader", "foreign"}, {"application_credential": {"name": "fresh"}}),
    Row("list_application_credentials", "GET", "/users/{owner}/application_credentials", READ_OWN),
    Row("get_application_credential", "GET", _APPLICATION, READ_OWN),
    Row("list_access_rules", "GET", "/users/{owner}/access_rules", READ_OWN),
    Row("delete_application_credential", "DELETE", _APPLICATION, WRITE_OWN),
    # users: rulers of their domain; everybody sees themselves
    Row("list_users", "GET", "/users", DOMAIN_READERS | {"ruler"}),  # ruler: its own domain
    Row("get_user", "GET", "/users/{subject}", DOMAIN_READERS),
    Row("get_own_user", "GET", "/users/{me}", ALL),
    Row("create_user", "POST", "/users", DOMAIN_WRITERS,
        {"user": {"name": "fresh", "domain_id": "default", "password": "x"}}),
    Row("update_user", "PATCH", "/users/{subject}", DOMAIN_WRITERS, {"user": {"email": "a@b.c"}}),
    Row("update_own_user", "PATCH", "/users/{me}", {"admin", "manager", "ruler"},
        {"user": {"email": "a@b.c"}}),
    Row("delete_user", "DELETE", "/users/{subject}", DOMAIN_WRITERS),
    Row("list_user_projects", "GET", "/users/{me}/projects", ALL),
    Row("list_projects_of_another", "GET", "/users/{subject}/projects", DOMAIN_READERS),
    # projects
    Row("list_projects", "GET", "/projects", DOMAIN_READERS | {"ruler"}),
    Row("get_project", "GET", "/projects/{project}", DOMAIN_READERS),
    Row("get_own_project", "GET", "/projects/{my_project}", ALL - {"ruler"}),  # has none
    Row("create_project", "POST", "/projects", DOMAIN_WRITERS,
        {"project": {"name": "fresh", "domain_id": "default"}}),
    Row("update_project", "PATCH", "/projects/{project}", DOMAIN_WRITERS,
        {"project": {"description": "d"}}),
    Row("update_own_project", "PATCH", "/projects/{owner_project}", DOMAIN_WRITERS,
        {"project": {"description": "d"}}),
    Row("delete_project", "DELETE", "/projects/{project}", DOMAIN_WRITERS),
    # role assignments: a manager handles the roles manager, member and reader
    Row("list_role_assignments", "GET", "/role_assignments", DOMAIN_READERS | {"ruler"}),
    Row("list_own_role_assignments", "GET", "/role_assignments?user.id={me}",
        DOMAIN_READERS | {"ruler"}),
    Row("list_grants", "GET", _GRANT, DOMAIN_READERS),
    Row("check_grant", "HEAD", f"{_GRANT}/{{reader_role}}", DOMAIN_READERS),
    Row("create_grant", "PUT", f"{_GRANT}/{{member}}", DOMAIN_WRITERS),
    Row("grant_admin", "PUT", f"{_GRANT}/{{admin_role}}", {"admin"}),
    Row("grant_guest", "PUT", f"{_GRANT}/{{guest_role}}", {"admin"}),
    Row("grant_oneself", "PUT", "/projects/{project}/users/{me}/roles/{member}", DOMAIN_WRITERS),
    Row("grant_on_system", "PUT", "/system/users/{me}/roles/{reader_role}", {"admin"}),
    Row("revoke_grant", "DELETE", f"{_GRANT}/{{reader_role}}", DOMAIN_WRITERS),
    # tokens for signatures: services and administrators
    Row("ec2tokens", "POST", "/ec2tokens", {"admin"}, {"ec2Credentials": {
        "access": "{access}", "signature": "{signature}", "host": "h", "verb": "GET", "path": "/",
        "params": {"SignatureVersion": "0", "Action": "A", "Timestamp": "2026-01-01T00:00:00Z"}}}),
    # a token may be ended by its bearer
    Row("revoke_own_token", "DELETE", "/auth/tokens", ALL),
    Row("get_catalog", "GET", "/auth/catalog", ALL),
)  # fmt: skip


class World:
    """The callers, and fresh objects of the owner for each request."""

    def __init__(self, running: Any, admin: Any) -> None:
        self._running = running
        self._admin = admin
        self.callers: dict[str, Any] = {"admin": admin}
        self._names: dict[str, str] = {"admin": admin.body["user"]["id"]}
        self._count = 0

    async def prepare(self) -> None:
        """Make the callers."""
        admin, made = self._admin, self._admin.made
        roles = {role["name"]: role["id"] for role in await admin.found("/roles")}
        owner = self.callers["owner"] = await self._running.login("demo")
        project = owner.body["project"]["id"]
        other = (await made("/projects", "project", name="other"))["id"]
        stack = (await made("/projects", "project", name="stack", domain_id="stoker"))["id"]
        people = {
            "reader": ("default", f"projects/{project}", "reader"),
            "foreign": ("default", f"projects/{other}", "member"),
            "guest": ("stoker", f"projects/{stack}", "heat_stack_user"),
            "manager": ("default", "domains/default", "manager"),
            "auditor": ("default", "system", "reader"),
        }
        for name, (domain, target, role) in people.items():
            user = await made("/users", "user", name=name, password="x", domain_id=domain)
            grant = f"/{target}/users/{user['id']}/roles/{roles[role]}"
            assert (await admin("PUT", grant)).status_code == 204
            scope: dict[str, Any] = {"system": {"all": True}}
            if target != "system":
                kind, _, target_id = target.partition("/")
                scope = {kind.removesuffix("s"): {"id": target_id}}
            auth = self._running.auth(name, "x", domain, **scope)
            self.callers[name] = await self._running.authenticated(auth)
        self.callers["ruler"] = await self._running.domain_admin()
        for name, caller in self.callers.items():
            self._names[name] = caller.body["user"]["id"]
        self._names |= {
            "owner_project": project,
            "member": roles["member"],
            "reader_role": roles["reader"],
            "admin_role": roles["admin"],
            "guest_role": roles["heat_stack_user"],
        }

    async def names(self, caller: str) -> dict[str, str]:
        """Make fresh objects, and return the ids of everything that a row may name."""
        self._count += 1
        admin, owner, mark = self._admin, self.callers["owner"], f"x{self._count}"
        mine = self.callers[caller]
        project = (await admin.made("/projects", "project", name=mark))["id"]
        subject = (await admin.made("/users", "user", name=mark, domain_id="default"))["id"]
        grant = f"/projects/{project}/users/{subject}/roles/{self._names['reader_role']}"
        assert (await admin("PUT", grant)).status_code == 204
        user, own = self._names["owner"], self._names["owner_project"]
        keys = f"/users/{user}/credentials/OS-EC2"
        access = (await owner("POST", keys, {"tenant_id": own})).json()["credential"]
        signed = hmac.new(access["secret"].encode(), b"A2026-01-01T00:00:00Z", "sha1").digest()
        trust = {**_trust(user)["trust"], "trustee_user_id": self._names["reader"]}
        trust |= {"project_id": own, "roles": [{"name": "member"}]}
        applications = f"/users/{user}/application_credentials"
        blob = json.dumps({"access": f"{mark}-own", "secret": "s"})
        own_project = mine.body.get("project", {}).get("id", own)
        content = {"type": "ec2", "user_id": self._names[caller], "project_id": own_project}
        made = await admin.made("/credentials", "credential", **content, blob=blob)
        return {
            **self._names,
            "me": self._names[caller],
            "my_project": own_project,
            "project": project,
            "subject": subject,
            "credential": hashlib.sha256(access["access"].encode()).hexdigest(),
            "own_credential": made["id"],
            "access": access["access"],
            "signature": base64.b64encode(signed).decode(),
            "trust": (await owner.made("/OS-TRUST/trusts", "trust", **trust))["id"],
            "application": (await owner.made(applications, "application_credential", name=mark))[
                "id"
            ],
        }


def filled(value: Any, names: dict[str, str]) -> Any:
    """Return the value with the placeholders of all its texts filled in."""
    if isinstance(value, dict):
        return {key: filled(each, names) for key, each in value.items()}
    if isinstance(value, list):
        return [filled(each, names) for each in value]
    if isinstance(value, str):
        for name, text in names.items():
            value = value.replace("{" + name + "}", text)
    return value


@pytest.fixture
async def world(running: Any, admin: Any) -> World:
    world = World(running, admin)
    await world.prepare()
    return world


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.name)
async def test_request_is_allowed_to_the_named_callers_only(world: World, row: Row) -> None:
    answers = {}
    every = {name: await world.names(name) for name in sorted(CALLERS)}
    for name, names in every.items():
        caller = world.callers[name]
        headers = {"X_Subject_Token": caller.token} if row.path == "/auth/tokens" else {}
        answer = await caller(
            row.method, filled(row.path, names), filled(row.body, names), **headers
        )
        answers[name] = answer.status_code
        undo = answer.json() if answer.content and answer.status_code == 201 else {}
        for kind, plural in (
            ("user", "users"),
            ("project", "projects"),
            ("credential", "credentials"),
        ):
            if "id" in undo.get(kind, {}):
                await world.callers["admin"]("DELETE", f"/{plural}/{undo[kind]['id']}")
    allowed = {name for name, status in answers.items() if status < 400}
    assert allowed == set(row.allowed), answers
    assert {answers[name] for name in CALLERS - allowed} <= {403}, answers
