"""Evaluation of texts with YAQL expressions."""

# The library uses collections.abc without importing it.
import collections.abc  # noqa: F401
from functools import lru_cache
from typing import Any

import yaql
from yaql.language.exceptions import YaqlParsingException

from localcloud.workflow.expressions.functions import Ask, functions
from localcloud.workflow.expressions.recognition import YAQL

_ITEMS = 10_000  # that an iterator of an expression may yield


class YaqlTexts:
    """Evaluates texts; the data is ``$``."""

    def __init__(self, ask: Ask) -> None:
        options = {"yaql.limitIterators": _ITEMS, "yaql.convertSetsToLists": True}
        self._engine = yaql.YaqlFactory().create(options=options)
        self._parsed = lru_cache(256)(self._engine)
        self._context = yaql.create_context(yaqlized=False)
        for name, function in functions(ask).items():
            self._context.register_function(function, name=name)

    def check(self, text: str) -> None:
        """Raise ValueError for an expression that cannot be parsed."""
        for found in YAQL.findall(text):
            try:
                self._parsed(_inner(found))
            except YaqlParsingException as error:
                raise ValueError(str(error)) from error
            except RecursionError as error:
                raise ValueError("The expression is nested too deeply") from error

    def evaluate(self, text: str, data: Any) -> Any:
        """Return the value of the text's only expression, or the text with all values filled in.

        Raises ValueError.
        """
        result = text
        for found in YAQL.findall(text):
            value = self._value(_inner(found), data)
            if found == text:
                return value
            result = result.replace(found, str(value))
        return result

    def _value(self, expression: str, data: Any) -> Any:
        try:
            parsed = self._parsed(expression)
            return parsed.evaluate(data=data, context=self._context.create_child_context())
        except MemoryError:
            raise
        except Exception as error:  # an expression can raise anything
            detail = f"[expression={expression}, error={error}]"
            raise ValueError(f"Can not evaluate YAQL expression {detail}") from error


def _inner(found: str) -> str:
    return found[2:-2].strip()
