"""Conversions of a call of a function to another one with the same value."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from typing import Any

from lsprotocol import types

from stoker.cli.authoring.language_server.actions.edits import in_flow, is_json, replaced, written
from stoker.cli.authoring.language_server.model import Model
from stoker.cli.authoring.language_server.syntax.nodes import (
    Mapping,
    Node,
    Scalar,
    data_of,
    function_of,
    steps_to,
)
from stoker.template.versions import VERSION_KEYS

_VARIABLE = re.compile(r"\$\{(!?)([^{}]+)\}")
_NOT_IN_NAMES = re.compile(r"\W+")

Conversion = tuple[str, types.TextEdit]


def conversions(model: Model, offset: int) -> Iterator[Conversion]:
    """Yield titles and edits for the calls that contain an offset, the innermost first."""
    steps = steps_to(model.document.tree, offset)
    for step in reversed(steps):
        call = _call(step.node)
        if call is None:
            continue
        for name, arguments in _converted(*call):
            if name in model.version.functions | model.version.extensions:
                yield f"Convert to {name}", _replaced(model, step.node, name, arguments)
    last = steps[-1] if steps else None
    if last is not None and len(last.path) == 1 and last.path[0] in VERSION_KEYS:
        value = last.entry.value if last.entry is not None else last.node
        if isinstance(value, Scalar) and not value.style and not is_json(model.document):
            yield (
                "Put the version into quotes",
                replaced(model.document, value, json.dumps(value.value)),
            )


def _call(node: Node) -> tuple[str, Any] | None:
    """Return function and arguments of a node that calls one."""
    if function_of(node) is None and not isinstance(node, Mapping):
        return None
    data = data_of(node)
    if not isinstance(data, dict) or len(data) != 1:
        return None
    ((name, arguments),) = data.items()
    return str(name), arguments


def _replaced(model: Model, node: Node, name: str, arguments: Any) -> types.TextEdit:
    document = model.document
    if node.tag is not None and not is_json(document):
        return replaced(document, node, f"!{name.removeprefix('Fn::')} {in_flow(arguments)}")
    is_flow = bool(getattr(node, "is_flow", True))
    margin = int(getattr(node, "indent", 0))
    text = written({name: arguments}, document, margin, is_flow=is_flow)
    return replaced(document, node, text)


def _converted(name: str, arguments: Any) -> Iterator[tuple[str, Any]]:
    """Yield the calls that have the same value."""
    match name:
        case "Fn::Join" | "list_join" if _is_join(arguments):
            yield (
                ("Fn::Sub", _substituted(*arguments))
                if name == "Fn::Join"
                else (
                    "str_replace",
                    _template(*arguments),
                )
            )
        case "Fn::Replace" if isinstance(arguments, list) and len(arguments) == 2:
            values, text = arguments
            if isinstance(values, dict) and isinstance(text, str):
                yield "Fn::Sub", _of_replace(values, text)
        case "Fn::Sub" if isinstance(arguments, str):
            yield "Fn::Join", ["", list(_parts(arguments))]


def _is_join(arguments: Any) -> bool:
    return (
        isinstance(arguments, list)
        and len(arguments) == 2
        and isinstance(arguments[0], str)
        and isinstance(arguments[1], list)
        and all(isinstance(item, str | dict) for item in arguments[1])
    )


def _substituted(delimiter: str, items: list[Any]) -> Any:
    """Return the arguments of Fn::Sub for those of Fn::Join."""
    values: dict[str, Any] = {}
    parts = []
    for item in items:
        if isinstance(item, str):
            parts.append(_literal(item))
            continue
        name = _reference(item)
        if name is None:
            name = f"Value{len(values) + 1}"
            values[name] = item
        parts.append(f"${{{name}}}")
    text = _literal(delimiter).join(parts)
    return [text, values] if values else text


def _is_same(delimiter: str, items: list[Any]) -> bool:
    """Return whether no texts form a variable together."""
    text = _substituted(delimiter, items)
    values = {} if isinstance(text, str) else text[1]
    found = [
        values.get(part["Ref"], part) if isinstance(part, dict) and "Ref" in part else part
        for part in _parts(text if isinstance(text, str) else text[0])
    ]
    return _joined(found, "") == _joined(items, delimiter)


def _literal(text: str) -> str:
    """Return text that Fn::Sub leaves as it is."""
    return _VARIABLE.sub(lambda found: f"${{!{found[1]}{found[2]}}}", text)


def _joined(items: Iterable[Any], delimiter: str) -> list[Any]:
    """Return the items with delimiters, where texts beside each other are one."""
    found: list[Any] = []
    for number, item in enumerate(items):
        for part in ([delimiter] if number else []) + [item]:
            if isinstance(part, str) and found and isinstance(found[-1], str):
                found[-1] += part
            elif part != "":
                found.append(part)
    return found


def _reference(item: dict[str, Any]) -> str | None:
    """Return the name of a call of Ref or Fn::GetAtt in a text of Fn::Sub."""
    if len(item) != 1:
        return None
    ((function, arguments),) = item.items()
    if function == "Ref" and isinstance(arguments, str):
        return arguments
    is_attribute = (
        function == "Fn::GetAtt"
        and isinstance(arguments, list)
        and len(arguments) == 2
        and all(isinstance(part, str) and "." not in part for part in arguments)
    )
    return ".".join(arguments) if is_attribute else None


def _template(delimiter: str, items: list[Any]) -> dict[str, Any]:
    """Return the arguments of str_replace for those of list_join."""
    params: dict[str, Any] = {}
    text = delimiter.join(item for item in items if isinstance(item, str))
    parts = []
    for item in items:
        if isinstance(item, str):
            parts.append(item)
            continue
        known = next((name for name, value in params.items() if value == item), None)
        word = known or _free(_named(item), text, params)
        params[word] = item
        parts.append(word)
    return {"template": delimiter.join(parts), "params": params}


def _named(item: dict[str, Any]) -> str:
    """Return a word for the value of a call."""
    arguments = next(iter(item.values()), None)
    parts = arguments if isinstance(arguments, list) else [arguments]
    words = [part for part in parts if isinstance(part, str)]
    return _NOT_IN_NAMES.sub("_", "_".join(words)) or "value"


def _free(name: str, text: str, taken: dict[str, Any]) -> str:
    """Return a word in braces that neither the text nor another parameter has."""
    word, number = f"${{{name}}}", 1
    while word in taken or word in text:
        number += 1
        word = f"${{{name}_{number}}}"
    return word


def _of_replace(values: dict[str, Any], text: str) -> Any:
    """Return the arguments of Fn::Sub for those of Fn::Replace."""
    named: dict[str, Any] = {}
    text = _literal(text)
    for word in sorted(values, key=len, reverse=True):
        name = _NOT_IN_NAMES.sub("", word) or "Value"
        while name in named:
            name += "x"
        named[name] = values[word]
        text = text.replace(word, f"${{{name}}}")
    return [text, named]


def _parts(text: str) -> Iterator[Any]:
    """Yield the items of Fn::Join for a text of Fn::Sub."""
    end = 0
    literal = ""
    for match in _VARIABLE.finditer(text):
        literal += text[end : match.start()]
        end = match.end()
        if match[1]:
            literal += f"${{{match[2].strip()}}}"
            continue
        if literal:
            yield literal
        literal = ""
        resource, dot, attribute = match[2].strip().partition(".")
        yield {"Fn::GetAtt": [resource, attribute]} if dot else {"Ref": resource}
    if literal + text[end:]:
        yield literal + text[end:]
