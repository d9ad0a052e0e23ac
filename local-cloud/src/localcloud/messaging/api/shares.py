"""The requests for signed permissions."""

from typing import Any

from starlette.routing import BaseRoute

from localcloud.core.store import Document
from localcloud.messaging.api.call import Call, Calls
from localcloud.messaging.errors import bad_request
from localcloud.messaging.model.signatures import Signatures

_KNOWN = {"methods", "expires", "paths"}
_PATHS = {"messages", "subscriptions", "claims"}


class Shares:
    """The requests for signed permissions; nothing is kept of them."""

    def __init__(self, signatures: Signatures) -> None:
        self._signatures = signatures

    def routes(self, calls: Calls) -> list[BaseRoute]:
        """Return the routes."""
        return [calls.route("POST", "/v2/queues/{queue}/share", self._share)]

    async def _share(self, call: Call) -> Document:
        content = await call.document()
        if unknown := content.keys() - _KNOWN:
            raise bad_request(f"Unknown keys: {unknown}")
        paths = _texts(content, "paths") or ["messages"]
        if unknown := set(paths) - _PATHS:
            raise bad_request(f"Invalid paths: {unknown}")
        expires = content.get("expires")
        if expires is not None and not isinstance(expires, str):
            raise bad_request(
                "`expires` should be date format, for example 2016-01-01T00:00:00, not integer "
                f"value: {expires}"
            )
        try:
            return self._signatures.signed(
                call.project,
                [f"{call.queue_path}/{path}" for path in paths],
                _texts(content, "methods") or ["GET"],
                expires,
            )
        except (ValueError, OverflowError) as error:
            raise bad_request(str(error)) from error


def _texts(content: Document, name: str) -> list[str]:
    found: Any = content.get(name) or []
    if not isinstance(found, list) or not all(isinstance(each, str) for each in found):
        raise bad_request(f"`{name}` should be a list")
    return found
