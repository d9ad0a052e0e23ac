"""An authenticated request in any protocol, for its handler."""

from __future__ import annotations

from msgspec import Struct

from stoker.api.cloudwatch.members import Members
from stoker.engine.model.requests import Caller
from stoker.engine.service.monitoring.services import Monitoring
from stoker.engine.service.service import Service


class Call(Struct, frozen=True):
    """A request by a known caller for a known action."""

    service: Service
    caller: Caller
    input: Members

    @property
    def monitoring(self) -> Monitoring:
        """Return the engine's services for alarms."""
        return self.service.monitoring
