"""Credentials, and the EC2 key pairs among them.

A credential belongs to one user. An EC2 credential authenticates as that user in its project, so
its user, project and limits are the rights of the holder of the secret. A request may set them only
to rights that the caller already has.
"""

import hashlib
import json
import secrets
from collections.abc import Callable
from typing import Any

from starlette.requests import Request
from starlette.routing import BaseRoute

from localcloud.core.store import Document
from localcloud.identity.api.resource import Kind, Resource, Rules
from localcloud.identity.api.users import owned
from localcloud.identity.model import policy
from localcloud.identity.model.assignments import Assignments
from localcloud.identity.model.directory import Directory, missing
from localcloud.identity.model.fields import Field
from localcloud.web.http import (
    BadRequestError,
    ConflictError,
    ForbiddenError,
    RequestContext,
    context,
    read_json,
    route,
)

KIND = Kind(
    "credential",
    "credentials",
    fields=(
        Field("type", required=True),
        Field("blob", required=True, longest=65535),
        Field("user_id"),
        Field("project_id"),
    ),
    filters=("user_id", "type"),
)
_LIMITS = ("trust_id", "app_cred_id")  # members of an EC2 blob that limit what the key may do


def credential_id(access: str) -> str:
    """Return the ID of the credential with this EC2 access key."""
    return hashlib.sha256(access.encode()).hexdigest()


class Credentials:
    """The requests on credentials and on EC2 key pairs."""

    def __init__(self, directory: Directory, assignments: Assignments) -> None:
        self._directory = directory
        self._assignments = assignments
        rules = Rules(
            lists=lambda who: True,
            reads=self._may_read,
            writes=self._may_write,
            complete=self._complete,
            change=self._change,
        )
        self._resource = Resource(directory, directory.credentials, KIND, rules)

    def routes(self) -> list[BaseRoute]:
        """Return the routes."""
        many = "/v3/users/{user_id}/credentials/OS-EC2"
        one = f"{many}/{{access}}"
        return [
            *self._resource.routes(),
            route("GET", many, self._list_keys),
            route("POST", many, self._create_key, 201),
            route("GET", one, self._show_key),
            route("DELETE", one, self._delete_key),
        ]

    def _may_read(self, who: RequestContext, credential: Document) -> bool:
        return policy.reads_all(who) or self._may_write(who, credential)

    def _may_write(self, who: RequestContext, credential: Document) -> bool:
        if who.is_admin:
            return True
        if who.user_id == credential["user_id"]:
            return _is_within_delegation(who, credential)
        user = self._directory.users.get(credential["user_id"] or "")
        return user is not None and policy.administers_domain(who, user["domain_id"])

    def _complete(self, who: RequestContext, body: Document) -> Document:
        credential = {"project_id": None, **body, "user_id": body.get("user_id") or who.user_id}
        self._directory.user(credential["user_id"])
        self._check_project(who, credential)
        if credential["type"] != "ec2":
            return credential
        blob = _ec2_blob(credential["blob"])
        credential["id"] = credential_id(blob["access"])
        if credential["id"] in self._directory.credentials:
            raise ConflictError("There is already a credential with this access key.")
        return {**credential, "blob": json.dumps(_limited(blob, who))}

    def _change(self, who: RequestContext, old: Document, changes: Document) -> Document:
        changed = {**old, **changes}
        if (old["user_id"], old["project_id"]) != (changed["user_id"], changed["project_id"]):
            self._directory.user(changed["user_id"] or "")
            policy.require(self._may_write(who, changed), "update_credential")
            self._check_project(who, changed)
        if changed["type"] == "ec2":
            self._check_blob(old, changed)
        return changed

    def _check_blob(self, old: Document, changed: Document) -> None:
        blob = _ec2_blob(changed["blob"])
        if credential_id(blob["access"]) != old["id"]:
            raise BadRequestError("The access key of a credential cannot be changed.")
        limits = json.loads(old["blob"]) if old["type"] == "ec2" else {}
        for name in _LIMITS:
            if blob.get(name) != limits.get(name):
                raise BadRequestError(f"'{name}' of a credential cannot be changed.")

    def _check_project(self, who: RequestContext, credential: Document) -> None:
        """Raise an error if the user has no role in the project.

        Administrators of the cloud may set any project.
        """
        project_id = credential["project_id"]
        if project_id is None:
            if credential["type"] == "ec2":
                raise BadRequestError("An EC2 credential needs a 'project_id'.")
            return
        if who.is_admin:
            self._directory.project(project_id)
        elif not self._assignments.role_ids(credential["user_id"], "project", project_id):
            raise ForbiddenError("The user of a credential must have a role in its project.")

    async def _list_keys(self, request: Request) -> Document:
        user = owned(self._directory, request, "ec2_list_credentials", policy.reads_all)
        who = context(request)
        found = [
            credential
            for credential in self._directory.credentials.find(user_id=user["id"], type="ec2")
            if self._may_read(who, credential)
        ]
        links = self._directory.links(request.url.path.removeprefix("/v3/"))
        return {"credentials": [self._key(c) for c in found], "links": links}

    async def _create_key(self, request: Request) -> Document:
        user = owned(self._directory, request, "ec2_create_credential")
        body = await read_json(request)
        project_id = body.get("tenant_id", body.get("project_id"))
        if not isinstance(project_id, str):
            raise BadRequestError("'tenant_id' must be the id of a project.")
        who = context(request)
        access, secret = secrets.token_hex(16), secrets.token_hex(16)
        credential = {
            "id": credential_id(access),
            "type": "ec2",
            "user_id": user["id"],
            "project_id": project_id,
            "blob": json.dumps(_limited({"access": access, "secret": secret}, who)),
        }
        self._check_project(who, credential)
        self._directory.credentials.put(credential)
        return {"credential": self._key(credential)}

    async def _show_key(self, request: Request) -> Document:
        user = owned(self._directory, request, "ec2_get_credential", policy.reads_all)
        return {"credential": self._key(self._named(request, user, self._may_read))}

    async def _delete_key(self, request: Request) -> None:
        user = owned(self._directory, request, "ec2_delete_credential")
        credential = self._named(request, user, self._may_write)
        self._directory.credentials.delete(credential["id"])

    def _named(
        self,
        request: Request,
        user: Document,
        allowed: Callable[[RequestContext, Document], bool],
    ) -> Document:
        access = request.path_params["access"]
        credential = self._directory.credentials.get(credential_id(access))
        if (
            credential is None
            or credential["user_id"] != user["id"]
            or not allowed(context(request), credential)
        ):
            raise missing("credential", access)
        return credential

    def _key(self, credential: Document) -> dict[str, Any]:
        blob = json.loads(credential["blob"])
        path = f"users/{credential['user_id']}/credentials/OS-EC2/{blob['access']}"
        return {
            "access": blob["access"],
            "secret": blob["secret"],
            "user_id": credential["user_id"],
            "tenant_id": credential["project_id"],
            "trust_id": blob.get("trust_id"),
            "links": {"self": self._directory.url(path)},
        }


