"""The yaql function: expressions over data, within limits."""

from __future__ import annotations

from functools import cache, lru_cache
from typing import Any

from stoker.schema.unknown import unknown_in
from stoker.template.functions.failure import bad_arguments, bad_value
from stoker.template.functions.scope import Scope
from stoker.template.functions.words import kind_of

MAX_ITERATIONS = 200
MEMORY_QUOTA = 10_000


def yaql(arguments: Any, scope: Scope) -> Any:
    """The value of an expression over data."""
    if not isinstance(arguments, dict):
        bad_arguments(f"the arguments are a map, not {kind_of(arguments)}")
    for key in arguments:
        if key not in ("expression", "data"):
            bad_arguments('the arguments are "expression" and "data"', (key,))
    if "expression" not in arguments:
        bad_arguments('the argument "expression" is missing')
    if isinstance(arguments["expression"], str):
        _parsed(arguments["expression"])
    expression = scope.entry(arguments, "expression")
    data = scope.entry(arguments, "data") if "data" in arguments else {}
    unknown = unknown_in([expression, data])
    if unknown is not None:
        return unknown
    if not isinstance(expression, str):
        bad_value(f"the expression is text, not {kind_of(expression)}", ("expression",))
    return _evaluated(expression, data)


def _evaluated(expression: str, data: Any) -> Any:
    statement = _parsed(expression)
    context = _context().create_child_context()
    context["$"] = {"data": data}
    try:
        return statement.evaluate(context=context)
    except RecursionError:
        bad_value("the expression is nested too deeply", ("expression",))
    except Exception as error:  # noqa: BLE001 - an expression can raise anything
        bad_value(f"the expression has no value: {error or type(error).__name__}", ("expression",))


@lru_cache(maxsize=512)
def _parsed(expression: str) -> Any:
    """The parsed expression. Raises :class:`Failure`."""
    import yaql.language.exceptions as faults  # noqa: PLC0415

    try:
        return _engine()(expression)
    except faults.YaqlParsingException as error:
        bad_arguments(f"the expression is not valid: {error}", ("expression",))
    except RecursionError:
        bad_arguments("the expression is nested too deeply", ("expression",))


@cache
def _engine() -> Any:
    import yaql as library  # noqa: PLC0415

    options = {
        "yaql.limitIterators": MAX_ITERATIONS,
        "yaql.memoryQuota": MEMORY_QUOTA,
        "yaql.convertSetsToLists": True,
    }
    return library.YaqlFactory().create(options=options)


@cache
def _context() -> Any:
    import yaql as library  # noqa: PLC0415

    return library.create_context()
