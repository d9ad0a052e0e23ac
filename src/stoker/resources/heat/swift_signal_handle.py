"""An address in the object store that a server signals by writing to it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from stoker.resources.heat.stored_signals import make_address, remove_signals
from stoker.schema.properties import Attribute, Type
from stoker.schema.resource_type import Call, Done, ManagedType, Outcome, Wait
from stoker.schema.support import since

URL = "endpoint"


class SwiftSignalHandle(ManagedType):
    """A signed address of the object store: whoever has it may signal."""

    type_name = "OS::Heat::SwiftSignalHandle"
    description = "An address in the object store that takes signals."
    support = since("2014.2")
    service = "object-store"
    secrets = frozenset({URL, "curl_cli"})
    properties = {}
    attributes = {
        "token": Attribute("Empty: the address needs no token.", Type.STRING, cached=False),
        URL: Attribute("The address that accepts signals.", Type.STRING, cached=False),
        "curl_cli": Attribute(
            "A command that signals success; more of the body goes into --data-binary.",
            Type.STRING,
            cached=False,
        ),
    }

    def create(self, call: Call) -> Outcome:
        """Make the container and the address; signals make the object."""
        if URL not in call.data:
            return Wait(after=0.0, data={URL: make_address(call)})
        return Done(call.physical_name, attributes=self.read(call))

    def delete(self, call: Call) -> Outcome:
        """Remove all signals, and the container if no other handle uses it."""
        remove_signals(call)
        return Done()

    def reference(self, call: Call) -> Any:
        """The address."""
        return call.data.get(URL, call.name)

    def read(self, call: Call) -> Mapping[str, Any]:
        """The address, in several forms."""
        url = call.data[URL]
        return {"token": "", URL: url, "curl_cli": f"curl -i -X PUT '{url}'"}
