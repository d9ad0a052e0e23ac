"""What requests would do: evaluated and planned like any other, and never recorded."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from stoker.engine.model.interfaces import Ports
from stoker.engine.model.records import Stack
from stoker.engine.model.requests import Caller, StackQuery, StackRequest
from stoker.engine.model.secrets import masked_properties, masking_of
from stoker.engine.model.views import ChangeView, ResourceView, StackView
from stoker.engine.service.evaluating import evaluated_new, evaluated_update, require_free
from stoker.engine.service.guards import most_stacks, require_room
from stoker.engine.service.lookup import Finder
from stoker.engine.service.presenters import attributes_to_be, resource_view, row_to_be, stack_view
from stoker.engine.service.update_previews import UpdatePreviews
from stoker.kernel.addresses import StackAddress
from stoker.kernel.graph import reverse
from stoker.template.evaluate.evaluation import Evaluation
from stoker.template.evaluate.static_analysis import RecordedReferences

UNMADE = "None"
"""Shown as the id of a stack that is only previewed."""


class Previews:
    """Previews of creates and updates, for a caller."""

    def __init__(self, ports: Ports, finder: Finder) -> None:
        self._ports = ports
        self._finder = finder

    async def create(
        self, caller: Caller, request: StackRequest
    ) -> tuple[StackView, Sequence[ResourceView]]:
        """What a create would make."""
        ports = self._ports
        stack, _, evaluation = await evaluated_new(ports, caller, request, UNMADE)
        await require_free(ports, caller, stack.name)
        if (most := most_stacks(ports.limits, caller)) is not None:
            require_room(await ports.store.count_stacks(caller.project_id, StackQuery()), most)

        def view() -> tuple[StackView, Sequence[ResourceView]]:
            outputs = tuple(evaluation.outputs(RecordedReferences()))
            masking = masking_of(evaluation)
            views = [masked_properties(v, masking) for v in self._views(stack, evaluation)]
            return stack_view(stack, evaluation, outputs), views

        return await self._ports.workers.compute(view)

    def _views(self, stack: Stack, evaluation: Evaluation) -> list[ResourceView]:
        """The resources of a stack to be; after each, those of the nested stack behind it."""
        facts = RecordedReferences()
        needed = reverse(evaluation.needs)
        views = []
        for name in evaluation.names:
            row = row_to_be(self._ports, stack, evaluation, name)
            attributes = attributes_to_be(evaluation.definition(name, facts))
            view = resource_view(stack, row, needed.get(name, ()), attributes)
            child = evaluation.children.get(name)
            if child is None:
                views.append(view)
                continue
            inner = replace(stack, name=f"{stack.name}-{name}", parent_resource=name)
            views += [replace(view, nested=inner.address), *self._views(inner, child)]
        return views

    async def update(
        self,
        caller: Caller,
        address: StackAddress,
        request: StackRequest,
        *,
        show_nested: bool = False,
        unhealthy: frozenset[str] = frozenset(),
    ) -> Sequence[ChangeView]:
        """The plan of an update, if asked for with its nested stacks.

        ``unhealthy`` holds the physical ids of objects that are to be marked unhealthy before it.
        """
        stack = await self._finder.at(caller, address)
        given, evaluation = await evaluated_update(self._ports, caller, stack, request)
        previews = UpdatePreviews(self._ports, show_nested=show_nested, unhealthy=unhealthy)
        return await previews.changes(stack, given, evaluation)
