"""Services for measurements and alarms."""

from __future__ import annotations

from msgspec import Struct

from stoker.engine.model.interfaces import Ports
from stoker.engine.service.monitoring.alarms import Alarms
from stoker.engine.service.monitoring.metrics import Metrics
from stoker.engine.service.monitoring.watches import Watches


class Monitoring(Struct, frozen=True):
    """The parts of the engine about alarms."""

    alarms: Alarms
    """What shows alarms."""
    metrics: Metrics
    """What keeps measurements for them."""
    watches: Watches
    """What looks after watch rules, and changes the states of alarms."""


def make_monitoring(ports: Ports) -> Monitoring:
    """The parts on the engine's ports."""
    alarms = Alarms(ports)
    return Monitoring(alarms, Metrics(ports, alarms), Watches(ports, alarms))
