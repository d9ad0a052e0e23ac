"""Finds circular dependencies of resources, with the references that cause them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import islice, pairwise
from typing import Any

from stoker.kernel.diagnostics import Diagnostic, Path, format_path
from stoker.kernel.errors import CIRCULAR_DEPENDENCY
from stoker.template.document import Template

_MAX_NAMED_REFERENCES = 8  # in one message
_REFERENCES = frozenset(("get_resource", "Ref"))
_ATTRIBUTES = frozenset(("get_attr", "Fn::GetAtt"))


def circle_findings(template: Template, circle: Sequence[str] | None) -> list[Diagnostic]:
    """Return a diagnostic about a cycle of dependencies, if there is one."""
    if circle is None:
        return []
    return [
        Diagnostic(
            "circular-dependency",
            f"Circular Dependency Found: {' -> '.join(circle)}",
            template.resources[circle[0]].path,
            error_type=CIRCULAR_DEPENDENCY,
            suggestion=_advice(template, circle),
        )
    ]


def _advice(template: Template, circle: Sequence[str]) -> str | None:
    written = template.data[template.version.dialect.resources]
    places = []
    for name, needed in islice(pairwise(circle), _MAX_NAMED_REFERENCES):
        place = next(_references(written[name], needed, (), template), None)
        if place is not None:
            places.append(format_path((name, *place)))
    if len(places) < 2:
        return f"remove the reference {places[0]}" if places else None
    return f"remove one of the references {', '.join(places)}"


def _references(value: Any, name: str, path: Path, template: Template) -> Iterator[Path]:
    """Yield places in the text of one resource that refer to another."""
    if isinstance(value, list):
        for index, item in enumerate(value):
            yield from _references(item, name, (*path, index), template)
    if not isinstance(value, dict):
        return
    for key, inner in value.items():
        here = (*path, key)
        if not path and key == template.version.dialect.depends_on:
            if name == inner or (isinstance(inner, list) and name in inner):
                yield here
        elif _names(key, inner, name):
            yield here
        else:
            yield from _references(inner, name, here, template)


def _names(function: str, argument: Any, name: str) -> bool:
    if function in _REFERENCES:
        return bool(argument == name)
    if function in _ATTRIBUTES:
        return isinstance(argument, list) and argument[:1] == [name]
    if function == "Fn::Sub":
        text = argument[0] if isinstance(argument, list) and argument else argument
        return isinstance(text, str) and bool(re.search(rf"\$\{{{re.escape(name)}[.}}]", text))
    return False
