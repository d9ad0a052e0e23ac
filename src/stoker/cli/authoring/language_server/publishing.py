"""Publishes findings while documents change.

A change is checked after a short pause without another one. Checks run one after the other on a
thread, and answer in the order of the changes; a result for text that has changed meanwhile is
dropped, since its check is pending again. Lint takes longer and waits for a longer pause.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from lsprotocol import types

from stoker.cli.authoring.language_server.checking import Checker, Result, united
from stoker.cli.authoring.language_server.documents import Document, Documents, uri_of
from stoker.cli.authoring.language_server.findings import carried_over
from stoker.cli.authoring.language_server.linting import lint_document
from stoker.cli.authoring.language_server.text import Text

PAUSE_SECONDS = 0.03
LINT_PAUSE_SECONDS = 0.3
_log = logging.getLogger(__name__)

Publish = Callable[[types.PublishDiagnosticsParams], None]


class Publisher:
    """Schedules checks. All methods are called on the message loop."""

    def __init__(self, documents: Documents, checker: Checker, publish: Publish) -> None:
        self._documents = documents
        self._checker = checker
        self._publish = publish
        self._results: dict[Path, Result] = {}
        self._published: dict[Path, list[types.Diagnostic]] = {}
        self._pending: set[Path] = set()
        self._running: Path | None = None  # the document whose check is running
        self._unlinted: dict[Path, Result] = {}
        self._linted: dict[Path, tuple[Text, list[types.Diagnostic]]] = {}
        self._change = asyncio.Event()
        self._task: asyncio.Task[None] | None = None
        self._thread = ThreadPoolExecutor(1, "stoker-checks")

    def changed(self, path: Path) -> None:
        """Schedule checks of a document, and of the open ones that read it."""
        roots = {root for root, result in self._results.items() if path in result.read}
        self._pending |= roots | ({path} if self._documents.is_open(path) else set())
        if self._running is not None:
            self._pending.add(self._running)  # It may have read the earlier text.
        self._start()

    def changed_all(self) -> None:
        """Schedule checks of all open documents."""
        self._pending |= {document.path for document in self._documents.opened}
        self._start()

    def closed(self, path: Path) -> None:
        """Remove the findings of a document that was closed, and check those that read it."""
        self._checker.forget(path)
        self._pending.discard(path)
        self._unlinted.pop(path, None)
        self._linted.pop(path, None)
        before = self._results.pop(path, None)
        if before is not None:
            self._show(before.found)
        self.changed(path)

    def close(self) -> None:
        """Cancel all checks."""
        if self._task is not None:
            self._task.cancel()
        self._thread.shutdown(wait=False, cancel_futures=True)

    def _start(self) -> None:
        self._change.set()
        if self._pending and (self._task is None or self._task.done()):
            self._task = asyncio.get_running_loop().create_task(self._work())

    async def _work(self) -> None:
        while self._pending or self._unlinted:
            if not self._pending:
                if await self._is_quiet(LINT_PAUSE_SECONDS):
                    await self._lint_next()
                continue
            while not await self._is_quiet(PAUSE_SECONDS):
                pass
            path = self._next()
            document = self._documents.at(path)
            if document is None or not self._documents.is_open(path):
                continue
            self._running = path
            result = await asyncio.get_running_loop().run_in_executor(
                self._thread, self._check, document
            )
            self._running = None
            if result is None or path in self._pending or not self._documents.is_open(path):
                continue
            before = self._results.get(path)
            self._results[path] = result
            if self._checker.settings.lint:
                self._unlinted[path] = result
            self._show([*result.found, *(() if before is None else before.found)])

    async def _lint_next(self) -> None:
        """Lint one document, and publish the findings unless its text has changed meanwhile."""
        path, result = self._unlinted.popitem()
        document = self._documents.at(path)
        if document is None or not self._documents.is_open(path):
            return
        found = await asyncio.get_running_loop().run_in_executor(
            self._thread, self._lint, document, result
        )
        if self._documents.at(path) is document:
            self._linted[path] = document.text, found
            self._show([path])

    def _lint(self, document: Document, result: Result) -> list[types.Diagnostic]:
        try:
            return lint_document(document, self._documents, result.findings)
        except Exception:  # noqa: BLE001 - one document must not end the checks of all others
            _log.exception("Lint of %s failed", document.path)
            return []

    async def _is_quiet(self, seconds: float) -> bool:
        """Wait for some time, or for a change. Return whether there was none."""
        self._change.clear()
        try:
            await asyncio.wait_for(self._change.wait(), seconds)
        except TimeoutError:
            return True
        return False

    def _next(self) -> Path:
        """Remove one document from the pending ones: the last one that was opened or changed."""
        opened = [each.path for each in self._documents.opened if each.path in self._pending]
        path = opened[-1] if opened else next(iter(self._pending))
        self._pending.discard(path)
        return path

    def _check(self, document: Document) -> Result | None:
        try:
            return self._checker.check(document)
        except Exception:  # noqa: BLE001 - one document must not end the checks of all others
            _log.exception("The check of %s failed", document.path)
            return None

    def _show(self, paths: Iterable[Path]) -> None:
        for path in dict.fromkeys(paths):
            found = united(self._results, path)
            document = self._documents.at(path)
            if document is not None and path in self._linted:
                text, linted = self._linted[path]
                found += carried_over(linted, text, document.text)
            if found == self._published.get(path, []) and (
                document is None or document.version is None
            ):
                continue
            self._published[path] = found
            uri = uri_of(path) if document is None else document.uri
            version = None if document is None else document.version
            self._publish(types.PublishDiagnosticsParams(uri, found, version))
