"""Recognition of texts with expressions and of their language."""

import re
from collections.abc import Iterator
from typing import Any

YAQL = re.compile(r"<%.*?%>", re.DOTALL)
JINJA = re.compile(r"{{.*?}}|{%.*?%}", re.DOTALL)


def is_expression(value: Any) -> bool:
    """Return whether a value is a text that contains an expression."""
    return isinstance(value, str) and bool(YAQL.search(value) or JINJA.search(value))


def expressions_in(tree: Any) -> Iterator[str]:
    """Yield the texts with expressions in a tree of JSON, including its keys."""
    if isinstance(tree, dict):
        for key, value in tree.items():
            yield from expressions_in(key)
            yield from expressions_in(value)
    elif isinstance(tree, list):
        for value in tree:
            yield from expressions_in(value)
    elif is_expression(tree):
        yield tree
