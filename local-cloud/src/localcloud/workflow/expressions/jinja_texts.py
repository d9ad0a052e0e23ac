"""Evaluation of texts with Jinja expressions."""

import re
from functools import lru_cache
from typing import Any

from jinja2 import StrictUndefined, TemplateError, TemplateSyntaxError, Undefined
from jinja2.sandbox import ImmutableSandboxedEnvironment

from localcloud.workflow.expressions.functions import Ask, functions

_SINGLE = re.compile(r"{{((?:(?!{{|{%).)*)}}", re.DOTALL)


class JinjaTexts:
    """Evaluates texts; the data is ``_``."""

    def __init__(self, ask: Ask) -> None:
        self._environment = ImmutableSandboxedEnvironment(undefined=StrictUndefined)
        self._environment.globals.update(functions(ask))
        self._environment.filters.update(functions(ask))
        self._template = lru_cache(256)(self._environment.from_string)
        self._expression = lru_cache(256)(self._compiled)

    def _compiled(self, expression: str) -> Any:
        return self._environment.compile_expression(expression, undefined_to_none=False)

    def check(self, text: str) -> None:
        """Raise ValueError for a text that cannot be parsed."""
        try:
            self._environment.parse(text)
        except TemplateSyntaxError as error:
            raise ValueError(f"Syntax error '{error}'.") from error
        except RecursionError as error:
            raise ValueError("The expression is nested too deeply") from error

    def evaluate(self, text: str, data: Any) -> Any:
        """Return the value of the text's only expression, or the rendered text.

        Raises ValueError.
        """
        try:
            if (single := _SINGLE.fullmatch(text)) is None:
                return self._template(text).render(_=data)
            value = self._expression(single[1])(_=data)
            if isinstance(value, Undefined):
                str(value)  # raises an error that names the undefined variable
            return value
        except MemoryError:
            raise
        except (TemplateError, Exception) as error:  # an expression can raise anything
            detail = f"[expression={text}, error={error}]"
            raise ValueError(f"Can not evaluate Jinja expression {detail}") from error
