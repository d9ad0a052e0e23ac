"""The requests on claims: messages that a worker is processing."""

from starlette.responses import JSONResponse, Response
from starlette.routing import BaseRoute

from localcloud.core.store import Document
from localcloud.messaging.api.call import Call, Calls
from localcloud.messaging.api.limits import check_claim
from localcloud.messaging.api.messages import shown
from localcloud.messaging.errors import MessagingError, bad_body, bad_request, not_found
from localcloud.messaging.model.state import State, outliving, queue_id

_DEFAULTS = {"ttl": 300, "grace": 60}


class Claims:
    """The requests on claims."""

    def __init__(self, state: State) -> None:
        self._state = state

    def routes(self, calls: Calls) -> list[BaseRoute]:
        """Return the routes."""
        path = "/v2/queues/{queue}/claims"
        return [
            calls.route("POST", path, self._create),
            calls.route("GET", f"{path}/{{id}}", self._show),
            calls.route("PATCH", f"{path}/{{id}}", self._renew),
            calls.route("DELETE", f"{path}/{{id}}", self._release),
        ]

    async def _create(self, call: Call) -> Response:
        limit, times = call.limit(), await _times(call)
        queue = self._state.queues.get(queue_id(call.project, call.queue))
        # Zaqar creates queues on first use, so that a missing queue counts as an empty one.
        if queue is None:
            return Response(status_code=204)
        claim_id, claimed = self._state.claim(queue, times["ttl"], times["grace"], limit)
        if not claimed:
            return Response(status_code=204)
        messages = [shown(self._state, call, message, claim_id) for message in claimed]
        where = {"Location": f"{call.path}/{claim_id}"}
        return JSONResponse({"messages": messages}, 201, where)

    async def _show(self, call: Call) -> Document:
        claim = self._found(call)
        messages = self._state.claimed_by(claim["id"])
        return {
            "age": self._state.now() - claim["updated"],
            "ttl": claim["ttl"],
            "href": call.path,
            "messages": [shown(self._state, call, m, claim["id"]) for m in messages],
        }

    async def _renew(self, call: Call) -> None:
        times = await _times(call, must=True)
        claim, now = self._found(call), self._state.now()
        end = now + times["ttl"]
        with self._state.cloud.store.transaction():
            for message in self._state.claimed_by(claim["id"]):
                longer = {**message, "claim_expires": end}
                self._state.messages.put(outliving(longer, times["ttl"], times["grace"], now))
            renewed = {**claim, "ttl": times["ttl"], "updated": now, "expires": end}
            self._state.claims.put(renewed)

    async def _release(self, call: Call) -> None:
        try:
            claim = self._found(call)
        except MessagingError:
            # Deletions are idempotent in Zaqar: a missing claim is a success.
            return
        with self._state.cloud.store.transaction():
            for message in self._state.claimed_by(claim["id"]):
                self._state.messages.put({**message, "claim_id": None, "claim_expires": 0})
            self._state.claims.delete(claim["id"])

    def _found(self, call: Call) -> Document:
        claim_id = call.item("id")
        claim = self._state.claims.get(claim_id)
        key = queue_id(call.project, call.queue)
        if claim is None or claim["queue_id"] != key or claim["expires"] <= self._state.now():
            raise not_found(
                f"Claim {claim_id} does not exist in queue {call.queue} for project {call.project}"
            )
        return claim


async def _times(call: Call, must: bool = False) -> dict[str, int]:
    content = await call.body()
    if content is None and must:
        raise bad_body("Request body can not be empty")
    if not isinstance(content, dict | None):
        raise bad_body("Document type not supported.")
    times = {name: (content or {}).get(name, value) for name, value in _DEFAULTS.items()}
    for name, value in times.items():
        if not isinstance(value, int) or isinstance(value, bool):
            raise bad_body(f'The value of the "{name}" field must be a int.')
    try:
        check_claim(times)
    except ValueError as error:
        raise bad_request(str(error)) from error
    return times
