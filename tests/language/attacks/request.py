"""Requests, and the parts that attacks are made of."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

TEXT = 512 * 1024  # bytes of a template, the default
BODY = 1024 * 1024  # bytes of a request, the default
RESOURCES = 1000  # resources of a stack, the default


@dataclass(frozen=True)
class Request:
    """A request of a client."""

    template: str
    files: dict[str, str] = field(default_factory=dict)
    environment: dict[str, Any] = field(default_factory=dict)
    parameters: dict[str, Any] = field(default_factory=dict)

    @property
    def size(self) -> int:
        """Bytes of all its parts."""
        parts = [self.template, *self.files.values(), *self.files]
        rest = json.dumps([self.environment, self.parameters])
        return sum(len(part.encode()) for part in [*parts, rest])


def hot(**sections: Any) -> str:
    """A HOT template as JSON."""
    return json.dumps({"heat_template_version": "2021-04-16", **sections})


def yaml(tail: str) -> Request:
    """A HOT template as YAML."""
    return Request(f"heat_template_version: 2021-04-16\n{tail}")


def cfn(**sections: Any) -> str:
    """A CloudFormation template as JSON."""
    return json.dumps({"AWSTemplateFormatVersion": "2010-09-09", **sections})


def value(content: Any, **more: Any) -> dict[str, Any]:
    """A resource that holds a value."""
    return {"type": "OS::Heat::Value", "properties": {"value": content}, **more}


def many(content: Any, count: int = RESOURCES) -> dict[str, Any]:
    """Resources that hold the same value."""
    return {f"r{number}": value(content) for number in range(count)}


def fill(item: Callable[[int], Any], size: int = TEXT - 4096, most: int = 10**9) -> Iterator[Any]:
    """Return a JSON list of as many items as fit."""
    number = 0
    while number < most:
        made = item(number)
        size -= len(json.dumps(made)) + 2
        if size < 0:
            return
        yield made
        number += 1


def pairs(item: Callable[[int], tuple[str, Any]], **limits: int) -> dict[str, Any]:
    """Return a JSON object of as many entries as fit."""
    return dict(fill(item, **limits))


def outputs(content: Any, size: int = TEXT - 4096) -> dict[str, Any]:
    """Return as many outputs of the same value as fit."""
    return pairs(lambda number: (f"o{number}", {"value": content}), size=size)


def nest(name: str, content: Any, depth: int, wrap: Callable[[Any], Any] = lambda x: x) -> Any:
    """A function called on the result of itself."""
    for _ in range(depth):
        content = {name: wrap(content)}
    return content


BIG_TEXT = "x" * (400 * 1024)
BIG_LIST = [[] for _ in range(90_000)]
