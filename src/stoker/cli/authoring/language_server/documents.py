"""The documents of the editor and of the disk, with their trees and data.

An open document has the text of the editor, whatever is on the disk. All others are read when they
are needed, and read again when their file has changed.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Mapping
from enum import StrEnum
from pathlib import Path
from threading import Lock
from typing import Any
from urllib.parse import quote

from cachetools import LRUCache
from pygls.uris import from_fs_path, to_fs_path

from stoker.cli.arguments.documents import read_document
from stoker.cli.arguments.files import UnfetchedError
from stoker.cli.arguments.locations import Location
from stoker.cli.authoring.language_server.syntax.nodes import Mapping as MappingNode
from stoker.cli.authoring.language_server.syntax.nodes import Node, data_of
from stoker.cli.authoring.language_server.syntax.parser import parse
from stoker.cli.authoring.language_server.text import Text
from stoker.cli.console.failures import InputError
from stoker.kernel.diagnostics import DiagnosticError
from stoker.kernel.lazy import lazy
from stoker.template.environment.environment import SECTIONS
from stoker.template.source.source import Source, read
from stoker.template.versions import CFN, VERSION_KEYS

SUFFIXES = (".yaml", ".yml", ".json", ".template")
ENVIRONMENT_SUFFIXES = (".env.yaml", ".env.yml", ".env.json")
_CACHED = 256  # documents of the disk
_MOST_FILES = 500  # of a directory that are searched for references
_LARGEST_FILE = 1024 * 1024
_TELLING = frozenset(SECTIONS) - {"parameters"}  # sections that only environments have

# A key at the start of a line. In a block, no other line starts there.
_TOP_KEY = re.compile(r"^([A-Za-z_][\w.-]*):(?=[ \t\r\n]|$)", re.MULTILINE)


class Kind(StrEnum):
    """The kind of a document, by its content."""

    TEMPLATE = "template"
    ENVIRONMENT = "environment"
    OTHER = "other"


class Document:
    """One version of a document."""

    def __init__(self, path: Path, uri: str, text: Text, version: int | None = None) -> None:
        self.path = path
        self.uri = uri
        self.text = text
        self.version = version  # None for a document of the disk

    @lazy
    def tree(self) -> Node | None:
        """The tree of the text."""
        return parse(self.text.content)

    @lazy
    def source(self) -> Source | None:
        """The document as it is evaluated; None while its text is not valid."""
        try:
            return read(self.text.content)
        except DiagnosticError:
            return None

    @lazy
    def data(self) -> Any:
        """The data of the document; of invalid text, that of the tree."""
        return data_of(self.tree) if self.source is None else self.source.data

    @lazy
    def sections(self) -> list[str]:
        """The keys at the top, which need no tree if the first one has a line of its own."""
        content = self.text.content
        if _TOP_KEY.match(content.lstrip("\ufeff")) is not None:
            return [match[1] for match in _TOP_KEY.finditer(content)]
        return self.tree.keys if isinstance(self.tree, MappingNode) else []

    @property
    def is_template(self) -> bool:
        """Return whether the document is a template."""
        return self.kind is Kind.TEMPLATE

    @lazy
    def kind(self) -> Kind:
        """The kind of the document."""
        keys = self.sections
        if any(key in VERSION_KEYS for key in keys):
            return Kind.TEMPLATE
        if CFN.resources in keys and _has_types(self.data):
            return Kind.TEMPLATE
        if not keys or not set(keys) <= set(SECTIONS):
            is_named = self.path.name.endswith(ENVIRONMENT_SUFFIXES)
            return Kind.ENVIRONMENT if is_named and _TELLING & set(keys) else Kind.OTHER
        named = self.path.name.endswith(ENVIRONMENT_SUFFIXES) or "env" in self.path.stem
        return Kind.ENVIRONMENT if named or _TELLING & set(keys) else Kind.OTHER


def _has_types(data: Any) -> bool:
    """Return whether a resource of CloudFormation is in a document."""
    resources = data.get(CFN.resources) if isinstance(data, Mapping) else None
    bodies = resources.values() if isinstance(resources, Mapping) else ()
    return any(isinstance(body, Mapping) and "::" in str(body.get(CFN.type)) for body in bodies)


def path_of(uri: str) -> Path:
    """Return the path of a document; one that is not saved gets one in the current directory."""
    path = to_fs_path(uri) if uri.startswith("file:") else None
    return Path(path) if path else Path.cwd() / quote(uri, safe="")


class Documents:
    """All documents. Changes come from the message loop, reads from any thread."""

    def __init__(self) -> None:
        self.encoding = "utf-16"
        self.can_fetch = False
        self._open: dict[Path, Document] = {}
        self._saved: LRUCache[Path, tuple[tuple[int, int], Document]] = LRUCache(_CACHED)
        self._lock = Lock()

    def open(self, uri: str, content: str, version: int) -> Document:
        """Add a document of the editor, or replace its text."""
        path = path_of(uri)
        document = Document(path, uri, Text(content, self.encoding), version)
        self._open[path] = document
        return document

    def replace(self, document: Document, text: Text, version: int) -> Document:
        """Replace the text of an open document."""
        changed = Document(document.path, document.uri, text, version)
        self._open[document.path] = changed
        return changed

    def close(self, uri: str) -> None:
        """Forget the text of the editor."""
        self._open.pop(path_of(uri), None)

    @property
    def opened(self) -> list[Document]:
        """Return all open documents."""
        return list(self._open.values())

    def of_uri(self, uri: str) -> Document | None:
        """Return the document of an address, or None."""
        return self.at(path_of(uri))

    def is_open(self, path: Path) -> bool:
        """Return whether a document is open in the editor."""
        return path in self._open

    def at(self, path: Path) -> Document | None:
        """Return the document of a file; None if it cannot be read."""
        found = self._open.get(path)
        if found is not None:
            return found
        try:
            status = path.stat()
            stamp = (status.st_mtime_ns, status.st_size)
            with self._lock:
                known = self._saved.get(path)
            if known is not None and known[0] == stamp:
                return known[1]
            if status.st_size > _LARGEST_FILE or not path.is_file():
                return None
            content = read_document(path)
        except (InputError, OSError, ValueError):
            return None
        document = Document(path, uri_of(path), Text(content, self.encoding))
        with self._lock:
            self._saved[path] = (stamp, document)
        return document

    def read_text(self, location: Location) -> str:
        """Return the text of a document. Raises :class:`InputError`."""
        if isinstance(location, str):
            if not self.can_fetch:
                raise UnfetchedError(f"{location} is not fetched")
            return read_document(location)
        found = self._open.get(location) or self._open.get(Path(os.path.normpath(location)))
        return read_document(location) if found is None else found.text.content

    def near(self, directory: Path) -> Iterator[Document]:
        """Yield the templates and environments of a directory, and all that are open."""
        seen = set()
        for path in [*self._open, *_files_in(directory)]:
            document = None if path in seen else self.at(path)
            seen.add(path)
            if document is not None and document.kind is not Kind.OTHER:
                yield document


def _files_in(directory: Path) -> Iterable[Path]:
    """Return the documents of a directory, up to a limit."""
    found: list[Path] = []
    try:
        with os.scandir(directory) as entries:
            for number, entry in enumerate(entries):
                if number >= _MOST_FILES:
                    break
                if entry.name.endswith(SUFFIXES) and entry.is_file():
                    found.append(directory / entry.name)
    except OSError:
        return []
    return sorted(found)


def uri_of(path: Path) -> str:
    """Return the address of a file."""
    return from_fs_path(str(path)) or path.as_uri()
