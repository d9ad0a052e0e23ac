"""Resolves names to ids, and checks whether an object exists, with requests to a cloud.

A value may be a name or an id. A value that looks like an id is first requested as such; otherwise
the service's list is filtered by name. Answers are cached for a short time, per connection: a
template with a hundred servers names the same image a hundred times.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from threading import Lock
from typing import Any, TypeVar
from urllib.parse import urlsplit
from weakref import WeakKeyDictionary

from stoker.clouds.faults import CloudError, describe, is_cloud_fault
from stoker.clouds.objects import remote_clouds
from stoker.clouds.objects.collection import Collection, Object
from stoker.clouds.objects.kinds import KINDS, finder_of, service_type
from stoker.kernel.clock import Clock
from stoker.kernel.diagnostics import nearest
from stoker.kernel.errors import NotFoundError
from stoker.schema.properties import Finder

_ID = re.compile(r"[0-9a-f]{8}-?(?:[0-9a-f]{4}-?){3}[0-9a-f]{12}", re.IGNORECASE)
_IN_DOMAIN = re.compile(r"(?s)(.+)\{(.+)\}")  # A name with its domain, such as ``demo{Default}``.
_REFUSED_IDS = frozenset({400, 403, 404, 405})
_KEPT_FOR = 30.0
_MOST_KEPT = 5000
# How long a check waits for the cloud if a missing answer is acceptable.
_PATIENCE_SECONDS = 10.0
# This constraint accepts an empty text, for a server without a key pair.
_OPTIONAL = "nova.keypair"

_MOST_NAMES = 500
_MOST_LISTED = 8
_ALIKE = 0.7
# For a wrong name of these kinds, the error lists existing ones.
_WITH_CANDIDATES = frozenset(
    {
        ("block-storage", "type"),
        ("compute", "flavor"),
        ("compute", "keypair"),
        ("image", "image"),
        ("network", "floating_network"),
        ("network", "network"),
        ("network", "router"),
        ("network", "security_group"),
        ("network", "subnet"),
        ("shared-file-system", "share_type"),
    }
)

Item = TypeVar("Item")
Answer = TypeVar("Answer")


class LookupFailedError(NotFoundError):
    """An unknown or ambiguous name."""


class NoSuchObjectError(LookupFailedError):
    """A name of no object in the cloud."""


class Unanswered(str):
    """The reason why the service could not say whether a value is right."""


class Lookups:
    """Finds objects by name or id. All methods block and are thread-safe."""

    def __init__(
        self,
        clock: Clock,
        cached_for: float = _KEPT_FOR,
        threads: int = 16,
        patience_seconds: float = _PATIENCE_SECONDS,
    ) -> None:
        self._clock = clock
        self._pool = ThreadPoolExecutor(threads, thread_name_prefix="lookup")
        self._cached_for = cached_for
        self._patience_seconds = patience_seconds
        self._lock = Lock()
        self._ids: WeakKeyDictionary[Any, dict[tuple[str, str, str], tuple[float, str]]] = (
            WeakKeyDictionary()
        )
        self._names_of_cloud: WeakKeyDictionary[
            Any, dict[tuple[str, str], tuple[float, Sequence[str] | None]]
        ] = WeakKeyDictionary()

    def find(self, cloud: Any, finder: Finder, value: str) -> str:
        """Return the id of the object with this name or id.

        Raise :class:`LookupFailedError` if there is none or more than one, and :class:`CloudError`
        if the service does not respond.
        """
        service = service_type(finder.service)
        where = KINDS.get((service, finder.kind))
        if where is None:
            raise LookupFailedError(f"there is no lookup of a {finder.kind} in service {service}")
        key = (service, finder.kind, value)
        now = self._clock.now()
        with self._lock:
            cached = self._ids.setdefault(cloud, {})
            until, found = cached.get(key, (0.0, ""))
        if until > now:
            return found
        try:
            found = find_id(cloud, where, value)
        except NoSuchObjectError as fault:
            known = self._names(cloud, (service, finder.kind), where, now)
            raise LookupFailedError(f"{fault}{candidates(value, known)}") from None
        with self._lock:
            if len(cached) >= _MOST_KEPT:
                cached.clear()
            cached[key] = (now + self._cached_for, found)
        return found

    def _names(
        self, cloud: Any, kind: tuple[str, str], where: Collection, now: float
    ) -> Sequence[str] | None:
        """Return the names of the objects in one page of the list, or None."""
        if kind not in _WITH_CANDIDATES:
            return None
        with self._lock:
            cached = self._names_of_cloud.setdefault(cloud, {})
            until, names = cached.get(kind, (0.0, ()))
        if until > now:
            return names
        names = names_in(cloud, where)
        with self._lock:
            cached[kind] = (now + self._cached_for, names)
        return names

    def check(self, cloud: Any, constraint: str, value: Any) -> str | None:
        """Return why a value violates a custom constraint of a cloud; None when it holds."""
        if constraint == remote_clouds.CONSTRAINT:
            return remote_clouds.fault_of(cloud, value)
        finder = finder_of(constraint)
        where = KINDS.get((finder.service, finder.kind))
        if where is None:
            return f"the constraint {constraint!r} is not known"
        if constraint == _OPTIONAL and value == "":
            return None
        if not isinstance(value, str) or not value:
            return f"{value!r} is neither a name nor an id"
        try:
            self.find(cloud, finder, value)
        except LookupFailedError as fault:
            return str(fault)
        except Exception as fault:
            if not is_cloud_fault(fault):
                raise
            message = f"the {where.words} {value!r} cannot be checked: {describe(fault)}"
            return Unanswered(message)
        return None

    def find_many(self, cloud: Any, items: Sequence[tuple[Finder, str]]) -> list[str]:
        """Return the ids, looked up in parallel and each once. Raise as :meth:`find`."""
        return self._each_once(items, lambda item: self.find(cloud, item[0], item[1]))

    def check_many(self, cloud: Any, checks: Sequence[tuple[str, Any]]) -> list[str | None]:
        """Return for each check the reason of a violation or None, in parallel and each once."""
        return self._each_once(checks, lambda item: self.check(cloud, item[0], item[1]))

    def known_faults(self, cloud: Any, checks: Sequence[tuple[str, Any]]) -> list[str | None]:
        """Check as :meth:`check_many`; None also if the service does not respond in time."""
        distinct = {repr(item): item for item in checks}
        futures = {
            key: self._pool.submit(self.check, cloud, *item) for key, item in distinct.items()
        }
        wait(futures.values(), timeout=self._patience_seconds)
        verdicts = {key: _known_fault(future) for key, future in futures.items()}
        return [verdicts[repr(item)] for item in checks]

    def close(self) -> None:
        """Start no more lookups."""
        self._pool.shutdown(wait=False, cancel_futures=True)

    def _each_once(self, items: Sequence[Item], ask: Callable[[Item], Answer]) -> list[Answer]:
        distinct = {repr(item): item for item in items}
        if len(distinct) == 1:
            return [ask(items[0])] * len(items)
        answers = dict(zip(distinct, self._pool.map(ask, distinct.values()), strict=True))
        return [answers[repr(item)] for item in items]


def _known_fault(check: Future[str | None]) -> str | None:
    """Return the reason of a violation; None also if the service has not responded."""
    if not check.done():
        check.cancel()
        return None
    reason = check.result()
    return None if isinstance(reason, Unanswered) else reason


def find_id(cloud: Any, where: Collection, value: str) -> str:
    """Return the id of the object with this name or id. Raise as :meth:`Lookups.find`."""
    in_domain = _IN_DOMAIN.fullmatch(value) if where.in_domains else None
    if in_domain is not None:
        return _id_in_domain(cloud, where, *in_domain.groups())
    is_reference = where.id_field.endswith("_ref")
    asks_by_id = is_reference or _ID.fullmatch(value) or not where.filters
    if asks_by_id and not where.makes_missing:
        found = by_id(cloud, where, urlsplit(value).path.rsplit("/", 1)[-1])
        if found is not None:
            return str(found.get(where.id_field) or value)
    name = value.lower() if where.lower_names else value
    if where.filters:
        matches = where.named(cloud, name)
    else:
        matches = [item for item in where.select(cloud) if item.get(where.name_field) == name]
    ids = {str(item[where.id_field]) for item in matches}
    if len(ids) > 1:
        others = f" or {value}{{DOMAIN}}" if where.in_domains else ""
        raise LookupFailedError(
            f"the name {value!r} belongs to {len(ids)} {where.words}s; use an id{others}: "
            f"{', '.join(sorted(ids)[:5])}"
        )
    if ids:
        return ids.pop()
    if where.filters and not is_reference:
        found = by_id(cloud, where, value)
        if found is not None:
            return str(found.get(where.id_field) or value)
    raise NoSuchObjectError(f"there is no {where.words} {value!r}")


def names_in(cloud: Any, where: Collection) -> Sequence[str] | None:
    """Return the names of listed objects; None if the service refuses."""
    try:
        answer = where.ask(cloud, "GET", where.path, params={"limit": _MOST_NAMES})
    except CloudError:
        return None
    items = [
        item[where.item_key] if where.item_key else item for item in answer.get(where.plural) or ()
    ]
    return sorted({str(item[where.name_field]) for item in items if item.get(where.name_field)})


def candidates(name: str, known: Sequence[str] | None) -> str:
    """Return the end of a message about an unknown name: the nearest name, or a short list."""
    if _ID.fullmatch(name):
        return ""
    near = nearest(name, known or (), _ALIKE)
    if near is not None:
        return f' (did you mean "{near}"?)'
    if known is None or len(known) > _MOST_LISTED:
        return ""
    return f"; there are: {', '.join(known)}" if known else "; there are none"


def _id_in_domain(cloud: Any, where: Collection, name: str, domain: str) -> str:
    """Return the id of an object in a domain. Raise LookupFailedError if there is none.

    A name that ends in braces is accepted only as an id. Otherwise an object in another domain
    could be confused with it.
    """
    domain_id = find_id(cloud, KINDS["identity", "domain"], domain)
    for item in where.select(cloud, name=name, domain_id=domain_id):
        if (item.get("name"), item.get("domain_id")) == (name, domain_id):
            return str(item[where.id_field])
    found = by_id(cloud, where, name) if _ID.fullmatch(name) else None
    if found is not None and found.get("domain_id") == domain_id:
        return str(found[where.id_field])
    raise LookupFailedError(f"there is no {where.words} {name!r} in the domain {domain!r}")


def by_id(cloud: Any, where: Collection, value: str) -> Object | None:
    """Return the object with this id, or None if the service does not know or accept the id."""
    try:
        return where.get(cloud, value)
    except CloudError as fault:
        if fault.status_code in _REFUSED_IDS:
            return None
        raise
