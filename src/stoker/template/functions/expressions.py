"""The yaql function: expressions over data, computed by helpers within limits."""

from __future__ import annotations

from typing import Any, NoReturn

from stoker.schema.helpers import Malformed, NotComputed
from stoker.schema.words import kind_of
from stoker.template.functions.failure import (
    bad_arguments,
    bad_value,
    check_form,
    check_kind,
    known,
)
from stoker.template.functions.scope import Scope

MAX_SECONDS = 1.0
"""Of one expression."""
MAX_LENGTH = 20_000
"""Characters of an expression."""
_SHOWN = 80
"""Characters of an expression that a message shows."""


def yaql(arguments: Any, scope: Scope) -> Any:
    """The value of an expression over data."""
    check_form(dict, arguments, "the arguments are a map")
    for key in arguments:
        if key not in ("expression", "data"):
            bad_arguments('the arguments are "expression" and "data"', (key,))
    if "expression" not in arguments:
        bad_arguments('the argument "expression" is missing')
    written = arguments["expression"]
    if isinstance(written, str):
        _parse(written, scope)
    elif not scope.is_call(written):
        bad_arguments(f"the expression is text, not {kind_of(written)}", ("expression",))
    expression = scope.entry(arguments, "expression")
    data = scope.entry(arguments, "data") if "data" in arguments else {}
    known([expression, data])
    check_kind(str, expression, "the expression is text", ("expression",))
    if not isinstance(written, str):
        _parse(expression, scope)
    return _evaluated(expression, data, scope)


def _parse(expression: str, scope: Scope) -> None:
    if len(expression) > MAX_LENGTH:
        message = f"an expression has at most {MAX_LENGTH} characters, not {len(expression)}"
        bad_arguments(message, ("expression",))
    try:
        _, spent = scope.budget.helpers.parse(expression, _allowed(scope))
    except Malformed as error:
        scope.budget.seconds -= error.seconds
        bad_arguments(f"the expression is not valid: {error.message}", ("expression",))
    except NotComputed as error:
        scope.budget.seconds -= error.seconds
        _no_value(expression, error)
    scope.budget.seconds -= spent


def _evaluated(expression: str, data: Any, scope: Scope) -> Any:
    try:
        value, spent = scope.budget.helpers.evaluate(expression, data, _allowed(scope))
    except NotComputed as error:
        scope.budget.seconds -= error.seconds
        _no_value(expression, error)
    scope.budget.seconds -= spent
    return value


def _allowed(scope: Scope) -> float:
    """Seconds that the next expression may take. Raises :class:`Failure` when none is left."""
    if scope.budget.seconds <= 0:
        scope.budget.seconds = -1.0
        bad_value("the expressions of this template take too long together", ("expression",))
    return min(MAX_SECONDS, scope.budget.seconds)


def _no_value(expression: str, error: NotComputed) -> NoReturn:
    shown = expression if len(expression) <= _SHOWN else f"{expression[: _SHOWN - 1]}…"
    bad_value(f'the expression "{shown}" has no value: {error.message}', ("expression",))
