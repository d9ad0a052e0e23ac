"""Facts about live resources for the evaluation of definitions: the recorded rows."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from stoker.engine.model.records import Action, Resource, Status
from stoker.schema.unknown import Unknown
from stoker.template.functions.failure import bad_value

REFERENCE = "\x00reference"
"""Key under which a row's attributes keep what ``get_resource`` gives; no attribute is named so."""
ERRORS = "\x00errors"
"""Key under which they keep why others have no value, by name."""
HIDDEN = frozenset({REFERENCE, ERRORS})

ReferenceOf = Callable[[Resource], Any]
"""What ``get_resource`` gives for a row, as its type says."""


class RecordedFacts:
    """Facts from rows. ``rows`` may change while it is in use; nothing is copied.

    ``unsettled`` tells of a name whether its object is about to change: its attributes are then
    unknown. ``vague`` tells whether the object itself is about to be another.
    """

    def __init__(
        self,
        rows: Mapping[str, Resource],
        reference_of: ReferenceOf,
        vague: Callable[[str], bool] = lambda name: False,
        unsettled: Callable[[str], bool] = lambda name: False,
    ) -> None:
        self._rows = rows
        self._reference_of = reference_of
        self._vague = vague
        self._unsettled = unsettled

    def reference(self, name: str) -> Any:
        """Return the value of ``get_resource`` for the resource, or Unknown."""
        row = self._rows.get(name)
        if row is None or not exists(row) or self._vague(name):
            return Unknown(frozenset((name,)))
        return self._reference_of(row)

    def attribute(self, name: str, attribute: str) -> Any:
        """The attribute as recorded, or Unknown."""
        row = self._rows.get(name)
        unknown = Unknown(frozenset((name,)))
        if row is None or not exists(row) or self._vague(name) or self._unsettled(name):
            return unknown
        return recorded(row, attribute, unknown)


def recorded(row: Resource, attribute: str, unknown: Unknown) -> Any:
    """An attribute as recorded. Raises :class:`FunctionError` where it is known that it has no
    value.
    """
    if attribute in row.attributes:
        return row.attributes[attribute]
    reason = row.attributes.get(ERRORS, {}).get(attribute)
    if reason is not None:
        bad_value(f"Error in {row.name} output {attribute}: {reason}")
    return unknown


def exists(row: Resource) -> bool:
    """Return whether the row has an object that others can depend on."""
    if row.action in (Action.INIT, Action.DELETE):
        return False
    making = row.action in (Action.CREATE, Action.ADOPT)
    return not (making and row.status is not Status.COMPLETE)


class ShownFacts:
    """Facts for outputs that are only shown: they include attributes of failed resources."""

    def __init__(self, rows: Mapping[str, Resource], reference_of: ReferenceOf) -> None:
        self._rows = rows
        self._reference_of = reference_of

    def reference(self, name: str) -> Any:
        """Return the value of ``get_resource`` for the resource, or Unknown."""
        row = self._rows.get(name)
        return Unknown(frozenset((name,))) if row is None else self._reference_of(row)

    def attribute(self, name: str, attribute: str) -> Any:
        """The attribute as recorded, or Unknown."""
        row = self._rows.get(name)
        unknown = Unknown(frozenset((name,)))
        return unknown if row is None else recorded(row, attribute, unknown)
