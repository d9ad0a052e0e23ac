"""An editor: a client of the language server that types, and keeps the findings it is sent."""

from __future__ import annotations

import asyncio
import re
import sys
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from lsprotocol import types
from pygls.lsp.client import LanguageClient

from stoker.cli.authoring.language_server.features import FEATURES
from stoker.cli.authoring.language_server.session import Session
from stoker.cli.authoring.language_server.settings import Settings
from stoker.cli.authoring.language_server.text import Text

PATIENCE_SECONDS = 60.0
OWN = (sys.executable, "-m", "stoker")


class Editor:
    """Documents that are open in an editor. Positions are offsets in the text."""

    def __init__(self, client: LanguageClient, folder: Path) -> None:
        self.client = client
        self.folder = folder
        self.capabilities = types.ServerCapabilities()
        self.texts: dict[str, str] = {}
        self.versions: dict[str, int] = {}
        self.published: dict[str, types.PublishDiagnosticsParams] = {}
        self.messages: list[str] = []
        self._news = asyncio.Event()

        @client.feature(types.TEXT_DOCUMENT_PUBLISH_DIAGNOSTICS)
        def published(params: types.PublishDiagnosticsParams) -> None:
            self.published[params.uri] = params
            self._news.set()

        @client.feature(types.WINDOW_SHOW_MESSAGE)
        def shown(params: types.ShowMessageParams) -> None:
            self.messages.append(params.message)
            self._news.set()

    def uri(self, name: str) -> str:
        return (self.folder / name).as_uri()

    def open(self, name: str, text: str) -> str:
        """Open a document, which does not have to be on the disk."""
        uri = self.uri(name)
        self.texts[uri], self.versions[uri] = text, 1
        item = types.TextDocumentItem(uri, "yaml", 1, text)
        self.client.text_document_did_open(types.DidOpenTextDocumentParams(item))
        return uri

    def close(self, uri: str) -> None:
        self.client.text_document_did_close(
            types.DidCloseTextDocumentParams(types.TextDocumentIdentifier(uri))
        )

    def replace(self, uri: str, start: int, end: int, text: str) -> None:
        """Replace a part of the text."""
        before = Text(self.texts[uri])
        change = types.TextDocumentContentChangePartial(before.range(start, end), text)
        self.texts[uri] = f"{self.texts[uri][:start]}{text}{self.texts[uri][end:]}"
        self._changed(uri, change)

    def replace_all(self, uri: str, text: str) -> None:
        self.texts[uri] = text
        self._changed(uri, types.TextDocumentContentChangeWholeDocument(text))

    def type(self, uri: str, offset: int, text: str) -> None:
        """Type a text, character by character."""
        for number, character in enumerate(text):
            self.replace(uri, offset + number, offset + number, character)

    def _changed(self, uri: str, change: types.TextDocumentContentChangeEvent) -> None:
        self.versions[uri] += 1
        document = types.VersionedTextDocumentIdentifier(self.versions[uri], uri)
        self.client.text_document_did_change(types.DidChangeTextDocumentParams(document, [change]))

    async def findings(self, uri: str) -> list[types.Diagnostic]:
        """Return the findings about the present text of a document."""
        return list((await self._until(uri, lambda found: True)).diagnostics)

    async def findings_with(self, uri: str, words: str) -> list[types.Diagnostic]:
        """Wait for a finding with these words; return all."""
        found = await self._until(
            uri, lambda sent: any(words in d.message for d in sent.diagnostics)
        )
        return list(found.diagnostics)

    async def no_findings(self, uri: str) -> None:
        """Wait until there are no findings."""
        await self._until(uri, lambda sent: not sent.diagnostics)

    async def _until(self, uri: str, is_it: Any) -> types.PublishDiagnosticsParams:
        async with asyncio.timeout(PATIENCE_SECONDS):
            while True:
                sent = self.published.get(uri)
                is_current = sent is not None and (
                    uri not in self.versions or sent.version == self.versions[uri]
                )
                if sent is not None and is_current and is_it(sent):
                    return sent
                self._news.clear()
                await self._news.wait()

    def place(self, uri: str, offset: int) -> dict[str, Any]:
        """Return the arguments of a request about a position."""
        return {
            "text_document": types.TextDocumentIdentifier(uri),
            "position": Text(self.texts[uri]).position(offset),
        }

    async def completions(self, uri: str, offset: int) -> list[types.CompletionItem]:
        found = await self.client.text_document_completion_async(
            types.CompletionParams(**self.place(uri, offset))
        )
        return list(found.items if isinstance(found, types.CompletionList) else found or ())

    async def completed(self, marked: str, name: str = "main.yaml") -> list[str]:
        """Return the labels of the completions at the "|" in a text."""
        offset = marked.index("|")
        uri = self.uri(name)
        text = marked[:offset] + marked[offset + 1 :]
        if uri in self.texts:
            self.replace_all(uri, text)
        else:
            self.open(name, text)
        return [item.label for item in await self.completions(uri, offset)]

    def edited(self, edit: types.WorkspaceEdit | None) -> dict[str, str]:
        """Return the texts of documents after an edit, by address."""
        assert edit is not None
        changes: Mapping[str, Any] = edit.changes or {}
        if edit.document_changes:
            changes = {
                each.text_document.uri: each.edits
                for each in edit.document_changes
                if isinstance(each, types.TextDocumentEdit)
            }
        return {uri: self.applied(uri, edits) for uri, edits in changes.items()}

    def applied(self, uri: str, edits: Any) -> str:
        """Return the text of a document after edits."""
        content = self.texts.get(uri)
        if content is None:
            path = Path(uri.removeprefix("file://"))
            content = path.read_text() if path.is_file() else ""
        text = Text(content)
        spans = sorted(((*text.span(edit.range), edit.new_text) for edit in edits), reverse=True)
        for start, end, new in spans:
            content = f"{content[:start]}{new}{content[end:]}"
        return content


