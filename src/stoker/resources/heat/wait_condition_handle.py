"""The handle of a wait condition."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from stoker.kernel.errors import ValidationError
from stoker.kernel.values import replace
from stoker.resources.base import declare
from stoker.resources.heat.stored_signals import make_address, remove_signals
from stoker.resources.shared import message_queues
from stoker.resources.shared.signed_handle import describe_signal
from stoker.resources.shared.stack_user import user
from stoker.resources.shared.wait_signals import FAILURE, SUCCESS, metadata_of, received
from stoker.schema.properties import Attribute, Type
from stoker.schema.resource_type import (
    Call,
    Done,
    Failed,
    ManagedType,
    Outcome,
    Signal,
    SignalCredentials,
)
from stoker.schema.support import since

KEYS = frozenset({"id", "status", "reason", "data"})
TRANSPORTS = (
    "CFN_SIGNAL", "TEMP_URL_SIGNAL", "HEAT_SIGNAL", "NO_SIGNAL", "ZAQAR_SIGNAL", "TOKEN_SIGNAL",
)  # fmt: skip
_QUEUED = "ZAQAR_SIGNAL"
_STORED = "TEMP_URL_SIGNAL"
_NOTIFIED = "Message_Type"
"""Key of what the messaging service sends on: beside what it says of the message itself."""
_CREDENTIALS = (
    "auth_url", "username", "user_id", "password", "project_id", "domain_id", "region_name",
)  # fmt: skip


class HeatWaitConditionHandle(ManagedType):
    """Receives the signals that a wait condition waits for. Calls the identity service, and the
    one that keeps the signals.
    """

    type_name = "OS::Heat::WaitConditionHandle"
    description = "Receives the signals that a wait condition waits for."
    support = since("2014.2")
    service = "identity"
    renewed = True
    secrets = frozenset({"token", "alarm_url", "password", "secret"})
    properties = {
        "signal_transport": declare.choice(
            list(TRANSPORTS),
            "How a server signals: by a signed address, an address with a token, with "
            "credentials of its own, through a queue, or by a temporary address of the object "
            "store.",
            default="TOKEN_SIGNAL",
            support=since("6.0.0"),
        )
    }
    attributes = {
        "token": Attribute("A token for the signal's address.", Type.STRING),
        "endpoint": Attribute("The address that accepts signals.", Type.STRING),
        "curl_cli": Attribute(
            "A command that signals success; more of the body goes into --data-binary.", Type.STRING
        ),
        "signal": Attribute(
            "JSON text: address and credentials for the chosen transport.", Type.STRING
        ),
    }

    def create(self, call: Call) -> Outcome:
        """Create the objects of the transport: a stack user, and for some a key and an address."""
        transport = call.properties["signal_transport"]
        if transport == "NO_SIGNAL":
            return Done(physical_id=call.resource_id, attributes=_no_signal())
        if transport == _STORED:
            url = call.data.get("alarm_url") or make_address(call)
            return Done(call.physical_name, data={"alarm_url": url}, attributes=_address(url))
        signalling = call.signalling
        if signalling is None:
            return Failed("this service has no endpoint for signals")
        user = call.data if "user_id" in call.data else signalling.create_user(call)
        data, attributes = _MAKERS[transport](replace(call, data=dict(user)), signalling)
        return Done(physical_id=user["user_id"], data=data, attributes=attributes)

    def delete(self, call: Call) -> Outcome:
        """Remove the stack user, and signals that others keep."""
        if call.properties["signal_transport"] == _STORED:
            remove_signals(call)
            return Done()
        made = "user_id" in call.data or call.physical_id is None
        if call.signalling is not None and made:
            if call.properties["signal_transport"] == _QUEUED and "user_id" in call.data:
                message_queues.remove(call, call.resource_id)
            call.signalling.delete_user(call)
        return Done()

    def reference(self, call: Call) -> Any:
        """The physical id; the address if signals are in the object store."""
        if call.properties["signal_transport"] == _STORED and "alarm_url" in call.data:
            return call.data["alarm_url"]
        return super().reference(call)

    def read(self, call: Call) -> Mapping[str, Any]:
        """The attributes, as they were when the handle was created."""
        transport = call.properties["signal_transport"]
        if transport == _STORED:
            return _address(call.data["alarm_url"])
        if transport not in _MAKERS or call.signalling is None:
            return _no_signal()
        return _MAKERS[transport](call, call.signalling)[1]

    def check_signal(self, call: Call, details: Mapping[str, Any]) -> Mapping[str, Any]:
        """Return the signal with defaults: a success with the next number as id.

        Raises ``ValidationError`` for keys and states that do not exist.
        """
        body = details if isinstance(details, Mapping) else {}
        if call.properties["signal_transport"] == _QUEUED and _NOTIFIED in body:
            body = body["body"] if isinstance(body.get("body"), Mapping) else {}
        unknown = sorted(str(key) for key in body if key not in KEYS)
        if unknown:
            raise ValidationError(
                f"a signal has no {', '.join(unknown)}, only {', '.join(sorted(KEYS))}"
            )
        status = body.get("status", SUCCESS)
        if status not in (SUCCESS, FAILURE):
            raise ValidationError(f"the status of a signal is {SUCCESS} or {FAILURE}")
        number = len(received(call.signals.get(str(self.reference(call)), ()))) + 1
        return {
            "id": str(body.get("id", number)),
            "status": status,
            "reason": body.get("reason", f"Signal {number} received"),
            "data": body.get("data"),
        }

    def signal_reason(self, call: Call, details: Mapping[str, Any]) -> str:
        """Status and reason of the signal."""
        return describe_signal(details)

    def signal_metadata(self, signals: Sequence[Signal]) -> Mapping[str, Any]:
        """The signals by their id."""
        return metadata_of(signals)


Made = tuple[Mapping[str, Any], Mapping[str, Any]]
"""Data to store, and attributes."""


def _no_signal() -> dict[str, Any]:
    return {"token": None, "endpoint": None, "curl_cli": None, "signal": json.dumps({})}


def _address(url: str) -> dict[str, Any]:
    return {**_no_signal(), "signal": json.dumps({"alarm_url": url})}


def _with_token(call: Call, signalling: SignalCredentials) -> Made:
    # one token for the life of the handle: a server that was given it must go on being heard
    token = call.data.get("token") or signalling.token(call)
    endpoint = signalling.signal_url(call)
    command = (
        f"curl -i -X POST -H 'X-Auth-Token: {token}' -H 'Content-Type: application/json' "
        f"-H 'Accept: application/json' {endpoint}"
    )
    attributes = {
        "token": token,
        "endpoint": endpoint,
        "curl_cli": command,
        "signal": json.dumps(None),
    }
    return {**call.data, "token": token}, attributes


def _with_credentials(call: Call, signalling: SignalCredentials) -> Made:
    signal = {key: call.data[key] for key in _CREDENTIALS if key in call.data}
    signal["region_name"] = call.stack.region
    signal["endpoint"] = signalling.signal_url(call)
    return call.data, {**_no_signal(), "signal": json.dumps(signal)}


def _with_signed_address(call: Call, signalling: SignalCredentials) -> Made:
    data = call.data
    if "access" not in data:
        data = {**data, **signalling.create_keypair(call, data["user_id"])}
    url = data.get("alarm_url") or signalling.presigned_url(replace(call, data=data), "signal")
    return {**data, "alarm_url": url}, _address(url)


def _with_queue(call: Call, signalling: SignalCredentials) -> Made:
    data, queue = call.data, call.resource_id
    if "queue_id" not in data:
        data = {**data, **signalling.create_keypair(call, data["user_id"]), "queue_id": queue}
        made = replace(call, data=data)
        # whoever sends a message has no address: this one has to hold as long as the queue
        address = signalling.presigned_url(made, "signal", never_expire=True)
        message_queues.ensure(made, queue)
        message_queues.forward(made, queue, address)
    known = {key: data[key] for key in ("username", "queue_id")}
    signal = {**known, **user(replace(call, data=data))}
    return data, {**_no_signal(), "signal": json.dumps(signal)}


_MAKERS: Mapping[str, Callable[[Call, SignalCredentials], Made]] = {
    "TOKEN_SIGNAL": _with_token,
    "HEAT_SIGNAL": _with_credentials,
    "CFN_SIGNAL": _with_signed_address,
    _QUEUED: _with_queue,
}
