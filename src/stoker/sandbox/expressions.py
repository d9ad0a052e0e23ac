"""Expressions of users, in a helper process."""

# the library uses collections.abc without importing it
import collections.abc  # noqa: F401
from functools import lru_cache
from itertools import chain
from typing import Any

import yaql as library

from stoker.kernel.diagnostics import shortened
from stoker.kernel.json.tree import levels
from stoker.sandbox import expression_formats, expression_patterns
from stoker.sandbox.jobs import JobError

_MAX_BITS = 4096  # per number
_MAX_REASON = 500  # characters of the library's message


class Expressions:
    """Evaluates expressions; the bounds of iterations and memory are those of the library."""

    def __init__(self, iterations: int, memory: int) -> None:
        options = {
            "yaql.limitIterators": iterations,
            "yaql.memoryQuota": memory,
            "yaql.convertSetsToLists": True,
        }
        self._engine = library.YaqlFactory().create(options=options)
        self._context = library.create_context(regex=False)
        expression_patterns.register(self._context)
        expression_formats.register(self._context)
        self._parsed = lru_cache(maxsize=256)(self._engine)

    def parse(self, expression: str) -> Any:
        """The parsed expression."""
        try:
            return self._parsed(expression)
        except MemoryError:
            raise
        except RecursionError:
            raise JobError("form", "it is nested too deeply") from None
        except Exception as error:  # noqa: BLE001 - texts with escapes are decoded while parsing
            reason = str(error) or type(error).__name__
            raise JobError("form", shortened(reason, _MAX_REASON)) from None

    def evaluate(self, expression: str, data: Any) -> Any:
        """Return the value of an expression over data of the kinds that templates have."""
        statement = self.parse(expression)
        context = self._context.create_child_context()
        try:
            value = statement.evaluate(data={"data": data}, context=context)
        except (MemoryError, JobError):
            raise
        except RecursionError:
            raise JobError("value", "it is nested too deeply") from None
        except Exception as error:  # noqa: BLE001 - an expression can raise anything
            reason = str(error) or type(error).__name__
            raise JobError("value", shortened(reason, _MAX_REASON)) from None
        _check(value)
        return value


def _check(value: Any) -> None:
    """Refuse values that a template cannot hold: objects of the library, and infinite numbers."""
    for item in chain.from_iterable(levels(value, keys=True)):
        if isinstance(item, dict | list):
            continue
        if isinstance(item, int) and item.bit_length() > _MAX_BITS:
            raise JobError("value", f"it gives a number of more than {_MAX_BITS} bits")
        if item is not None and not isinstance(item, str | int | float):
            raise JobError("value", f"it gives an object ({type(item).__name__}), not data")
