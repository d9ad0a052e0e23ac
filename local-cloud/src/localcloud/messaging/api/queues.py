"""The requests on queues."""

import re
from datetime import UTC, datetime
from typing import Any
from urllib.parse import urlencode

from starlette.responses import JSONResponse, Response
from starlette.routing import BaseRoute

from localcloud.core.clock import timestamp
from localcloud.core.store import Document
from localcloud.messaging.api.call import Call, Calls
from localcloud.messaging.api.limits import check_metadata
from localcloud.messaging.errors import MessagingError, bad_body, bad_request, conflict
from localcloud.messaging.model.state import RESERVED, State, queue_id

PATCH = "application/openstack-messaging-v2.0-json-patch"
_OPERATIONS = ("add", "remove", "replace")
_PARAMETERS = ("marker", "limit", "detailed", "name", "with_count")
_PURGED = ("messages", "subscriptions")


class Queues:
    """The requests on queues."""

    def __init__(self, state: State) -> None:
        self._state = state

    def routes(self, calls: Calls) -> list[BaseRoute]:
        """Return the routes."""
        one = "/v2/queues/{queue}"
        return [
            calls.route("GET", "/v2/queues", self._list),
            calls.route("GET", one, self._show),
            calls.route("PUT", one, self._create),
            calls.route("PATCH", one, self._change),
            calls.route("DELETE", one, self._delete),
            calls.route("GET", f"{one}/stats", self._stats),
            calls.route("POST", f"{one}/purge", self._purge),
        ]

    async def _list(self, call: Call) -> Document:
        limit = call.limit(also="no")
        filters = {k: v for k, v in call.request.query_params.items() if k not in _PARAMETERS}
        own = list(self._state.queues.find(project_id=call.project))
        marker, part = call.text("marker") or "", call.text("name") or ""
        found = sorted(
            (q for q in own if q["name"] > marker and part in q["name"] and _has(q, filters)),
            key=lambda queue: queue["name"],
        )[:limit]
        queues = [{"name": q["name"], "href": f"/v2/queues/{q['name']}"} for q in found]
        if call.flag("detailed"):
            for shown, queue in zip(queues, found, strict=True):
                shown["metadata"] = with_reserved(queue["metadata"])
        answer: Document = {"queues": queues, "links": []}
        if found:
            query = {**dict(call.request.query_params), "marker": found[-1]["name"]}
            answer["links"] = [{"rel": "next", "href": f"/v2/queues?{urlencode(query)}"}]
        if call.flag("with_count") and own:
            answer["count"] = len(own)
        return answer

    async def _show(self, call: Call) -> Document:
        found = self._state.queues.get(queue_id(call.project, call.queue))
        # Zaqar creates queues on first use, so that a missing queue has the default attributes.
        return with_reserved({} if found is None else found["metadata"])

    async def _create(self, call: Call) -> Response:
        metadata = await call.body()
        if not isinstance(metadata, dict | None):
            raise bad_body("Document type not supported.")
        try:
            check_metadata(metadata or {})
        except ValueError as error:
            raise bad_request(str(error)) from error
        known = queue_id(call.project, call.queue) in self._state.queues
        if not known:
            self._state.add_queue(call.project, call.queue, metadata or {})
        return Response(status_code=204 if known else 201, headers={"Location": call.path})

    async def _change(self, call: Call) -> Document:
        kind = call.request.headers.get("content-type", "")
        if kind != PATCH:
            message = f"Accepted media type for PATCH: {{'Accept-Patch': '{PATCH}'}}."
            raise MessagingError(415, "Unsupported media type", message)
        content = await call.body()
        if content is None:
            raise bad_body("PATCH body could not be empty for update.")
        if not isinstance(content, list):
            raise bad_body("Document type not supported.")
        try:
            changes = [_operation(change) for change in content]
            queue = self._state.queue(call.project, call.queue)
            metadata = dict(queue["metadata"])
            for change in changes:
                _apply(metadata, *change)
            check_metadata(metadata)
        except ValueError as error:
            raise bad_body(str(error)) from error
        self._state.queues.put({**queue, "metadata": metadata})
        return with_reserved(metadata)

    async def _delete(self, call: Call) -> None:
        self._state.delete_queue(queue_id(call.project, call.queue))

    async def _stats(self, call: Call) -> Response:
        messages = self._state.alive(queue_id(call.project, call.queue))
        claimed = sum(map(self._state.is_claimed, messages))
        free = len(messages) - claimed
        stats: Document = {"claimed": claimed, "free": free, "total": len(messages)}
        if messages:
            for name, message in (("oldest", messages[0]), ("newest", messages[-1])):
                stats[name] = {
                    "age": self._state.now() - message["created"],
                    "created": timestamp(datetime.fromtimestamp(message["created"], UTC)),
                    "href": f"{call.queue_path}/messages/{message['id']}",
                }
        return JSONResponse({"messages": stats})

    async def _purge(self, call: Call) -> None:
        content = await call.body()
        kinds: Any = list(_PURGED)
        if content is not None:
            if not isinstance(content, dict) or "resource_types" not in content:
                raise bad_request('Post body must contain key "resource_types".')
            kinds = content["resource_types"]
        if not isinstance(kinds, list) or any(kind not in _PURGED for kind in kinds):
            raise bad_request(f"Resource types must be a sub set of {set(_PURGED)}.")
        key = queue_id(call.project, call.queue)
        if "messages" in kinds:
            # Claimed messages stay: a worker is processing them.
            self._state.remove([message["id"] for message in self._state.free(key)], key)
        if "subscriptions" in kinds:
            self._state.subscriptions.delete_all(queue_id=key)


