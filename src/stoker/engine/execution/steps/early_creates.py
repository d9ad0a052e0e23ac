"""Decides which creates of an express operation start before all that they depend on is settled.

In: a node of the plan, and the early nodes before it: those in progress whose objects others can
use. Out: those that must be complete first. The definition is evaluated with the early values, and
its questions are recorded: a create may start if its type needs no more than the answers.

Used by the apply step. Tested by tests/express.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

from stoker.engine.execution.calls.context import OperationContext
from stoker.engine.model.plans import Definitions, Node, defined
from stoker.engine.model.records import Action, Resource, Status
from stoker.engine.planning.facts import RecordedFacts, recorded
from stoker.kernel.diagnostics import DiagnosticError
from stoker.schema.resource_type import VALUES, ResourceType
from stoker.schema.unknown import Unknown
from stoker.template.definition import Definition, Facts, TooMuchWorkError


class EarlyFacts(RecordedFacts):
    """Facts that include the early attributes of objects which are not settled yet."""

    def __init__(self, context: OperationContext) -> None:
        super().__init__(context.session.current, context.session.reference_of)
        # Not a method of an object that refers to these facts: such a cycle would keep the rows
        # and evaluations of an ended operation in memory until the next collection of all objects.
        self._is_early = context.is_early

    def reference(self, name: str) -> Any:
        """Return the value of ``get_resource`` for the resource, or Unknown."""
        if self._is_early(name):
            return self._reference_of(self._rows[name])
        return super().reference(name)

    def attribute(self, name: str, attribute: str) -> Any:
        """Return the recorded attribute, or Unknown."""
        if self._is_early(name):
            return recorded(self._rows[name], attribute, Unknown(frozenset((name,))))
        return super().attribute(name, attribute)


class _UsedFacts(EarlyFacts):
    """Early facts that record their use: names of attributes by resource, and None for an id."""

    def __init__(self, context: OperationContext) -> None:
        super().__init__(context)
        self.uses: dict[str, set[str | None]] = {}

    def reference(self, name: str) -> Any:
        self.uses.setdefault(name, set()).add(None)
        return super().reference(name)

    def attribute(self, name: str, attribute: str) -> Any:
        self.uses.setdefault(name, set()).add(attribute)
        return super().attribute(name, attribute)


class EarlyCreates:
    """The early creates of one operation."""

    def __init__(self, context: OperationContext, desired: Definitions) -> None:
        self._context = context
        self._session = context.session
        self._desired = desired
        self.facts = EarlyFacts(context)

    def lets_others_start(self, row: Resource, definition: Definition) -> bool:
        """Return whether dependants may start before the object of a resource is settled."""
        express = definition.express
        chosen = self._context.is_express if express is None else express
        # Others wait for its signals, and for the user at its hook.
        waits = definition.creation_policy or "post-create" in self._desired.hooks_of(row.name)
        return chosen and row.action is Action.CREATE and not waits

    async def needs_end(self, node: Node, early: Collection[str]) -> Collection[str]:
        """Return which resources must be complete, with all before them, before this one starts.

        Only a create starts early: an object in use never moves to one that is not settled.
        """
        row = self._session.current.get(node.name)
        if row is not None and not _may_be_created(row):
            return early
        facts = _UsedFacts(self._context)
        try:
            definition = await self._defined(node.name, facts)
        except DiagnosticError:
            return early  # The apply step reports it.
        return [name for name in early if not self._suffices(definition, facts.uses, name)]

    def _suffices(
        self, definition: Definition, uses: Mapping[str, Collection[str | None]], name: str
    ) -> bool:
        """Return whether the present values of the resource ``name`` are all that is needed."""
        if name in definition.explicit_dependencies or name not in uses:
            return False  # more than values
        if not self._context.is_early(name):
            return bool(definition.type.uses_early)
        row = self._session.current[name]
        type_ = self._session.type_of(row)
        return type_ is not None and _has_all(row, type_, definition.type, uses[name])

    async def _defined(self, name: str, facts: Facts) -> Definition:
        """Return a definition; on a thread if it takes long."""
        try:
            return defined(self._desired, name, facts, light=True)
        except TooMuchWorkError:
            workers = self._session.ports.workers
            return await workers.compute(lambda: defined(self._desired, name, facts))


def _may_be_created(row: Resource) -> bool:
    unused = row.action is Action.CREATE and row.status is not Status.COMPLETE
    return unused or row.action is Action.INIT


def _has_all(
    row: Resource, type_: ResourceType, user: ResourceType, uses: Collection[str | None]
) -> bool:
    """Return whether an unsettled resource has the values that a create of type ``user`` uses."""
    words = {type_.early_kind if use is None else VALUES for use in uses}
    return words <= user.uses_early and {None, *row.attributes}.issuperset(uses)
