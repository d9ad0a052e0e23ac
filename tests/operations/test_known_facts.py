"""Facts known of live resources: none of resources that are incomplete or being deleted."""

from __future__ import annotations

import pytest

from stoker.engine.model.records import Action, Resource, Status
from stoker.engine.planning.facts import RecordedFacts
from stoker.schema.unknown import Unknown


def facts(action: Action, status: Status) -> RecordedFacts:
    row = Resource(
        "row",
        "stack",
        "a",
        "T",
        "token",
        0.0,
        0.0,
        action=action,
        status=status,
        physical_id="object",
        attributes={"value": "x"},
    )
    return RecordedFacts({"a": row}, lambda found: found.physical_id)


@pytest.mark.parametrize(
    ("action", "status"),
    [
        (Action.INIT, Status.COMPLETE),
        (Action.CREATE, Status.IN_PROGRESS),
        (Action.CREATE, Status.FAILED),
        (Action.DELETE, Status.IN_PROGRESS),
        (Action.DELETE, Status.FAILED),
    ],
)
def test_incomplete_or_leaving_resource_has_unknown_values(action: Action, status: Status) -> None:
    known = facts(action, status)
    assert isinstance(known.reference("a"), Unknown)
    assert isinstance(known.attribute("a", "value"), Unknown)


@pytest.mark.parametrize("status", [Status.COMPLETE, Status.IN_PROGRESS, Status.FAILED])
def test_what_is_being_updated_exists(status: Status) -> None:
    known = facts(Action.UPDATE, status)
    assert known.reference("a") == "object"
    assert known.attribute("a", "value") == "x"
    assert isinstance(known.attribute("a", "other"), Unknown)
