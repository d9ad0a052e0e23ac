"""One request on a queue: its sender, queue, parameters and body."""

import json
import re
from collections.abc import Awaitable, Callable, Sequence
from typing import Any
from uuid import UUID

from msgspec import Struct
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from localcloud.core.cloud import Cloud
from localcloud.messaging.errors import MessagingError, bad_body, bad_request
from localcloud.messaging.model.signatures import Signatures
from localcloud.web.http import (
    Answer,
    RequestContext,
    UnauthorizedError,
    announce,
    read_body,
    respond,
)
from localcloud.web.permissions import by_role

_NAME = re.compile(r"[a-zA-Z0-9_\-.]+")
_LONGEST_NAME = 64
_LARGEST_INTEGER = 2**63
_MOST_BYTES = 1 << 20
PAGE = 20  # objects in a page of a list, messages in a claim, and ids in a request, at most
DEFAULT_PAGE = 10


class Call(Struct, frozen=True):
    """A request whose sender is known."""

    request: Request
    project: str
    is_admin: bool
    client: str  # the id that the sender has given itself
    who: RequestContext | None  # whose token it is; None for a signature

    @property
    def path(self) -> str:
        """The path, below the root of the service."""
        return str(self.request.url.path)

    @property
    def queue(self) -> str:
        """The name of the queue."""
        return str(self.request.path_params["queue"])

    @property
    def queue_path(self) -> str:
        """The path of the queue."""
        return f"/v2/queues/{self.queue}"

    def item(self, name: str) -> str:
        """Return the id of something in the queue."""
        return str(self.request.path_params[name])

    def text(self, name: str) -> str | None:
        """Return a parameter."""
        return self.request.query_params.get(name) or None

    def number(self, name: str) -> int | None:
        """Return a parameter that is a number; raises MessagingError."""
        text = self.text(name)
        if text is None:
            return None
        try:
            return int(text)
        except ValueError as error:
            message = f'The "{name}" parameter is invalid. The value must be an integer.'
            raise MessagingError(400, "Invalid parameter", message) from error

    def flag(self, name: str) -> bool:
        """Return a parameter that is true or false."""
        return (self.text(name) or "").lower() in ("true", "yes", "t", "1", "on")

    def limit(self, word: str = "Limit", name: str = "limit", also: str = "may not be") -> int:
        """Return how many objects are asked for; raises MessagingError."""
        limit = self.number(name)
        if limit is not None and not 0 < limit <= PAGE:
            raise bad_request(f"{word} must be at least 1 and {also} greater than {PAGE}.")
        return limit or DEFAULT_PAGE

    def ids(self, name: str = "ids") -> Sequence[str] | None:
        """Return a parameter that is a list of ids."""
        texts = self.request.query_params.getlist(name)
        found = [each for text in texts for each in text.split(",") if each]
        return found or None

    async def body(self) -> Any:
        """Return the JSON of the body; None for an empty one. Raises MessagingError."""
        content = await read_body(self.request, _MOST_BYTES)
        if not content:
            return None
        try:
            document = json.loads(content, parse_int=_integer)
            # JSON can escape half a surrogate pair, which cannot be encoded in later responses.
            json.dumps(document, ensure_ascii=False).encode()
        except (ValueError, RecursionError) as error:
            raise bad_body("Request body could not be parsed.") from error
        if not isinstance(document, dict | list):
            raise bad_body("Request body could not be parsed.")
        return document

    async def document(self) -> dict[str, Any]:
        """Return the JSON object of the body, which must be there; raises MessagingError."""
        document = await self.body()
        if document is None:
            raise bad_body("Request body can not be empty")
        if not isinstance(document, dict):
            raise bad_body("Document type not supported.")
        return document


_permit = by_role()
Handler = Callable[[Call], Awaitable[Answer]]


class Calls:
    """Makes routes whose handlers know who asks: by a token, or by a signature."""

    def __init__(self, cloud: Cloud, signatures: Signatures) -> None:
        self._cloud = cloud
        self._signatures = signatures

    def route(self, method: str, path: str, handler: Handler, status: int | None = None) -> Route:
        """Return the route of a handler; answers have the status 200, or 204 where empty."""

        async def handle(request: Request) -> Response:
            return respond(await handler(self._of(request)), status)

        return Route(path, handle, methods=[method])

    def _of(self, request: Request) -> Call:
        project, who = self._sender(request)
        client = request.headers.get("client-id")
        if client is None:
            message = 'The "Client-Id" header is required.'
            raise MessagingError(400, "Missing header value", message)
        try:
            client = str(UUID(client))
        except ValueError as error:
            raise bad_request("Malformed hexadecimal UUID.") from error
        name = request.path_params.get("queue")
        if name is not None and len(name) > _LONGEST_NAME:
            raise bad_request(f"Queue names may not be more than {_LONGEST_NAME} characters long.")
        if name is not None and not _NAME.fullmatch(name):
            raise bad_request(
                "Queue names may only contain ASCII letters, digits, underscores, and dashes."
            )
        is_admin = who is not None and who.is_admin
        return Call(request, project, is_admin, client, who)

    def _sender(self, request: Request) -> tuple[str, RequestContext | None]:
        if "url-signature" in request.headers:
            project = self._signatures.project(request)
            announce(request, RequestContext("", project_id=project))
            return project, None
        token = request.headers.get("x-auth-token")
        if not token:
            raise UnauthorizedError("The request you have made requires authentication.")
        who = self._cloud.tokens.validate(token)
        if not who.is_stack_user:
            _permit(who, request.method, request.url.path)
        announce(request, who)
        return who.require_project(), who


def _integer(text: str) -> int:
    # Check the length first: Python refuses to convert numbers of thousands of digits.
    if len(text) > _LARGEST_INTEGER.bit_length() or abs(int(text)) > _LARGEST_INTEGER:
        raise bad_body("JSON contains integer that is too large.")
    return int(text)
