"""Trusts: they let the service go on with a user's work after the user's token has expired.

A user has one trust for each project (and set of roles), which all stacks of the user there act
by. It is removed behind the last of them. A trust that somebody has deleted is made anew with the
token of the user's next request; stacks that name the old one act by the new one from then on.
"""

from __future__ import annotations

import asyncio
from collections import Counter, OrderedDict, defaultdict
from collections.abc import Coroutine, Mapping, Sequence
from dataclasses import replace
from http import HTTPStatus
from typing import TYPE_CHECKING, Any, Protocol

from stoker.engine.model.records import TrustRecord
from stoker.engine.model.requests import Caller
from stoker.identity.grants import Grant, by_password, granted, json_of, trust_scope, unavailable
from stoker.identity.keystone import Keystone
from stoker.identity.settings import User
from stoker.kernel.errors import MISSING_CREDENTIAL, Forbidden, Invalid, Refused
from stoker.kernel.log import Log

if TYPE_CHECKING:
    import httpx

_MOST_RECENT = 4096
LOOKS = (2.0, 4.0, 8.0, 16.0, 32.0)
"""Seconds between a stack's end and looks whether it was the last: its row may end later."""
_RENEWAL_PAUSE = 30.0
"""Seconds in which a trust is made anew at most once."""

log = Log(__name__)


class TrustRecords(Protocol):
    """The rows of the trusts that this service has made."""

    async def trusts(self) -> Sequence[TrustRecord]:
        """All of them, oldest first."""

    async def add_trust(self, trust: TrustRecord, replaces: str | None) -> None:
        """Record a trust; those that ``replaces`` names stand for it from now on."""

    async def retire_trusts(self, project_id: str, user_id: str) -> Sequence[str]:
        """Mark the trusts of a user who has no live stack in the project, and return their ids:
        also those that were marked before. None as long as there is a stack."""

    async def drop_trust(self, trust_id: str) -> None:
        """Forget a trust."""


class _Known:
    """The trusts of the records, to be found without asking the database."""

    def __init__(self, trusts: Sequence[TrustRecord] = ()) -> None:
        self._by_id: dict[str, TrustRecord] = {}
        self._usable: dict[tuple[Any, ...], str] = {}
        for trust in trusts:
            self.put(trust)

    def put(self, trust: TrustRecord) -> None:
        """Add a trust, or what has become of it."""
        self._by_id[trust.trust_id] = trust
        if trust.retired or trust.replaced_by:
            if self._usable.get(_key(trust)) == trust.trust_id:
                del self._usable[_key(trust)]
        else:
            self._usable[_key(trust)] = trust.trust_id

    def drop(self, trust_id: str) -> None:
        """Forget a trust."""
        trust = self._by_id.pop(trust_id, None)
        if trust is not None and self._usable.get(_key(trust)) == trust_id:
            del self._usable[_key(trust)]

    def get(self, trust_id: str) -> TrustRecord | None:
        """A trust by id."""
        return self._by_id.get(trust_id)

    def usable(self, wanted: TrustRecord) -> str | None:
        """A trust that gives the same rights to the same people."""
        return self._usable.get(_key(wanted))

    def owners(self) -> set[tuple[str, str]]:
        """Project and user of all trusts."""
        return {(trust.project_id, trust.user_id) for trust in self._by_id.values()}

    def of(self, project_id: str, user_id: str) -> list[TrustRecord]:
        """All trusts of a user for a project."""
        owner = (project_id, user_id)
        return [t for t in self._by_id.values() if (t.project_id, t.user_id) == owner]

    def current(self, trust_id: str) -> str:
        """The trust that currently replaces this one."""
        while (trust := self._by_id.get(trust_id)) is not None and trust.replaced_by:
            trust_id = trust.replaced_by
        return trust_id


def _key(trust: TrustRecord) -> tuple[Any, ...]:
    return trust.project_id, trust.user_id, trust.trustee_id, trust.roles


