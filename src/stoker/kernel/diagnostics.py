"""Diagnostics about documents of users: fault, place and remedy.

All code that reads a template, an environment or properties reports through these values, so that
the command, the API and an editor show the same diagnostics. A diagnostic has its place as a path
into the document. Line and column are looked up from the path only when a diagnostic exists
(:mod:`stoker.template.source.source`), so a correct document has no cost for them.
"""

from __future__ import annotations

import difflib
import threading
from collections.abc import Iterable, Sequence
from enum import StrEnum
from itertools import islice

from msgspec import Struct
from msgspec.structs import force_setattr

from stoker.kernel.errors import VALIDATION_FAILED, ErrorType, RequestError
from stoker.kernel.values import replace

Path = tuple[str | int, ...]  # keys and list indexes from the root of a document

MAX_MESSAGE = 2000  # characters of a message or suggestion, which may quote texts of any length
_MAX_PART = 260  # characters of a key in a path


class Severity(StrEnum):
    """Severity of a diagnostic. Only errors reject a document."""

    ERROR = "error"
    WARNING = "warning"
    INFO = "info"


class Position(Struct, frozen=True):
    """A place in a text; lines and columns count from 1."""

    file: str | None
    line: int
    column: int

    def __str__(self) -> str:
        return f"{self.file or '<template>'}:{self.line}:{self.column}"


class Diagnostic(Struct, frozen=True):
    """One diagnostic."""

    code: str  # a stable, short, hyphenated name, as ``unknown-function``
    message: str
    path: Path = ()
    severity: Severity = Severity.ERROR
    error_type: ErrorType = VALIDATION_FAILED
    file: str | None = None  # the document that ``path`` leads into; None for the main template
    position: Position | None = None
    suggestion: str | None = None
    # In a nested document: the resources above it, the outermost first, each with its
    # implementation, as ``group<nested_stack>``.
    above: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if len(self.message) > MAX_MESSAGE:
            force_setattr(self, "message", shortened(self.message, MAX_MESSAGE))
        if self.suggestion is not None and len(self.suggestion) > MAX_MESSAGE:
            force_setattr(self, "suggestion", shortened(self.suggestion, MAX_MESSAGE))

    @property
    def place(self) -> str:
        """Return the path as text, as ``resources.server.properties.networks[0]``.

        Empty at the root.
        """
        return format_path(self.path)

    def below(self, *prefix: str | int) -> Diagnostic:
        """Return the diagnostic with ``prefix`` before its path."""
        return replace(self, path=(*prefix, *self.path))

    def __str__(self) -> str:
        text = self.message
        if self.place:
            text = f"{self.place}: {text}"
        if self.position is not None:
            text = f"{self.position}: {text}"
        if self.suggestion:
            text = f"{text} ({self.suggestion})"
        return text


def format_path(path: Path) -> str:
    """Return the path in the notation of the API: dots between keys, indexes in brackets."""
    text = ""
    for part in path:
        if isinstance(part, int):
            text += f"[{part}]"
        else:
            name = shortened(str(part), _MAX_PART)
            text += f".{name}" if text else name
    return text


def shortened(text: str, most: int) -> str:
    """Return the text, cut to ``most`` characters with an ellipsis if it is longer."""
    return text if len(text) <= most else f"{text[: most - 1]}…"


_NO_REASON = Diagnostic(
    code="no-reason",
    message="the document was refused and nobody said why: this is a fault of the service",
)


class DiagnosticError(Exception):
    """A document was rejected. ``diagnostics`` has all diagnostics, errors first."""

    def __init__(self, diagnostics: Iterable[Diagnostic]) -> None:
        found = tuple(diagnostics) or (_NO_REASON,)
        self.diagnostics = tuple(sorted(found, key=lambda d: d.severity is not Severity.ERROR))
        super().__init__(self.diagnostics)

    def __str__(self) -> str:
        return "\n".join(str(diagnostic) for diagnostic in self.diagnostics)

    @property
    def first(self) -> Diagnostic:
        """Return the diagnostic that decides the status and type of the response."""
        return self.diagnostics[0]


