"""The API of key pairs, which belong to users and not to projects."""

import re
from typing import Any

from localcloud.compute.api.call import Call
from localcloud.compute.model import fields
from localcloud.compute.model.keypairs import find, generate, read_ssh, read_x509
from localcloud.compute.model.quotas import check_keypairs
from localcloud.core.store import Document
from localcloud.web.api_request import Endpoint
from localcloud.web.http import Answer, BadRequestError, ConflictError, ForbiddenError, respond

_NAME = re.compile(r"[a-zA-Z0-9 _-]{1,255}")
# Microversion 2.92 also allows periods and at signs.
_LATER_NAME = re.compile(r"[a-zA-Z0-9 ._@-]{1,255}")


def _user(call: Call, asked: Any) -> str:
    if asked is None or not call.version.since(10) or asked == call.context.user_id:
        return call.context.user_id
    if not call.context.is_admin:
        raise ForbiddenError("Only an administrator may see or change key pairs of other users.")
    return str(asked)


def _brief(call: Call, keypair: Document) -> Document:
    view = {k: keypair[k] for k in ("name", "public_key", "fingerprint")}
    if call.version.since(2):
        view["type"] = keypair["type"]
    return view


async def list_keypairs(call: Call) -> Document:
    """Return the key pairs of a user."""
    user = _user(call, call.query("user_id"))
    found = sorted(call.state.keypairs.find(user_id=user), key=lambda k: str(k["name"]))
    more: dict[str, Any] = {}
    if call.version.since(35):
        # Markers are names here, as they are in the API.
        named = [{**k, "id": k["name"]} for k in found]
        found, more = call.paged(named, "keypairs_links", "/os-keypairs")
    return {"keypairs": [{"keypair": _brief(call, k)} for k in found], **more}


async def show_keypair(call: Call) -> Document:
    """Return one key pair."""
    user = _user(call, call.query("user_id"))
    keypair = find(call.state, user, call.argument("name"))
    view = {
        **_brief(call, keypair),
        "id": keypair["number"],
        "user_id": keypair["user_id"],
        "created_at": keypair["created_at"],
        "updated_at": None,
        "deleted": False,
        "deleted_at": None,
    }
    return {"keypair": view}


async def create_keypair(call: Call) -> Answer:
    """Take the public key that the user brings, or make a pair and show its private key once."""
    body = call.object("keypair")
    name = fields.text(body, "name").strip()
    pattern = _LATER_NAME if call.version.since(92) else _NAME
    if not pattern.fullmatch(name):
        raise BadRequestError(
            "Keypair data is invalid: its name has characters that are not allowed."
        )
    kind = str(body.get("type", "ssh")) if call.version.since(2) else "ssh"
    if kind not in {"ssh", "x509"}:
        raise BadRequestError(f"Invalid input for 'type': '{kind}' is not ssh or x509.")
    user = _user(call, body.get("user_id"))
    public_key = fields.optional_text(body, "public_key", 16384)
    # From 2.92 on, Nova no longer generates keys: clients import a public key.
    if public_key is None and call.version.since(92):
        raise BadRequestError("'public_key' is a required property.")
    check_keypairs(call.state, call.context.project_id, user)
    if public_key is None:
        material = await generate(kind, user)
    else:
        material = (read_ssh if kind == "ssh" else read_x509)(public_key)
    if f"{user}/{name}" in call.state.keypairs:
        raise ConflictError(f"Key pair '{name}' already exists.")
    keypair = {
        "id": f"{user}/{name}",
        "number": call.state.next_number("keypair"),
        "name": name,
        "type": kind,
        "user_id": user,
        "public_key": material.public_key,
        "fingerprint": material.fingerprint,
        "created_at": call.state.now(),
    }
    call.state.keypairs.put(keypair)
    view = {**_brief(call, keypair), "user_id": user}
    if material.private_key is not None:
        view["private_key"] = material.private_key
    # Microversion 2.2 corrected the statuses: 201 for a creation, 204 for a deletion.
    return respond({"keypair": view}, 201 if call.version.since(2) else 200)


async def delete_keypair(call: Call) -> Answer:
    """Forget a key pair; servers keep the key that they were made with."""
    keypair = find(call.state, _user(call, call.query("user_id")), call.argument("name"))
    call.state.keypairs.delete(keypair["id"])
    return respond(None, 204 if call.version.since(2) else 202)


ENDPOINTS = (
    Endpoint("GET", "/os-keypairs", list_keypairs),
    Endpoint("POST", "/os-keypairs", create_keypair),
    Endpoint("GET", "/os-keypairs/{name}", show_keypair),
    Endpoint("DELETE", "/os-keypairs/{name}", delete_keypair),
)
