"""The state of one case while it runs: names, ids, variables, requests."""

from __future__ import annotations

import json
import re
import xml.etree.ElementTree as ET
from collections.abc import Mapping, Sequence
from typing import Any
from urllib.parse import urlsplit

import httpx

from tests.conformance.runner.case import Case
from tests.conformance.runner.cloud import Cloud, Identity
from tests.conformance.runner.comparison import ordered
from tests.conformance.runner.masking import Masks

_VARIABLE = re.compile(
    r"\$\{((?:project|endpoint|cfn|user_id|stack(?:\.\w+)?|id(?:\.\w+)?|var\.\w+))\}"
)
_ANONYMOUS = ("none", "badtoken", "basic")


class Session:
    """Sends the requests of one case and records the answers, masked."""

    def __init__(self, cloud: Cloud, user: Identity, case: Case) -> None:
        self._cloud = cloud
        self._user = user
        self.masks = Masks(cloud.masks(), case.masks, case.keep_hex)
        # By stack key: physical ids of resources when they were last read.
        self.physical: dict[str, dict[Any, Any]] = {}
        self._made: list[tuple[str, str, str]] = []

    def name(self, key: str) -> str:
        """The name of a stack of the case."""
        if key not in self.masks.names:
            self.masks.names[key] = self._cloud.new_name()
        return self.masks.names[key]

    def path(self, key: str, below: str = "") -> str:
        """The path of a stack of the case."""
        return f"/stacks/{self.name(key)}/{self.masks.ids.get(key, 'no-such-id')}{below}"

    def made(self, key: str, name: str, stack_id: str, who: str) -> None:
        """A stack exists now; it goes when the case ends."""
        self.masks.ids[key] = stack_id
        if (name, stack_id, who) not in self._made:
            self._made.append((name, stack_id, who))

    def filled(self, value: Any) -> Any:
        """A part of a request with its variables replaced."""
        if isinstance(value, dict):
            return {self.filled(key): self.filled(item) for key, item in value.items()}
        if isinstance(value, list):
            return [self.filled(item) for item in value]
        if not isinstance(value, str) or "${" not in value:
            return value
        return _VARIABLE.sub(lambda match: self._variable(match.group(1)), value)

    def _variable(self, name: str) -> str:
        word, _, key = name.partition(".")
        if word == "stack":
            return self.name(key or "S")
        if word == "id":
            return self.masks.ids.get(key or "S", "no-such-id")
        if word == "var":
            return str(self.masks.variables.get(key, f"undefined-{key}"))
        user = self._user
        return {
            "project": user.project_id,
            "endpoint": user.endpoint,
            "cfn": user.cfn_endpoint,
            "user_id": user.user_id,
        }[word]

    async def send(
        self,
        method: str,
        path: str,
        who: str = "user",
        *,
        body: Any = None,
        raw: str | None = None,
        headers: Mapping[str, str | None] | None = None,
        query: Mapping[str, Any] | None = None,
        from_root: bool = False,
    ) -> httpx.Response:
        """The answer to a request; ``path`` is below the project unless it is a whole URL."""
        identity = self._user if who in _ANONYMOUS else await self._cloud.identity(who)
        sent: dict[str, str | None] = dict(self._login(who, identity))
        content = None
        if raw is not None:
            content = raw.encode()
            sent["Content-Type"] = "application/json"
        elif body is not None:
            content = json.dumps(body).encode()
            sent["Content-Type"] = "application/json"
        sent.update(headers or {})
        if path.startswith("http"):
            url = path
        elif from_root:
            url = "{0.scheme}://{0.netloc}".format(urlsplit(identity.endpoint)) + path
        else:
            url = f"{identity.endpoint}/{identity.project_id}{path}"
        kept = {key: value for key, value in sent.items() if value is not None}
        return await self._cloud.client.request(
            method, url, params=_query(query), content=content, headers=kept
        )

    def _login(self, who: str, identity: Identity) -> dict[str, str]:
        if who == "none":
            return {}
        if who == "badtoken":
            return {"X-Auth-Token": "not-a-token"}
        if who == "basic":
            return {"X-Auth-User": identity.user, "X-Auth-Key": self._cloud.password}
        return {"X-Auth-Token": identity.token}

    async def signer(self, who: str) -> Identity:
        """Return the identity whose keys sign a request."""
        known = who in ("user", "admin", "admin_in_project")
        return await self._cloud.identity(who) if known else self._user

    async def send_whole(
        self, method: str, url: str, headers: Mapping[str, str], content: bytes | None
    ) -> httpx.Response:
        """The answer to a request that is complete already."""
        return await self._cloud.client.request(method, url, headers=dict(headers), content=content)

    async def close(self) -> None:
        """Delete the stacks that the case made."""
        for name, stack_id, who in reversed(self._made):
            await self.send("DELETE", f"/stacks/{name}/{stack_id}", who)

    def record(
        self, answer: httpx.Response, *, keep_body: bool = True, headers: Sequence[str] = ()
    ) -> dict[str, Any]:
        """The answer in the form of the recordings."""
        found: dict[str, Any] = {"http": answer.status_code}
        kept = {name: answer.headers[name] for name in headers if name in answer.headers}
        if kept:
            found["headers"] = self.masks.apply(kept)
        data = json_of(answer)
        if isinstance(data, dict) and isinstance(data.get("error"), dict) and "code" in data:
            error = data["error"]
            found["error"] = {"type": error.get("type"), "message": error.get("message")}
            found["title"] = data.get("title")
            found["explanation"] = data.get("explanation")
        elif keep_body and data is not None:
            found["body"] = ordered(self.masks.apply(data))
        elif keep_body and answer.text:
            found["content_type"] = answer.headers.get("Content-Type", "")
            found.update(self.text_of(answer, found["content_type"]))
        return found

    def text_of(self, answer: httpx.Response, content_type: str) -> dict[str, Any]:
        """A body that is not JSON."""
        if "xml" in content_type:
            return {"xml": self._xml(answer.text)}
        if answer.is_success and answer.text.startswith("<html>"):
            return {"text": "<html>"}
        return {"text": self.masks.apply(answer.text[:2000])}

    def _xml(self, text: str) -> Any:
        try:
            element = ET.fromstring(text)
        except ET.ParseError:
            return self.masks.apply(text)
        return {element.tag: self._element(element)}

    def _element(self, element: ET.Element) -> Any:
        if not len(element):
            return self.masks.apply(element.text or "")
        found: dict[str, Any] = {}
        for child in element:
            value = self._element(child)
            if child.tag not in found:
                found[child.tag] = value
            elif isinstance(found[child.tag], list):
                found[child.tag].append(value)
            else:
                found[child.tag] = [found[child.tag], value]
        return found


def json_of(answer: httpx.Response) -> Any:
    """The body as JSON has it, or None."""
    try:
        return answer.json()
    except ValueError:
        return None


def _query(query: Mapping[str, Any] | None) -> dict[str, Any] | None:
    # None keeps a query string that is part of the path
    if not query:
        return None
    return {key: value for key, value in query.items() if value is not None}
