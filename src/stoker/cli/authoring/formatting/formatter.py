"""Formats a document, and verifies that it still means the same."""

from __future__ import annotations

import json
import re

from stoker.cli.authoring.formatting.layout import laid_out
from stoker.kernel.diagnostics import DiagnosticError
from stoker.kernel.json.tree import same
from stoker.template.source.source import read

# YAML reads each of these as the same line end.
_LINE_END = re.compile("\r\n|\r\x85|\r|\x85")


class NotFormattableError(Exception):
    """A document cannot be formatted without changing its meaning."""


def formatted(text: str, file: str | None = None) -> str:
    """Return the document in the one format of ``stoker fmt``.

    The data of the result equal those of the text, with their types and the order of their keys.
    Raises :class:`DiagnosticError` for a document that cannot be read, and
    :class:`NotFormattableError`.
    """
    text = _LINE_END.sub("\n", text.removeprefix("\ufeff"))
    source = read(text, file)
    data = source.data
    result = _json(text) if text.lstrip()[:1] in ("{", "[") else None
    if result is not None and source.warnings:
        raise NotFormattableError(source.warnings[0].message)
    if result is None:
        result = laid_out(text)
    try:
        is_same = same(read(result, file).data, data)
    except DiagnosticError:
        is_same = False
    if not is_same:
        raise NotFormattableError("it cannot be formatted without a change of its meaning")
    return result


def _json(text: str) -> str | None:
    """Return a JSON text; None if it is YAML in flow style."""
    try:
        data = json.loads(text)
    except ValueError:
        return None
    return json.dumps(data, indent=2, ensure_ascii=False) + "\n"
