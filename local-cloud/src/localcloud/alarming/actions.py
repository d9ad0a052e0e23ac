"""Actions of alarms when their state changes: HTTP calls, messages to queues, log entries."""

import json
import logging
from typing import Any
from urllib.parse import parse_qs, quote, urlsplit, urlunsplit
from uuid import uuid4

from localcloud.alarming.errors import invalid
from localcloud.alarming.model.state import State
from localcloud.core.outgoing import OutgoingCalls
from localcloud.core.store import Document
from localcloud.identity.service_trusts import Trusts
from localcloud.web.http import RequestContext

_LOG = logging.getLogger(__name__)
SCHEMES = ("http", "https", "log", "test", "zaqar")
_TRUST = "trust+"
_TRUSTED = ("trust+http", "trust+https", "trust+zaqar")
_MOST = 50  # actions of one state of an alarm
_LONGEST = 2048
_THREADS = 8
_MOST_WAITING = 500
_DELETE = "delete"  # in place of a password in URLs with a trust, as in Aodh


def parsed(name: str, given: Any) -> list[str]:
    """Return the actions of a request; raises BadRequestError."""
    if not isinstance(given, list) or len(given) > _MOST:
        raise invalid(name, given, f"A list of at most {_MOST} addresses is expected.")
    for each in given:
        try:
            scheme = urlsplit(each).scheme if isinstance(each, str) else ""
        except ValueError:
            scheme = ""
        if scheme not in (*SCHEMES, *_TRUSTED) or len(each) > _LONGEST:
            detail = f"Addresses of {', '.join((*SCHEMES, *_TRUSTED))} are supported."
            raise invalid(name, each, detail)
    return [_without_trust(each) for each in given]


def shown(action: str) -> str:
    """Return an action without the trust that it uses."""
    return _without_trust(action)


def trust_of(action: str) -> str | None:
    """Return the id of the trust that an action uses."""
    parts = urlsplit(action)
    return parts.username if needs_trust(action) and parts.password == _DELETE else None


def with_trust(action: str, trust_id: str) -> str:
    """Return an action that uses a trust."""
    parts = urlsplit(action)
    return urlunsplit(parts._replace(netloc=f"{trust_id}:{_DELETE}@{parts.netloc}"))


def needs_trust(action: str) -> bool:
    """Return whether an action needs the rights of the alarm's creator, as all on queues do."""
    return action.startswith((_TRUST, "zaqar:"))


def _without_trust(action: str) -> str:
    if not needs_trust(action):
        return action
    parts = urlsplit(action)
    return urlunsplit(parts._replace(netloc=parts.netloc.rpartition("@")[2]))


class Actions:
    """Runs the actions of alarms in the background."""

    def __init__(self, state: State, trusts: Trusts) -> None:
        self._state = state
        self._trusts = trusts
        self._calls = OutgoingCalls("alarm", _THREADS, _MOST_WAITING)

    def take(self, alarm: Document, previous: str, reason: str, data: Document) -> None:
        """Start the actions of an alarm for its current state."""
        notice = {
            "alarm_id": alarm["id"],
            "alarm_name": alarm["name"],
            "severity": alarm["severity"],
            "previous": previous,
            "current": alarm["state"],
            "reason": reason,
            "reason_data": data,
        }
        for action in alarm[f"{alarm['state'].replace(' ', '_')}_actions"]:
            if self._calls.is_full:
                _LOG.warning("alarm %s: an action is not taken, too many are", alarm["id"])
                return
            self._calls.start(self._take(alarm, action, notice))

    async def idle(self) -> None:
        """Return when all actions have been taken."""
        await self._calls.idle()

    async def stop(self) -> None:
        """Cancel the actions in flight."""
        await self._calls.stop()

    async def _take(self, alarm: Document, action: str, notice: Document) -> None:
        parts = urlsplit(shown(action))
        scheme = parts.scheme.removeprefix(_TRUST)
        if scheme in ("log", "test"):
            _LOG.warning(
                "Notifying alarm %s from %s to %s with action %s because %s.",
                alarm["id"], notice["previous"], notice["current"], action, notice["reason"],
            )  # fmt: skip
            return
        headers = {"Content-Type": "application/json"}
        trust_id = trust_of(action)
        if trust_id is not None:
            token = self._trusts.token(trust_id)
            if token is None:
                _LOG.warning("alarm %s: the trust of action %s is gone", alarm["id"], shown(action))
                return
            headers["X-Auth-Token"] = token
        url, body = urlunsplit(parts._replace(scheme=scheme)), notice
        if scheme == "zaqar":
            queue = quote((parse_qs(parts.query).get("queue_name") or [""])[0], safe="")
            url = f"{self._state.cloud.settings.url}/messaging/v2/queues/{queue}/messages"
            headers["Client-ID"] = str(uuid4())
            body = {"messages": [{"body": notice}]}
        try:
            await self._calls.post(url, json.dumps(body).encode(), headers)
        except (OSError, ValueError) as error:
            _LOG.warning("alarm %s: action %s failed: %s", alarm["id"], shown(action), error)


def bound(alarm: Document, who: RequestContext, trusts: Trusts) -> Document:
    """Return an alarm whose actions use a trust where they need one."""
    names = ("ok_actions", "alarm_actions", "insufficient_data_actions")
    needing = [a for name in names for a in alarm[name] if needs_trust(a)]
    if not needing:
        return alarm
    trust_id = trusts.make(who)
    return {
        **alarm,
        **{
            name: [with_trust(a, trust_id) if needs_trust(a) else a for a in alarm[name]]
            for name in names
        },
    }
