"""The trust records of a database."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from stoker.engine.model.records import TrustRecord
from stoker.kernel.values import replace


@dataclass
class Records:
    """The rows of a database that outlives the service; ``live`` are the owners of stacks."""

    rows: dict[str, TrustRecord] = field(default_factory=dict)
    live: set[tuple[str, str]] = field(default_factory=set)
    # Trusts whose renewal was requested from other processes.
    asked: list[str] = field(default_factory=list)
    others: bool = False  # whether other processes can be asked

    async def trust(self, trust_id: str) -> TrustRecord | None:
        return self.rows.get(trust_id)

    async def usable_trust(self, wanted: TrustRecord) -> str | None:
        for trust in self.rows.values():
            if replace(trust, trust_id="") == replace(wanted, trust_id=""):
                return trust.trust_id
        return None

    async def add_trust(self, trust: TrustRecord, replaces: str | None) -> str:
        other = (
            await self.usable_trust(trust) if replaces is None else self.rows[replaces].replaced_by
        )
        self.rows[trust.trust_id] = replace(trust, retired=other is not None)
        if other is not None:
            return other
        if replaces is not None:
            self.rows[replaces] = replace(self.rows[replaces], replaced_by=trust.trust_id)
        return trust.trust_id

    async def retire_trusts(self, project_id: str, user_id: str) -> tuple[Sequence[str], bool]:
        owner = (project_id, user_id)
        own = [t for t in self.rows.values() if (t.project_id, t.user_id) == owner]
        if owner not in self.live:
            self.rows |= {t.trust_id: replace(t, retired=True) for t in own}
        ids = [t.trust_id for t in own if self.rows[t.trust_id].retired]
        return ids, len(ids) < len(own)

    async def drop_trust(self, trust_id: str) -> None:
        del self.rows[trust_id]

    async def left_behind(self) -> Sequence[tuple[str, str]]:
        owners = {(t.project_id, t.user_id) for t in self.rows.values() if t.retired}
        return sorted(owners | {(t.project_id, t.user_id) for t in self.rows.values()} - self.live)

    async def ask_others(self, trust_id: str) -> bool:
        if self.others:
            self.asked.append(trust_id)
        return self.others
