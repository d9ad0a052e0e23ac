"""Parser of commands with parameters in one text: ``std.echo output='hello' delay=2``."""

import json
import re
from typing import Any

_COMMAND = re.compile(r"^[\w.]+[^=(\s\"]*")
_VALUES = (
    r'"[^"]*"', r"'[^']*'", r"<%.*?%>", r"{{.*?}}", r"\[.*\]", "true", "false", "null",
    r"-?\d+(?:\.\d+)?",
)  # fmt: skip
_PARAMETER = re.compile(rf"([-\w]+)=({'|'.join(_VALUES)})", re.DOTALL)


def parsed(text: str) -> tuple[str, dict[str, Any]]:
    """Return the command in a text and its parameters."""
    found = _COMMAND.match(text)
    if found is None:
        return text, {}
    return found[0], parameters(text[found.end() :])


def parameters(text: str) -> dict[str, Any]:
    """Return the parameters in a text by their names."""
    return {name: _value(value) for name, value in _PARAMETER.findall(text)}


def _value(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        return text[1:-1] if text[0] == text[-1] and text[0] in "'\"" else text
