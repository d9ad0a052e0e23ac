"""Renames: edits of all documents that have a name."""

from __future__ import annotations

import re

from lsprotocol import types

from stoker.cli.authoring.language_server.completion.candidates import as_yaml
from stoker.cli.authoring.language_server.documents import Document
from stoker.cli.authoring.language_server.symbols.index import Index
from stoker.cli.authoring.language_server.symbols.occurrences import Occurrence
from stoker.template.versions import CFN, Dialect

_NAMES = re.compile(r"[A-Za-z0-9_][\w.:-]{0,254}")
_CFN_NAMES = re.compile(r"[A-Za-z0-9]{1,255}")


class RenameError(Exception):
    """A name cannot be changed. The text has the reason."""


def renamable(document: Document, offset: int, index: Index) -> Occurrence | None:
    """Return the name at an offset if it can be changed: if it is declared in a known document."""
    wanted = index.at(document, offset)
    if wanted is None or index.declaration(wanted) is None:
        return None
    return wanted


def rename(
    document: Document, offset: int, name: str, index: Index, dialect: Dialect
) -> types.WorkspaceEdit:
    """Return the edits for another name. Raise :class:`RenameError` if it does not fit."""
    wanted = renamable(document, offset, index)
    if wanted is None:
        raise RenameError("there is no name of a parameter, resource, condition or output here")
    pattern = _CFN_NAMES if dialect is CFN else _NAMES
    if pattern.fullmatch(name) is None:
        letters = "letters and digits" if dialect is CFN else "letters, digits, _ - . and :"
        raise RenameError(f'"{name}" cannot be a {wanted.kind}: use {letters}')
    other = Occurrence(wanted.kind, name, wanted.owner, 0, 0)
    if name != wanted.name and index.declaration(other) is not None:
        raise RenameError(f'there is a {wanted.kind} "{name}" already')
    changes: dict[str, list[types.TextEdit]] = {}
    for where, each in index.all(wanted):
        edit = types.TextEdit(
            where.text.range(each.start, each.end), as_yaml(name) if each.is_bare else name
        )
        changes.setdefault(where.uri, []).append(edit)
    return types.WorkspaceEdit(changes=changes)
