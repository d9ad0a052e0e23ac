"""The steps of a take-over, for the command ``stoker takeover``.

Takes the configuration of Heat and of Stoker, which may be the same file. Each method opens the
databases, does one step, and closes them again. The service must not run meanwhile.

Tested by tests/takeover/test_command.py.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Sequence
from contextlib import closing
from typing import TYPE_CHECKING

import sqlalchemy as sa
from msgspec import Struct

from stoker.config.database import DatabaseSettings
from stoker.kernel.clock import SystemClock
from stoker.sandbox.sandbox import Sandbox
from stoker.server.app import open_app
from stoker.store.opening import OpenStore
from stoker.takeover.configured import tree_builder
from stoker.takeover.errors import TakeoverError
from stoker.takeover.heat.database import heat_database
from stoker.takeover.heat.trees import Selection
from stoker.takeover.proof.check import Check, Scope, TakenRoot, taken_roots
from stoker.takeover.proof.report import ProofReport
from stoker.takeover.transfer import Progress, Transfer
from stoker.takeover.writer import Writer, changed_roots

if TYPE_CHECKING:
    from oslo_config.cfg import ConfigOpts

_POLL_SECONDS = 2.0


class TakenStack(Struct, frozen=True):
    """A taken-over tree of stacks, and whether something has changed it here since."""

    root: TakenRoot
    is_changed: bool


class Takeover:
    """The steps, with one configuration."""

    def __init__(self, options: ConfigOpts, settings: DatabaseSettings) -> None:
        self._options = options
        self._settings = settings

    def transfer(
        self, url: str, selection: Selection, report: Callable[[Progress], None]
    ) -> Progress:
        """Carry over the stacks that are new in Heat or changed there. Raise TakeoverError."""
        with closing(Sandbox(size=1)) as helpers, closing(self._locked()) as opened:
            builder = tree_builder(self._options, helpers)
            with heat_database(url) as heat:
                clock = SystemClock()
                return Transfer(heat, Writer(opened), builder, selection, clock.now).run(report)

    def wait_for_rest(
        self, url: str, selection: Selection, report: Callable[[Sequence[str]], None]
    ) -> None:
        """Wait until no operation of Heat is in progress; report the names of stacks that are."""
        while busy := _in_progress(url, selection):
            report(busy)
            time.sleep(_POLL_SECONDS)

    def status(self, projects: Sequence[str] = ()) -> list[TakenStack]:
        """Return the taken-over trees, and which of them have changed here since."""
        with closing(self._opened()) as opened:
            roots = taken_roots(opened.database, projects)
            with opened.database.connect() as connection:
                changed = changed_roots(connection, [root.stack_id for root in roots])
        return [TakenStack(root, root.stack_id in changed) for root in roots]

    def check(self, scope: Scope, progress: Callable[[str], None]) -> ProofReport:
        """Return the report about a project. Raise TakeoverError."""
        with closing(self._opened()) as opened:
            taken = taken_roots(opened.database, [scope.project_id])
        if not taken:
            raise TakeoverError(
                f"no stack of the project {scope.project_id} was taken over; run stoker takeover"
                " --from first"
            )

        async def run() -> ProofReport:
            async with open_app(self._options) as app:
                return await Check(app, app.ports, taken, scope).run(progress)

        return asyncio.run(run())

    def projects(self) -> list[str]:
        """Return the projects with taken-over stacks."""
        with closing(self._opened()) as opened:
            return sorted({root.project_id for root in taken_roots(opened.database)})

    def _opened(self) -> OpenStore:
        settings = self._settings
        return OpenStore(settings.url, settings.data_dir, settings.key, settings.earlier_keys)

    def _locked(self) -> OpenStore:
        opened = self._opened()
        try:
            opened.lock.acquire(patience=0)
        except ValueError:
            opened.close()
            raise
        return opened


def _in_progress(url: str, selection: Selection) -> list[str]:
    """Return the names of stacks in progress. A group that scales is one; its parent is at rest."""
    with heat_database(url) as heat:
        table = heat.table("stack")
        conditions = selection.present(table)
        select = sa.select(table.c.name).where(*conditions, table.c.status == "IN_PROGRESS")
        return [row["name"] for row in heat.all(select.order_by(table.c.name))]
