"""A cloud in memory that outlives the engines: slow, forgetful, busy, and strict.

It checks what no engine may do: make two objects for one token, or delete an object that another
one refers to.
"""

from __future__ import annotations

import itertools
import random
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any


class Busy(Exception):
    """Try again later: a conflict, a rate limit, a fault of the cloud's."""


class Lost(Exception):
    """The connection broke after the request was done: nobody knows that it was."""


class Gone(Exception):
    """There is no such object."""


class Refused(Exception):
    """The cloud will never do that."""


@dataclass
class Object:
    """Something that costs money."""

    id: str
    token: str
    kind: str
    properties: dict[str, Any]
    ready_at: float


@dataclass
class Cloud:
    """All objects, and every rule that was broken."""

    seed: random.Random
    trouble: float = 0.2
    """How often a request is turned away, or its answer lost."""
    now: float = 0.0
    objects: dict[str, Object] = field(default_factory=dict)
    made: list[str] = field(default_factory=list)
    """Tokens, in the order in which objects were made for them."""
    violations: list[str] = field(default_factory=list)
    undeletable: set[str] = field(default_factory=set)
    quota: int | None = None
    """Objects at most."""
    recorded: Callable[[str], bool] = lambda object_id: True
    """Whether some engine has put the object on record."""
    _numbers: Any = field(default_factory=lambda: itertools.count(1))

    def create(self, kind: str, token: str, properties: Mapping[str, Any]) -> str:
        self._disturb()
        full = self.quota is not None and len(self.objects) >= self.quota
        if full or properties.get("fail") == "create":
            raise Refused(f"{kind} refused: quota exceeded")
        if token in self.made:
            self.violations.append(f"P3: a second object for the token {token}")
        self.made.append(token)
        found = Object(
            f"object-{next(self._numbers)}",
            token,
            kind,
            dict(properties),
            self.now + float(properties.get("slow") or 0),
        )
        self.objects[found.id] = found
        self._lose()
        return found.id

    def get(self, object_id: str) -> Object:
        if not self.recorded(object_id):
            self.violations.append(f"P3: {object_id} was used before it was on record")
        self._disturb()
        if object_id not in self.objects:
            raise Gone(object_id)
        return self.objects[object_id]

    def find(self, token: str) -> str | None:
        self._disturb()
        return next((o.id for o in self.objects.values() if o.token == token), None)

    def update(self, object_id: str, properties: Mapping[str, Any]) -> None:
        found = self.get(object_id)
        if properties.get("fail") == "update":
            found.properties["value"] = "half done"
            raise Refused(f"{found.kind} refused: not now, not ever")
        found.properties = dict(properties)
        self._lose()

    def delete(self, object_id: str) -> None:
        self._disturb()
        if object_id not in self.objects:
            raise Gone(object_id)
        if object_id in self.undeletable:
            raise Refused("the object is locked")
        users = [
            other.id
            for other in self.objects.values()
            if other.id != object_id and object_id in other.properties.values()
        ]
        if users:
            self.violations.append(f"P4: {object_id} was deleted while {users} needed it")
        del self.objects[object_id]
        self._lose()

    def _disturb(self) -> None:
        if self.seed.random() < self.trouble:
            raise Busy("409 conflict: try again")

    def _lose(self) -> None:
        if self.seed.random() < self.trouble / 2:
            raise Lost("connection reset")
