"""The requests on messages."""

import json
from typing import Any
from urllib.parse import urlencode

from starlette.responses import JSONResponse, Response
from starlette.routing import BaseRoute

from localcloud.core.store import Document
from localcloud.messaging.api.call import PAGE, Call, Calls
from localcloud.messaging.api.limits import POST_BYTES, check_message
from localcloud.messaging.errors import MessagingError, bad_body, bad_request, not_found
from localcloud.messaging.jobs import Webhooks
from localcloud.messaging.model.state import RESERVED, State, queue_id

_DELETING = "Unable to delete"


class Messages:
    """The requests on messages."""

    def __init__(self, state: State, webhooks: Webhooks) -> None:
        self._state = state
        self._webhooks = webhooks

    def routes(self, calls: Calls) -> list[BaseRoute]:
        """Return the routes."""
        path = "/v2/queues/{queue}/messages"
        return [
            calls.route("GET", path, self._list),
            calls.route("POST", path, self._post),
            calls.route("DELETE", path, self._delete_many),
            calls.route("GET", f"{path}/{{id}}", self._show),
            calls.route("DELETE", f"{path}/{{id}}", self._delete),
        ]

    async def _list(self, call: Call) -> Document:
        ids = call.ids()
        if ids is not None:
            return self._some(call, ids)
        limit = call.limit()
        found = self._state.alive(queue_id(call.project, call.queue))
        marker = call.text("marker")
        known = [message["id"] for message in found]
        if marker in known:
            found = found[known.index(marker) + 1 :]
        claimed, own, now = call.flag("include_claimed"), call.flag("echo"), self._state.now()
        delayed = call.flag("include_delayed")
        found = [
            message
            for message in found
            if (own or message["client"] != call.client)
            and (claimed or not self._state.is_claimed(message))
            and (delayed or message["delayed_until"] <= now)
        ][:limit]
        links = []
        # A page with messages has a next link, even the last one: clients poll it for new messages.
        if found:
            query = {**dict(call.request.query_params), "marker": found[-1]["id"]}
            links = [{"rel": "next", "href": f"{call.path}?{urlencode(query)}"}]
        return {"messages": [self._shown(call, message) for message in found], "links": links}

    def _some(self, call: Call, ids: Any) -> Document:
        if len(ids) > PAGE:
            raise bad_request(f"Limit must be at least 1 and may not be greater than {PAGE}.")
        alive = {m["id"]: m for m in self._state.alive(queue_id(call.project, call.queue))}
        found = [self._shown(call, alive[each]) for each in ids if each in alive]
        if not found:
            raise not_found(
                f"No messages with IDs: {list(ids)} found in the queue {call.queue} for project "
                f"{call.project}."
            )
        return {"messages": found}

    async def _post(self, call: Call) -> Response:
        content = await call.document()
        if "messages" not in content:
            raise bad_request("No messages were found in the request body.")
        posted = content["messages"]
        if not isinstance(posted, list):
            raise bad_body("Document type not supported.")
        queue = self._state.ensured(call.project, call.queue)
        attributes = queue["metadata"]
        _check_size(content, attributes.get("_max_messages_post_size"))
        messages = [_checked(message, attributes) for message in posted]
        if not messages:
            # Spelled as in Zaqar.
            raise bad_request("No messages to enqueu.")
        ids = self._state.post(queue["id"], call.client, messages)
        self._webhooks.notify(queue, messages)
        where = {"Location": f"{call.path}?ids={','.join(ids)}"}
        return JSONResponse({"resources": [f"{call.path}/{each}" for each in ids]}, 201, where)

    async def _show(self, call: Call) -> Document:
        return self._shown(call, self._found(call))

    async def _delete(self, call: Call) -> None:
        try:
            message = self._found(call)
        except MessagingError:
            # Deletions are idempotent in Zaqar: a missing message is a success.
            return
        claim = call.text("claim_id")
        claimed = self._state.is_claimed(message)
        if claim is not None and not claimed:
            detail = "A claim was specified, but the message is not currently claimed."
            raise MessagingError(400, _DELETING, detail)
        if claim != (message["claim_id"] if claimed else None):
            if claim is not None and not self._state.claimed_by(claim):
                detail = "The specified claim does not exist or has expired."
                raise MessagingError(400, _DELETING, detail)
            detail = "This message is claimed; it cannot be deleted without a valid claim ID."
            raise MessagingError(403, _DELETING, detail)
        self._state.remove([message["id"]], message["queue_id"])

    async def _delete_many(self, call: Call) -> Document | None:
        ids, pop = call.ids(), call.number("pop")
        if ids is not None and pop is not None:
            raise bad_request("pop and id params cannot be present together in the delete request.")
        key = queue_id(call.project, call.queue)
        if pop is not None:
            call.limit("Pop value", "pop")
            popped = self._state.free(key)[:pop]
            self._state.remove([message["id"] for message in popped], key)
            names = ("claim_count", "claim_id")
            return {
                "messages": [{**self._state.view(m), **{n: m[n] for n in names}} for m in popped]
            }
        if ids is None:
            raise bad_request(
                'The request should have either "ids" or "pop" parameter in the request, to be '
                "able to delete."
            )
        if len(ids) > PAGE:
            raise bad_request(
                f"ids parameter should have at least 1 and not greater than {PAGE} values."
            )
        self._state.remove(ids, key)
        return None

    def _found(self, call: Call) -> Document:
        queue = self._state.queue(call.project, call.queue)
        message_id = call.item("id")
        for message in self._state.alive(queue["id"]):
            if message["id"] == message_id:
                return message
        raise not_found(
            f"Message {message_id} does not exist in queue {call.queue} for project {call.project}"
        )

    def _shown(self, call: Call, message: Document) -> Document:
        claim = message["claim_id"] if self._state.is_claimed(message) else None
        return shown(self._state, call, message, claim)


def shown(state: State, call: Call, message: Document, claim_id: str | None) -> Document:
    """Return a message with its path. The path of a claimed message lets its claimant delete it."""
    href = f"{call.queue_path}/messages/{message['id']}"
    if claim_id is not None:
        href += f"?claim_id={claim_id}"
    return {**state.view(message), "href": href}


def _check_size(content: Document, own: int | None) -> None:
    size = len(json.dumps(content))
    if own and size > own:
        raise bad_request(
            f"Message collection size is too large. The max size for current queue is {own}. It "
            "is calculated by max size = min(max_messages_post_size_config: "
            f"{POST_BYTES}, max_messages_post_size_queue: {own})."
        )
    if size > POST_BYTES:
        raise bad_request(f"Message collection size is too large. Max size {POST_BYTES}")


def _checked(message: Any, attributes: Document) -> Document:
    if not isinstance(message, dict):
        raise bad_body("Document type not supported.")
    if "body" not in message:
        raise bad_body('Missing "body" field.')
    ttl = attributes.get("_default_message_ttl") or RESERVED["_default_message_ttl"]
    delay = attributes.get("_default_message_delay")
    found: Document = {"ttl": message.get("ttl", ttl), "body": message["body"]}
    if delay:
        found["delay"] = message.get("delay", delay)
    for name in found.keys() - {"body"}:
        if not isinstance(found[name], int) or isinstance(found[name], bool):
            raise bad_body(f'The value of the "{name}" field must be a int.')
    try:
        check_message(found)
    except ValueError as error:
        raise bad_request(str(error)) from error
    return found
