"""The API of transfers: shares that go over to another project."""

import hmac
import secrets

from localcloud.core.store import Document
from localcloud.shared_file_system import jobs
from localcloud.shared_file_system.api import fields
from localcloud.shared_file_system.api.call import Call, moment
from localcloud.shared_file_system.model import quotas
from localcloud.shared_file_system.model.state import found, missing
from localcloud.web.api_request import Endpoint
from localcloud.web.http import BadRequestError, ForbiddenError

_MINUTES = 5
_KEY_BYTES = 8


def _view(call: Call, transfer: Document, *, detailed: bool = True) -> Document:
    view = {
        "id": transfer["id"],
        "name": transfer["name"],
        "resource_type": "share",
        "resource_id": transfer["resource_id"],
        "links": call.links(f"/share-transfers/{transfer['id']}"),
    }
    if detailed:
        view |= {
            "created_at": moment(transfer["created_at"]),
            "source_project_id": transfer["project_id"],
            "destination_project_id": None,
            "accepted": False,
            "expires_at": moment(transfer["expires_at"]),
        }
    return view


def _current(call: Call) -> list[Document]:
    """Return the transfers of the project; those that have expired are given up first."""
    now = call.state.now()
    for transfer in call.state.transfers.values():
        if transfer["expires_at"] <= now:
            _give_up(call, transfer)
    return call.narrowed(call.mine(call.state.transfers.values()), "name", "resource_id")


def _give_up(call: Call, transfer: Document) -> None:
    with call.state.cloud.store.transaction():
        call.state.transfers.delete(transfer["id"])
        share = call.state.shares.get(transfer["resource_id"])
        if share is not None and share["status"] == "awaiting_transfer":
            call.state.change(call.state.shares, share["id"], status="available")


async def listed(call: Call) -> Document:
    """Return the transfers of the project."""
    chosen, _ = call.page(_current(call), "/share-transfers", ("created_at", "name"))
    return {"transfers": [_view(call, each, detailed=False) for each in chosen]}


async def detailed(call: Call) -> Document:
    """Return the transfers of the project with details."""
    chosen, _ = call.page(_current(call), "/share-transfers", ("created_at", "name"))
    return {"transfers": [_view(call, each) for each in chosen]}


async def show(call: Call, transfer: Document) -> Document:
    """Return one transfer."""
    return {"transfer": _view(call, transfer)}


async def create(call: Call) -> Document:
    """Offer a share. The response contains the key for accepting it."""
    body = call.object("transfer")
    share_id = fields.text(body, "share_id") or ""
    error = missing(f"ShareNotFound: Share {share_id} could not be found.")
    share = found(call.state.shares, call.context, share_id, error)
    if share["status"] != "available" or share["is_soft_deleted"]:
        raise BadRequestError("Invalid share: Share status must be available to be transferred.")
    if share["share_network_id"] is not None:
        raise BadRequestError(
            "Invalid share: Shares exported over share networks cannot be transferred."
        )
    key = secrets.token_hex(_KEY_BYTES)
    transfer = {
        **call.state.record(
            call.context,
            name=fields.text(body, "name"),
            resource_id=share_id,
            auth_key=key,
            expires_at=call.state.later(minutes=_MINUTES),
        ),
        "project_id": share["project_id"],
    }
    with call.state.cloud.store.transaction():
        call.state.transfers.put(transfer)
        call.state.change(call.state.shares, share_id, status="awaiting_transfer")
    return {"transfer": {**_view(call, transfer), "auth_key": key}}


async def accept(call: Call) -> None:
    """Take a share over."""
    transfer_id, body = call.argument("offer_id"), call.object("accept")
    transfer = call.state.transfers.get(transfer_id)
    if transfer is None or transfer["expires_at"] <= call.state.now():
        raise missing(f"Transfer {transfer_id} could not be found.")
    if not hmac.compare_digest(str(body.get("auth_key")).encode(), transfer["auth_key"].encode()):
        raise BadRequestError(
            f"Invalid auth key: Attempt to transfer {transfer_id} with invalid auth key."
        )
    state, share = call.state, call.state.shares.get(transfer["resource_id"])
    if share is None or share["status"] != "awaiting_transfer":
        raise missing(f"Transfer {transfer_id} could not be found.")
    rules = list(state.rules.find(owner_id=share["id"]))
    if rules and not body.get("clear_access_rules"):
        raise BadRequestError("Share transfer cannot be accepted without clearing access rules.")
    kind, project = state.types.get(share["share_type_id"]), call.context.require_project()
    snapshots = list(state.snapshots.find(share_id=share["id"]))
    quotas.check(state, project, kind, shares=1, gigabytes=share["size"])
    if kind is not None and not kind["is_public"] and project not in kind["projects"]:
        raise ForbiddenError("The share type of the share is not for this project.")
    with state.cloud.store.transaction():
        state.transfers.delete(transfer_id)
        owner = {"project_id": project, "user_id": call.context.user_id}
        state.change(state.shares, share["id"], status="available", **owner)
        for snapshot in snapshots:
            state.change(state.snapshots, snapshot["id"], **owner)
        for rule in rules:
            state.change(state.rules, rule["id"], state="queued_to_deny")
    jobs.apply_rules(call.tools, state.shares, share["id"])


async def delete(call: Call, transfer: Document) -> None:
    """Give a transfer up."""
    _give_up(call, transfer)


_TRANSFERS, _ONE = "/share-transfers", "/share-transfers/{transfer_id}"
ENDPOINTS = (
    Endpoint("GET", _TRANSFERS, listed, first=77),
    Endpoint("GET", f"{_TRANSFERS}/detail", detailed, first=77),
    Endpoint("POST", _TRANSFERS, create, first=77, status=202),
    Endpoint("POST", "/share-transfers/{offer_id}/accept", accept, first=77, status=202),
    Endpoint("GET", _ONE, show, first=77),
    Endpoint("DELETE", _ONE, delete, first=77, status=200),
)
