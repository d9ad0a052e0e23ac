"""The function ``format`` of expressions, which yaql 3 removed (CVE-2024-29156).

Templates for older releases of Heat use it, with positions and names of plain values. Fields that
read attributes or entries of values are rejected: they lead to the internals of the interpreter.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from string import Formatter
from typing import Any

from yaql.language import specs, yaqltypes

from stoker.kernel.diagnostics import shortened
from stoker.sandbox.jobs import JobError

MAX_CHARACTERS = 1024 * 1024  # length of a result
_MAX_WIDTH = 1000  # width and precision of a field
_MAX_SPECIFICATION = 80  # characters behind the colon of a field
_FIELD = re.compile(r"\w*")
_NUMBER = re.compile(r"\d+")
_PLAIN = (str, int, float, bool, type(None))


class _PlainFormatter(Formatter):
    """Formats plain values. An instance serves one call."""

    def __init__(self) -> None:
        self._length = 0

    def get_field(
        self, field_name: str, args: Sequence[Any], kwargs: Mapping[str, Any]
    ) -> tuple[Any, int | str]:
        """The value of a field: a position or a name, and nothing more."""
        shown = shortened(field_name, 80)
        if _FIELD.fullmatch(field_name) is None:
            message = f'format: the field "{shown}" must be a position or a name'
            raise JobError("value", message)
        key: int | str = int(field_name) if field_name.isdecimal() else field_name
        try:
            value = self.get_value(key, args, kwargs)
        except (IndexError, KeyError):
            raise JobError("value", f'format: the field "{shown}" has no value') from None
        if not isinstance(value, _PLAIN):
            message = f'format: the field "{shown}" must be text, a number or a boolean'
            raise JobError("value", message)
        return value, key

    def format_field(self, value: Any, format_spec: str) -> str:
        """A value in a format of bounded width."""
        is_short = len(format_spec) <= _MAX_SPECIFICATION
        if not is_short or any(int(n) > _MAX_WIDTH for n in _NUMBER.findall(format_spec)):
            raise JobError("value", f"format: a width is up to {_MAX_WIDTH}")
        text = str(super().format_field(value, format_spec))
        self._length += len(text)
        if self._length > MAX_CHARACTERS:
            raise JobError("value", f"format: the result has more than {MAX_CHARACTERS} characters")
        return text


def format_text(text: str, *values: Any, **named: Any) -> str:
    """The text with its fields filled in."""
    return _PlainFormatter().vformat(text, values, named)


_DECLARED = specs.extension_method(specs.parameter("text", yaqltypes.String())(format_text))


def register(context: Any) -> None:
    """Add the function to a context."""
    context.register_function(_DECLARED, name="format")
