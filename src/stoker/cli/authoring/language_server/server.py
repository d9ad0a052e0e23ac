"""The language server: requests of an editor to answers, over the standard streams.

Documents and settings arrive as notifications on the message loop. Requests are answered there
from the trees and evaluations of documents, which are built when they are needed; checks run on a
thread.
The server writes no file: edits are answers of requests, which the editor applies.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib.metadata import version
from pathlib import Path
from typing import Any

from lsprotocol import types
from pygls.capabilities import ServerCapabilitiesBuilder
from pygls.lsp.server import LanguageServer
from pygls.uris import to_fs_path

from stoker.cli.authoring.language_server.documents import SUFFIXES, path_of
from stoker.cli.authoring.language_server.features import FEATURES, Feature
from stoker.cli.authoring.language_server.publishing import Publisher
from stoker.cli.authoring.language_server.session import Session
from stoker.cli.authoring.language_server.settings import Settings, settings_of


class Server(LanguageServer):
    """The connection to one editor."""

    def __init__(self, settings: Settings) -> None:
        super().__init__("stoker", version("stoker"))
        self.session = Session(settings)
        self.publisher = Publisher(
            self.session.documents, self.session.checker, self.text_document_publish_diagnostics
        )

    def changed(self, path: Path) -> None:
        """Check a changed document, and those that read it."""
        self.session.models.forget()
        self.publisher.changed(path)


def create_server(settings: Settings) -> Server:
    """Return a server with all its features."""
    server = Server(settings)
    for name, handler in _HANDLERS.items():
        server.feature(name)(handler)
    for name, (feature, options) in FEATURES.items():
        server.feature(name, options)(_answering(feature))
    return server


def _answering(feature: Feature) -> Callable[[Server, Any], Any]:
    def answer(ls: Server, params: Any) -> Any:
        return feature(ls.session, params)

    return answer


def _opened(ls: Server, params: types.DidOpenTextDocumentParams) -> None:
    sent = params.text_document
    ls.changed(ls.session.documents.open(sent.uri, sent.text, sent.version).path)


def _changed(ls: Server, params: types.DidChangeTextDocumentParams) -> None:
    document = ls.session.documents.of_uri(params.text_document.uri)
    if document is None or not ls.session.documents.is_open(document.path):
        return
    text = document.text.changed(params.content_changes)
    ls.session.documents.replace(document, text, params.text_document.version)
    ls.changed(document.path)


def _saved(ls: Server, params: types.DidSaveTextDocumentParams) -> None:
    ls.changed(path_of(params.text_document.uri))


def _closed(ls: Server, params: types.DidCloseTextDocumentParams) -> None:
    ls.session.documents.close(params.text_document.uri)
    ls.session.models.forget()
    ls.publisher.closed(path_of(params.text_document.uri))


def _changed_files(ls: Server, params: types.DidChangeWatchedFilesParams) -> None:
    for change in params.changes:
        ls.changed(path_of(change.uri))


def _shut_down(ls: Server, params: None) -> None:
    ls.publisher.close()
    ls.session.close()


def _initialize(ls: Server, params: types.InitializeParams) -> None:
    chosen = ServerCapabilitiesBuilder.choose_position_encoding(params.capabilities)
    ls.session.documents.encoding = str(getattr(chosen, "value", chosen))
    client = params.capabilities.text_document
    item = client.completion.completion_item if client and client.completion else None
    ls.session.has_snippets = bool(item and item.snippet_support)
    workspace = params.capabilities.workspace
    edits = workspace.workspace_edit if workspace else None
    operations = (edits.resource_operations if edits else None) or ()
    ls.session.can_create = bool(
        edits and edits.document_changes and types.ResourceOperationKind.Create in operations
    )
    folders = params.workspace_folders or ()
    uri = folders[0].uri if folders else params.root_uri
    path = to_fs_path(uri) if uri else None
    if path:
        ls.session.checker.folder = Path(path)
    _apply(ls, params.initialization_options)


def _initialized(ls: Server, params: types.InitializedParams) -> None:
    """Ask the editor to report changes of files, if it can."""
    workspace = ls.client_capabilities.workspace
    watched = workspace.did_change_watched_files if workspace else None
    if not watched or not watched.dynamic_registration:
        return
    watchers = [types.FileSystemWatcher(f"**/*{suffix}") for suffix in SUFFIXES]
    options = types.DidChangeWatchedFilesRegistrationOptions(watchers)
    name = types.WORKSPACE_DID_CHANGE_WATCHED_FILES
    registration = types.Registration("stoker-files", name, options)
    ls.client_register_capability(types.RegistrationParams([registration]))


def _configured(ls: Server, params: types.DidChangeConfigurationParams) -> None:
    if params.settings:
        _apply(ls, params.settings)
        ls.publisher.changed_all()


def _apply(ls: Server, sent: object) -> None:
    settings = settings_of(sent) if sent else ls.session.settings
    if settings is None:
        message = "The settings of Stoker are not valid, and were left out"
        ls.window_show_message(types.ShowMessageParams(types.MessageType.Warning, message))
    else:
        ls.session.configure(settings)


_HANDLERS: Mapping[str, Callable[[Server, Any], Any]] = {
    types.INITIALIZE: _initialize,
    types.INITIALIZED: _initialized,
    types.SHUTDOWN: _shut_down,
    types.TEXT_DOCUMENT_DID_OPEN: _opened,
    types.TEXT_DOCUMENT_DID_CHANGE: _changed,
    types.TEXT_DOCUMENT_DID_SAVE: _saved,
    types.TEXT_DOCUMENT_DID_CLOSE: _closed,
    types.WORKSPACE_DID_CHANGE_WATCHED_FILES: _changed_files,
    types.WORKSPACE_DID_CHANGE_CONFIGURATION: _configured,
}
