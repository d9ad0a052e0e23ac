"""Creates and deletes trusts, for work after the user's token has expired.

A user has one trust for each project and set of roles, shared by all stacks of the user there. It
is deleted after the last of these stacks. If a trust was deleted by others, a new one is created
with the token of the user's next request. Stacks that refer to the old trust use the new one from
then on.

Several processes create and delete trusts, so the records in the database decide. The cache in this
module only saves reads: the transaction that records a stack checks that its trust is still valid.

Tested by tests/identity.
"""

from __future__ import annotations

import asyncio
from collections import OrderedDict, defaultdict
from collections.abc import Coroutine, Mapping, Sequence
from http import HTTPStatus
from typing import TYPE_CHECKING, Any, Protocol

from stoker.engine.model.records import TrustRecord
from stoker.engine.model.requests import Caller
from stoker.identity.delegation.lost_trusts import LostTrust
from stoker.identity.grants import Grant, by_password, granted, json_of, trust_scope, unavailable
from stoker.identity.keystone import Keystone
from stoker.identity.settings import User
from stoker.kernel.errors import (
    MISSING_CREDENTIAL,
    ForbiddenError,
    RequestError,
    UnavailableError,
    ValidationError,
)
from stoker.kernel.logs.log import Log
from stoker.kernel.values import replace

if TYPE_CHECKING:
    import httpx

_MOST_RECENT = 4096
# Seconds after the end of a stack at which to check whether it was the trust's last one: the
# stack's row may end later.
CHECK_DELAYS = (2.0, 4.0, 8.0, 16.0, 32.0)
RENEWAL_PAUSE = 30.0  # seconds between two renewals of a trust, at least
ASK_PAUSE = 10.0  # Other processes are asked at most once in this many seconds.
# Seconds between checks whether another process has created a trust.
ANSWERS = (0.1, 0.2, 0.4, 0.8, 1.5)

log = Log(__name__)


class TrustRecords(Protocol):
    """Recorded trusts of this service, from all its processes."""

    async def trust(self, trust_id: str) -> TrustRecord | None:
        """Return a recorded trust, or None."""

    async def usable_trust(self, desired: TrustRecord) -> str | None:
        """Return a trust that grants the same rights, and is neither replaced nor retired."""

    async def add_trust(self, trust: TrustRecord, replaces: str | None) -> str:
        """Record a trust, as replacement of ``replaces`` if given.

        Return the valid trust. If another process was faster, that is the other one, and this one
        is retired.
        """

    async def retire_trusts(self, project_id: str, user_id: str) -> tuple[Sequence[str], bool]:
        """Mark the trusts of a user without a live stack in the project.

        Return the ids of marked trusts, including those marked before, and whether others are left.
        """

    async def drop_trust(self, trust_id: str) -> None:
        """Delete the record of a trust."""

    async def left_behind(self) -> Sequence[tuple[str, str]]:
        """Return project and user of trusts that are marked, or that no live stack uses."""

    async def ask_others(self, trust_id: str) -> bool:
        """Ask other processes to replace a trust; return whether there may be any."""


def _key(trust: TrustRecord) -> tuple[Any, ...]:
    return trust.project_id, trust.user_id, trust.trustee_id, trust.roles


