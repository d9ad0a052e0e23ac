"""Services for clients of CloudFormation beyond Heat's API."""

from __future__ import annotations

from msgspec import Struct

from stoker.engine.model.interfaces import Ports
from stoker.engine.service.change_sets import ChangeSets
from stoker.engine.service.client_tokens import ClientTokens
from stoker.engine.service.commands import Operations
from stoker.engine.service.detections import Detections
from stoker.engine.service.drift_reports import DriftReports
from stoker.engine.service.lookup import Finder
from stoker.engine.service.protections import Protections
from stoker.engine.service.rollbacks import Rollbacks
from stoker.engine.service.shared_values import SharedValues


class CloudFormation(Struct, frozen=True):
    """The parts of the engine that are for them."""

    change_sets: ChangeSets
    """What keeps requests until they are carried out."""
    protections: Protections
    """What protects stacks."""
    rollbacks: Rollbacks
    """What goes back from changes that have failed."""
    shared: SharedValues
    """What stacks export and import."""
    detections: Detections
    """Detections of drift in the background."""
    client_tokens: ClientTokens
    """What knows requests that are made again."""


def make_cloudformation(ports: Ports, finder: Finder, operations: Operations) -> CloudFormation:
    """All of them."""
    return CloudFormation(
        ChangeSets(ports, finder, operations),
        Protections(ports, finder),
        Rollbacks(ports, finder),
        SharedValues(ports),
        Detections(ports, finder, DriftReports(ports, finder)),
        ClientTokens(ports),
    )
