"""A wait condition handle that is a signed address of the CloudFormation endpoint.

The two types of that kind differ in nothing but their name and in what an update does.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from stoker.kernel.errors import Invalid
from stoker.resources.wait_signals import FAILURE, SUCCESS, received
from stoker.schema.resource_type import Call, Done, Failed, Outcome, Signal

URL = "signed_url"
KEYS = ("Data", "Reason", "Status", "UniqueId")


def make_handle(call: Call) -> Outcome:
    """The stack user, its key and the address that the key signs."""
    if URL in call.data:
        return Done(physical_id=call.data["user_id"])
    if call.signalling is None:
        return Failed("this service has no endpoint that could be signalled")
    user = call.signalling.create_user(call)
    keys = call.signalling.create_keypair(call, user["user_id"])
    data = {**user, **keys}
    url = call.signalling.presigned_url(_with_data(call, data), "waitcondition")
    return Done(physical_id=user["user_id"], data={**data, URL: url})


def _with_data(call: Call, data: Mapping[str, Any]) -> Call:
    return replace(call, data=data)


def remove_handle(call: Call) -> Outcome:
    """Removes the stack user."""
    if call.signalling is not None:
        call.signalling.delete_user(call)
    return Done()


def handle_reference(call: Call) -> Any:
    """The signed address."""
    return call.data.get(URL, call.name)


def read_signal(details: Any) -> Mapping[str, Any]:
    """The signal as it is stored. Raises ``Invalid`` for a body that is not complete."""
    if not isinstance(details, Mapping) or sorted(details) != sorted(KEYS):
        raise Invalid(f"a signal must have exactly the keys {', '.join(KEYS)}")
    if details["Status"] not in (SUCCESS, FAILURE):
        raise Invalid(f"the Status of a signal is {SUCCESS} or {FAILURE}")
    return {
        "id": str(details["UniqueId"]),
        "status": details["Status"],
        "reason": details["Reason"],
        "data": details["Data"],
    }


def shown_signals(signals: Sequence[Signal]) -> dict[str, Any]:
    """The signals by their id, as the metadata of the handle shows them."""
    return {
        key: {name: signal.get(name.lower()) for name in ("Status", "Reason", "Data")}
        for key, signal in received(signals).items()
    }


def describe_signal(signal: Mapping[str, Any]) -> str:
    """What the event of a signal says."""
    return f"{signal['status']}: {signal['reason']}"
