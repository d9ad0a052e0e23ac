"""Base of wait condition handles that are a signed URL of the CloudFormation API."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from stoker.kernel.errors import ValidationError
from stoker.kernel.values import replace
from stoker.resources.shared.signals.wait_signals import FAILURE, SUCCESS, received
from stoker.schema.resource_type import Call, Done, Failed, ManagedType, Outcome, Signal

URL = "signed_url"
KEYS = ("Data", "Reason", "Status", "UniqueId")


class SignedHandle(ManagedType):
    """A wait condition handle whose reference is a signed URL."""

    service = "identity"
    renewed = True
    secrets = frozenset({URL, "password", "secret"})

    def create(self, call: Call) -> Outcome:
        """Create a stack user, its key pair, and the signed URL."""
        if URL in call.data:
            return Done(physical_id=call.data["user_id"])
        if call.signalling is None:
            return Failed("this service has no endpoint for signals")
        user = call.signalling.create_user(call)
        data = {**user, **call.signalling.create_keypair(call, user["user_id"])}
        url = call.signalling.presigned_url(replace(call, data=data), "waitcondition")
        return Done(physical_id=user["user_id"], data={**data, URL: url})

    def delete(self, call: Call) -> Outcome:
        """Delete the stack user."""
        if call.signalling is not None:
            call.signalling.delete_user(call)
        return Done()

    def reference(self, call: Call) -> Any:
        """Return the signed URL."""
        return call.data.get(URL, call.name)

    def check_signal(self, call: Call, details: Mapping[str, Any]) -> Mapping[str, Any]:
        """Return the signal as it is stored. Raise ``ValidationError`` for an incomplete body."""
        if not isinstance(details, Mapping) or sorted(details) != sorted(KEYS):
            raise ValidationError(f"a signal must have exactly the keys {', '.join(KEYS)}")
        if details["Status"] not in (SUCCESS, FAILURE):
            raise ValidationError(f"the Status of a signal is {SUCCESS} or {FAILURE}")
        return {
            "id": str(details["UniqueId"]),
            "status": details["Status"],
            "reason": details["Reason"],
            "data": details["Data"],
        }

    def signal_reason(self, call: Call, details: Mapping[str, Any]) -> str:
        """Return status and reason of the signal."""
        return describe_signal(details)

    def signal_metadata(self, signals: Sequence[Signal]) -> Mapping[str, Any]:
        """Return the signals by their id."""
        return {
            key: {name: signal.get(name.lower()) for name in ("Status", "Reason", "Data")}
            for key, signal in received(signals).items()
        }


def describe_signal(signal: Mapping[str, Any]) -> str:
    """Return the text of a signal's event."""
    return f"{signal['status']}: {signal['reason']}"
