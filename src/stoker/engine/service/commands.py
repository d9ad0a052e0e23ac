"""What users can ask for that changes something, or shows what a change would do."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from stoker.engine.model.interfaces import Ports
from stoker.engine.model.requests import Caller, StackRequest
from stoker.engine.model.secrets import findings_of
from stoker.engine.model.views import ChangeView, ResourceView, StackView
from stoker.engine.service.acceptance import Acceptance, new_stack
from stoker.engine.service.evaluating import evaluated
from stoker.engine.service.lookup import Finder, no_resource
from stoker.engine.service.presenters import current_rows
from stoker.engine.service.previews import Previews
from stoker.kernel.addresses import StackAddress
from stoker.kernel.diagnostics import Diagnostic, Severity
from stoker.kernel.errors import NotSupported
from stoker.schema.helpers import NotComputed
from stoker.template.describe.description import describe_template
from stoker.template.evaluate.validation import as_template_diagnostics

_MATCHING_SECONDS = 0.5


class Operations:
    """Operations on stacks, for a caller."""

    def __init__(self, ports: Ports, finder: Finder, notify: Callable[[str], None]) -> None:
        self._ports = ports
        self._finder = finder
        self._acceptance = Acceptance(ports, notify)
        self._previews = Previews(ports, self._acceptance)

    async def find(self, caller: Caller, name_or_id: str) -> StackAddress:
        """The address of a stack by name, id or ARN."""
        return (await self._finder.by_name_or_id(caller, name_or_id)).address

    async def create(self, caller: Caller, request: StackRequest) -> StackAddress:
        """Check everything, record the stack, start it, and return at once."""
        return await self._acceptance.create(caller, request)

    async def update(self, caller: Caller, address: StackAddress, request: StackRequest) -> None:
        """Accept an update, also while another operation is under way."""
        stack = await self._finder.at(caller, address)
        await self._acceptance.update(caller, stack, request)

    async def preview_create(
        self, caller: Caller, request: StackRequest
    ) -> tuple[StackView, Sequence[ResourceView]]:
        """What a create would make; nothing is recorded."""
        return await self._previews.create(caller, request)

    async def preview_update(
        self,
        caller: Caller,
        address: StackAddress,
        request: StackRequest,
        *,
        show_nested: bool = False,
    ) -> Sequence[ChangeView]:
        """The plan of an update, if asked for with its nested stacks; nothing is recorded."""
        stack = await self._finder.at(caller, address)
        return await self._previews.update(caller, stack, request, show_nested=show_nested)

    async def beginning_with(self, pattern: str, names: Sequence[str]) -> Sequence[str]:
        """Those of the names that begin with what a regular expression of a user matches."""
        helpers = self._ports.helpers

        def fitting() -> list[str]:
            try:
                found, _ = helpers.fit(f"(?:{pattern}).*", names, _MATCHING_SECONDS)
            except NotComputed:
                return []
            return [name for name, fits in zip(names, found, strict=True) if fits]

        return await self._ports.workers.compute(fitting)

    async def delete(self, caller: Caller, address: StackAddress) -> None:
        """Start deleting the stack."""
        await self._acceptance.delete(await self._finder.at(caller, address))

    async def act(self, caller: Caller, address: StackAddress, action: str) -> None:
        """``cancel_update``; other actions are refused."""
        stack = await self._finder.at(caller, address)
        if action != "cancel_update":
            raise NotSupported(f'the action "{action}" is not available in this release')
        await self._acceptance.cancel_update(stack)

    async def validate(
        self, caller: Caller, request: StackRequest, *, show_nested: bool = False
    ) -> tuple[Mapping[str, Any], Sequence[Diagnostic]]:
        """The description that the API's validate call answers, and warnings."""
        stack = new_stack(self._ports, caller, request.name or "stack", request)
        _, evaluation = await evaluated(self._ports, stack, request)
        findings = await self._ports.workers.compute(
            lambda: as_template_diagnostics(
                findings_of(evaluation), evaluation.template.source.file
            )
        )
        findings.raise_errors()
        warnings = [d for d in findings if d.severity is not Severity.ERROR]
        description = await self._ports.workers.compute(
            lambda: describe_template(evaluation, show_nested=show_nested)
        )
        return description, warnings

    async def mark_unhealthy(
        self, caller: Caller, address: StackAddress, name: str, *, unhealthy: bool, reason: str
    ) -> None:
        """Mark a resource so that the next update replaces it, or take the mark back."""
        stack = await self._finder.at(caller, address)
        rows = current_rows(await self._ports.store.resources(stack.id))
        row = next((row for row in rows if row.name == name), None)
        if row is None:
            raise no_resource(stack, name)
        if unhealthy != row.unhealthy:
            await self._acceptance.mark(stack, row.id, unhealthy=unhealthy, reason=reason)
