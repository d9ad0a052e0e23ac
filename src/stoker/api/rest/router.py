"""Matches paths with the addresses of the API."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from msgspec import Struct
from starlette.convertors import Convertor, register_url_convertor
from starlette.routing import compile_path

from stoker.api.rest.operation import Operation
from stoker.kernel.lazy import lazy

POST_BELOW = ("resources", "events", "template", "actions")
# The parts of a stack that a redirect by its name reaches as well.
READ_BELOW = (*POST_BELOW, "environment", "files")


class _Text(Convertor[str]):
    """A part of a path that a regular expression describes."""

    def convert(self, value: str) -> str:
        return value

    def to_string(self, value: str) -> str:
        return value


class _Arn(_Text):
    """An ARN of a stack, which has slashes inside."""

    regex = r"arn:openstack:heat::[^/]+:stacks/[^/]+/[^/]+"


class _ReadBelow(_Text):
    """Readable parts of a stack that is given by name."""

    regex = "|".join(READ_BELOW)


class _PostBelow(_Text):
    """Parts of a stack given by name that accept a POST."""

    regex = "|".join(POST_BELOW)


for _name, _kind in (("arn", _Arn), ("read", _ReadBelow), ("post", _PostBelow)):
    register_url_convertor(_name, _kind())


class Match(Struct, frozen=True):
    """An address that matches a path, with its operations and variable parts."""

    operations: Mapping[str, Operation]  # by method
    parts: Mapping[str, str]


class Router:
    """Finds the operations for a path."""

    def __init__(self, routes: Sequence[Operation]) -> None:
        self._routes = routes

    def matches(self, path: str) -> list[Match]:
        """Return the addresses that match ``path``, the most specific first."""
        found = ((pattern.match(path), operations) for pattern, operations in self._patterns)
        return [Match(operations, match.groupdict()) for match, operations in found if match]

    @lazy
    def _patterns(self) -> Sequence[tuple[re.Pattern[str], Mapping[str, Operation]]]:
        """Compile the patterns on first use: that takes longer than all other work of a router."""
        by_path: dict[str, dict[str, Operation]] = {}
        for route in self._routes:
            by_path.setdefault("/{project_id}" + route.path, {})[route.method] = route
        return [(compile_path(path)[0], found) for path, found in by_path.items()]
