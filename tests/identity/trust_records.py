"""What a database keeps of trusts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from stoker.engine.model.records import TrustRecord


@dataclass
class Records:
    """The rows of a database that outlives the service; ``live`` are the owners of stacks."""

    rows: dict[str, TrustRecord] = field(default_factory=dict)
    live: set[tuple[str, str]] = field(default_factory=set)

    async def trusts(self) -> Sequence[TrustRecord]:
        return list(self.rows.values())

    async def add_trust(self, trust: TrustRecord, replaces: str | None) -> None:
        self.rows[trust.trust_id] = trust
        if replaces is not None:
            self.rows[replaces] = replace(self.rows[replaces], replaced_by=trust.trust_id)

    async def retire_trusts(self, project_id: str, user_id: str) -> Sequence[str]:
        owner = (project_id, user_id)
        own = [t for t in self.rows.values() if (t.project_id, t.user_id) == owner]
        if owner not in self.live:
            self.rows |= {t.trust_id: replace(t, retired=True) for t in own}
        return [t.trust_id for t in own if self.rows[t.trust_id].retired]

    async def drop_trust(self, trust_id: str) -> None:
        del self.rows[trust_id]
