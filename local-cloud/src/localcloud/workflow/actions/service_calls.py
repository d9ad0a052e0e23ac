"""Actions that send one request to a service of the cloud.

The request has the rights of the execution's user. ``$name`` in a body stands for an input; inputs
that are null are left out.
"""

import re
from collections.abc import Mapping
from typing import Any
from urllib.parse import quote

from msgspec import Struct, field

from localcloud.workflow.actions import http
from localcloud.workflow.actions.action import Action, ActionError, Input, Taken, declared

_PLACE = re.compile(r"{(\w+)}")
_LEFT_OUT = object()
_UNSAID = ("cookies", "auth", "timeout", "allow_redirects", "proxies", "verify")


class Endpoint(Struct, frozen=True):
    """The endpoint of a service."""

    type: str
    root: str = ""  # path between the endpoint in the catalog and the paths below
    headers: Mapping[str, str] = field(default_factory=dict)


class ServiceCall(Struct, frozen=True):
    """A request, and the part of its response that is the result."""

    endpoint: Endpoint
    method: str
    path: str
    key: str = ""  # of the response; "" means all of it
    body: Any = None

    def action(self, name: str, inputs: str = "") -> Action:
        """Return the call as an action."""
        said = f"{self.method} {self.path} of the {self.endpoint.type} service."
        return Action(name, declared(inputs), said, self._run)

    async def _run(self, taken: Taken, given: Input) -> Any:
        token, url = taken.token(), taken.endpoint(self.endpoint.type)
        if url is None:
            raise ValueError(f"the cloud has no service of the type {self.endpoint.type}")
        if token is None:
            raise ValueError("the trust of the execution gives no token any more")
        try:
            answer = await taken.blocking(http.ask, self._request(url, token, given), {})
        except ActionError as failed:
            result = failed.result
            raise ValueError(
                f"{result['status']} {result['reason']}: {result['content']}"
            ) from failed
        content = answer["content"]
        if isinstance(content, dict) and self.key:
            return content.get(self.key, content)
        return None if content == "" else content

    def _request(self, url: str, token: str, given: Input) -> dict[str, Any]:
        path = _PLACE.sub(lambda match: quote(str(given[match[1]]), safe=""), self.path)
        sent = None if self.body is None else _filled(self.body, given)
        asked = _PLACE.findall(self.path)
        query = {k: v for k, v in given.items() if k not in asked and v is not None}
        return {
            "url": url + self.endpoint.root + path,
            "method": self.method,
            "params": query if self.method == "GET" else None,
            "json": None if isinstance(sent, str) else sent,
            "body": sent if isinstance(sent, str) else None,
            "headers": {"X-Auth-Token": token, **self.endpoint.headers},
            **dict.fromkeys(_UNSAID),
        }


def _filled(body: Any, given: Input) -> Any:
    if isinstance(body, dict):
        found = {key: _filled(value, given) for key, value in body.items()}
        return {key: value for key, value in found.items() if value is not _LEFT_OUT}
    if isinstance(body, str) and body.startswith("$"):
        value = given[body[1:]]
        return _LEFT_OUT if value is None else value
    return body
