"""Finds trusts whose create got no response.

A trust has no name, and other services may have created trusts for the same users. The trust of a
lost create did not exist before, grants the same rights, and no process of this service has
recorded it. The search runs twice with a pause, because another process records a trust shortly
after it created it.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from http import HTTPStatus
from typing import Any

from stoker.engine.model.records import TrustRecord
from stoker.engine.model.requests import Caller
from stoker.identity.grants import json_of
from stoker.identity.keystone import Keystone
from stoker.kernel.errors import RequestError
from stoker.kernel.logs.log import Log

_PATH = "/OS-TRUST/trusts"
_RECORDED_SECONDS = 0.5  # A process records a trust within this time after its create.

log = Log(__name__)

# Returns the record of a trust of this service, or None.
FindRecord = Callable[[str], Awaitable[TrustRecord | None]]


class LostTrust:
    """A trust whose create may get no response.

    ``before`` are the ids of the trusts that existed before; None if Keystone did not list them.
    """

    def __init__(
        self,
        keystone: Keystone,
        find_record: FindRecord,
        caller: Caller,
        desired: TrustRecord,
        before: frozenset[str] | None,
    ) -> None:
        self._keystone = keystone
        self._find_record = find_record
        self._caller = caller
        self._desired = desired
        self._before = before

    @classmethod
    async def before(
        cls, keystone: Keystone, find_record: FindRecord, caller: Caller, desired: TrustRecord
    ) -> LostTrust:
        """Return the lost trust for a create that will be sent next."""
        lost = cls(keystone, find_record, caller, desired, None)
        lost._before = await lost._ids()
        return lost

    async def find(self) -> str | None:
        """Return the id, or None if it does not exist (yet) or several may be it."""
        try:
            found = set(await self._candidates())
            if found:
                await asyncio.sleep(_RECORDED_SECONDS)
                found &= set(await self._candidates())
        except RequestError:
            return None
        return found.pop() if len(found) == 1 else None

    async def remove_late(self, delays: Sequence[float], lock: asyncio.Lock) -> None:
        """Delete the trust if it appears within these seconds."""
        for seconds in delays:
            await asyncio.sleep(seconds)
            async with lock:
                found = await self.find()
                if found is not None:
                    log.warning("removing a trust whose create got no response", trust=found)
                    path = f"{_PATH}/{found}"
                    await self._keystone.request("DELETE", path, token=self._caller.token)
                    return

    async def _candidates(self) -> list[str]:
        present = await self._ids()
        if self._before is None or present is None:
            return []  # Without the list from before, it is unknown which trusts are new.
        new = sorted(present - self._before)
        unknown = [each for each in new if await self._find_record(each) is None]
        roles = set(self._desired.roles)
        return [each for each in unknown if await self._roles_of(each) == roles]

    async def _ids(self) -> frozenset[str] | None:
        """Return the ids of the user's trusts for our trustee in the project; None if refused."""
        answer = await self._get(_PATH, {"trustor_user_id": self._desired.user_id})
        if answer is None:
            return None
        return frozenset(
            str(trust["id"])
            for trust in answer.get("trusts", ())
            if trust.get("trustee_user_id") == self._desired.trustee_id
            and trust.get("project_id") == self._desired.project_id
            and trust.get("impersonation")
            and not trust.get("expires_at")
        )

    async def _roles_of(self, trust_id: str) -> set[str]:
        answer = await self._get(f"{_PATH}/{trust_id}", {}) or {}
        return {str(role["name"]) for role in answer.get("trust", {}).get("roles", ())}

    async def _get(self, path: str, query: dict[str, str]) -> dict[str, Any] | None:
        token = self._caller.token
        response = await self._keystone.request("GET", path, token=token, params=query)
        return dict(json_of(response)) if response.status_code == HTTPStatus.OK else None
