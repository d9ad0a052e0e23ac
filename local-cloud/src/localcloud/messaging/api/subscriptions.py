"""The requests on subscriptions: whom the messages of a queue are sent to."""

from datetime import timedelta
from typing import Any
from urllib.parse import urlencode, urlsplit
from uuid import uuid4

from starlette.responses import JSONResponse, Response
from starlette.routing import BaseRoute

from localcloud.core.store import Document
from localcloud.messaging.api.call import Call, Calls
from localcloud.messaging.api.limits import check_retries
from localcloud.messaging.errors import MessagingError, bad_body, bad_request, conflict, not_found
from localcloud.messaging.model.state import TRUST, State, queue_id

SCHEMES = ["http", "https", "mailto", "trust+http", "trust+https"]
_TTL = 3600
_LEAST_TTL = 60
_EXISTS = "Such subscription already exists."
_UNIQUE = "Subscriptions are unique by project + queue + subscriber URI."
_MOST = 100  # subscriptions of one queue


class Subscriptions:
    """The requests on subscriptions."""

    def __init__(self, state: State) -> None:
        self._state = state

    def routes(self, calls: Calls) -> list[BaseRoute]:
        """Return the routes."""
        path = "/v2/queues/{queue}/subscriptions"
        return [
            calls.route("GET", path, self._list),
            calls.route("POST", path, self._create),
            calls.route("GET", f"{path}/{{id}}", self._show),
            calls.route("PATCH", f"{path}/{{id}}", self._change),
            calls.route("DELETE", f"{path}/{{id}}", self._delete),
            calls.route("PUT", f"{path}/{{id}}/confirm", self._confirm),
        ]

    async def _list(self, call: Call) -> Document:
        limit, marker = call.limit(), call.text("marker")
        found = self._alive(call)
        known = [each["id"] for each in found]
        if marker in known:
            found = found[known.index(marker) + 1 :]
        found = found[:limit]
        links = []
        if found:
            query = {**dict(call.request.query_params), "marker": found[-1]["id"]}
            links = [{"rel": "next", "href": f"{call.path}?{urlencode(query)}"}]
        return {"subscriptions": [self._shown(call, each) for each in found], "links": links}

    async def _create(self, call: Call) -> Response:
        content = await call.body() or {}
        if not isinstance(content, dict):
            raise bad_body("Document type not supported.")
        if "subscriber" not in content:
            raise bad_request("Missing parameter subscriber in body.")
        self._check(call, content)
        queue = self._state.ensured(call.project, call.queue)
        alive = self._alive(call)
        if any(each["subscriber"] == content["subscriber"] for each in alive):
            # Zaqar has no space between these sentences here, but has one in a change.
            raise conflict(_EXISTS + _UNIQUE)
        if len(alive) >= _MOST:
            raise bad_request(f"A queue has at most {_MOST} subscriptions.")
        now, ttl = self._state.now(), content.get("ttl") or _TTL
        made = {
            "id": str(uuid4()),
            "queue_id": queue["id"],
            "subscriber": content["subscriber"],
            "options": content.get("options") or {},
            "ttl": ttl,
            "created": now,
            "expires": now + ttl,
            "trust_id": self._trust(call, content["subscriber"]),
        }
        self._state.subscriptions.put(made)
        where = {"Location": call.path}
        return JSONResponse({"subscription_id": made["id"]}, 201, where)

    async def _show(self, call: Call) -> Document:
        return self._shown(call, self._found(call))

    async def _change(self, call: Call) -> Response:
        content = await call.document()
        self._check(call, content)
        found = self._found(call)
        others = [each for each in self._alive(call) if each["id"] != found["id"]]
        subscriber = str(content.get("subscriber") or found["subscriber"])
        if any(each["subscriber"] == subscriber for each in others):
            raise conflict(f"{_EXISTS} {_UNIQUE}")
        changes = {k: v for k, v in content.items() if k in ("subscriber", "ttl", "options")}
        if changes.get("ttl"):
            now = self._state.now()
            changes |= {"created": now, "expires": now + changes["ttl"]}
        if subscriber != found["subscriber"]:
            changes["trust_id"] = self._trust(call, subscriber)
        self._state.subscriptions.put({**found, **changes})
        return Response(status_code=204, headers={"Location": call.path})

    def _trust(self, call: Call, subscriber: str) -> str | None:
        """Return the ID of a trust, for a subscriber that gets a token."""
        if not subscriber.startswith(TRUST):
            return None
        if call.who is None:
            raise bad_request("A subscriber with a trust needs the token of who makes it.")
        return self._state.trusts.make(call.who)

    async def _delete(self, call: Call) -> None:
        found = self._state.subscriptions.get(call.item("id"))
        if found is not None and found["queue_id"] == queue_id(call.project, call.queue):
            self._state.subscriptions.delete(found["id"])

    async def _confirm(self, call: Call) -> Response:
        content = await call.document()
        if not isinstance(content.get("confirmed"), bool):
            raise bad_request("The 'confirmed' should be boolean.")
        found = self._found(call)
        self._state.subscriptions.put({**found, "confirmed": content["confirmed"]})
        return Response(status_code=204, headers={"Location": call.path})

    def _alive(self, call: Call) -> list[Document]:
        return self._state.subscriptions_of(queue_id(call.project, call.queue))

    def _found(self, call: Call) -> Document:
        for each in self._alive(call):
            if each["id"] == call.item("id"):
                return each
        raise not_found(f"Subscription {call.item('id')} does not exist")

    def _shown(self, call: Call, found: Document) -> Document:
        shown: dict[str, Any] = {n: found[n] for n in ("id", "subscriber", "options", "ttl")}
        age = self._state.now() - found["created"]
        shown |= {"source": call.queue, "age": age}
        return {**shown, "confirmed": found.get("confirmed", False)}

    def _check_guest_subscriber(self, subscriber: str) -> None:
        """Refuse subscribers that would let a guest send requests from the host to any address."""
        if not self._state.cloud.settings.is_foreign_service(subscriber):
            raise MessagingError(
                403, "Forbidden", "Users of stacks may subscribe addresses of stack services only."
            )

    def _check(self, call: Call, content: Document) -> None:
        """Raise MessagingError for an invalid subscription."""
        if not content:
            raise bad_request("No subscription to create.")
        subscriber = content.get("subscriber")
        if subscriber is not None and not _is_address(subscriber):
            message = "The subscriber type of subscription must be supported in the list"
            raise bad_request(f"{message} {SCHEMES}.")
        if subscriber is not None and call.who is not None and call.who.is_stack_user:
            self._check_guest_subscriber(subscriber)
        options = content.get("options") or {}
        if not isinstance(options, dict):
            raise bad_request("Options must be a dict.")
        self._check_ttl(content.get("ttl"))
        try:
            check_retries(options)
        except ValueError as error:
            raise bad_request(str(error)) from error

    def _check_ttl(self, ttl: Any) -> None:
        if ttl is None:
            return
        if not isinstance(ttl, int) or isinstance(ttl, bool):
            raise bad_request("TTL must be an integer.")
        if ttl < _LEAST_TTL:
            message = "The TTL for a subscription must be at least"
            raise bad_request(f"{message} {_LEAST_TTL} seconds long.")
        try:
            self._state.cloud.clock.now() + timedelta(seconds=ttl)
        except OverflowError as error:
            message = "The TTL seconds for a subscription plus current time must be less than"
            raise bad_request(f"{message} 9999-12-31 23:59:59.999999.") from error


def _is_address(subscriber: Any) -> bool:
    try:
        return isinstance(subscriber, str) and urlsplit(subscriber).scheme in SCHEMES
    except ValueError:
        return False
