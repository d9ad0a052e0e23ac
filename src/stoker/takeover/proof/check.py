"""The check before the switch, for the stacks of one project; it changes nothing.

In: the service on the taken-over database. Out: the report. Each tree of stacks is proven by its
answers, by the plan of an update that must change nothing, and by its objects in the cloud.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from pathlib import Path

import sqlalchemy as sa
from msgspec import Struct

from stoker.engine.model.interfaces import Ports
from stoker.engine.model.records import Resource, Stack
from stoker.engine.planning.evaluations import evaluation_at
from stoker.kernel.diagnostics import DiagnosticError
from stoker.kernel.json.text import loads
from stoker.server.app import App
from stoker.store.schema import tables
from stoker.takeover.proof.answers import Compared, compare, live, paths_of, recorded, recording_in
from stoker.takeover.proof.objects import find_objects
from stoker.takeover.proof.plans import planned_changes
from stoker.takeover.proof.report import Finding, Findings, ProofReport, StackReport
from stoker.takeover.proof.service import Answer, ProofService
from stoker.takeover.records.states import NOT_REACHED

_NO_URL = "http://127.0.0.1"
_NONE = Compared(0, 0, {})


class Scope(Struct, frozen=True):
    """The project to check, and the answers of Heat to compare with."""

    project_id: str
    answers: Path | None = None  # a recording
    heat_url: str | None = None  # a running Heat, without a version
    token: str = ""
    plans: bool = True
    objects: bool = True


class TakenRoot(Struct, frozen=True):
    """An entry of the table of takeovers."""

    stack_id: str
    project_id: str
    name: str
    resources: int
    taken_at: float
    user_project_id: str | None  # project of the users of its resources
    remarks: Sequence[Mapping[str, str]]


def taken_roots(database: sa.Engine, projects: Sequence[str] = ()) -> list[TakenRoot]:
    """Return the taken-over trees, of some projects or of all."""
    table, stacks = tables.takeovers, tables.stacks
    select = (
        sa.select(table, stacks.c.user_project_id)
        .outerjoin(stacks, stacks.c.id == table.c.stack_id)
        .order_by(table.c.project_id, table.c.name, table.c.stack_id)
    )
    if projects:
        select = select.where(table.c.project_id.in_(projects))
    with database.connect() as connection:
        return [
            TakenRoot(
                row["stack_id"],
                row["project_id"],
                row["name"],
                row["resources"],
                row["taken_at"],
                row["user_project_id"],
                loads(row["remarks"]),
            )
            for row in connection.execute(select).mappings()
        ]


class Check:
    """Checks the taken-over trees of one project."""

    def __init__(self, app: App, ports: Ports, taken: Sequence[TakenRoot], scope: Scope) -> None:
        self._app, self._ports, self._taken, self._scope = app, ports, taken, scope
        self._findings = Findings()
        self._stacks: list[Stack] = []
        self._rows: dict[str, Sequence[Resource]] = {}
        self._roots: dict[str, str] = {}

    async def run(self, progress: Callable[[str], None] = lambda text: None) -> ProofReport:
        """Return the report. Raise TakeoverError if Heat's answers cannot be read."""
        for entry in self._taken:
            for remark in entry.remarks:
                if remark["text"] == NOT_REACHED:
                    continue  # the plan shows what is left
                place = f"{remark['resource']}: " if remark["resource"] else ""
                finding = Finding("record", f"{place}{remark['text']}")
                self._findings.add(entry.stack_id, finding)
            await self._load(entry.stack_id)
        compared = await self._compare(progress)
        plans = await self._plan(progress) if self._scope.plans else 0
        objects = await self._find(progress) if self._scope.objects else 0
        return ProofReport(
            stacks=[
                StackReport(
                    each.stack_id,
                    each.name,
                    each.project_id,
                    each.resources,
                    self._findings.of(each.stack_id),
                )
                for each in self._taken
            ],
            answers=compared.answers,
            equal=compared.equal,
            named=compared.named,
            plans=plans,
            objects=objects,
            general=self._findings.general,
        )

    async def _load(self, root_id: str) -> None:
        store, pending = self._ports.store, [root_id]
        while pending:
            stack = await store.stack(pending.pop())
            if stack is None:
                continue
            self._stacks.append(stack)
            self._roots[stack.id] = root_id
            self._rows[stack.id] = await store.resources(stack.id)
            pending += [child.id for child in await store.children(stack.id)]

    async def _compare(self, progress: Callable[[str], None]) -> Compared:
        scope, pairs, root = self._scope, None, _NO_URL
        if scope.answers is not None:
            recording = recording_in(scope.answers)
            pairs, root = recorded(recording), recording.root
        elif scope.heat_url is not None:
            root = scope.heat_url.rstrip("/").removesuffix("/v1")
            pairs = await self._live(root)
        if pairs is None:
            return _NONE
        progress("comparing answers")
        proof = ProofService(self._app, scope.project_id, root)
        return await compare(proof, pairs, self._roots, self._findings)

    async def _live(self, root: str) -> AsyncIterator[tuple[str, Answer]]:
        outputs: dict[str, Sequence[str]] = {}
        for stack in self._stacks:
            try:
                evaluation = await evaluation_at(self._ports, stack, stack.input_id)
                outputs[stack.id] = list(evaluation.template.outputs)
            except DiagnosticError:
                continue  # the comparison of the stack itself shows the fault
        paths = paths_of(self._stacks, self._rows, outputs)
        return live(root, self._scope.project_id, self._scope.token, paths)

    async def _plan(self, progress: Callable[[str], None]) -> int:
        proof = ProofService(self._app, self._scope.project_id, _NO_URL)
        roots = [each for each in self._stacks if each.parent_id is None and not each.deleted_at]
        for number, stack in enumerate(roots, 1):
            progress(f"planning {number} of {len(roots)}: {stack.name}")
            for finding in await planned_changes(proof, stack, self._left_behind(stack.id)):
                self._findings.add(stack.id, finding)
        return len(roots)

    def _left_behind(self, root_id: str) -> frozenset[tuple[str, ...]]:
        """Return the paths of resources that the last operation in Heat did not reach."""
        entry = next(each for each in self._taken if each.stack_id == root_id)
        stacks = {stack.id: stack for stack in self._stacks}

        def path_of(stack: Stack) -> tuple[str, ...]:
            if stack.parent_id is None:
                return ()
            return (*path_of(stacks[stack.parent_id]), stack.parent_resource or "")

        return frozenset(
            (*path_of(stacks[remark["stack"]]), remark["resource"])
            for remark in entry.remarks
            if remark["text"] == NOT_REACHED and remark.get("stack") in stacks
        )

    async def _find(self, progress: Callable[[str], None]) -> int:
        progress("looking for objects")
        present = [stack for stack in self._stacks if not stack.deleted_at]
        found = await find_objects(self._ports, present, self._rows)
        for root_id, missing in found.missing.items():
            for finding in missing:
                self._findings.add(root_id, finding)
        for finding in found.general:
            self._findings.add(None, finding)
        return found.looked_for
