"""Refactors of CloudFormation: stored with their effect, and executed by a later request."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from msgspec import structs

from stoker.engine.model.interfaces import Ports, PublicChange
from stoker.engine.model.refactors import RefactoredStack, RefactorRequest, RefactorView
from stoker.engine.model.requests import Caller, StackRequest
from stoker.engine.model.stack_records.refactors import StoredRefactor
from stoker.engine.service.refactors.refactors import Refactors
from stoker.kernel.diagnostics import DiagnosticError
from stoker.kernel.errors import (
    PLAN_OUTDATED,
    REFACTOR_NOT_FOUND,
    NotFoundError,
    RequestError,
    ValidationError,
)
from stoker.kernel.values import replace

AVAILABLE, UNAVAILABLE = "AVAILABLE", "UNAVAILABLE"
COMPLETE, FAILED = "EXECUTE_COMPLETE", "EXECUTE_FAILED"


class StoredRefactors:
    """Stored refactors, for a caller. The newest hundred of a project are kept."""

    def __init__(self, ports: Ports, refactors: Refactors) -> None:
        self._ports = ports
        self._refactors = refactors

    async def create(
        self, caller: Caller, request: RefactorRequest, description: str
    ) -> StoredRefactor:
        """Store a refactor. One that is impossible is stored as well, with the reason."""
        stored = StoredRefactor(
            self._ports.ids.uuid(),
            caller.project_id,
            self._ports.clock.now(),
            description,
            request=_data(request),
        )
        try:
            view = await self._refactors.preview(caller, request)
        except (DiagnosticError, RequestError) as refused:
            stored = replace(stored, fault=str(refused), state=UNAVAILABLE)
        else:
            stored = replace(stored, shown=_shown(view))
        await self._put(stored)
        return stored

    async def show(self, caller: Caller, refactor_id: str) -> StoredRefactor:
        """Return a refactor. Raises NotFoundError."""
        found = await self._ports.store.refactor(caller.project_id, refactor_id)
        if found is None:
            message = f"Stack refactor [{refactor_id:.300}] does not exist"
            raise NotFoundError(message, REFACTOR_NOT_FOUND)
        return found

    async def list(self, caller: Caller) -> Sequence[StoredRefactor]:
        """Return the refactors of the project, the newest first, without their effects."""
        return await self._ports.store.refactors(caller.project_id)

    async def execute(self, caller: Caller, refactor_id: str) -> None:
        """Execute a refactor. Its state says whether it has failed.

        Raises ValidationError for one that is not available.
        """
        found = await self._available(caller, refactor_id)
        request = _request(found.request)
        try:
            await self._refactors.execute(caller, request, replace(found, state=COMPLETE))
        except (DiagnosticError, RequestError) as refused:
            # Another request may have executed it in the meantime.
            await self._available(caller, refactor_id)
            await self._put(replace(found, state=FAILED, reason=str(refused)))

    async def _available(self, caller: Caller, refactor_id: str) -> StoredRefactor:
        found = await self.show(caller, refactor_id)
        if found.state != AVAILABLE:
            raise ValidationError(
                f"Stack refactor [{found.id}] cannot be executed in its current execution status"
                f" of [{found.state}]",
                PLAN_OUTDATED,
            )
        return found

    async def _put(self, refactor: StoredRefactor) -> None:
        await self._ports.store.commit(PublicChange("", puts=(refactor,)))


def _data(request: RefactorRequest) -> dict[str, Any]:
    stacks = [stack.as_data() for stack in request.stacks]
    return {**structs.asdict(request), "stacks": stacks, "moves": dict(request.moves)}


def _request(data: Mapping[str, Any]) -> RefactorRequest:
    stacks = tuple(StackRequest(**stack) for stack in data["stacks"])
    return RefactorRequest(**{**data, "stacks": stacks})


def _shown(view: RefactorView) -> dict[str, Any]:
    return {
        "moves": [
            {
                "source": list(move.source),
                "target": list(move.target),
                "type": move.type_name,
                "physical_id": move.physical_id,
                "detected": move.is_detected,
            }
            for move in view.moves
        ],
        "created": [_named(stack) for stack in view.created],
        "stacks": [_named(stack) for stack in (*view.created, *view.changed)],
    }


def _named(stack: RefactoredStack) -> dict[str, str]:
    return {"name": "/".join(stack.path), "arn": stack.address.arn}
