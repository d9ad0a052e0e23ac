"""One service of the cloud, as its users."""

import json
from typing import Any

import httpx


class Caller:
    """Calls a service below its prefix; answers are checked."""

    def __init__(self, http: httpx.AsyncClient, prefix: str, token: str = "demo") -> None:
        self._http = http
        self._prefix = prefix
        self._headers = {"X-Auth-Token": token}

    def of(self, token: str, **headers: str) -> "Caller":
        """The same service as another user, with more headers (written with underscores)."""
        other = Caller(self._http, self._prefix, token)
        other._headers |= {name.replace("_", "-"): value for name, value in headers.items()}
        return other

    async def send(
        self, method: str, path: str, body: Any = None, **headers: str
    ) -> httpx.Response:
        """Ask; a body that is no text is sent as JSON."""
        given = {**self._headers, **{k.replace("_", "-"): v for k, v in headers.items()}}
        if body is not None and not isinstance(body, str | bytes):
            # escaped, so that a test can send what is no text at all
            body = json.dumps(body)
            given = {"Content-Type": "application/json", **given}
        url = path if path.startswith("http") else self._prefix + path
        return await self._http.request(method, url, content=body, headers=given)

    async def call(
        self, method: str, path: str, body: Any = None, expect: int = 200, **headers: str
    ) -> Any:
        """Ask, and return the JSON of an answer with this status."""
        answer = await self.send(method, path, body, **headers)
        assert answer.status_code == expect, f"{answer.status_code} {answer.text}"
        return answer.json() if answer.content else None

    async def get(self, path: str, expect: int = 200) -> Any:
        """Ask for something."""
        return await self.call("GET", path, expect=expect)
