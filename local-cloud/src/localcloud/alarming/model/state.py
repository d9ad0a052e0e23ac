"""Documents of the alarm service: alarms, their history, and quotas."""

import json
from collections.abc import Iterable
from typing import Any
from uuid import uuid4

from localcloud.alarming.errors import not_found
from localcloud.core.cloud import Cloud
from localcloud.core.store import Document
from localcloud.web.http import RequestContext

OK, ALARM, UNKNOWN = "ok", "alarm", "insufficient data"
STATES = (OK, ALARM, UNKNOWN)
DEFAULT_QUOTA = 500
_MOST_CHANGES = 100  # that are remembered of an alarm: the newest
_MOST_REMEMBERED = 10_000  # changes that are remembered altogether, of deleted alarms as well


class State:
    """The collections of the alarm service."""

    def __init__(self, cloud: Cloud) -> None:
        self.cloud = cloud
        store = cloud.store
        self.alarms = store.collection("alarming.alarm", index=("project_id", "type"))
        self.changes = store.collection("alarming.change", index=("alarm_id", "project_id"))
        self.quotas = store.collection("alarming.quota")

    def now(self) -> str:
        """Return the present time as answers have it."""
        return self.cloud.clock.now().replace(tzinfo=None).isoformat()

    def visible(self, who: RequestContext) -> Iterable[Document]:
        """Return the alarms that a caller may see."""
        if who.is_admin:
            return self.alarms.values()
        return list(self.alarms.find(project_id=who.require_project()))

    def found(self, who: RequestContext, alarm_id: str) -> Document:
        """Return an alarm; raises NotFoundError."""
        alarm = self.alarms.get(alarm_id)
        if alarm is None or not (who.is_admin or alarm["project_id"] == who.project_id):
            raise not_found(alarm_id)
        return alarm

    def limit(self, project_id: str) -> int:
        """Return how many alarms a project may have."""
        own = self.quotas.get(project_id)
        return DEFAULT_QUOTA if own is None else int(own["alarms"])

    def record(
        self, alarm: Document, kind: str, detail: dict[str, Any], who: RequestContext | None = None
    ) -> None:
        """Write an entry into the history of an alarm."""
        self.changes.put(
            {
                "id": str(uuid4()),
                "alarm_id": alarm["id"],
                "project_id": alarm["project_id"],
                "type": kind,
                "detail": json.dumps(detail),
                "timestamp": self.now(),
                "severity": alarm["severity"],
                "user_id": None if who is None else who.user_id,
                "by_project_id": None if who is None else who.project_id,
            }
        )
        own = list(self.changes.find(alarm_id=alarm["id"]))
        for old in own[: max(0, len(own) - _MOST_CHANGES)]:
            self.changes.delete(old["id"])
        if len(self.changes) > _MOST_REMEMBERED:
            self.changes.delete(next(iter(self.changes.values()))["id"])

    def move(self, alarm: Document, to: str, reason: str) -> Document:
        """Put an alarm into another state; returns it."""
        detail = {"state": to, "transition_reason": reason}
        moved = {**alarm, "state": to, "state_reason": reason, "state_timestamp": self.now()}
        with self.cloud.store.transaction():
            self.alarms.put(moved)
            self.record(moved, "state transition", detail)
        return moved
