"""Stack users, as which servers send signals and read metadata; they have no other rights.

They are in a separate domain, with one project for each tree of stacks and one user for each
resource. All names are derived from ids, so that a lost create is found by name. The methods are
called by resource types on worker threads, and can be repeated.

Tested by tests/identity.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
import secrets
import uuid
from collections.abc import Mapping
from http import HTTPStatus
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from stoker.engine.model.records import Stack
from stoker.identity.grants import by_user_id, json_of, unavailable
from stoker.identity.keystone import Keystone
from stoker.identity.settings import IdentitySettings, User
from stoker.identity.signing import sign_url
from stoker.kernel.addresses import ResourceAddress, StackAddress
from stoker.kernel.clock import isoformat
from stoker.kernel.errors import FORBIDDEN, NOT_SUPPORTED, RequestError
from stoker.schema.resource_type import Call

if TYPE_CHECKING:
    import httpx

_NAME_LIMIT = 64
_DONE = (HTTPStatus.OK, HTTPStatus.CREATED, HTTPStatus.NO_CONTENT)


class StackUsers:
    """Creates :class:`stoker.schema.resource_type.SignalCredentials` for stacks. Thread-safe."""

    def __init__(self, keystone: Keystone, *, alone: bool = True) -> None:
        """``alone`` means that no other process creates stack users."""
        self._domain = StackDomain(keystone, alone=alone)

    def of(self, stack: Stack) -> ResourceSignalling:
        """Return the signal credentials for the resources of a stack."""
        return ResourceSignalling(self._domain, stack.root_id or stack.id)

    def close(self, stack: Stack) -> None:
        """Delete the project of a tree of stacks, after its root stack is gone. Blocks."""
        if stack.root_id in (None, stack.id):
            removed = self._domain.remove_project(stack.id, stack.user_project_id)
            self._domain.keystone.wait_for(removed)


class StackDomain:
    """The domain of stack users and its administrator."""

    def __init__(self, keystone: Keystone, *, alone: bool) -> None:
        self.keystone = keystone
        self._alone = alone
        self._role_id: str | None = None
        self._made: set[str] = set()  # Names of projects that this process created or is creating.
        self._found: set[str] | None = None  # Names of projects that existed before.

    @property
    def settings(self) -> IdentitySettings:
        """Return the settings for Keystone."""
        return self.keystone.settings

    @property
    def admin(self) -> User:
        """Return the domain administrator. Raise RequestError if none is configured."""
        admin = self.settings.stack_domain_admin
        if admin is None:
            raise RequestError(
                "This service has no domain for stack users: set stack_user_domain_name,"
                " stack_domain_admin and stack_domain_admin_password.",
                NOT_SUPPORTED,
            )
        return admin

    async def project(self, name: str) -> str:
        """Return the id of a project; create it if needed."""
        self._made.add(name)
        return await self._find("projects", name) or await self._make("project", {"name": name})

    async def remove_project(self, name: str, known: str | None = None) -> None:
        """Delete a project. A missing project or domain is fine.

        ``known`` is its id, if a stack has recorded it: projects of Heat have other names.
        """
        if self.settings.stack_domain_admin is None:
            return
        if known is None and not await self._may_exist(name):
            return
        project_id = known or await self._find("projects", name)
        if project_id is not None:
            await self._remove(f"/projects/{project_id}")
        self._made.discard(name)

    async def _may_exist(self, name: str) -> bool:
        """Return whether a project of this name may exist. Most stacks never have one.

        Projects of earlier processes are listed once; those of concurrent processes are unknown.
        """
        if not self._alone:
            return True
        if self._found is None:
            query = {"domain_id": await self._domain_id()}
            answer = await self.keystone.call(self.admin, "GET", "/projects", params=query)
            _check(answer, "a list of projects")
            listed = await asyncio.to_thread(json_of, answer)  # The list may be long.
            if listed.get("truncated") or (listed.get("links") or {}).get("next"):
                return True
            self._found = {str(project["name"]) for project in listed["projects"]}
        return name in self._made or name in self._found

    async def user(self, name: str, password: str, project_id: str) -> str:
        """Return the id of a user in a project; create it, or set a new password."""
        found = await self._find("users", name)
        if found is None:
            user = {"name": name, "password": password, "default_project_id": project_id}
            found = await self._make("user", user)
        else:
            await self._require("PATCH", f"/users/{found}", {"user": {"password": password}})
        role = await self._role()
        await self._require("PUT", f"/projects/{project_id}/users/{found}/roles/{role}", None)
        return found

    async def remove_user(self, user_id: str | None, name: str) -> None:
        """Delete a user by id, or by name if the id is unknown. A missing one is fine."""
        found = user_id or await self._find("users", name)
        if found is not None:
            await self._remove(f"/users/{found}")

    async def keypair(self, user_id: str, project_id: str) -> Mapping[str, str]:
        """Return a user's EC2 key as ``access`` and ``secret``; create it if needed."""
        known = {"user_id": user_id, "type": "ec2"}
        for credential in await self._list(self.admin, "credentials", known):
            if credential.get("user_id") == user_id and credential.get("project_id") == project_id:
                blob = json.loads(credential["blob"])
                return {"access": blob["access"], "secret": blob["secret"]}
        pair = {"access": uuid.uuid4().hex, "secret": secrets.token_hex(16)}
        body = {**known, "project_id": project_id, "blob": json.dumps(pair)}
        await self._require("POST", "/credentials", {"credential": body})
        return pair

    async def remove_keypair(self, access: str) -> None:
        """Delete an EC2 key. A missing one is fine."""
        # Keystone identifies the credential by the digest of the access key.
        await self._remove(f"/credentials/{hashlib.sha256(access.encode()).hexdigest()}")

    async def user_id(self, name: str, project_id: str) -> str | None:
        """Return the id of a user, if it was created for that project."""
        query = {"domain_id": await self._domain_id(), "name": name}
        for user in await self._list(self.admin, "users", query):
            if user.get("default_project_id") == project_id:
                return str(user["id"])
        return None

    async def _role(self) -> str:
        if self._role_id is None:
            name = self.settings.stack_user_role
            roles = await self._list(self.settings.service_user, "roles", {"name": name})
            if not roles:
                raise unavailable(f'it has no role "{name}"')
            self._role_id = str(roles[0]["id"])
        return self._role_id

    async def _list(
        self, user: User, kind: str, params: Mapping[str, str]
    ) -> list[Mapping[str, Any]]:
        """List objects of a kind, such as ``users``.

        Raise RequestError (503) if Keystone refuses.
        """
        response = await self.keystone.call(user, "GET", f"/{kind}", params=params)
        _check(response, f"a list of {kind}")
        found: list[Mapping[str, Any]] = json_of(response).get(kind, [])
        return found

    async def _find(self, kind: str, name: str) -> str | None:
        query = {"domain_id": await self._domain_id(), "name": name}
        found = await self._list(self.admin, kind, query)
        return str(found[0]["id"]) if found else None

    async def _domain_id(self) -> str:
        return (await self.keystone.grant_of(self.admin)).domain_id

    async def _make(self, kind: str, fields: Mapping[str, Any]) -> str:
        body = {kind: {"domain_id": await self._domain_id(), "enabled": True, **fields}}
        response = await self.keystone.call(self.admin, "POST", f"/{kind}s", json=body)
        if response.status_code == HTTPStatus.CONFLICT:
            found = await self._find(f"{kind}s", fields["name"])
            if found is not None:
                return found
        _check(response, f"a {kind} of the domain of stack users")
        return str(json_of(response)[kind]["id"])

    async def _require(self, method: str, path: str, body: Any) -> None:
        _check(await self.keystone.call(self.admin, method, path, json=body), f"{method} {path}")

    async def _remove(self, path: str) -> None:
        response = await self.keystone.call(self.admin, "DELETE", path)
        if response.status_code != HTTPStatus.NOT_FOUND:
            _check(response, f"DELETE {path}")


