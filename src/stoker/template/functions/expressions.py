"""The yaql function: expressions over data, computed by helpers within limits."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from stoker.kernel.diagnostics import shortened
from stoker.schema.helpers import ComputationError, MalformedExpressionError, may_change
from stoker.schema.words import kind_of
from stoker.template.functions.failure import (
    bad_arguments,
    bad_value,
    check_form,
    check_kind,
    known,
)
from stoker.template.functions.scope import Scope

MAX_SECONDS = 1.0  # per expression
MAX_LENGTH = 20_000  # characters of an expression
_SHOWN = 80  # characters of an expression in a message
# The place of an empty text in the reason, where it would be invisible.
_EMPTY_RECEIVER = re.compile("(?<= for receiver) (?= matches|$)")


def yaql(arguments: Any, scope: Scope) -> Any:
    """Return the value of an expression over data."""
    check_form(dict, arguments, "the arguments are a map")
    for key in arguments:
        if key not in ("expression", "data"):
            bad_arguments('the arguments are "expression" and "data"', (key,))
    if "expression" not in arguments:
        bad_arguments('the argument "expression" is missing')
    written = arguments["expression"]
    # Parse a literal expression before the data is known, so that its faults are reported early.
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
    if may_change(expression):
        scope.parameters.reads.may_change = True
    return _computed(scope, scope.budget.helpers.evaluate, expression, data)


def _parse(expression: str, scope: Scope) -> None:
    if len(expression) > MAX_LENGTH:
        message = f"an expression has at most {MAX_LENGTH} characters, not {len(expression)}"
        bad_arguments(message, ("expression",))
    _computed(scope, scope.budget.helpers.parse, expression)


def _computed(
    scope: Scope, job: Callable[..., tuple[Any, float]], expression: str, *data: Any
) -> Any:
    """Return the result of a helper for an expression, within the remaining time."""
    budget = scope.budget
    if budget.seconds <= 0:
        budget.seconds = -1.0
        bad_value("the expressions of this template take too long together", ("expression",))
    spent = 0.0
    try:
        value, spent = job(expression, *data, min(MAX_SECONDS, budget.seconds))
    except ComputationError as error:
        spent = error.seconds
        if isinstance(error, MalformedExpressionError):
            bad_arguments(f"the expression is not valid: {error.message}", ("expression",))
        name = shortened(expression, _SHOWN)
        reason = _EMPTY_RECEIVER.sub(' ""', error.message)
        bad_value(f'the expression "{name}" has no value: {reason}', ("expression",))
    finally:
        budget.seconds -= spent
    return value