class Trusts:
    """Creates, shares and deletes trusts. The trustee is the service user."""

    def __init__(
        self,
        keystone: Keystone,
        records: TrustRecords,
        check_delays: Sequence[float] = CHECK_DELAYS,
    ) -> None:
        self._keystone = keystone
        self._check_delays = check_delays
        self._settings = keystone.settings
        self._records = records
        # Trusts that were valid at their last check.
        self._usable: OrderedDict[tuple[Any, ...], str] = OrderedDict()
        # Trust -> its replacement, as far as this process knows.
        self._replaced: dict[str, str] = {}
        self._recent: OrderedDict[tuple[str, str], Caller] = OrderedDict()
        self._renewed: dict[tuple[str, str], float] = {}
        self._asked: dict[tuple[str, str], float] = {}
        self._locks: defaultdict[tuple[str, str], asyncio.Lock] = defaultdict(asyncio.Lock)
        self._tasks: set[asyncio.Task[Any]] = set()

    @property
    def trustee(self) -> User:
        """Return the user that acts with trusts."""
        return self._settings.trustee or self._settings.service_user

    async def close(self) -> None:
        """Stop. Other processes, or the next start, delete the rest."""
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    def remember(self, caller: Caller) -> None:
        """Keep a caller with a valid token, to replace a trust with it."""
        if caller.token is None or caller.trust_id is not None or caller.is_stack_user:
            return
        key = caller.project_id, caller.user_id
        self._recent[key] = caller
        self._recent.move_to_end(key)
        while len(self._recent) > _MOST_RECENT:
            self._recent.popitem(last=False)

    async def grant(self, caller: Caller) -> Mapping[str, Any]:
        """Return the trust of the caller: ``trust_id``, ``project_id``, ``trustor_user_id``.

        It may exist already. The transaction that records a stack checks that it is valid. A caller
        that acts with a trust for our own trustee, as a stack that creates stacks does, keeps that
        one (``borrowed``). Raise RequestError (400, ``MissingCredentialError``) for callers without
        token or role, and (403) if Keystone does not permit them to delegate.
        """
        roles = self._settings.delegated_roles or tuple(sorted(caller.roles))
        if caller.token is None or not caller.project_id or not roles:
            raise ValidationError(
                "Work that goes on after this request needs a token for a project, with a role.",
                MISSING_CREDENTIAL,
            )
        trustee = await self._keystone.grant_of(self.trustee)
        if caller.trust_id is not None and caller.trustee_id == trustee.user_id:
            return {**_credentials(caller, caller.trust_id), "borrowed": True}
        async with self._locks[caller.project_id, caller.user_id]:
            desired = TrustRecord(
                "", caller.project_id, caller.user_id, trustee.user_id, tuple(roles)
            )
            trust_id = (
                self._usable.get(_key(desired))
                or await self._records.usable_trust(desired)
                or await self._make(caller, desired)
            )
            self._keep(desired, trust_id)
        return _credentials(caller, trust_id)

    def forget(self, credentials: Mapping[str, Any]) -> None:
        """Stop handing out a trust that another process has deleted."""
        trust_id = str(credentials.get("trust_id"))
        self._replaced.pop(trust_id, None)
        for key in [key for key, usable in self._usable.items() if usable == trust_id]:
            del self._usable[key]

    async def revoke(self, credentials: Mapping[str, Any]) -> None:
        """Delete the trust of a stack that is gone or was not created, if it was its last user."""
        project_id, user_id = credentials.get("project_id"), credentials.get("trustor_user_id")
        if credentials.get("trust_id") and project_id and user_id:
            self._begin(self._remove_behind(str(project_id), str(user_id)))

    async def remove_left_behind(self) -> None:
        """Delete trusts that terminated processes or failed deletes left."""
        for project_id, user_id in await self._records.left_behind():
            await self._remove_unused(project_id, user_id)

    def current(self, trust_id: str) -> str:
        """Return the replacement of a trust, as far as this process knows."""
        while trust_id in self._replaced:
            trust_id = self._replaced[trust_id]
        return trust_id

    def handle_renewal_request(self, trust_id: str) -> None:
        """Replace a refused trust for another process, if possible."""
        self._begin(self.renew(trust_id, asks=False))

    async def renew(self, trust_id: str, *, asks: bool = True) -> str | None:
        """Return a replacement for a trust that Keystone refuses.

        None if no process, or without ``asks`` this one, has had a request from its user.
        """
        known = await self._records.trust(trust_id)
        if known is None:
            return None
        owner = known.project_id, known.user_id
        async with self._locks[owner]:
            replaced = await self._replacement(trust_id)
            if replaced is not None:
                return replaced
            caller = self._recent.get(owner)
            if caller is not None:
                return await self._make_anew(caller, known)
            if not asks or not _is_time(self._asked, owner, ASK_PAUSE):
                return None
        if await self._records.ask_others(trust_id):
            for seconds in ANSWERS:
                await asyncio.sleep(seconds)
                if (replaced := await self._replacement(trust_id)) is not None:
                    return replaced
        return None

    async def _replacement(self, trust_id: str) -> str | None:
        """Return the recorded replacement of a trust, if any."""
        last = trust_id
        while (known := await self._records.trust(last)) is not None and known.replaced_by:
            self._replaced[last] = last = known.replaced_by
        return None if last == trust_id else last

    async def _make_anew(self, caller: Caller, known: TrustRecord) -> str | None:
        if not _is_time(self._renewed, (known.project_id, known.user_id), RENEWAL_PAUSE):
            return None
        self.forget({"trust_id": known.trust_id})
        roles = self._settings.delegated_roles or tuple(sorted(caller.roles))
        desired = replace(known, trust_id="", roles=tuple(roles))
        try:
            trust_id = await self._make(caller, desired, known.trust_id)
        except RequestError as refused:
            log.warning("a trust is gone", trust=known.trust_id, error=refused.message)
            return None
        self._replaced[known.trust_id] = trust_id
        self._keep(desired, trust_id)
        return trust_id

    async def _make(self, caller: Caller, desired: TrustRecord, replaces: str | None = None) -> str:
        """Create a trust; return it, or the one that another process created in the meantime."""
        trust = {
            "trustor_user_id": desired.user_id,
            "trustee_user_id": desired.trustee_id,
            "project_id": desired.project_id,
            "impersonation": True,
            "allow_redelegation": self._settings.allow_redelegation,
            "roles": [{"name": name} for name in desired.roles],
        }
        lost = await LostTrust.before(self._keystone, self._records.trust, caller, desired)
        try:
            response = await self._keystone.request(
                "POST", "/OS-TRUST/trusts", token=caller.token, json={"trust": trust}
            )
            if response.status_code != HTTPStatus.CREATED:
                raise ForbiddenError(f"The identity service refuses a trust: {_words(response)}")
            trust_id = _trust_id(response)
        except UnavailableError:
            found = await lost.find()
            if found is None:
                lock = self._locks[desired.project_id, desired.user_id]
                self._begin(lost.remove_late(self._check_delays, lock))
                raise
            trust_id = found
        record = replace(desired, trust_id=trust_id)
        counts = await self._records.add_trust(record, replaces)
        if counts != record.trust_id:
            self._begin(self._remove(record.trust_id, desired.project_id, desired.user_id))
        return counts

    def _keep(self, desired: TrustRecord, trust_id: str) -> None:
        self._usable[_key(desired)] = trust_id
        self._usable.move_to_end(_key(desired))
        while len(self._usable) > _MOST_RECENT:
            self._usable.popitem(last=False)

    def _begin(self, work: Coroutine[Any, Any, Any]) -> None:
        task: asyncio.Task[Any] = asyncio.ensure_future(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _remove_behind(self, project_id: str, user_id: str) -> None:
        for seconds in self._check_delays:
            await asyncio.sleep(seconds)
            if await self._remove_unused(project_id, user_id):
                return

    async def _remove_unused(self, project_id: str, user_id: str) -> bool:
        """Delete a user's trusts for a project unless a stack uses them; return whether it is
        done."""
        async with self._locks[project_id, user_id]:
            ids, others = await self._records.retire_trusts(project_id, user_id)
            for trust_id in ids:
                self.forget({"trust_id": trust_id})
            removed = [await self._remove(trust_id, project_id, user_id) for trust_id in ids]
            return all(removed) and not others

    async def _remove(self, trust_id: str, project_id: str, user_id: str) -> bool:
        """Delete a trust, including one that is gone or unusable; return whether it is done."""
        path = f"/OS-TRUST/trusts/{trust_id}"
        caller = self._recent.get((project_id, user_id))
        token = caller.token if caller is not None else None
        try:
            answer = await self._keystone.request("DELETE", path, token=token) if token else None
            if answer is None or answer.status_code not in _GONE:
                acting = await self._acting(trust_id)
                if acting is not None:
                    await self._keystone.request("DELETE", path, token=acting.token)
        except RequestError as refused:
            log.warning("trusts left behind", project=project_id, error=refused.message)
            return False
        await self._records.drop_trust(trust_id)
        return True

    async def _acting(self, trust_id: str) -> Grant | None:
        """Return a token for the trust itself. It acts as the trustor, who may delete the trust."""
        request = by_password(self.trustee, trust_scope(trust_id))
        return granted(await self._keystone.request("POST", "/auth/tokens", json=request))


_GONE = (HTTPStatus.NO_CONTENT, HTTPStatus.NOT_FOUND)


def _is_time(latest: dict[tuple[str, str], float], owner: tuple[str, str], pause: float) -> bool:
    """Return whether the last time for an owner is long ago; if so, record the current time."""
    now = asyncio.get_running_loop().time()
    if now - latest.get(owner, -pause) < pause:
        return False
    latest[owner] = now
    return True


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
