"""Errors of functions that cannot be evaluated."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NoReturn

from stoker.kernel.diagnostics import Diagnostic, Path, shortened
from stoker.kernel.errors import BAD_REQUEST, VALIDATION_FAILED, ErrorType
from stoker.kernel.values import replace
from stoker.schema.unknown import Unknown, unknown_in
from stoker.schema.words import kind_of

# Code of diagnostics on the form of arguments, which is wrong with any values.
SHAPE = "bad-arguments"


class FunctionError(Exception):
    """One or more snippets cannot be evaluated; paths start at the evaluated snippet."""

    def __init__(self, diagnostics: Iterable[Diagnostic]) -> None:
        self.diagnostics = tuple(diagnostics)
        super().__init__(self.diagnostics)

    def __str__(self) -> str:
        return "\n".join(str(diagnostic) for diagnostic in self.diagnostics)

    def naming(self, function: str) -> FunctionError:
        """Return the same failure with the words that Heat uses for a malformed call."""
        return FunctionError(
            replace(each, message=_named(function, each.message)) if not each.path else each
            for each in self.diagnostics
        )

    def inside(self, *path: str | int) -> FunctionError:
        """Return the failure with paths that start further out."""
        return FunctionError(each.below(*path) for each in self.diagnostics)


class UnknownValueError(Exception):
    """The result of a function depends on resources that do not exist yet."""

    def __init__(self, value: Unknown) -> None:
        super().__init__(value)
        self.value = value


_FORM = "the arguments are "
_SHOWN = 80  # characters of a name in a message


def _named(function: str, message: str) -> str:
    if not message.startswith(_FORM):
        return message
    form = message.removeprefix(_FORM)
    words = "must be of the form: " if form.startswith("[") else "must be "
    return f'Arguments to "{function}" {words}{form}'


def failed(
    code: str,
    message: str,
    path: Path = (),
    *,
    error_type: ErrorType = VALIDATION_FAILED,
    suggestion: str | None = None,
) -> FunctionError:
    """Return the failure of one snippet, for one reason."""
    return FunctionError(
        [Diagnostic(code, message, path, error_type=error_type, suggestion=suggestion)]
    )


def known(value: Any) -> Any:
    """Return a value without unknown parts. Raises :class:`UnknownValueError` for another."""
    unknown = unknown_in(value)
    if unknown is not None:
        raise UnknownValueError(unknown)
    return value


def check_keys(arguments: Mapping[str, Any], needed: Sequence[str], others: Sequence[str]) -> None:
    """Raise :class:`FunctionError` if a needed argument is missing; ``others`` are optional."""
    for key in needed:
        if key not in arguments:
            message = f'the argument "{key}" is missing'
            strange = [name for name in arguments if name not in (*needed, *others)]
            if strange:
                message += f', and "{shortened(str(strange[0]), _SHOWN)}" is not one'
            bad_arguments(message)


# Of arguments that are an ``if`` without a value for this case, or AWS::NoValue.
LEFT_OUT = "and one of them is left out here"


def exactly(count: int, arguments: Any, form: str) -> list[Any]:
    """Return the arguments, if they are a list of this length. Raise :class:`FunctionError`."""
    if not isinstance(arguments, list) or len(arguments) != count:
        bad_arguments(f"the arguments are {form}")
    return arguments


def check_form(kind: Any, written: Any, words: str, path: Path = ()) -> None:
    """Raise :class:`FunctionError` for arguments of another form, before they are evaluated."""
    if not isinstance(written, kind):
        bad_arguments(f"{words}, not {kind_of(written)}", path)


def check_kind(kind: Any, value: Any, words: str, path: Path = ()) -> None:
    """Raise :class:`FunctionError` for a value that is not of the kind in ``words``."""
    if not isinstance(value, kind):
        bad_value(f"{words}, not {kind_of(value)}", path)


def bad_arguments(message: str, path: Path = ()) -> NoReturn:
    """Raise :class:`FunctionError` for arguments of a wrong form."""
    raise failed(SHAPE, message, path)


def bad_name(message: str, path: Path = ()) -> NoReturn:
    """Raise :class:`FunctionError` for a value that cannot be a name."""
    raise failed(SHAPE, message, path, error_type=BAD_REQUEST)


def bad_value(message: str, path: Path = (), code: str = "bad-value") -> NoReturn:
    """Raise :class:`FunctionError` for values without a result, in a right form."""
    raise failed(code, message, path)