class Trusts:
    """Makes, shares and removes trusts. The trustee is the service's own user."""

    def __init__(
        self, keystone: Keystone, records: TrustRecords, looks: Sequence[float] = LOOKS
    ) -> None:
        self._keystone = keystone
        self._looks = looks
        self._settings = keystone.settings
        self._records = records
        self._known = _Known()
        self._granted: Counter[str] = Counter()
        """By trust, the requests that have got it and whose stack is not recorded yet."""
        self._recent: OrderedDict[tuple[str, str], Caller] = OrderedDict()
        self._renewed: dict[tuple[str, str], float] = {}
        self._locks: defaultdict[tuple[str, str], asyncio.Lock] = defaultdict(asyncio.Lock)
        self._tasks: set[asyncio.Task[Any]] = set()

    @property
    def trustee(self) -> User:
        """The user that acts by trusts."""
        return self._settings.trustee or self._settings.service_user

    async def load(self) -> None:
        """Read what earlier processes have recorded, and remove what they have left behind."""
        self._known = _Known(await self._records.trusts())
        for project_id, user_id in self._known.owners():
            self._begin(self._remove_unused(project_id, user_id))

    async def close(self) -> None:
        """Leave what is not removed yet to the next start."""
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    def remember(self, caller: Caller) -> None:
        """Keep a caller whose token is valid: it can make a trust anew."""
        if caller.token is None or caller.trust_id is not None or caller.is_stack_user:
            return
        key = caller.project_id, caller.user_id
        self._recent[key] = caller
        self._recent.move_to_end(key)
        while len(self._recent) > _MOST_RECENT:
            self._recent.popitem(last=False)

    async def grant(self, caller: Caller) -> Mapping[str, Any]:
        """The trust of the caller: ``trust_id``, ``project_id``, ``trustor_user_id``.

        The one that there is, or a new one. Whoever gets it calls :meth:`settle` once the stack is
        recorded, or is not going to be. A caller who acts by a trust for our own trustee, a stack
        that one of our stacks makes, goes on with that one (``borrowed``).
        Refuses (400, ``MissingCredentialError``) callers without token or role, and (403) those
        whom the identity service does not let delegate.
        """
        roles = self._settings.delegated_roles or tuple(sorted(caller.roles))
        if caller.token is None or not caller.project_id or not roles:
            raise Invalid(
                "Work that goes on after this request needs a token for a project, with a role.",
                MISSING_CREDENTIAL,
            )
        trustee = await self._keystone.grant_of(self.trustee)
        if caller.trust_id is not None and caller.trustee_id == trustee.user_id:
            return {**_credentials(caller, caller.trust_id), "borrowed": True}
        async with self._locks[caller.project_id, caller.user_id]:
            wanted = TrustRecord(
                "", caller.project_id, caller.user_id, trustee.user_id, tuple(roles)
            )
            trust_id = self._known.usable(wanted)
            if trust_id is None:
                trust_id = await self._make(caller, wanted)
            self._granted[trust_id] += 1
        return _credentials(caller, trust_id)

    def settle(self, credentials: Mapping[str, Any]) -> None:
        """The stack that credentials were granted for is recorded, or never will be."""
        trust_id = str(credentials.get("trust_id"))
        self._granted[trust_id] -= 1
        if self._granted[trust_id] <= 0:
            del self._granted[trust_id]

    async def revoke(self, credentials: Mapping[str, Any]) -> None:
        """A stack is gone, or was not made: its trust goes if it was the last to act by it."""
        project_id, user_id = credentials.get("project_id"), credentials.get("trustor_user_id")
        if credentials.get("trust_id") and project_id and user_id:
            self._begin(self._remove_behind(str(project_id), str(user_id)))

    def current(self, trust_id: str) -> str:
        """The trust that currently replaces this one."""
        return self._known.current(trust_id)

    async def renew(self, trust_id: str) -> str | None:
        """A trust in the place of one that the identity service does not accept any more.

        None as long as its user has sent no request since the service started.
        """
        known = self._known.get(trust_id)
        if known is None:
            return None
        owner = known.project_id, known.user_id
        async with self._locks[owner]:
            current = self._known.current(trust_id)
            if current != trust_id:
                return current
            caller, now = self._recent.get(owner), asyncio.get_running_loop().time()
            if caller is None or now - self._renewed.get(owner, -_RENEWAL_PAUSE) < _RENEWAL_PAUSE:
                return None
            self._renewed[owner] = now
            roles = self._settings.delegated_roles or tuple(sorted(caller.roles))
            wanted = replace(known, trust_id="", roles=tuple(roles))
            try:
                return await self._make(caller, wanted, known)
            except Refused as refused:
                log.warning("a trust is gone", trust=trust_id, error=refused.message)
                return None

    async def _make(
        self, caller: Caller, wanted: TrustRecord, replaced: TrustRecord | None = None
    ) -> str:
        trust = {
            "trustor_user_id": wanted.user_id,
            "trustee_user_id": wanted.trustee_id,
            "project_id": wanted.project_id,
            "impersonation": True,
            "allow_redelegation": self._settings.allow_redelegation,
            "roles": [{"name": name} for name in wanted.roles],
        }
        response = await self._keystone.request(
            "POST", "/OS-TRUST/trusts", token=caller.token, json={"trust": trust}
        )
        if response.status_code != HTTPStatus.CREATED:
            raise Forbidden(f"The identity service refuses a trust: {_words(response)}")
        made = replace(wanted, trust_id=_trust_id(response))
        await self._records.add_trust(made, None if replaced is None else replaced.trust_id)
        if replaced is not None:
            self._known.put(replace(replaced, replaced_by=made.trust_id))
        self._known.put(made)
        return made.trust_id

    def _begin(self, work: Coroutine[Any, Any, Any]) -> None:
        task: asyncio.Task[Any] = asyncio.ensure_future(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _remove_behind(self, project_id: str, user_id: str) -> None:
        for seconds in self._looks:
            await asyncio.sleep(seconds)
            if await self._remove_unused(project_id, user_id):
                return

    async def _remove_unused(self, project_id: str, user_id: str) -> bool:
        """Remove a user's trusts for a project unless a stack acts by them; whether it is done."""
        async with self._locks[project_id, user_id]:
            own = self._known.of(project_id, user_id)
            if any(self._granted[trust.trust_id] for trust in own):
                return False
            ids = await self._records.retire_trusts(project_id, user_id)
            for trust in own:
                if trust.trust_id in ids:
                    self._known.put(replace(trust, retired=True))
            try:
                for trust_id in ids:
                    await self._remove(trust_id, project_id, user_id)
            except Refused as refused:
                log.warning("trusts left behind", project=project_id, error=refused.message)
                return False
            return bool(ids) or not own

    async def _remove(self, trust_id: str, project_id: str, user_id: str) -> None:
        """Remove a trust; does nothing if it is gone or can no longer be used."""
        path = f"/OS-TRUST/trusts/{trust_id}"
        caller = self._recent.get((project_id, user_id))
        token = caller.token if caller is not None else None
        answer = await self._keystone.request("DELETE", path, token=token) if token else None
        if answer is None or answer.status_code not in _GONE:
            acting = await self._acting(trust_id)
            if acting is not None:
                await self._keystone.request("DELETE", path, token=acting.token)
        await self._records.drop_trust(trust_id)
        self._known.drop(trust_id)

    async def _acting(self, trust_id: str) -> Grant | None:
        """A token by the trust itself: it impersonates the trustor, who may end the trust."""
        request = by_password(self.trustee, trust_scope(trust_id))
        return granted(await self._keystone.request("POST", "/auth/tokens", json=request))


_GONE = (HTTPStatus.NO_CONTENT, HTTPStatus.NOT_FOUND)


def _credentials(caller: Caller, trust_id: str) -> dict[str, Any]:
    return {
        "trust_id": trust_id,
        "project_id": caller.project_id,
        "trustor_user_id": caller.user_id,
    }


def _trust_id(response: httpx.Response) -> str:
    try:
        return str(json_of(response)["trust"]["id"])
    except (KeyError, TypeError) as error:
        raise unavailable("its trust has no id") from error


def _words(response: httpx.Response) -> str:
    try:
        return str(response.json()["error"]["message"])
    except (ValueError, KeyError, TypeError):
        return f"status {response.status_code}"
