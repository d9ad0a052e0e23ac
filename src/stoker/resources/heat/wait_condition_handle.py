"""OS::Heat::WaitConditionHandle: receives signals from servers.

The transport decides how a server signals: with a token, with a signed URL, as a stack user,
through a queue that forwards to this service, or by writing to the object store. All parts are
created before the handle is complete, and their data are encrypted.

Tested by tests/resource_types_heat/test_waiting.py.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from stoker.kernel.errors import ValidationError
from stoker.kernel.values import replace
from stoker.resources.base import declare
from stoker.resources.heat.stored_signals import make_address, remove_signals
from stoker.resources.shared.signals import message_queues
from stoker.resources.shared.signals.signed_handle import describe_signal
from stoker.resources.shared.signals.stack_user import user
from stoker.resources.shared.signals.wait_signals import FAILURE, SUCCESS, metadata_of, received
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
_NOTIFIED = "Message_Type"  # Key that the messaging service adds when it forwards a message.
_CREDENTIALS = (
    "auth_url", "username", "user_id", "password", "project_id", "domain_id", "region_name",
)  # fmt: skip


class HeatWaitConditionHandle(ManagedType):
    """A handle for wait conditions."""

    type_name = "OS::Heat::WaitConditionHandle"
    description = "Receives the signals for a wait condition."
    support = since("2014.2")
    service = "identity"
    renewed = True
    secrets = frozenset({"token", "alarm_url", "password", "secret"})
    properties = {
        "signal_transport": declare.choice(
            list(TRANSPORTS),
            "How a server signals: with a signed URL, a token, credentials of its own, a queue, "
            "or a temporary URL of the object store.",
            default="TOKEN_SIGNAL",
            support=since("6.0.0"),
        )
    }
    attributes = {
        "token": Attribute("Token for the signal URL.", Type.STRING),
        "endpoint": Attribute("URL that accepts signals.", Type.STRING),
        "curl_cli": Attribute(
            "Command that signals success; --data-binary can have more of the body.", Type.STRING
        ),
        "signal": Attribute("URL and credentials for the chosen transport, as JSON.", Type.STRING),
    }

    def create(self, call: Call) -> Outcome:
        """Create the objects of the transport: a stack user, and if needed a key, URL or queue."""
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
        """Delete the stack user, and signals that are stored elsewhere."""
        if call.properties["signal_transport"] == _STORED:
            remove_signals(call)
            return Done()
        has_user = "user_id" in call.data or call.physical_id is None
        if call.signalling is not None and has_user:
            if call.properties["signal_transport"] == _QUEUED and "user_id" in call.data:
                message_queues.remove(call, message_queues.queue_of(call))
            call.signalling.delete_user(call)
        return Done()

    def reference(self, call: Call) -> Any:
        """Return the physical id, or the URL if signals are in the object store."""
        if call.properties["signal_transport"] == _STORED and "alarm_url" in call.data:
            return call.data["alarm_url"]
        return super().reference(call)

    def read(self, call: Call) -> Mapping[str, Any]:
        """Return the attributes, unchanged since the handle was created."""
        transport = call.properties["signal_transport"]
        if transport == _STORED:
            return _address(call.data["alarm_url"])
        if transport not in _MAKERS or call.signalling is None:
            return _no_signal()
        return _MAKERS[transport](call, call.signalling)[1]

    def check_signal(self, call: Call, details: Mapping[str, Any]) -> Mapping[str, Any]:
        """Return the signal, by default a success with the next number as id.

        Raise ``ValidationError`` for unknown keys and statuses.
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
        """Return status and reason of the signal."""
        return describe_signal(details)

    def signal_metadata(self, signals: Sequence[Signal]) -> Mapping[str, Any]:
        """Return the signals by their id."""
        return metadata_of(signals)


Made = tuple[Mapping[str, Any], Mapping[str, Any]]  # (data to store, attributes)


def _no_signal() -> dict[str, Any]:
    return {"token": None, "endpoint": None, "curl_cli": None, "signal": json.dumps({})}


def _address(url: str) -> dict[str, Any]:
    return {**_no_signal(), "signal": json.dumps({"alarm_url": url})}


def _with_token(call: Call, signalling: SignalCredentials) -> Made:
    # Keep one token for the life of the handle, since servers may have been given it already.
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
    signal["alarm_url"] = signalling.signal_url(call)
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
        own_call = replace(call, data=data)
        # The subscription lasts as long as the queue, so its URL must not expire before.
        address = signalling.presigned_url(own_call, "signal", never_expire=True)
        message_queues.ensure(own_call, queue)
        message_queues.forward(own_call, queue, address)
    known = {key: data[key] for key in ("username", "queue_id")}
    signal = {**known, **user(replace(call, data=data))}
    return data, {**_no_signal(), "signal": json.dumps(signal)}


_MAKERS: Mapping[str, Callable[[Call, SignalCredentials], Made]] = {
    "TOKEN_SIGNAL": _with_token,
    "HEAT_SIGNAL": _with_credentials,
    "CFN_SIGNAL": _with_signed_address,
    _QUEUED: _with_queue,
}