def with_reserved(metadata: Document) -> Document:
    """Return the stored attributes of a queue, with the reserved ones that every queue has."""
    reserved = {name: metadata.get(name) or value for name, value in RESERVED.items()}
    return {**metadata, **reserved}


def _has(queue: Document, filters: dict[str, str]) -> bool:
    return all(str(queue["metadata"].get(name)) == value for name, value in filters.items())


def _operation(change: Any) -> tuple[str, str, Any]:
    """Return the operation, attribute and value of a change; raises ValueError."""
    if not isinstance(change, dict):
        raise ValueError("Operations must be JSON objects.")
    known, op = ", ".join(_OPERATIONS), change.get("op")
    if op is None:
        message = "Unable to find `op` in JSON Schema change."
        raise ValueError(f"{message} It must be one of the following: {known}.")
    if op not in _OPERATIONS:
        message = f"Invalid operation: `{op}`."
        raise ValueError(f"{message} It must be one of the following: {known}.")
    if not isinstance(change.get("path"), str):
        raise ValueError("Unable to find 'path' in JSON Schema change")
    name = _attribute(change["path"])
    if op != "remove" and "value" not in change:
        raise ValueError(f'Operation "{op}" requires a member named "value".')
    return op, name, change.get("value")


def _attribute(pointer: str) -> str:
    if not pointer.startswith("/"):
        raise ValueError(f'Pointer `{pointer}` does not start with "/".')
    if re.search(r"~(?![01])", pointer):
        detail = 'contains "~" not part of a recognized escape sequence.'
        raise ValueError(f"Pointer `{pointer}` {detail}")
    parts = [part.replace("~1", "/").replace("~0", "~") for part in pointer[1:].split("/")]
    if len(parts) != 2 or not all(parts):
        shown = "/".join(parts)
        raise ValueError(f"Invalid JSON pointer for this resource: '/{shown}, e.g /metadata/key'")
    if parts[0].lower() != "metadata":
        raise ValueError("The root of path must be metadata, e.g /metadata/key.")
    return parts[1]


def _apply(metadata: Document, op: str, name: str, value: Any) -> None:
    if op != "add" and name not in metadata and name not in RESERVED:
        raise conflict(f"Can't {op} non-existent object {name}.")
    if op == "remove":
        metadata.pop(name, None)
    else:
        metadata[name] = value