def refusal(
    code: str,
    message: str,
    path: Path = (),
    error_type: ErrorType = VALIDATION_FAILED,
    *,
    file: str | None = None,
    position: Position | None = None,
    suggestion: str | None = None,
) -> DiagnosticError:
    """Return the error for a document with one fault."""
    found = Diagnostic(code, message, path, Severity.ERROR, error_type, file, position, suggestion)
    return DiagnosticError([found])


MORE_DIAGNOSTICS = "more-findings"  # code of the diagnostic with the total number
MAX_DIAGNOSTICS = 1000  # limit on diagnostics for one document


def first_of(found: Sequence[Diagnostic]) -> list[Diagnostic]:
    """Return the diagnostics to report, errors before others.

    If there are too many, the last one has their number.
    """
    counted = len(found) == MAX_DIAGNOSTICS + 1 and found[-1].code == MORE_DIAGNOSTICS
    if len(found) <= MAX_DIAGNOSTICS or counted:
        return list(found)
    errors = [each for each in found if each.severity is Severity.ERROR]
    others = (each for each in found if each.severity is not Severity.ERROR)
    first = [*errors[:MAX_DIAGNOSTICS], *islice(others, max(0, MAX_DIAGNOSTICS - len(errors)))]
    message = f"there are {len(found)} findings in all"
    return [*first, Diagnostic(MORE_DIAGNOSTICS, message, severity=Severity.INFO)]


class Diagnostics(list[Diagnostic]):
    """Diagnostics that are collected while a document is read."""

    def report(
        self,
        code: str,
        message: str,
        path: Path = (),
        error_type: ErrorType = VALIDATION_FAILED,
        *,
        severity: Severity = Severity.ERROR,
        suggestion: str | None = None,
    ) -> None:
        """Add a diagnostic."""
        self.append(Diagnostic(code, message, path, severity, error_type, suggestion=suggestion))

    @property
    def errors(self) -> list[Diagnostic]:
        """Return the diagnostics that reject the document."""
        return [d for d in self if d.severity is Severity.ERROR]

    def raise_errors(self) -> None:
        """Raise :class:`DiagnosticError` with all diagnostics if one of them is an error."""
        if self.errors:
            raise DiagnosticError(first_of(self))


MAX_COMPARED = 20_000  # word comparisons for suggestions in one document: about 0.3 s of computing
FAR = 0.6  # minimal similarity of a suggested word; 1 is equal

_MOST_WORDS = 2000
_LONGEST_WORD = 100
_here = threading.local()


def renew_suggestions() -> None:
    """Reset the count for another document. Unbounded, thousands of mistakes would take minutes."""
    _here.left = MAX_COMPARED


def did_you_mean(word: str, known: Iterable[str]) -> str | None:
    """Return ``did you mean "x"?`` for the known word most similar to ``word``, or None."""
    near = nearest(word, known)
    return None if near is None else f'did you mean "{near}"?'


def nearest(word: str, known: Iterable[str], likeness: float = FAR) -> str | None:
    """Return the known word most similar to ``word``; None if none is, or after too many."""
    left = getattr(_here, "left", MAX_COMPARED)
    if len(word) > _LONGEST_WORD or left <= 0:
        return None
    words = [other for other in islice(known, _MOST_WORDS) if len(other) <= _LONGEST_WORD]
    _here.left = left - len(words)
    spelt_alike = next((other for other in words if other.lower() == word.lower()), None)
    if spelt_alike is not None:
        return spelt_alike
    return next(iter(difflib.get_close_matches(word, words, n=1, cutoff=likeness)), None)


def type_of(error: Exception) -> ErrorType | None:
    """Return the error type of a rejected request; None for an internal error."""
    if isinstance(error, DiagnosticError):
        return error.first.error_type
    return error.error_type if isinstance(error, RequestError) else None
