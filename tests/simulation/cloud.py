"""A cloud in memory that outlives the engines: slow, forgetful, busy, and strict.

It checks two prohibitions for engines: to create two objects for one token, and to delete an object
that another one refers to.
"""

from __future__ import annotations

import itertools
import random
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from stoker.kernel.errors import UnavailableError


class BusyError(Exception):
    """Try again later: a conflict, a rate limit, a fault of the cloud's."""


class LostError(Exception):
    """The connection broke after the request was done, so its result is unknown to the client."""


class GoneError(Exception):
    """There is no such object."""


class RefusedError(Exception):
    """The cloud will never do that."""


@dataclass
class Object:
    """Something that costs money."""

    id: str
    token: str
    kind: str
    properties: dict[str, Any]
    ready_at: float
    name: str = ""  # of the resource that it was created for
    rests: bool = False
    content: str = ""  # written by its users; in an image, the contents of the object at that time


_AWAY = 2  # rate of failures of the identity service for a resource
IMAGE = "Sim::Image"  # kind of images


@dataclass
class Cloud:
    """All objects, and every rule that was broken."""

    seed: random.Random
    trouble: float = 0.2  # rate of requests that are rejected or lose their response
    now: float = 0.0
    objects: dict[str, Object] = field(default_factory=dict)
    # Ids of objects that others have deleted, even while they were in use.
    vanished: set[str] = field(default_factory=set)
    made: list[str] = field(default_factory=list)  # tokens in the order of creation
    journal: list[str] = field(default_factory=list)  # all calls by resource name
    down: tuple[float, float] = (0.0, 0.0)  # start and end of an outage
    violations: list[str] = field(default_factory=list)
    undeletable: set[str] = field(default_factory=set)
    ties: set[str] = field(default_factory=set)  # objects without an id except their name
    # Contents of those ties that have one: the cloud creates no second tie of the name.
    contents: dict[str, str] = field(default_factory=dict)
    # Ties that were made by hand: no stack may change or delete them (P9).
    foreign: set[str] = field(default_factory=set)
    # Objects made by hand: no stack may change or delete them before it imports them (P9).
    by_hand: set[str] = field(default_factory=set)
    quota: int | None = None  # limit on objects
    # Resources whose first create was refused, as is the first one of each refused kind.
    refused: set[str] = field(default_factory=set)
    # Number of requests of each resource to the identity service, which is unavailable at first.
    logins: Counter[str] = field(default_factory=Counter)
    # Whether an engine has recorded the object.
    recorded: Callable[[str], bool] = lambda object_id: True
    late: bool = False  # whether the current request was sent by an engine that is dead by now
    _numbers: Any = field(default_factory=lambda: itertools.count(1))

    def create(self, kind: str, token: str, properties: Mapping[str, Any], name: str = "") -> str:
        self._disturb()
        full = self.quota is not None and len(self.objects) >= self.quota
        if full or properties.get("fail") == "create":
            raise RefusedError(f"{kind} refused: quota exceeded")
        if properties.get("fail") == "once" and name not in self.refused:
            self.refused.add(name)
            raise RefusedError(f"{kind} refused: not this time")
        if token in self.made:
            self.violations.append(f"P3: a second object for the token {token}")
        self.made.append(token)
        found = Object(
            f"object-{next(self._numbers)}",
            token,
            kind,
            _without_image(properties),
            self.now + float(properties.get("slow") or 0),
            name,
            content=self._content(properties.get("image")),
        )
        for user in (properties.get("uses"), properties.get("value")):
            if str(user).startswith("object-") and user not in self.objects.keys() | self.vanished:
                self.violations.append(f"P4: {name} was made with {user}, which does not exist")
        needed = self.objects.get(str(properties.get("uses")))
        if needed is not None and needed.ready_at > self.now:
            self.violations.append(f"P10: {name} was made with {needed.id}, which is not ready")
        self.objects[found.id] = found
        self.journal.append(f"create {name}")
        self._lose()
        return found.id

    def place(self, object_id: str, kind: str, **properties: Any) -> None:
        """Make an object by hand."""
        self.objects[object_id] = Object(object_id, "", kind, properties, self.now, object_id)
        self.by_hand.add(object_id)

    def login(self, name: str) -> None:
        """Ask for the identity service, without which nothing is made for some resources."""
        self.logins[name] += 1
        if self.logins[name] <= _AWAY:
            raise UnavailableError("the identity service cannot be used")

    def get(self, object_id: str) -> Object:
        if not self.late and object_id not in self.by_hand and not self.recorded(object_id):
            self.violations.append(f"P3: {object_id} was used before it was on record")
        self._disturb()
        if object_id not in self.objects:
            raise GoneError(object_id)
        return self.objects[object_id]

    def find(self, token: str) -> str | None:
        self._disturb()
        return next((o.id for o in self.objects.values() if o.token == token), None)

    def update(self, object_id: str, properties: Mapping[str, Any]) -> None:
        found = self.get(object_id)
        self._require_owned(object_id)
        if properties.get("fail") == "update":
            found.properties["value"] = "half done"
            self.journal.append(f"half update {found.name}")
            raise RefusedError(f"{found.kind} refused: not now, not ever")
        if found.properties != _without_image(properties):
            self.journal.append(f"update {found.name}")
        found.properties = _without_image(properties)
        self._lose()

    def rest(self, object_id: str, rests: bool) -> None:
        """Put the object to rest, or wake it."""
        found = self.get(object_id)
        self._require_owned(object_id)
        word = "suspend" if rests else "resume"
        if found.properties.get("fail") == word:
            raise RefusedError(f"{found.kind} refused: it will not {word}")
        if found.rests == rests:
            raise BusyError("409 conflict: it is in that state already")
        found.rests = rests
        self.journal.append(f"{word} {found.name}")
        self._lose()

    def _require_owned(self, object_id: str) -> None:
        if object_id in self.by_hand and not self.recorded(object_id):
            self.violations.append(f"P9: {object_id} was changed, which no stack has imported")

    def rebuild(self, object_id: str, image: str | None) -> None:
        """Give the object the content of an image, or none."""
        found = self.get(object_id)
        if found.content != (content := self._content(image)):
            self.journal.append(f"rebuild {found.name}")
        found.content = content
        self._lose()

    def snapshot(self, object_id: str, token: str) -> str:
        """Make an image of an object."""
        found = self.get(object_id)
        if token in self.made:
            self.violations.append(f"P3: a second image for the token {token}")
        self.made.append(token)
        image = Object(
            f"object-{next(self._numbers)}", token, IMAGE, {}, self.now, content=found.content
        )
        self.objects[image.id] = image
        self.journal.append(f"snapshot {found.name}")
        self._lose()
        return image.id

    def _content(self, image: str | None) -> str:
        if image is None:
            return ""
        if image not in self.objects:
            raise RefusedError(f"there is no image {image}")
        return self.objects[image].content

    def fill(self, content: str) -> None:
        """The users of all objects put something into them."""
        for found in self.objects.values():
            if found.kind != IMAGE:
                found.content = content

    def delete(self, object_id: str) -> None:
        self._disturb()
        if object_id not in self.objects:
            raise GoneError(object_id)
        self._require_owned(object_id)
        if object_id in self.undeletable:
            raise RefusedError("the object is locked")
        users = [
            other.id
            for other in self.objects.values()
            if other.id != object_id and object_id in other.properties.values()
        ]
        if users:
            self.violations.append(f"P4: {object_id} was deleted while {users} needed it")
        self.journal.append(f"delete {self.objects[object_id].name}")
        del self.objects[object_id]
        self._lose()

    def vanish(self, name: str) -> None:
        """Delete the object of a resource, or the tie of that name, as another user would."""
        self.ties.discard(name)
        self.contents.pop(name, None)
        for found in [o for o in self.objects.values() if o.name == name]:
            del self.objects[found.id]
            self.vanished.add(found.id)

    def tie(self, name: str, content: str | None = None) -> None:
        """Make a tie. Without a content, a create of an existing one changes nothing."""
        self._disturb()
        if name in self.ties and content is not None:
            raise RefusedError(f"409: the tie {name} already exists")
        if name in self.foreign:
            self.violations.append(f"P9: a stack has made the tie {name}, which is not its own")
        if name not in self.ties:
            self.journal.append(f"tie {name}")
        self.ties.add(name)
        if content is not None:
            self.contents[name] = content
        self._lose()

    def untie(self, name: str) -> None:
        self._disturb()
        if name in self.foreign:
            self.violations.append(f"P9: a stack has removed the tie {name}, which is not its own")
        if name in self.ties:
            self.journal.append(f"untie {name}")
        self.ties.discard(name)
        self.contents.pop(name, None)
        self._lose()

    def tie_by_hand(self, name: str, content: str = "by hand") -> None:
        """Make a tie that no stack knows."""
        self.ties.add(name)
        self.foreign.add(name)
        self.contents[name] = content

    def content_of(self, name: str) -> str | None:
        """The content of a tie; None where there is no such tie."""
        self._disturb()
        return self.contents.get(name, "") if name in self.ties else None

    def is_tied(self, name: str) -> bool:
        self._disturb()
        return name in self.ties

    def tamper(self, name: str, **properties: Any) -> None:
        """Change the object of a resource, as another user would."""
        for found in [o for o in self.objects.values() if o.name == name]:
            found.properties.update(properties)

    def _disturb(self) -> None:
        since, until = self.down
        if since <= self.now < until:
            raise BusyError("503: the service is down")
        if self.seed.random() < self.trouble:
            raise BusyError("409 conflict: try again")

    def _lose(self) -> None:
        if self.seed.random() < self.trouble / 2:
            raise LostError("connection reset")


def _without_image(properties: Mapping[str, Any]) -> dict[str, Any]:
    """Return the kept properties: an object does not need the image that it was created from."""
    return {name: value for name, value in properties.items() if name != "image"}