def _ec2_blob(text: str) -> dict[str, Any]:
    try:
        blob = json.loads(text)
    except ValueError as error:
        raise BadRequestError("The blob of an EC2 credential must be JSON.") from error
    keys = ("access", "secret")
    if not isinstance(blob, dict) or not all(isinstance(blob.get(key), str) for key in keys):
        raise BadRequestError(
            "The blob of an EC2 credential must have strings 'access' and 'secret'."
        )
    return blob


def _delegation(who: RequestContext) -> dict[str, str]:
    """Return the trust or application credential that limits a token, by its name in blobs."""
    limits = {"trust_id": who.trust_id, "app_cred_id": who.application_credential_id}
    return {name: value for name, value in limits.items() if value is not None}


def _is_within_delegation(who: RequestContext, credential: Document) -> bool:
    """Return whether the credential grants no more than the token itself.

    The secret of an unlimited key would let the holder of a delegated token act as its user without
    the limits of the delegation.
    """
    held = _delegation(who)
    if not held or credential["type"] != "ec2":
        return True
    blob = json.loads(credential["blob"])
    return {name: blob[name] for name in _LIMITS if blob.get(name) is not None} == held


def _limited(blob: dict[str, Any], who: RequestContext) -> dict[str, Any]:
    """Return the blob with the limits of the token.

    A key has no more rights than its creator.
    """
    held = _delegation(who)
    for name in _LIMITS:
        if blob.get(name) not in {None, held.get(name)}:
            raise BadRequestError(f"'{name}' must be the one of the token.")
    return {**blob, **held}
