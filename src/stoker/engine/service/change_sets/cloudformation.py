"""Services for clients of CloudFormation beyond Heat's API."""

from __future__ import annotations

from msgspec import Struct

from stoker.engine.model.interfaces import Ports
from stoker.engine.service.change_sets.change_sets import ChangeSets
from stoker.engine.service.previews.rollbacks import Rollbacks
from stoker.engine.service.requests.client_tokens import ClientTokens
from stoker.engine.service.requests.commands import Operations
from stoker.engine.service.requests.protections import Protections
from stoker.engine.service.stack_access.lookup import Finder
from stoker.engine.service.stack_access.shared_values import SharedValues
from stoker.engine.service.views.detections import Detections
from stoker.engine.service.views.drift_reports import DriftReports


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
