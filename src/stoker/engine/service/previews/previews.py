"""Previews of requests: evaluated and planned like the request, and never recorded."""

from __future__ import annotations

from stoker.engine.execution.nested.preview_tree import PreviewOptions, preview_tree
from stoker.engine.execution.session import StackRows, stack_rows_at
from stoker.engine.model.interfaces import Ports
from stoker.engine.model.records import Input, Stack
from stoker.engine.model.requests import Caller, StackRequest
from stoker.engine.model.views import CreatePlanView, PlanView
from stoker.engine.service.previews.advice import advised, foreign_users
from stoker.engine.service.previews.create_previews import preview_create
from stoker.engine.service.previews.update_previews import UpdatePreviews
from stoker.engine.service.requests.evaluate import evaluated_update
from stoker.engine.service.requests.plan_fingerprints import of_delete, of_update
from stoker.engine.service.stack_access.guards import require_there
from stoker.engine.service.stack_access.lookup import Finder
from stoker.kernel.addresses import StackAddress
from stoker.kernel.values import replace
from stoker.template.evaluate.evaluation import Evaluation


class Previews:
    """Previews of creates, updates and deletes, for a caller.

    A request accepts a plan by its ``fingerprint``. The fingerprint is optional, because it adds an
    eighth to the time of the plan.
    """

    def __init__(self, ports: Ports, finder: Finder) -> None:
        self._ports = ports
        self._finder = finder

    async def create(
        self,
        caller: Caller,
        request: StackRequest,
        *,
        fingerprint: bool = False,
        quotas: bool = False,
    ) -> CreatePlanView:
        """Return the stack and the resources that a create would add."""
        return await preview_create(
            self._ports, caller, request, fingerprint=fingerprint, quotas=quotas
        )

    async def update(
        self,
        caller: Caller,
        address: StackAddress,
        request: StackRequest,
        *,
        show_nested: bool = False,
        unhealthy: frozenset[str] = frozenset(),
        fingerprint: bool = False,
        quotas: bool = False,
        warnings: bool = False,
    ) -> PlanView:
        """Return the plan of an update, with its nested stacks if requested.

        ``unhealthy`` contains the physical ids of objects that the user will mark unhealthy first.
        Such a plan cannot be accepted, because the marks change the stack.
        """
        stack = await self._finder.at(caller, address)
        plan, _, _ = await self.planned(
            caller,
            stack,
            request,
            show_nested=show_nested,
            unhealthy=unhealthy,
            fingerprint=fingerprint,
            quotas=quotas,
            warnings=warnings,
        )
        return plan

    async def planned(
        self,
        caller: Caller,
        stack: Stack,
        request: StackRequest,
        *,
        show_nested: bool = False,
        unhealthy: frozenset[str] = frozenset(),
        fingerprint: bool = True,
        quotas: bool = False,
        warnings: bool = False,
    ) -> tuple[PlanView, Input, Evaluation]:
        """Return the plan of an update, with its input and evaluation."""
        ports = self._ports
        # Read the state before the rows. A change between the two makes the fingerprint outdated.
        tree = await ports.store.tree(stack.id) if fingerprint and not unhealthy else None
        stack_input, evaluation = await evaluated_update(ports, caller, stack, request)
        ports.evaluations.keep_previewed(evaluation)
        stack_rows = await stack_rows_at(ports, stack, tree)
        foreseen = await preview_tree(
            stack_rows,
            stack_input,
            evaluation,
            PreviewOptions.of(request, unhealthy),
        )
        evaluations = [each.evaluation for each in foreseen.all()]
        previews = await UpdatePreviews.over(stack_rows, evaluations, show_nested=show_nested)
        changes = await previews.changes(foreseen)
        plan = PlanView(tuple(changes))
        plan = await advised(ports, plan, foreseen, quotas=quotas, warnings=warnings)
        if tree is None:
            return plan, stack_input, evaluation
        accepted = foreseen.decisions
        new_fingerprint = await ports.workers.compute(
            lambda: of_update(stack_input, accepted, tree)
        )
        return replace(plan, fingerprint=new_fingerprint), stack_input, evaluation

    async def delete(
        self,
        caller: Caller,
        address: StackAddress,
        *,
        fingerprint: bool = False,
        warnings: bool = False,
    ) -> PlanView:
        """Return the plan of a delete, with nested stacks."""
        ports = self._ports
        stack = await self._finder.at(caller, address)
        require_there(stack)
        tree = await ports.store.tree(stack.id) if fingerprint else None
        stack_rows = StackRows(ports, stack, await ports.store.resources(stack.id))
        previews = await UpdatePreviews.over(stack_rows, [], show_nested=True)
        changes = tuple(await previews.deletes(stack_rows))
        found = tuple(await foreign_users(ports, stack, changes)) if warnings else ()
        return PlanView(changes, None if tree is None else of_delete(tree), warnings=found)
