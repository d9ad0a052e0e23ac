"""Credentials, and the EC2 key pairs among them."""

import hashlib
import json
import secrets
from typing import Any

from starlette.requests import Request
from starlette.routing import BaseRoute

from localcloud.http import BadRequest, Conflict, RequestContext, context, read_json, route
from localcloud.identity import policy
from localcloud.identity.directory import Directory, missing
from localcloud.identity.fields import Field
from localcloud.identity.resource import Kind, Resource, Rules
from localcloud.identity.users import owner
from localcloud.store import Document

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


def credential_id(access: str) -> str:
    """Return the id of the credential with this EC2 access key."""
    return hashlib.sha256(access.encode()).hexdigest()


class Credentials:
    """The requests on credentials and on EC2 key pairs."""

    def __init__(self, directory: Directory) -> None:
        self._directory = directory
        rules = Rules(
            lists=lambda who: True,
            reads=self._is_allowed,
            writes=self._is_allowed,
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

    def _is_allowed(self, who: RequestContext, credential: Document) -> bool:
        if who.user_id == credential["user_id"] or who.is_admin:
            return True
        user = self._directory.users.get(credential["user_id"] or "")
        return user is not None and policy.manages_domain(who, user["domain_id"])

    def _complete(self, who: RequestContext, body: Document) -> Document:
        credential = {"project_id": None, **body, "user_id": body.get("user_id") or who.user_id}
        self._directory.user(credential["user_id"])
        if credential["type"] != "ec2":
            return credential
        blob = _ec2_blob(credential["blob"])
        if credential["project_id"] is None:
            raise BadRequest("An EC2 credential needs a 'project_id'.")
        self._directory.project(credential["project_id"])
        credential["id"] = credential_id(blob["access"])
        if credential["id"] in self._directory.credentials:
            raise Conflict("There is already a credential with this access key.")
        return {**credential, "blob": json.dumps(_limited(blob, who))}

    def _change(self, old: Document, changes: Document) -> Document:
        changed = {**old, **changes}
        if changed["type"] == "ec2":
            blob = _ec2_blob(changed["blob"])
            if credential_id(blob["access"]) != old["id"]:
                raise BadRequest("The access key of a credential cannot be changed.")
            limits = json.loads(old["blob"]) if old["type"] == "ec2" else {}
            for name in ("trust_id", "app_cred_id"):
                if blob.get(name) != limits.get(name):
                    raise BadRequest(f"'{name}' of a credential cannot be changed.")
        return changed

    async def _list_keys(self, request: Request) -> Document:
        user = owner(self._directory, request, "ec2_list_credentials")
        found = self._directory.credentials.find(user_id=user["id"], type="ec2")
        links = self._directory.links(request.url.path.removeprefix("/v3/"))
        return {"credentials": [self._key(c) for c in found], "links": links}

    async def _create_key(self, request: Request) -> Document:
        user = owner(self._directory, request, "ec2_create_credential")
        body = await read_json(request)
        project_id = body.get("tenant_id", body.get("project_id"))
        if not isinstance(project_id, str):
            raise BadRequest("'tenant_id' must be the id of a project.")
        self._directory.project(project_id)
        who = context(request)
        access, secret = secrets.token_hex(16), secrets.token_hex(16)
        credential = {
            "id": credential_id(access),
            "type": "ec2",
            "user_id": user["id"],
            "project_id": project_id,
            "blob": json.dumps(_limited({"access": access, "secret": secret}, who)),
        }
        self._directory.credentials.put(credential)
        return {"credential": self._key(credential)}

    async def _show_key(self, request: Request) -> Document:
        return {"credential": self._key(self._named(request, "ec2_get_credential"))}

    async def _delete_key(self, request: Request) -> None:
        credential = self._named(request, "ec2_delete_credential")
        self._directory.credentials.delete(credential["id"])

    def _named(self, request: Request, action: str) -> Document:
        user = owner(self._directory, request, action)
        access = request.path_params["access"]
        credential = self._directory.credentials.get(credential_id(access))
        if credential is None or credential["user_id"] != user["id"]:
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
        raise BadRequest("The blob of an EC2 credential must be JSON.") from error
    keys = ("access", "secret")
    if not isinstance(blob, dict) or not all(isinstance(blob.get(key), str) for key in keys):
        raise BadRequest("The blob of an EC2 credential must have strings 'access' and 'secret'.")
    return blob


def _limited(blob: dict[str, Any], who: RequestContext) -> dict[str, Any]:
    """A key made with a delegated token can do no more than that token could."""
    limits = {"trust_id": who.trust_id, "app_cred_id": who.application_credential_id}
    for name, value in limits.items():
        if blob.get(name) not in {None, value}:
            raise BadRequest(f"'{name}' must be the one of the token.")
    return {**blob, **{name: value for name, value in limits.items() if value is not None}}
