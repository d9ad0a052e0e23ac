"""Transports through which a server reports the result of a deployment.

Each creates its own objects (user, key, temporary URL or queue) and adds inputs with the address
for the report. Signals arrive through the API; an object or a queue is polled.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from msgspec import Struct

from stoker.kernel.errors import RequestError
from stoker.kernel.values import replace
from stoker.resources.heat.deployment_inputs import DeploymentInput
from stoker.resources.shared.signals import message_queues
from stoker.resources.shared.signals.stack_user import user
from stoker.resources.shared.storage.temp_url import StoredObject
from stoker.schema.resource_type import Call, SignalCredentials

_SIGNAL_ID = "Where the values of the outputs are sent to."
_VERB = "The HTTP method with which they are sent."


def _nothing(call: Call) -> None:
    return None


class Transport(Struct, frozen=True):
    """One way to report a result. Its objects are recorded in the resource's data."""

    # Creates the objects and returns data about them. Safe to repeat.
    prepare: Callable[[Call], Mapping[str, Any]] = lambda call: {}
    inputs: Callable[[Call], Sequence[DeploymentInput]] = lambda call: ()
    # Returns the report that the server left, or None.
    collect: Callable[[Call], Mapping[str, Any] | None] = _nothing
    clear: Callable[[Call], None] = _nothing  # Deletes an old report before the next deployment.
    remove: Callable[[Call], None] = _nothing  # Deletes the objects.
    is_polled: bool = False


def _signalling(call: Call) -> SignalCredentials:
    if call.signalling is None:
        raise RequestError("this service has no endpoint for signals")
    return call.signalling


def _with_user(call: Call) -> Mapping[str, Any]:
    return dict(_signalling(call).create_user(call))


def _remove_user(call: Call) -> None:
    if call.signalling is not None:
        call.signalling.delete_user(call)


def _with_key(call: Call) -> Mapping[str, Any]:
    signalling, user_data = _signalling(call), _with_user(call)
    known = {**user_data, **signalling.create_keypair(call, user_data["user_id"])}
    return {**known, "signal_url": _signal_url(call, known)}


def _signal_url(call: Call, data: Mapping[str, Any]) -> str:
    # A script may run longer than a signature is normally valid, so this one does not expire.
    keyed = replace(call, data=data)
    return _signalling(call).presigned_url(keyed, "signal", never_expire=True)


def _signed(call: Call) -> Sequence[DeploymentInput]:
    # Heat does not store the URL of a deployment, only the key that signs it.
    url = call.data.get("signal_url") or _signal_url(call, call.data)
    return (
        DeploymentInput("deploy_signal_id", url, _SIGNAL_ID),
        DeploymentInput("deploy_signal_verb", "POST", _VERB),
    )


def _as_user(call: Call) -> Sequence[DeploymentInput]:
    known = user(call)
    return (
        DeploymentInput("deploy_auth_url", known["auth_url"], "Where the server logs in."),
        DeploymentInput("deploy_username", call.data["username"], "As whom, by name."),
        DeploymentInput("deploy_user_id", known["user_id"], "As whom, by id."),
        DeploymentInput("deploy_password", known["password"], "With this password."),
        DeploymentInput("deploy_project_id", known["project_id"], "To this project."),
        DeploymentInput("deploy_region_name", known["region_name"], "In this region."),
    )


def _object(call: Call) -> StoredObject:
    return StoredObject(call, call.stack.id, call.physical_name)


def _with_object(call: Call) -> Mapping[str, Any]:
    stored = _object(call)
    stored.ensure(b"")
    return {"signal_url": stored.url("PUT")}


def _temporary(call: Call) -> Sequence[DeploymentInput]:
    return (
        DeploymentInput("deploy_signal_id", call.data["signal_url"], _SIGNAL_ID),
        DeploymentInput("deploy_signal_verb", "PUT", _VERB),
    )


def _from_object(call: Call) -> Mapping[str, Any] | None:
    return _details(_object(call).read())


def _details(content: bytes) -> Mapping[str, Any] | None:
    """Return the report; content other than a JSON object counts as a failure."""
    if not content.strip():
        return None
    try:
        found = json.loads(content)
    except (ValueError, RecursionError):
        found = None
    if isinstance(found, Mapping):
        return found
    return {
        "deploy_status_code": -1,
        "deploy_stderr": "the server has sent a report that is not a JSON object",
    }


def _with_queue(call: Call) -> Mapping[str, Any]:
    user_data = _with_user(call)
    known = replace(call, data={**call.data, **user_data})
    message_queues.ensure(known, message_queues.queue_of(call))
    return user_data


def _queued(call: Call) -> Sequence[DeploymentInput]:
    queue = DeploymentInput(
        "deploy_queue_id", message_queues.queue_of(call), "The queue that the report is sent to."
    )
    return (*_as_user(call), queue)


def _from_queue(call: Call) -> Mapping[str, Any] | None:
    for message in message_queues.messages(call, message_queues.queue_of(call)):
        body = message.get("body")
        return body if isinstance(body, Mapping) else _details(str(body).encode())
    return None


def _clear_queue(call: Call) -> None:
    queue = message_queues.queue_of(call)
    message_queues.remove(call, queue)
    message_queues.ensure(call, queue)


def _remove_queue(call: Call) -> None:
    message_queues.remove(call, message_queues.queue_of(call))
    _remove_user(call)


NO_SIGNAL = "NO_SIGNAL"
# Names as in templates.
TRANSPORTS: Mapping[str, Transport] = {
    "CFN_SIGNAL": Transport(_with_key, _signed, remove=_remove_user),
    "TEMP_URL_SIGNAL": Transport(
        _with_object,
        _temporary,
        _from_object,
        clear=lambda call: _object(call).write(b""),
        remove=lambda call: _object(call).remove(),
        is_polled=True,
    ),
    "HEAT_SIGNAL": Transport(_with_user, _as_user, remove=_remove_user),
    NO_SIGNAL: Transport(),
    "ZAQAR_SIGNAL": Transport(
        _with_queue, _queued, _from_queue, _clear_queue, _remove_queue, is_polled=True
    ),
}
