"""Facts about live resources for the evaluation of definitions, read from the recorded rows.

Takes rows by name. Produces the values of ``get_resource`` and ``get_attr``, or an Unknown for a
resource that does not exist yet or is about to change. Evaluation asks for them while it computes a
definition; the planner, execution and the views of outputs provide them.

Invariant: an attribute of a resource whose create has not completed is never a fact.
Tested by tests/operations/test_known_facts.py and tests/operations/test_previews.py.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from stoker.engine.model.records import Action, Resource, Status
from stoker.schema.unknown import Unknown
from stoker.template.functions.failure import bad_value

# Keys in the attributes of a row, with names that no attribute can have: the value of
# ``get_resource``, and the reasons why attributes have no value, by name.
REFERENCE = "\x00reference"
ERRORS = "\x00errors"
HIDDEN = frozenset({REFERENCE, ERRORS})

ReferenceOf = Callable[[Resource], Any]  # the value of ``get_resource`` for a row


class RecordedFacts:
    """Facts from rows. ``rows`` may change while it is in use; nothing is copied.

    If a resource ``may_change``, its attributes are unknown. If it ``may_be_replaced``, the id of
    its object is unknown as well.
    """

    def __init__(
        self,
        rows: Mapping[str, Resource],
        reference_of: ReferenceOf,
        may_be_replaced: Callable[[str], bool] = lambda name: False,
        may_change: Callable[[str], bool] = lambda name: False,
    ) -> None:
        self._rows = rows
        self._reference_of = reference_of
        self._may_be_replaced = may_be_replaced
        self._may_change = may_change

    def reference(self, name: str) -> Any:
        """Return the value of ``get_resource`` for the resource, or Unknown."""
        row = self._rows.get(name)
        if row is None or not exists(row) or self._may_be_replaced(name):
            return Unknown(frozenset((name,)))
        return self._reference_of(row)

    def attribute(self, name: str, attribute: str) -> Any:
        """Return the recorded attribute, or Unknown."""
        row = self._rows.get(name)
        unknown = Unknown(frozenset((name,)))
        if row is None or not exists(row) or self._may_be_replaced(name) or self._may_change(name):
            return unknown
        return recorded(row, attribute, unknown)


def recorded(row: Resource, attribute: str, unknown: Unknown) -> Any:
    """Return a recorded attribute. Raises :class:`FunctionError` if it has no value."""
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
    # The id of an unfinished create may be recorded already, but its attributes are not.
    making = row.action in (Action.CREATE, Action.ADOPT)
    return not (making and row.status is not Status.COMPLETE)


class ShownFacts:
    """Facts for outputs that are only shown: they include attributes of failed resources."""

    def __init__(self, rows: Mapping[str, Resource], reference_of: ReferenceOf) -> None:
        self._rows = rows
        self._reference_of = reference_of
        self.missing: set[str] = set()  # names without a row that were asked for

    def reference(self, name: str) -> Any:
        """Return the value of ``get_resource`` for the resource, or Unknown."""
        row = self._row(name)
        return Unknown(frozenset((name,))) if row is None else self._reference_of(row)

    def attribute(self, name: str, attribute: str) -> Any:
        """Return the recorded attribute, or Unknown."""
        row = self._row(name)
        unknown = Unknown(frozenset((name,)))
        return unknown if row is None else recorded(row, attribute, unknown)

    def _row(self, name: str) -> Resource | None:
        row = self._rows.get(name)
        if row is None:
            self.missing.add(name)
        return row
