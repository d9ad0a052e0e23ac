"""Resources that act when they are signalled at a signed address, for instance by an alarm."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from stoker.kernel.values import replace
from stoker.schema.resource_type import Call, Done, Failed, ManagedType, Outcome, SignalCredentials

URL = "signed_url"


class ActsOnSignals(ManagedType):
    """A type with a stack user whose key signs the address. Calls the identity service."""

    service = "identity"
    renewed = True
    alarm_url: ClassVar[str]
    """Name of the attribute with the address."""
    secrets = frozenset({URL, "alarm_url", "AlarmUrl", "password", "secret"})

    def create(self, call: Call) -> Outcome:
        """Create the stack user and the address that its key signs."""
        if call.signalling is None:
            return Failed("this service has no endpoint for signals")
        user = call.data if "user_id" in call.data else call.signalling.create_user(call)
        data = {**user, **call.signalling.create_keypair(call, user["user_id"])}
        signed = replace(call, data=data)
        data[URL] = call.signalling.presigned_url(signed, "signal", never_expire=True)
        return Done(user["user_id"], self.addresses(signed, call.signalling), data)

    def update(self, call: Call) -> Outcome:
        """Nothing to do: the next signal uses the new properties."""
        return Done()

    def delete(self, call: Call) -> Outcome:
        """Remove the stack user."""
        if call.signalling is not None:
            call.signalling.delete_user(call)
        return Done()

    def read(self, call: Call) -> Mapping[str, Any]:
        """The addresses."""
        return {} if call.signalling is None else self.addresses(call, call.signalling)

    def addresses(self, call: Call, signalling: SignalCredentials) -> dict[str, Any]:
        """The attributes that are addresses."""
        return {self.alarm_url: signalling.presigned_url(call, "signal", never_expire=True)}

    def check_signal(self, call: Call, details: Mapping[str, Any]) -> Mapping[str, Any]:
        """Any signal is accepted."""
        return {}

    def signal_reason(self, call: Call, details: Mapping[str, Any]) -> str:
        """Return the reason of the signal's event; its effect has an event of its own."""
        return "Signal received"
