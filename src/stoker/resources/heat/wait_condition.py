"""A resource that is complete when enough signals have come."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from stoker.resources.heat.stored_signals import AwaitsStoredSignals, is_address
from stoker.resources.shared.wait_signals import COUNT, DATA, HANDLE, TIMEOUT
from stoker.schema.support import since


class HeatWaitCondition(AwaitsStoredSignals):
    """Waits for signals to a handle; in the object store if the handle is an address there."""

    type_name = "OS::Heat::WaitCondition"
    description = "Waits until as many signals as are wanted have come to a handle."
    support = since("2014.2")
    handle, timeout, count, data = "handle", "timeout", "count", "data"
    properties = {"handle": HANDLE, "timeout": TIMEOUT, "count": COUNT}
    attributes = {"data": DATA}

    def service_for(self, properties: Mapping[str, Any]) -> str | None:
        """The object store where the signals are there, and none where they come to us."""
        return "object-store" if is_address(properties.get(self.handle)) else None
