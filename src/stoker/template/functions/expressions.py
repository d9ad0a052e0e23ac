"""The yaql function: expressions over data, within limits of iterations, memory and time."""

from __future__ import annotations

import importlib
import time
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache, lru_cache
from threading import Lock
from typing import Any

from stoker.schema.unknown import unknown_in
from stoker.template.functions.failure import bad_arguments, bad_value
from stoker.template.functions.scope import Scope
from stoker.template.functions.words import kind_of

MAX_ITERATIONS = 200
MEMORY_QUOTA = 10_000
MAX_SECONDS = 1.0
"""Iterations can be nested, so that their number alone bounds nothing."""
MAX_LENGTH = 20_000
"""Characters of an expression."""
MAX_BITS = 4096
"""Of a number."""


def yaql(arguments: Any, scope: Scope) -> Any:
    """The value of an expression over data."""
    if not isinstance(arguments, dict):
        bad_arguments(f"the arguments are a map, not {kind_of(arguments)}")
    for key in arguments:
        if key not in ("expression", "data"):
            bad_arguments('the arguments are "expression" and "data"', (key,))
    if "expression" not in arguments:
        bad_arguments('the argument "expression" is missing')
    written = arguments["expression"]
    if isinstance(written, str):
        with _counted(scope):
            _parsed(written)
    elif not scope.is_call(written):
        bad_arguments(f"the expression is text, not {kind_of(written)}", ("expression",))
    expression = scope.entry(arguments, "expression")
    data = scope.entry(arguments, "data") if "data" in arguments else {}
    unknown = unknown_in([expression, data])
    if unknown is not None:
        return unknown
    if not isinstance(expression, str):
        bad_value(f"the expression is text, not {kind_of(expression)}", ("expression",))
    with _counted(scope):
        return _evaluated(expression, data, min(MAX_SECONDS, scope.allowance.seconds))


@contextmanager
def _counted(scope: Scope) -> Iterator[None]:
    """Count the time. Raises :class:`Failure` when none is left."""
    if scope.allowance.seconds <= 0:
        bad_value("the expressions of this template take too long together", ("expression",))
    _context()
    begin = time.thread_time()
    try:
        yield
    finally:
        scope.allowance.seconds -= time.thread_time() - begin


def _evaluated(expression: str, data: Any, seconds: float) -> Any:
    statement = _parsed(expression)
    context = _timed_context()(_context(), time.thread_time() + seconds)
    try:
        value = statement.evaluate(data={"data": data}, context=context)
    except RecursionError:
        bad_value("the expression is nested too deeply", ("expression",))
    except Exception as error:  # noqa: BLE001 - an expression can raise anything
        reason = str(error) or type(error).__name__
        bad_value(f"the expression has no value: {reason[:500]}", ("expression",))
    _check_result(value)
    return value


def _check_result(value: Any) -> None:
    """Refuse what a template cannot hold: objects of the library, and endless numbers."""
    pending = [value]
    while pending:
        item = pending.pop()
        if isinstance(item, dict):
            pending.extend(item)
            pending.extend(item.values())
        elif isinstance(item, list):
            pending.extend(item)
        elif isinstance(item, int) and item.bit_length() > MAX_BITS:
            bad_value("the expression gives a number that is too large", ("expression",))
        elif item is not None and not isinstance(item, str | int | float):
            bad_value(f"the expression gives {kind_of(item)}, not data", ("expression",))


_parsing = Lock()


@lru_cache(maxsize=512)
def _parsed(expression: str) -> Any:
    """The parsed expression. Raises :class:`Failure`."""
    if len(expression) > MAX_LENGTH:
        message = f"an expression has at most {MAX_LENGTH} characters, not {len(expression)}"
        bad_arguments(message, ("expression",))
    faults = importlib.import_module("yaql.language.exceptions")
    try:
        with _parsing:  # the engine's lexer is shared
            return _engine()(expression)
    except faults.YaqlParsingException as error:
        bad_arguments(f"the expression is not valid: {error}", ("expression",))
    except RecursionError:
        bad_arguments("the expression is nested too deeply", ("expression",))


@cache
def _library() -> Any:
    """The library, imported when a template first needs it: most never do."""
    return importlib.import_module("yaql")


@cache
def _engine() -> Any:
    options = {
        "yaql.limitIterators": MAX_ITERATIONS,
        "yaql.memoryQuota": MEMORY_QUOTA,
        "yaql.convertSetsToLists": True,
    }
    return _library().YaqlFactory().create(options=options)


@cache
def _context() -> Any:
    _engine()
    context = _library().create_context(regex=False)
    patterns = importlib.import_module("stoker.template.functions.expression_patterns")
    patterns.register(context)
    return context


@cache
def _timed_context() -> Any:
    """A class of contexts that look up functions until a deadline, and their children likewise."""
    base: Any = importlib.import_module("yaql.language.contexts").Context

    def begin(self: Any, parent: Any, deadline: float | None = None) -> None:
        base.__init__(self, parent)
        self.deadline = parent.deadline if deadline is None else deadline

    def get_functions(self: Any, *args: Any, **kwargs: Any) -> Any:
        if time.thread_time() > self.deadline:
            raise TimeoutError("it takes too long")
        return base.get_functions(self, *args, **kwargs)

    return type("TimedContext", (base,), {"__init__": begin, "get_functions": get_functions})