class LocalClient:
    """Answers requests in this process, without checks: to test many of them quickly."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._features = {_method_of(name): feature for name, (feature, _) in FEATURES.items()}

    def feature(self, name: str) -> Any:
        return lambda handler: handler

    def text_document_did_open(self, params: types.DidOpenTextDocumentParams) -> None:
        sent = params.text_document
        self._session.documents.open(sent.uri, sent.text, sent.version)
        self._session.models.forget()

    def text_document_did_change(self, params: types.DidChangeTextDocumentParams) -> None:
        document = self._session.documents.of_uri(params.text_document.uri)
        assert document is not None
        text = document.text.changed(params.content_changes)
        self._session.documents.replace(document, text, params.text_document.version)
        self._session.models.forget()

    def __getattr__(self, name: str) -> Any:
        feature = self._features[name]

        async def answer(params: Any) -> Any:
            return feature(self._session, params)

        return answer


def _method_of(feature: str) -> str:
    """Return the name of a client's method, as text_document_hover_async."""
    words = re.sub(r"(?<=[a-z])(?=[A-Z])", "_", feature.replace("/", "_"))
    return f"{words.lower()}_async"


@asynccontextmanager
async def opened_here(folder: Path) -> AsyncIterator[Editor]:
    """Return an editor of a session in this process."""
    session = Session(Settings())
    try:
        client: Any = LocalClient(session)
        yield Editor(client, folder)
    finally:
        session.close()


@asynccontextmanager
async def opened(
    folder: Path, options: Any = None, program: Sequence[str] = OWN
) -> AsyncIterator[Editor]:
    """Start a server for a folder, by default that of this checkout and without lint."""
    client = LanguageClient("test", "1")
    editor = Editor(client, folder)
    await client.start_io(*program, "lsp", "--stdio", cwd=folder)
    try:
        async with asyncio.timeout(PATIENCE_SECONDS):
            answer = await client.initialize_async(
                types.InitializeParams(
                    capabilities=types.ClientCapabilities(),
                    root_uri=folder.as_uri(),
                    initialization_options={"lint": False} if options is None else options,
                )
            )
            editor.capabilities = answer.capabilities
            client.initialized(types.InitializedParams())
        yield editor
    finally:
        async with asyncio.timeout(PATIENCE_SECONDS):
            await client.shutdown_async(None)
            client.exit(None)
            await client.stop()
