"""The reports on stacks: causes, drift, overviews and console output."""

from __future__ import annotations

from msgspec import Struct

from stoker.engine.model.interfaces import Ports
from stoker.engine.service.stack_access.lookup import Finder
from stoker.engine.service.views.console_logs import ConsoleLogs
from stoker.engine.service.views.drift_reports import DriftReports
from stoker.engine.service.views.explanations import Explanations
from stoker.engine.service.views.overviews import Overviews


class Reports(Struct, frozen=True):
    """Reports that are computed on request."""

    explanations: Explanations  # causes of the states of stacks and resources
    drift: DriftReports  # compares live objects with applied properties
    overviews: Overviews  # searches, and past operations
    console_logs: ConsoleLogs  # output of servers


def make_reports(ports: Ports, finder: Finder) -> Reports:
    """Return the reports on the ports of the engine."""
    return Reports(
        Explanations(ports, finder),
        DriftReports(ports, finder),
        Overviews(ports, finder),
        ConsoleLogs(ports, finder),
    )
