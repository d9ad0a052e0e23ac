"""Base of types that act when a signed URL is called, for instance by an alarm.

The create makes a stack user with an EC2 key pair, and signs a URL with it. The URL never expires.
A caller needs no token: the signature is the permission. Scaling policies and OS::Heat::HARestarter
build on this type.

Tested by tests/scaling and tests/resource_types_heat.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from stoker.kernel.values import replace
from stoker.schema.resource_type import Call, Done, Failed, ManagedType, Outcome, SignalCredentials

URL = "signed_url"


class ActsOnSignals(ManagedType):
    """A type with a stack user whose key signs the URL."""

    service = "identity"
    renewed = True
    alarm_url: ClassVar[str]  # Attribute with the URL.
    secrets = frozenset({URL, "alarm_url", "AlarmUrl", "password", "secret"})

    def create(self, call: Call) -> Outcome:
        """Create the stack user and the URL that its key signs."""
        if call.signalling is None:
            return Failed("this service has no endpoint for signals")
        user = call.data if "user_id" in call.data else call.signalling.create_user(call)
        data = {**user, **call.signalling.create_keypair(call, user["user_id"])}
        signed = replace(call, data=data)
        data[URL] = call.signalling.presigned_url(signed, "signal", never_expire=True)
        return Done(user["user_id"], self.addresses(signed, call.signalling), data)

    def update(self, call: Call) -> Outcome:
        """Return immediately: the next signal uses the new properties."""
        return Done()

    def delete(self, call: Call) -> Outcome:
        """Delete the stack user."""
        if call.signalling is not None:
            call.signalling.delete_user(call)
        return Done()

    def read(self, call: Call) -> Mapping[str, Any]:
        """Return the URL attributes."""
        return {} if call.signalling is None else self.addresses(call, call.signalling)

    def addresses(self, call: Call, signalling: SignalCredentials) -> dict[str, Any]:
        """Return the URL attributes, signed with the key of the stack user."""
        return {self.alarm_url: signalling.presigned_url(call, "signal", never_expire=True)}

    def check_signal(self, call: Call, details: Mapping[str, Any]) -> Mapping[str, Any]:
        """Accept any signal."""
        return {}

    def signal_reason(self, call: Call, details: Mapping[str, Any]) -> str:
        """Return the reason of the signal's event; the action that follows has its own event."""
        return "Signal received"