class ResourceSignalling:
    """Signal credentials for the resources of one stack. All methods block and can be repeated."""

    def __init__(self, domain: StackDomain, project_name: str) -> None:
        self._domain = domain
        self._wait_for = domain.keystone.wait_for
        self._project_name = project_name

    def create_user(self, call: Call) -> Mapping[str, Any]:
        """Return the resource's user: ``user_id``, ``username``, ``password``, ``project_id``."""
        if call.data.get("user_id") and call.data.get("password"):
            return {k: call.data[k] for k in ("user_id", "username", "password", "project_id")}
        # All users of a tree are in one project, which servers name in their signals.
        project_id = self._project_id(call)
        name, password = _user_name(call), secrets.token_hex(24)
        user_id = self._wait_for(self._domain.user(name, password, project_id))
        return {
            "user_id": user_id,
            "username": name,
            "password": password,
            "project_id": project_id,
        }

    def delete_user(self, call: Call) -> None:
        """Delete the resource's user. A missing one is fine."""
        removed = self._domain.remove_user(call.data.get("user_id"), _user_name(call))
        self._wait_for(removed)

    def create_keypair(self, call: Call, user_id: str) -> Mapping[str, Any]:
        """Return an EC2 key of the user as ``access`` and ``secret``."""
        return self._wait_for(self._domain.keypair(user_id, self._project_id(call)))

    def delete_keypair(self, call: Call, access: str) -> None:
        """Delete an EC2 key. A missing one is fine."""
        self._wait_for(self._domain.remove_keypair(access))

    def user_id(self, call: Call, username: str) -> str | None:
        """Return the id of a user in the project of this tree of stacks."""
        return self._wait_for(self._domain.user_id(username, self._project_id(call)))

    def signal_url(self, call: Call, project_id: str | None = None) -> str:
        """Return the URL in the REST API that accepts signals for the resource.

        Its project is that of the stack user, unless another one is given.
        """
        root = self._domain.settings.orchestration_url or self._endpoint("orchestration")
        stack, resource = quote(call.stack.name), quote(call.name, safe="")
        path = f"stacks/{stack}/{call.stack.id}/resources/{resource}/signal"
        return f"{_version_root(root)}/{project_id or self._project_id(call)}/{path}"

    def metadata_url(self, call: Call) -> str:
        """Return the URL of the CloudFormation API for metadata, with a trailing slash."""
        root = (self._domain.settings.metadata_url or self._endpoint("cloudformation")).rstrip("/")
        # Older configurations have the URL without the version.
        return f"{root}/" if "/v1" in root else f"{root}/v1/"

    def watch_url(self, call: Call) -> str:
        """Return the URL of the CloudWatch API for servers.

        If the catalog has none, it is on the host of the CloudFormation API.
        """
        root = self._domain.settings.watch_url or self._find_endpoint("cloudwatch")
        return root or self.metadata_url(call)

    def presigned_url(self, call: Call, path: str, *, never_expire: bool = False) -> str:
        """Return a URL below ``path`` (``waitcondition`` or ``signal``), signed with the key."""
        stack = StackAddress(call.stack.project_id, call.stack.name, call.stack.id)
        return sign_url(
            f"{self._signal_root()}/{path}",
            ResourceAddress(stack, call.name).arn,
            path,
            access=call.data["access"],
            secret=call.data["secret"],
            timestamp=None if never_expire else isoformat(call.now),
        )

    def token(self, call: Call) -> str:
        """Return a token of the resource's user."""
        user_id, password = call.data["user_id"], call.data["password"]
        request = by_user_id(user_id, password, self._project_id(call))
        grant = self._wait_for(self._domain.keystone.authenticate(request))
        if grant is None:
            raise RequestError("The user of this resource cannot log in any more.", FORBIDDEN)
        return grant.token

    def _project_id(self, call: Call) -> str:
        known = call.data.get("project_id") or call.stack.user_project_id
        return str(known or self._wait_for(self._domain.project(self._project_name)))

    def _signal_root(self) -> str:
        """Return the root of signal URLs, as servers reach it."""
        url = self._domain.settings.waitcondition_url
        root = url.rstrip("/").removesuffix("/waitcondition") if url else None
        return (root or self._endpoint("cloudformation")).rstrip("/")

    def _find_endpoint(self, service_type: str) -> str | None:
        settings = self._domain.settings
        grant = self._wait_for(self._domain.keystone.grant_of(settings.service_user))
        return grant.endpoint(service_type, settings.interface, settings.region)

    def _endpoint(self, service_type: str) -> str:
        url = self._find_endpoint(service_type)
        if url is None:
            raise unavailable(f"its catalog has no endpoint of the type {service_type}")
        return url


def _user_name(call: Call) -> str:
    """Return a user name: readable at its start, and unique by the id at its end."""
    room = _NAME_LIMIT - len(call.resource_id) - 1
    return f"{f'{call.stack.name}-{call.name}'[:room]}-{call.resource_id}"


def _version_root(url: str) -> str:
    """Return the URL up to the version. A catalog may have a project after it."""
    head, version, _ = url.rstrip("/").partition("/v1")
    return head + (version or "/v1")


def _check(response: httpx.Response, what: str) -> None:
    if response.status_code not in _DONE:
        raise unavailable(f"status {response.status_code} for {what}")
